//! The jobs that wait: their places and the jobs ahead of them. [`explain::wait`](crate::explain::wait) has
//! the reasons.
//!
//! [`WaitingLine`] prices the queue once; every question about a job is then a look-up. Places are by
//! priority within a partition, as in [`what_if`](crate::what_if); where the site has `order=`, by
//! that order.

mod line;
mod spread;

pub use line::{Ahead, WaitingLine, Way};
pub use spread::{Spread, spreads, tied_users};
