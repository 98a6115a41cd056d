//! The rows of a pass: jobs, and the tables that they point into.
//!
//! A [`Job`] is plain numbers and positions. Lists and TRES counts of all jobs are concatenated in
//! side tables, [`JobTables`], so that a row needs no allocation.

use crate::tree::AssocIndex;

/// A position in one of the [`JobTables`]; takes four bytes, also as an `Option`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(std::num::NonZeroU32);

impl Index {
    /// The position `index`; panics if it is `u32::MAX` or more.
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
    /// Inverse of [`Index::slot`]: the position `slot` - 1; `None` for 0.
    #[cfg_attr(
        not(any(feature = "capi", feature = "slurm")),
        allow(dead_code, reason = "only hosts have such rows")
    )]
    #[inline(always)]
    pub(crate) fn from_slot(slot: u32) -> Option<Index> {
        std::num::NonZeroU32::new(slot).map(Index)
    }
    /// The position plus 1; 0 for `None`.
    #[cfg(feature = "capi")]
    pub(crate) fn slot(index: Option<Index>) -> u32 {
        index.map_or(0, |index| index.0.get())
    }
}

/// A range of entries in one of the side lists of [`JobTables`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First entry.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

/// Fields of a partition that priorities depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    /// `PriorityJobFactor`, 0..=65533.
    pub priority_job_factor: u16,
    /// The same divided by the largest of all partitions, 0..=1.
    pub norm_priority: f64,
    /// `MaxTime`, minutes; `None`: unlimited.
    pub max_time_mins: Option<u32>,
    /// Start of its TRES counts in [`JobTables::tres_counts`]; `None`: unknown, and its TRES
    /// factors are 0 unless `NO_NORMAL_TRES` is set.
    pub tres: Option<Index>,
}

/// Fields of a QOS that priorities depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Qos {
    /// `Priority` of the QOS.
    pub priority: u32,
    /// The same divided by the largest of all QOS, 0..=1.
    pub norm_priority: f64,
}

/// Fields of an association that priorities depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AssocFactors {
    /// Fair-share factor, 0..=1.
    pub fs_factor: f64,
    /// `Priority` of the association, raw.
    pub priority: u32,
    /// The same divided by the largest of all associations, 0..=1.
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

/// Fields of a job that priorities depend on: a row of plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Job number.
    pub id: u32,
    /// Its association in the tree; `None`: the fair-share and association factors are 0.
    pub assoc: Option<AssocIndex>,
    /// Its partition; for a job with several, the one that slurmctld considered last.
    pub partition: Option<Index>,
    /// Its QOS.
    pub qos: Option<Index>,
    /// All partitions of a job that asked for several, in [`JobTables::partition_lists`].
    pub partitions: Span,
    /// All QOS of a job that asked for several, in [`JobTables::qos_lists`].
    pub qos_list: Span,
    /// Time at which it began to age, seconds since 1970; 0: it does not age. The host chooses it:
    /// the submit time under `ACCRUE_ALWAYS`, otherwise the time at which the job became eligible.
    pub accrue_time: i64,
    /// CPUs: allocated, otherwise the requested maximum, otherwise the requested minimum.
    pub cpus: u32,
    /// Requested minimum number of nodes.
    pub nodes: u32,
    /// Time limit.
    pub time_limit: TimeLimit,
    /// Nice value, subtracted.
    pub nice: i32,
    /// Site factor, added.
    pub site_factor: i32,
    /// Start of its TRES counts in [`JobTables::tres_counts`]; `None`: unknown.
    pub tres: Option<Index>,
    /// Its present priority, used by `INCR_ONLY` and `direct`; 0: held.
    pub priority: u32,
    /// True if an administrator set the priority: it stays unless it is 0.
    pub direct: bool,
}

impl Job {
    /// A job that is not held and has nothing that contributes to its priority: no association,
    /// partition, QOS, age, size, TRES, nice value or site factor, and no time limit.
    pub fn new(id: u32) -> Job {
        Job {
            id,
            assoc: None,
            partition: None,
            qos: None,
            partitions: Span::default(),
            qos_list: Span::default(),
            accrue_time: 0,
            cpus: 0,
            nodes: 0,
            time_limit: TimeLimit::Unset,
            nice: 0,
            site_factor: 0,
            tres: None,
            priority: 1,
            direct: false,
        }
    }

    /// True if an administrator's priority stays: set by hand, and not 0.
    pub(super) fn is_direct(&self) -> bool {
        self.direct && self.priority > 0
    }
}

/// The tables that jobs point into.
#[derive(Clone, Debug, Default)]
pub struct JobTables {
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
    /// TRES counts of jobs and partitions, each a range of `tres_names.len()` numbers whose start
    /// is in the job or partition. A TRES that is not counted is 0. For a job these are allocated
    /// counts, or else requested counts.
    pub tres_counts: Vec<u64>,
    /// Associations, by position in the tree.
    pub assocs: Vec<AssocFactors>,
    /// CPUs of the cluster; 0: the size factor is 0.
    pub cluster_cpus: u32,
    /// Nodes of the cluster (the active ones from 24.11 on); 0: the size factor is 0.
    pub cluster_nodes: u32,
}
