//! Rows of both kinds of queues: jobs that they hold, and runs that ended.

use super::queue::Micros;

/// A job that waits or runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its id.
    pub job: u64,
    /// The association that it is charged to, or the account that pays.
    pub account: u32,
    /// Number of its machine.
    pub machine: u32,
    /// Its place among those that wait for the machine, from 0; `None`: it runs.
    pub place: Option<usize>,
    /// On demand: a job of a reservation.
    pub in_reservation: bool,
    /// When it was submitted.
    pub submit: Micros,
    /// Since when it waits or runs; a job that waits again after a run has the moment that it had.
    pub since: Micros,
}

/// A run that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How long the machine executed it, microseconds.
    pub executed: Micros,
    /// Its use counts, or it is billed.
    pub counts: bool,
    /// Price of a microsecond under which it ran; 0 for a job of a reservation, and by fair share.
    pub price: u64,
    /// Its cost: executed time times price, if it is billed.
    pub cost: u128,
}
