//! The factors of a job, the weights and the one integer.

use crate::config::Config;
use crate::tree::AssocIndex;

/// A position in one of the tables of [`Site`]; four bytes, an `Option` of it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(std::num::NonZeroU32);

impl Index {
    /// The position `index`; panics from `u32::MAX` on.
    pub fn new(index: usize) -> Index {
        let plus_one = u32::try_from(index).ok().and_then(|i| i.checked_add(1));
        Index(
            plus_one
                .and_then(std::num::NonZeroU32::new)
                .expect("fewer than 2^32 - 1 rows"),
        )
    }
    /// As a slice index.
    pub fn get(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A run of entries in one of the side lists of [`Site`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First entry.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

/// A partition, as far as priorities care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    /// `PriorityJobFactor`, 0..=65533.
    pub priority_job_factor: u16,
    /// The same over the largest of all partitions, 0..=1.
    pub norm_priority: f64,
    /// `MaxTime`, minutes; `None`: unlimited.
    pub max_time_mins: Option<u32>,
    /// Where its TRES counts start in [`Site::tres_counts`]; `None`: unknown.
    pub tres: Option<Index>,
}

/// A QOS, as far as priorities care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Qos {
    /// `Priority` of the QOS.
    pub priority: u32,
    /// The same over the largest of all, 0..=1.
    pub norm_priority: f64,
}

/// An association, as far as priorities care.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AssocFactors {
    /// Fair-share factor, 0..=1.
    pub fs_factor: f64,
    /// `Priority` of the association, raw.
    pub priority: u32,
    /// The same over the largest of all, 0..=1.
    pub norm_priority: f64,
}

/// Time limit of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    /// Not set: the partition's `MaxTime` counts.
    Unset,
    /// No limit.
    Unlimited,
    /// Minutes.
    Minutes(u32),
}

/// A job, as far as priorities care: a row of plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Job number.
    pub id: u32,
    /// Its association in the tree; `None`: no fair-share and association factor.
    pub assoc: Option<AssocIndex>,
    /// Its partition; for a job in several, the one that slurmctld looked at last.
    pub partition: Option<Index>,
    /// Its QOS.
    pub qos: Option<Index>,
    /// All partitions of a job that asked for several, in [`Site::partition_lists`].
    pub partitions: Span,
    /// All QOS of a job that asked for several, in [`Site::qos_lists`].
    pub qos_list: Span,
    /// When it began to age, seconds since 1970; 0: it does not age.
    pub accrue_time: i64,
    /// CPUs: allocated, else the most asked for, else the least.
    pub cpus: u32,
    /// Least number of nodes.
    pub nodes: u32,
    /// Time limit.
    pub time_limit: TimeLimit,
    /// Nice value, subtracted.
    pub nice: i32,
    /// Site factor, added.
    pub site_factor: i32,
    /// Where its TRES counts start in [`Site::tres_counts`]; `None`: unknown.
    pub tres: Option<Index>,
    /// Its priority now; 0: held.
    pub priority: u32,
    /// An administrator set the priority: it stays.
    pub direct: bool,
}

/// The tables that jobs point into.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Partitions.
    pub partitions: Vec<Partition>,
    /// QOS.
    pub qos: Vec<Qos>,
    /// Concatenated partition lists of jobs.
    pub partition_lists: Vec<Index>,
    /// Concatenated QOS lists of jobs.
    pub qos_lists: Vec<Index>,
    /// Names of the TRES, in Slurm's order.
    pub tres_names: Vec<String>,
    /// TRES counts, rows of `tres_names.len()`; a not counted TRES is 0.
    pub tres_counts: Vec<u64>,
    /// Associations, by position in the tree.
    pub assocs: Vec<AssocFactors>,
    /// CPUs of the cluster.
    pub cluster_cpus: u32,
    /// Nodes of the cluster.
    pub cluster_nodes: u32,
}

/// Weighted terms of one job, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Priced {
    /// Age factor times `PriorityWeightAge`.
    pub age: f64,
    /// Association factor times `PriorityWeightAssoc`.
    pub assoc: f64,
    /// Fair-share factor times `PriorityWeightFairshare`.
    pub fairshare: f64,
    /// Job size factor times `PriorityWeightJobSize`.
    pub job_size: f64,
    /// Partition factor times `PriorityWeightPartition`.
    pub partition: f64,
    /// QOS factor times `PriorityWeightQOS`.
    pub qos: f64,
    /// Sum of the weighted TRES factors.
    pub tres: f64,
    /// Site factor.
    pub site: i32,
    /// Nice value.
    pub nice: i32,
    /// The priority, 1..=4294967295; 0: held.
    pub priority: u32,
}

/// Prices one job at `now` (seconds since 1970).
pub fn price(_config: &Config, _site: &Site, _job: &Job, _now: i64) -> Priced {
    todo!()
}
