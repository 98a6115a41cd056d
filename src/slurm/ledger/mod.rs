//! What was used when, run by run: for windows and totals (`usage=`), and for outcomes (`counts=`).
//!
//! Each pass tells the ledger of all runs that are there, and of those that have ended since the pass
//! before. The ledger charges what is new of each, takes back runs whose end does not count, and
//! says what every association and QOS has used by now. slurmctld's records are set to these numbers,
//! so that its limits are limits in the window, and whatever happened to a record in between
//! is right again after the next pass. Ends between passes are charged to the records at once (see
//! [`crate::slurm::charges`]) and reach the ledger with the next pass.
//!
//! | module | noun |
//! |---|---|
//! | `seen` | a run as a pass, or the end of the job, saw it |
//! | `feed` | a seen run as charges of a ledger |
//! | `steady` | the runs of which nothing is new from pass to pass but the time |
//! | `feeding` | seen runs on their way into both ledgers |
//! | `book` | the ledger of one tree: associations, or QOS |
//! | `books` | the ledgers of associations and of QOS, and what both are fed with |
//! | `written` | what a pass has set records to, and which of them were reset since |
//! | `plan` | what the settings ask of the ledger |
//! | `keeper` | both ledgers from pass to pass |
//!
//! Nothing here knows how slurmctld's rows look, or reads a file.

pub(super) mod book;
mod books;
mod feed;
mod feeding;
pub(super) mod keeper;
pub(super) mod plan;
pub(super) mod seen;
mod steady;
pub(super) mod written;

#[cfg(test)]
mod fake_host;
#[cfg(test)]
mod tests;
