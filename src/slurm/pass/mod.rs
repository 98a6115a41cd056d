//! A pass: its schedule, its steps, and what it publishes.
//!
//! | module | noun |
//! |---|---|
//! | `schedule` | the body of the thread: when passes are made |
//! | `order` | the steps of one pass, in their order |
//! | `workspace`, `moment` | the memory of a pass, and its time |
//! | `computed` | results that a pass will write, computed by the engine from rows of any host |
//! | `compute` | slurmctld's snapshot as such rows |
//! | `by_ledger` | the ledger's part of a pass, and records that are set to its numbers |
//! | `ledger_upkeep` | the ledger between passes: its files, other sources, the last ends |
//! | `pending` | waiting jobs: priorities, and their factors |
//! | `apply` | writes into slurmctld's records |
//! | `assoc_cache` | the copy of associations that is kept from one pass to the next |
//! | `error` | why a pass ended early |

#[cfg(feature = "slurm")]
mod apply;
#[cfg(feature = "slurm")]
mod assoc_cache;
#[cfg(feature = "slurm")]
pub(super) mod by_ledger;
#[cfg(feature = "slurm")]
mod compute;
mod computed;
#[cfg(feature = "slurm")]
mod error;
#[cfg(feature = "slurm")]
pub(super) mod ledger_upkeep;
mod moment;
#[cfg(feature = "slurm")]
mod order;
#[cfg(feature = "slurm")]
pub(super) mod pending;
#[cfg(feature = "slurm")]
pub(super) mod schedule;
#[cfg(feature = "slurm")]
mod workspace;

#[cfg(test)]
mod fake_host;
#[cfg(test)]
mod tests;
