//! Where a job stands under `order=strict` and `order=interleaved`, and why one is before another.
//!
//! [`OrderedQueue`] puts all jobs that wait in the order in which a pass of the plugin puts them
//! ([`fairtree::order`]). [`OrderedQueue::place`] tells where a job stands, [`OrderedQueue::compare`]
//! why one stands before another, and what would swap the two.

mod compare;
mod queue;
mod swap;

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

/// Whether a job stands in the order.
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

/// What `tiers=` puts first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierOf {
    /// `qos` or `partition`.
    pub kind: &'static str,
    /// Its name; `None`: the job has none.
    pub name: Option<String>,
    /// Its priority, the highest first.
    pub priority: i64,
}

/// What a node, an association with shares of its own, used and may use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeStanding {
    /// What the caller calls it; `None`: jobs that are charged to the account above itself, or have
    /// no association.
    pub name: Option<String>,
    /// What was used, TRES-seconds.
    pub used: f64,
    /// What its running jobs are expected to use yet (`interleaved`), TRES-seconds.
    pub running: f64,
    /// Waiting jobs of it, or below it, that come before the job.
    pub jobs_before: usize,
    /// What these are expected to use (`interleaved`), TRES-seconds.
    pub expected_before: f64,
    /// TRES-seconds that it is entitled to; `None`: not known, `due` counts.
    pub entitled: Option<f64>,
    /// TRES-seconds that are due to it: its part of all that is used and that running jobs are expected
    /// to use (where that is nothing: that waiting jobs are). `None`: it is entitled to a time.
    pub due: Option<f64>,
    /// The sum of the uses over one of these: the lowest comes first. `None`: entitled to nothing.
    pub ratio: Option<f64>,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobPlace {
    /// Job number.
    pub id: u32,
    /// What the caller calls it.
    pub name: String,
    /// Its user, if it has an association.
    pub user: Option<String>,
    /// Whether it stands in the order.
    pub stand: Stand,
    /// Its place, from 1; `None`: it has none.
    pub position: Option<usize>,
    /// `Priority` as the input has it: a number that grows with the place, nothing more.
    pub priority: u32,
    /// What comes before everything; `None` without `tiers=`.
    pub tier: Option<TierOf>,
    /// Nice value: in a node the lowest first.
    pub nice: i32,
    /// When it was submitted, seconds since 1970: then the oldest first.
    pub submit_time: i64,
    /// What it is expected to use, time limit x billing, TRES-seconds.
    pub expected: f64,
    /// The association that it is charged to; jobs of one stand as they came.
    pub node: Option<String>,
}

/// The place of one job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceExplained {
    /// `order=`.
    pub order: OrderWord,
    /// Jobs that stand in the order.
    pub waiting: usize,
    /// The job.
    pub job: JobPlace,
    /// Why it stands behind the job right before it; `None`: it is the first, or has no place.
    pub behind: Option<PlacesCompared>,
    /// Why the job right behind it stands there; `None`: it is the last, or has no place.
    pub before: Option<PlacesCompared>,
}

fn kind(tiers: Tiers) -> Option<&'static str> {
    match tiers {
        Tiers::None => None,
        Tiers::Qos => Some("qos"),
        Tiers::Partition => Some("partition"),
    }
}
