//! slurmctld's records as rows, and as the engine's tables.
//!
//! | module | noun |
//! |---|---|
//! | `snapshot` | rows of associations, QOS, partitions and jobs, copied |
//! | `tables` | the engine's tables, made from these |
//! | `assoc_row` | results of a pass for an association, as its record's new content |

pub(super) mod assoc_row;
pub(super) mod snapshot;
pub(super) mod tables;
