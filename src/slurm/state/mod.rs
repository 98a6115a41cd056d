//! Files in `StateSaveLocation` that outlive slurmctld.
//!
//! | file | owner | contents |
//! |---|---|---|
//! | `priority_last_decay_ran` | Slurm's: `priority/multifactor` also reads and writes it | times of the last pass and the last reset |
//! | `priority_fairtree_state` | ours | the same, and all usage at that pass, to the last bit |
//! | both with `.old` | | the same of the previous pass |
//! | `priority_fairtree_settings` | ours | the last accepted settings: see [`accepted_settings`] |
//! | `priority_fairtree_ledger`, `priority_fairtree_ledger_qos` | ours | use over time: see [`crate::usage::window`] |
//! | `priority_fairtree_history-LABEL` | others', read only | the same from other sources |
//! | `assoc_usage`, `qos_usage` | slurmctld's, read only | usage at the last dump, every few minutes and at shutdown |
//!
//! slurmctld does not write its dump together with the time of the last pass. After a crash they
//! may not belong to the same pass: usage of a period is lost, or charged again. Our file contains
//! both. At start it is used if it belongs to the last pass, unless the dump is newer and certainly
//! of the same pass. It is not used if another plugin has made passes since.
//!
//! A pass does not wait for the disk: a separate thread writes its usage (see [`saver`]), and
//! slurmctld may dump usage before that is done. So our file has the time before which no other
//! pass changes usage (`next_pass`). A dump before that time is of the pass of our file. A later
//! dump may be of a pass whose file did not get to the disk: then it does not count, and jobs are
//! charged from the pass of our file on. That file was on disk before the next pass; if the disk
//! was too slow, the previous file is still there, with an earlier `next_pass`. A pass that comes
//! earlier than announced, after a start or a step of the clock, first writes its own time as
//! `next_pass` ([`advance_next_pass`]).
//!
//! A damaged file of ours is renamed, and the file of the previous pass counts (see `load`).

pub(super) mod accepted_settings;
mod files;
#[cfg(any(feature = "slurm", test))]
mod first_dump;
pub(super) mod ledger_files;
mod load;
mod order_state;
pub(super) mod quirks;
mod save;
mod save_alerts;
pub(super) mod saver;
#[cfg(feature = "slurm")]
pub(super) mod settings;
mod state_file;
#[cfg(feature = "slurm")]
mod stored_usage;
mod times;
mod usage_dump;

#[cfg(feature = "slurm")]
pub(super) use first_dump::leave as leave_first_dump;
#[cfg(feature = "slurm")]
pub(super) use load::Loaded;
pub(super) use load::load;
#[cfg(feature = "slurm")]
pub(super) use order_state::OrderState;
#[cfg(any(feature = "slurm", test))]
pub(super) use save::advance_next_pass;
#[cfg(test)]
pub(super) use save::store;
#[cfg(feature = "slurm")]
pub(super) use save::store_times;
#[cfg(feature = "slurm")]
pub(super) use save_alerts::{AlertLine, SaveAlerts};
#[cfg(feature = "slurm")]
pub(super) use state_file::Stamp;
pub(super) use state_file::State;
#[cfg(feature = "slurm")]
pub(super) use stored_usage::{Saved, StoredUsage, saving};
#[cfg(feature = "slurm")]
pub(super) use times::Times;

#[cfg(test)]
mod tests;
