//! The Slurm priority plugin `priority/fairtree` (feature `slurm`).
//!
//! slurmctld loads the plugin in place of `priority/multifactor` and calls its hooks; a thread of
//! the plugin makes a pass every `PriorityCalcPeriod`. A pass has three steps:
//!
//! 1. *snapshot*, under read locks: copy associations, QOS, partitions and jobs into flat rows;
//! 2. *compute*, without any lock: the engine;
//! 3. *apply*, under write locks: let usage decay and add the charges to what is there by now,
//!    publish the factors; then write the priorities of the jobs that are still as they were, all
//!    in one short hold; last, and with readers let through, how these priorities came about.
//!
//! | folder | noun |
//! |---|---|
//! | `hooks` | the symbols that slurmctld looks up, and what they are asked for between passes |
//! | `pass` | a pass: its order, its steps, and what it publishes |
//! | `charges` | charges of jobs outside of passes |
//! | `shared` | what hooks and thread share: the one global, what was charged when, the last factors |
//! | `ledger` | what was used when, run by run, for windows and totals |
//! | `rows` | slurmctld's records as rows, and as the engine's tables |
//! | `state` | settings, and the files that outlive slurmctld |
//! | `runtime` | the shim made safe, threads, locks, log, panics |
//!
//! Each folder uses only those below it in this list.
//!
//! Locks. slurmctld's come first and in its own order: jobs (with nodes and partitions), then
//! association manager. The plugin's own mutexes are leaves: a thread that holds one takes no lock
//! of slurmctld; only that of `Plugin::factors` stands between jobs and the association manager, and
//! no hook asks for that of `Plugin::ledger`.
//! Usage in slurmctld's records is always valued at `last_ran`, the time of the last pass; the end
//! of a job is charged as valued then, too. So whatever happens
//! between snapshot and apply, nothing is lost and nothing counts twice.

#[cfg(all(feature = "slurm", not(target_arch = "x86_64")))]
compile_error!("the plugin reads usage as x86-64's 80-bit long double");

#[cfg(feature = "slurm")]
mod charges;
#[cfg(feature = "slurm")]
mod hooks;
#[cfg(feature = "slurm")]
mod rows;
// These are tested without Slurm, too.
mod ledger;
mod pass;
mod runtime;
mod shared;
mod state;
