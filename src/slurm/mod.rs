//! The Slurm priority plugin `priority/fairtree` (feature `slurm`).
//!
//! slurmctld loads the plugin in place of `priority/multifactor` and calls its hooks; a thread of
//! the plugin makes a pass every `PriorityCalcPeriod`. A pass has three steps:
//!
//! 1. *snapshot*, under read locks: copy associations, QOS, partitions and jobs into flat rows;
//! 2. *compute*, without any lock: the engine;
//! 3. *apply*, under write locks: let usage fade and add the charges to what is there by now,
//!    publish the factors; then write the priorities of the jobs that are still as they were, all
//!    in one short hold; last, and with readers let through, how these priorities came about.
//!
//! | module | noun |
//! |---|---|
//! | `hooks` | the symbols that slurmctld looks up |
//! | `plugin` | the one global: what hooks and thread share |
//! | `settings` | slurm.conf's settings, checked |
//! | `slot` | where that global is |
//! | `thread`, `bell` | the thread and its period, and what ends its waiting |
//! | `sync`, `model` | locks by one name, and models of what threads do in every order |
//! | `snapshot`, `tables` | the rows of slurmctld, and the engine's tables made from them |
//! | `pass`, `compute`, `apply` | a pass |
//! | `found` | what a pass found for an association, as its record is to hold it |
//! | `pending` | its waiting jobs: priorities, and the factors behind them |
//! | `charge` | the end of a job, and what start-up takes from the run-seconds |
//! | `harvest` | ends of jobs that nobody reports |
//! | `lost` | ends of jobs whose charge a crash has lost |
//! | `price` | one job's priority between passes |
//! | `calc_fs_factor`, `kept_factor` | the classic factor: a formula for slurmctld, or in its record |
//! | `late` | usage of one association, computed on demand as stock does |
//! | `passed` | up to when passes have charged each run |
//! | `recent` | charges between passes, and what the next pass has to know of them |
//! | `ranking` | what the last pass found: for new associations and for sshare |
//! | `factors_list` | the rows of sprio |
//! | `state` | files that outlive slurmctld |
//! | `guard`, `fault` | panics stop here; panics on order, for tests |
//! | `host`, `log` | the shim, made safe |
//!
//! Locks. slurmctld's come first and in its own order: jobs (with nodes and partitions), then
//! association manager. The plugin's own mutexes are leaves: whoever holds one asks for no lock
//! of slurmctld; only that of `Plugin::factors` stands between jobs and the association manager.
//! Usage in slurmctld's records is always worth its number at `last_ran`, the time
//! of the last pass; the end of a job is charged in that currency, too. So whatever happens
//! between snapshot and apply, nothing is lost and nothing counts twice.

#[cfg(all(feature = "slurm", not(target_arch = "x86_64")))]
compile_error!("the plugin reads usage as x86-64's 80-bit long double");

#[cfg(feature = "slurm")]
mod apply;
#[cfg(feature = "slurm")]
mod batch;
#[cfg(all(feature = "slurm", slurm_has_calc_fs_factor))]
mod calc_fs_factor;
#[cfg(feature = "slurm")]
mod charge;
#[cfg(feature = "slurm")]
mod compute;
#[cfg(feature = "slurm")]
mod factors_list;
#[cfg(feature = "slurm")]
mod found;
#[cfg(feature = "slurm")]
mod guard;
#[cfg(feature = "slurm")]
mod harvest;
#[cfg(feature = "slurm")]
mod hooks;
#[cfg(feature = "slurm")]
mod host;
#[cfg(feature = "slurm")]
mod kept_assocs;
#[cfg(all(feature = "slurm", not(slurm_has_calc_fs_factor)))]
mod kept_factor;
#[cfg(feature = "slurm")]
mod late;
#[cfg(feature = "slurm")]
mod log;
#[cfg(feature = "slurm")]
mod lost;
#[cfg(feature = "slurm")]
mod pass;
#[cfg(feature = "slurm")]
mod pending;
#[cfg(feature = "slurm")]
mod plugin;
#[cfg(feature = "slurm")]
mod price;
#[cfg(feature = "slurm")]
mod settings;
#[cfg(feature = "slurm")]
mod snapshot;
#[cfg(feature = "slurm")]
mod tables;

// Without Slurm these are still tested.
#[cfg(not(feature = "models"))]
mod bell;
mod fault;
mod journal;
#[cfg(all(test, feature = "models"))]
mod model;
mod passed;
mod ranking;
mod recent;
mod slot;
mod state;
mod sync;
mod thread;
