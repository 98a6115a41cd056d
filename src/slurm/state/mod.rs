//! Files in `StateSaveLocation` that outlive slurmctld.
//!
//! | file | whose | what |
//! |---|---|---|
//! | `priority_last_decay_ran` | Slurm's: `priority/multifactor` reads and writes it, too | times of the last pass and the last reset |
//! | `priority_fairtree_state` | ours | the same, and all usage at that pass, to the last bit |
//! | both with `.old` | | those of the pass before |
//! | `priority_fairtree_settings` | ours | the settings that were last accepted: see [`accepted_settings`] |
//! | `assoc_usage`, `qos_usage` | slurmctld's, read only | usage at the last dump, every few minutes and at shutdown |
//!
//! slurmctld's dump and the time of the last pass are not written together, so that after a crash
//! they may not belong to each other: usage of a period is lost, or charged again. Our file holds
//! both. At start it is taken if it belongs to the last pass and is newer than the dump; after
//! another plugin has made passes, or after an orderly stop of slurmctld with a later dump, it is
//! not. A damaged file of ours is set aside, and the one of the pass before counts (see `load`).

pub(super) mod accepted_settings;
mod files;
mod load;
mod save;
mod save_alerts;
#[cfg(feature = "slurm")]
pub(super) mod settings;
mod state_file;
#[cfg(feature = "slurm")]
mod stored_usage;
mod times;
mod usage_dump;

#[cfg(feature = "slurm")]
pub(super) use load::Loaded;
pub(super) use load::load;
pub(super) use save::store;
#[cfg(feature = "slurm")]
pub(super) use save::store_times;
#[cfg(feature = "slurm")]
pub(super) use save_alerts::{Line, SaveAlerts};
#[cfg(feature = "slurm")]
pub(super) use state_file::Stamp;
pub(super) use state_file::State;
#[cfg(feature = "slurm")]
pub(super) use stored_usage::StoredUsage;
#[cfg(feature = "slurm")]
pub(super) use times::{OWN_FILE, Times};

#[cfg(test)]
mod tests;
