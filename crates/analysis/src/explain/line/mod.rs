//! A job's place under `order=strict` and `order=interleaved`, and why one is before another.
//!
//! [`OrderedQueue`] puts all jobs that wait in the order in which a pass of the plugin puts them
//! ([`fairtree::order`]). [`OrderedQueue::place`] shows a job's place, [`OrderedQueue::compare`]
//! why one is before another, and what would swap the two.

mod compare;
mod queue;
mod swap;

use super::wait::Waits;
use fairtree::config::{Order, Tiers};
use serde::Serialize;

pub use compare::{Cause, PlacesCompared};
pub use queue::OrderedQueue;
pub use swap::{Swap, SwapKind};

/// Which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderWord {
    /// `order=strict`.
    Strict,
    /// `order=interleaved`.
    Interleaved,
}

impl OrderWord {
    /// `None`: `order=weighted`.
    pub fn of(order: Order) -> Option<OrderWord> {
        match order {
            Order::Weighted => None,
            Order::Strict => Some(OrderWord::Strict),
            Order::Interleaved => Some(OrderWord::Interleaved),
        }
    }

    /// As `order=` takes it.
    pub fn word(self) -> &'static str {
        match self {
            OrderWord::Strict => "strict",
            OrderWord::Interleaved => "interleaved",
        }
    }
}

/// A job's state in the order: does it have a place?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stand {
    /// It waits in its place.
    Waits,
    /// It is held, and has no place.
    Held,
    /// An administrator set its priority, which stays.
    Direct,
    /// It runs, or has ended.
    Started,
}

/// The tier that `tiers=` puts first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierOf {
    /// `qos` or `partition`.
    pub kind: &'static str,
    /// Its name; `None`: the job has none.
    pub name: Option<String>,
    /// Its priority, the highest first.
    pub priority: i64,
}

/// The use and the entitlement of a node, which is an association with shares of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeStanding {
    /// The caller's name for it; `None`: jobs that are charged to the account above itself, or have
    /// no association.
    pub name: Option<String>,
    /// Usage, TRES-seconds.
    pub used: f64,
    /// Expected further use of its running jobs (`interleaved`), TRES-seconds.
    pub running: f64,
    /// Waiting jobs of it, or below it, that come before the job.
    pub jobs_before: usize,
    /// Expected use of these (`interleaved`), TRES-seconds.
    pub expected_before: f64,
    /// TRES-seconds that it is entitled to; `None`: not known, `due` counts.
    pub entitled: Option<f64>,
    /// TRES-seconds that are due to it: its part of all that is used and that running jobs are expected
    /// to use (where that is nothing: that waiting jobs are). `None`: it is entitled to a time.
    pub due: Option<f64>,
    /// The sum of the uses over one of these: the lowest comes first. `None`: entitled to nothing.
    pub ratio: Option<f64>,
}

/// The place of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobPlace {
    /// Job number.
    pub id: u32,
    /// The caller's name for it.
    pub name: String,
    /// Its user, if it has an association.
    pub user: Option<String>,
    /// The job's state: does it have a place in the order?
    pub stand: Stand,
    /// Its place, from 1; `None`: it has none.
    pub position: Option<usize>,
    /// `Priority` as the input has it: a number that grows with the place, nothing more.
    pub priority: u32,
    /// The tier, which comes before everything else; `None` without `tiers=`.
    pub tier: Option<TierOf>,
    /// Nice value: in a node the lowest first.
    pub nice: i32,
    /// When it was submitted, seconds since 1970: then the oldest first.
    pub submit_time: i64,
    /// Expected use, time limit x billing, TRES-seconds.
    pub expected: f64,
    /// The association that it is charged to; jobs of one association are in order of arrival.
    pub node: Option<String>,
}

/// The place of one job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceExplained {
    /// `order=`.
    pub order: OrderWord,
    /// Number of jobs in the order.
    pub waiting: usize,
    /// The job.
    pub job: JobPlace,
    /// Why it is after the job right before it; `None`: it is the first, or has no place.
    pub behind: Option<PlacesCompared>,
    /// Why the next job is after it; `None`: it is the last, or has no place.
    pub before: Option<PlacesCompared>,
    /// Why it waits; `None`: it does not wait.
    pub waits: Option<Waits>,
}

fn kind(tiers: Tiers) -> Option<&'static str> {
    match tiers {
        Tiers::None => None,
        Tiers::Qos => Some("qos"),
        Tiers::Partition => Some("partition"),
    }
}
