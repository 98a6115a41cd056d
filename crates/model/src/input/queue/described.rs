//! A site of machines, as it was described.

use crate::input::site::SiteRow;
use fairtree::engine::on_demand::Prices;
use fairtree::engine::queue::{Micros, Settings};
use fairtree::tree::Tree;
use fairtree::usage::Outcomes;

/// A site whose machines ask what to run.
#[derive(Clone, Debug)]
pub struct QueueSite {
    /// Name of the file.
    pub file: String,
    /// The moment at which it begins.
    pub now: Option<Micros>,
    /// One per association, by position in the tree; its id is that plus 1.
    pub rows: Vec<SiteRow>,
    /// The tree of accounts and users.
    pub tree: Tree,
    /// The machines, by name.
    pub machines: Vec<MachineRow>,
    /// Maximum run time, microseconds, of jobs that come without any, on machines without one of
    /// their own; `None`: such jobs are refused.
    pub default_limit: Option<u64>,
    /// Accounts that are bound to machines: positions, and names. They bind all below them.
    pub bindings: Vec<(usize, Vec<String>)>,
    /// Rule that selects the next job.
    pub policy: Policy,
    /// Notes for a reader of the answers, in sentences.
    pub notes: Vec<String>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRow {
    /// Its name.
    pub name: String,
    /// Jobs that it runs at a time; matters by fair share only.
    pub slots: u32,
    /// True if it begins in maintenance.
    pub paused: bool,
    /// Limit of waiting on-demand jobs; `None`: none.
    pub limit: Option<u32>,
    /// Maximum run time, microseconds, of jobs that come without any; `None`: that of the site.
    pub default_limit: Option<u64>,
    /// Its prices.
    pub prices: Prices,
}

/// Rule that selects the next job.
#[derive(Clone, Debug)]
pub enum Policy {
    /// The job of the account or user with the smallest used part of its entitlement.
    FairShare(Settings),
    /// The oldest, reservations first.
    OnDemand(OnDemandSite),
}

/// Rules and state that on-demand queues need.
#[derive(Clone, Debug)]
pub struct OnDemandSite {
    /// Ends of runs that are billed.
    pub billed: Outcomes,
    /// Limit of waiting jobs of every account without one of its own; `None`: none.
    pub account_limit: Option<u32>,
    /// Accounts with limits of their own, by position.
    pub account_limits: Vec<(usize, u32)>,
    /// Reservations, in the order of the file.
    pub reservations: Vec<Reserved>,
}

/// A machine that is an account's for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its number.
    pub id: u64,
    /// The machine.
    pub machine: String,
    /// Position of the owner.
    pub account: usize,
    /// From this moment.
    pub start: Micros,
    /// Until before this one.
    pub end: Micros,
    /// Line of the file, from 1.
    pub line: usize,
}
