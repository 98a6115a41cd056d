//! Files in `StateSaveLocation` that outlive slurmctld.
//!
//! | file | whose | what |
//! |---|---|---|
//! | `priority_last_decay_ran` | Slurm's: `priority/multifactor` reads and writes it, too | times of the last pass and the last reset |
//! | `priority_fairtree_state` | ours | the same, and all usage at that pass, to the last bit |
//! | both with `.old` | | those of the pass before |
//! | `priority_fairtree_settings` | ours | the settings that were last accepted: see [`accepted_settings`] |
//! | `priority_fairtree_ledger`, `priority_fairtree_ledger_qos` | ours | what was used when: see [`crate::usage::window`] |
//! | `priority_fairtree_history-LABEL` | others', read only | the same of other sources |
//! | `assoc_usage`, `qos_usage` | slurmctld's, read only | usage at the last dump, every few minutes and at shutdown |
//!
//! slurmctld's dump and the time of the last pass are not written together, so that after a crash
//! they may not belong to each other: usage of a period is lost, or charged again. Our file holds
//! both. At start it is taken if it belongs to the last pass, unless the dump is newer and surely of
//! the same pass; after another plugin has made passes it is not.
//!
//! A pass does not wait for the disk: its usage is written by a thread of its own (see [`saver`]), and
//! slurmctld may dump usage before that is done. So our file says until when no other pass changes
//! usage (`next_pass`). What was dumped before that time is of its pass. A dump of a later time may
//! be of a pass whose file did not get to the disk: then it does not count, and jobs are charged from
//! the pass of our file on. That file was on disk before the next pass, or, where the disk was too
//! slow, the one before it still says of an earlier time that it is the last that is known of. A
//! pass that comes earlier than announced, after a start or a step of the clock, writes that down
//! first ([`advance_next_pass`]).
//!
//! A damaged file of ours is set aside, and the one of the pass before counts (see `load`).

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
pub(super) use save_alerts::{Line, SaveAlerts};
#[cfg(feature = "slurm")]
pub(super) use state_file::Stamp;
pub(super) use state_file::State;
#[cfg(feature = "slurm")]
pub(super) use stored_usage::{Saved, StoredUsage, saving};
#[cfg(feature = "slurm")]
pub(super) use times::{OWN_FILE, Times};

#[cfg(test)]
mod tests;
