//! What became of the jobs of the last days, day by day: how long they waited.

mod waits;

pub use waits::{DayOfWaits, PastStarts};

/// Length of a day, seconds. Days are those of UTC.
pub const DAY_SECS: i64 = 86_400;
