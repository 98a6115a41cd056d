//! What became of the jobs of the last days, day by day: how long they waited, and what
//! their accounts and users were owed.

mod owed;
mod waits;

pub use owed::{DayOfOwed, Owed, PastOwed};
pub use waits::{DayOfWaits, PastStarts};

/// Length of a day, seconds. Days are those of UTC.
pub const DAY_SECS: i64 = 86_400;
