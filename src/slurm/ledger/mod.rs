//! Use over time, run by run: for windows and totals (`usage=`), and for outcomes (`counts=`).
//!
//! Each pass reports all existing runs to the ledger, and those that ended since the previous pass.
//! The ledger charges the uncharged part of each run, refunds runs whose end does not count, and
//! returns the use of every association and QOS. slurmctld's records are set to these numbers, so
//! its limits apply to the window, and any other change of a record is corrected by the next pass.
//! Ends between passes are charged to the records at once (see [`crate::slurm::charges`]) and reach
//! the ledger with the next pass.
//!
//! | module | noun |
//! |---|---|
//! | `seen` | a run as a pass, or the end of the job, saw it |
//! | `feed` | charges of a ledger for a seen run |
//! | `feeding` | feeds seen runs into both ledgers |
//! | `tree_ledger` | the ledger of one tree: associations, or QOS |
//! | `both_ledgers` | the ledgers of associations and of QOS, and how both are fed |
//! | `exchange` | data that passes and the ledgers exchange |
//! | `written` | values set by a pass, and records that were reset since |
//! | `plan` | settings that concern the ledger |
//! | `run_ledgers` | both ledgers from pass to pass |
//!
//! This module does not depend on the layout of slurmctld's rows, and reads no files.

mod both_ledgers;
pub(super) mod exchange;
mod feed;
mod feeding;
pub(super) mod plan;
pub(super) mod run_ledgers;
pub(super) mod seen;
pub(super) mod tree_ledger;
pub(super) mod written;

#[cfg(test)]
mod fake_host;
#[cfg(test)]
mod tests;
