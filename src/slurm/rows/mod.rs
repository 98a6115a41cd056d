//! slurmctld's records as rows, and as the engine's tables.
//!
//! | module | noun |
//! |---|---|
//! | `snapshot` | rows of associations, QOS, partitions and jobs, copied |
//! | `tables` | the engine's tables, made from these |
//! | `assoc_row` | what a pass computed for an association, as its record is to hold it |

pub(super) mod assoc_row;
pub(super) mod snapshot;
pub(super) mod tables;
