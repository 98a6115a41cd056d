//! The Slurm priority plugin `priority/fairtree` (feature `slurm`).
//!
//! slurmctld loads the plugin instead of `priority/multifactor` and calls its hooks; a thread of
//! the plugin makes a pass every `PriorityCalcPeriod`. A pass has three steps:
//!
//! 1. *snapshot*, under read locks: copy associations, QOS, partitions and jobs into flat rows;
//! 2. *compute*, without locks: the engine;
//! 3. *apply*, under write locks: decay the usage in the records, add the charges and publish the
//!    factors. Then write the priorities of jobs that have not changed since the snapshot, all in
//!    one short hold. Last, letting readers in between, write the factors of these priorities.
//!
//! | folder | noun |
//! |---|---|
//! | `hooks` | the symbols that slurmctld looks up, and computations between passes |
//! | `pass` | a pass: its schedule, its steps, and what it publishes |
//! | `charges` | charges of jobs outside of passes |
//! | `shared` | data shared by hooks and thread: the global, charge times, the last factors |
//! | `line` | the order of waiting jobs, if one is requested, as numbers |
//! | `ledger` | use over time, run by run, for windows and totals |
//! | `rows` | slurmctld's records as rows, and as the engine's tables |
//! | `state` | settings, and the files that outlive slurmctld |
//! | `runtime` | safe wrappers of the shim, threads, locks, log, panics |
//!
//! Each folder uses only those below it in this list.
//!
//! Locks. slurmctld's locks come first and in its own order: jobs (with nodes and partitions), then
//! association manager. The plugin's own mutexes are leaves: a thread that holds one takes no lock
//! of slurmctld. Two exceptions: `Plugin::factors` is taken between jobs and the association
//! manager, and no hook takes `Plugin::ledger`. Usage in slurmctld's records is always valued at
//! `last_ran`, the time of the last pass; the end of a job is also charged at that value. So
//! whatever happens between snapshot and apply, nothing is lost and nothing is counted twice.

#[cfg(all(feature = "slurm", not(target_arch = "x86_64")))]
compile_error!("the plugin reads usage as x86-64's 80-bit long double");

#[cfg(feature = "slurm")]
mod charges;
#[cfg(feature = "slurm")]
mod hooks;
#[cfg(feature = "slurm")]
mod line;
#[cfg(feature = "slurm")]
mod rows;
// These are also tested without Slurm.
mod ledger;
mod pass;
mod runtime;
mod shared;
mod state;
