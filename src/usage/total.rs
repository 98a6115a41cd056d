//! Usage since a date (`total:DATE`), and which model applies to which node.
//!
//! A flex plan gives an account a fixed number of minutes: all its use since a date counts
//! against its whole allocation, without decay or window. The numbers are stored in the
//! same [`super::window::WindowLedger`]: it adds up all charges, per leaf and date, to the
//! second, so that a total needs no buckets and outlives them.

use jiff::tz::TimeZone;

use super::window::{WindowError, check_time};
use crate::config::UsageModel;

/// `total:DATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    since: i64,
}

impl Total {
    /// Use from `since` on, seconds since 1970; a date to come counts nothing until it is there.
    ///
    /// # Errors
    /// [`WindowError::Time`] before 1970 and after the year 9999.
    pub fn new(since: i64) -> Result<Total, WindowError> {
        check_time("date of the total", since).map(|since| Total { since })
    }

    /// The date, seconds since 1970.
    pub fn since(self) -> i64 {
        self.since
    }
}

/// By which usage a node is judged.
///
/// A node's plan is also that of all below it that have none of their own. Each node counts all
/// use below it by its own plan: an account with a window counts what a flex account below it
/// used within the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    /// What was used in the ledger's window.
    #[default]
    Window,
    /// What was used since a date.
    Total(Total),
}

impl Plan {
    /// The plan of a usage model. Dates are in `zone`; local times that the clock skips or shows twice
    /// are resolved as in [`jiff::tz::Disambiguation::Compatible`], and moments before 1970 (east of
    /// Greenwich, 1970 begins before the epoch) count as 1970.
    ///
    /// # Errors
    /// [`WindowError::Time`] after the year 9999.
    pub fn of(model: UsageModel, zone: &TimeZone) -> Result<Plan, WindowError> {
        let UsageModel::Total { since } = model else {
            return Ok(Plan::Window);
        };
        let zoned = since.to_zoned(zone.clone());
        let secs = zoned.map_or(i64::MAX, |zoned| zoned.timestamp().as_second());
        Total::new(secs.max(0)).map(Plan::Total)
    }
}
