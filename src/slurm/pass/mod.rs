//! A pass: its order, its steps, and what it publishes.
//!
//! | module | noun |
//! |---|---|
//! | `schedule` | the body of the thread: when passes are made |
//! | `order` | the steps of one pass, in their order |
//! | `workspace`, `moment` | the memory of a pass, and the moment that it is about |
//! | `compute`, `computed` | from a snapshot to charges and factors, and what came of it |
//! | `pending`, `batch` | waiting jobs: priorities, and the factors behind them |
//! | `apply` | writing into slurmctld's records |
//! | `assoc_cache` | the copy of associations that is kept from one pass to the next |
//! | `error` | why a pass ended early |

mod apply;
mod assoc_cache;
mod batch;
mod compute;
mod computed;
mod error;
mod moment;
mod order;
pub(super) mod pending;
pub(super) mod schedule;
mod workspace;
