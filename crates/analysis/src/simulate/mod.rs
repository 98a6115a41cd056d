//! What a simulated machine does with the jobs of a log: waits, use, what accounts are owed, who is
//! unfairly delayed.

mod against;
mod changed;
mod free;
mod on_site;
mod owed;
mod quantile;
mod replayed;
mod report;
mod trial;
mod why;

pub use against::{Against, Difference, Differences};
pub use changed::{ChangedError, changed, cluster_of};
pub use free::{FreeRuns, Waits};
pub use on_site::OnSite;
pub use owed::{owed_core_secs, owed_core_secs_by};
pub use quantile::quantile;
pub use replayed::{Replayed, run};
pub use report::{By, Delayed, Group, LeftOut, Report, Sums};
pub use trial::{Rules, Trial, report_of};
pub use why::{Span, Why};
