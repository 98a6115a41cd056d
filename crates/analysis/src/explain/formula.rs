//! How each factor came about: the numbers behind it.

use serde::Serialize;

use super::RankedSite;
use fairtree::fairshare::FactorFormula;
use fairtree::priority::{Job, Partition, TimeLimit};
use fairtree_model::cluster::Names;

/// Which job size factor the settings choose; see Slurm's priority_multifactor.html, "Job Size
/// Factor".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeMode {
    /// Large jobs first: the default.
    Large,
    /// `PriorityFavorSmall=YES`.
    Small,
    /// `SMALL_RELATIVE_TO_TIME`.
    RelativeToTime,
    /// Both.
    SmallRelativeToTime,
}

/// The numbers that a factor was made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Formula {
    /// `waited / PriorityMaxAge`, at most 1.
    Age {
        /// Seconds since the job began to age, from 0 up; `None`: it does not age.
        waited_secs: Option<i64>,
        /// `PriorityMaxAge`, seconds.
        max_age_secs: u32,
    },
    /// `priority / largest`, or the priority itself.
    Priority {
        /// Priority of the association, partition (`PriorityJobFactor`) or QOS.
        priority: u32,
        /// The largest of its kind; `None` under a `NO_NORMAL_...` flag, where nothing is divided.
        largest: Option<u32>,
    },
    /// `rank / users` (Fair Tree).
    Rank {
        /// The user.
        user: String,
        /// The best rank is the number of users, the last one 1; equals share the best of theirs.
        rank: u64,
        /// Number of user associations.
        users: u64,
    },
    /// `2^(-(effective usage / normalised shares) / dampening)` (classic fair share).
    Power {
        /// The user.
        user: String,
        /// Effective usage, from 0 up.
        effective_usage: f64,
        /// Normalised shares, 0..=1; 0 gives the factor 0.
        norm_shares: f64,
        /// `FairShareDampeningFactor`.
        dampening: u16,
    },
    /// `(1 + normalised shares - effective usage) / 2` (difference of shares and usage).
    Difference {
        /// The user.
        user: String,
        /// Effective usage, 0..=1.
        effective_usage: f64,
        /// Normalised shares, 0..=1.
        norm_shares: f64,
    },
    /// Nodes and CPUs of the job against those of the cluster.
    Size {
        /// How.
        mode: SizeMode,
        /// Least number of nodes asked for.
        nodes: u32,
        /// Nodes of the cluster.
        cluster_nodes: u32,
        /// CPUs asked for.
        cpus: u32,
        /// CPUs of the cluster.
        cluster_cpus: u32,
        /// Time limit in minutes, in the two modes that look at it; `None` there: unlimited, which
        /// counts 4294967295.
        minutes: Option<u32>,
    },
    /// `count / of`, or the count itself.
    Tres {
        /// How much the job asks for.
        count: u64,
        /// How much the partition has; `None` under `NO_NORMAL_TRES`, where nothing is divided.
        of: Option<u64>,
    },
    /// There is nothing that the factor could look at: no association, partition or QOS.
    Absent,
    /// The points are the number that the job has.
    Given,
    /// The points are what the priority is more than the other terms add up to.
    Rest,
}

impl Formula {
    /// The factor of a [`Formula::Tres`], as [`fairtree::priority::Pricer::tres_terms`] weighs it.
    pub(super) fn tres_factor(&self) -> f64 {
        match *self {
            Formula::Tres { count, of: None } => count as f64,
            Formula::Tres {
                count,
                of: Some(of),
            } if of > 0 => count as f64 / of as f64,
            _ => 0.0,
        }
    }
}

pub(super) fn age(ranked: &RankedSite<'_>, job: &Job) -> Formula {
    let ages = job.accrue_time != 0;
    Formula::Age {
        waited_secs: ages.then(|| ranked.now.saturating_sub(job.accrue_time).max(0)),
        max_age_secs: ranked.config.priority_max_age_secs,
    }
}

pub(super) fn assoc(ranked: &RankedSite<'_>, job: &Job) -> Formula {
    let assocs = &ranked.tables.assocs;
    priority(
        job.assoc.map(|assoc| assocs[assoc.get()].priority),
        assocs.iter().map(|assoc| assoc.priority),
        ranked.config.priority_flags.no_normal_assoc,
    )
}

pub(super) fn partition(ranked: &RankedSite<'_>, job: &Job) -> Formula {
    let factor = |partition: &Partition| u32::from(partition.priority_job_factor);
    let partitions = &ranked.tables.partitions;
    priority(
        job.partition.map(|index| factor(&partitions[index.get()])),
        partitions.iter().map(factor),
        ranked.config.priority_flags.no_normal_part,
    )
}

pub(super) fn qos(ranked: &RankedSite<'_>, job: &Job) -> Formula {
    let qos = &ranked.tables.qos;
    priority(
        job.qos.map(|index| qos[index.get()].priority),
        qos.iter().map(|qos| qos.priority),
        ranked.config.priority_flags.no_normal_qos,
    )
}

fn priority(own: Option<u32>, all: impl Iterator<Item = u32>, raw: bool) -> Formula {
    match own {
        None => Formula::Absent,
        Some(priority) => Formula::Priority {
            priority,
            largest: if raw { None } else { all.max() },
        },
    }
}

pub(super) fn fairshare(ranked: &RankedSite<'_>, names: &dyn Names, job: &Job) -> Formula {
    let Some(index) = job.assoc else {
        return Formula::Absent;
    };
    let user = names.assoc(index);
    let result = &ranked.fairshare[index.get()];
    match ranked.config.ranking().formula() {
        FactorFormula::Rank => match result.fs_factor {
            None => Formula::Absent,
            Some(factor) => {
                let users = ranked.config.ranking().places(ranked.tree);
                Formula::Rank {
                    user,
                    rank: rank(factor, users),
                    users: users as u64,
                }
            }
        },
        FactorFormula::Power { dampening } => Formula::Power {
            user,
            effective_usage: result.effective_usage.to_f64(),
            norm_shares: result.norm_shares,
            dampening,
        },
        FactorFormula::Difference => Formula::Difference {
            user,
            effective_usage: result.effective_usage.to_f64(),
            norm_shares: result.norm_shares,
        },
    }
}

/// The rank that a Fair Tree factor represents.
pub(super) fn rank(factor: f64, users: usize) -> u64 {
    (factor * users as f64).round() as u64
}

pub(super) fn size(ranked: &RankedSite<'_>, job: &Job) -> Formula {
    let config = ranked.config;
    let relative = config.priority_flags.small_relative_to_time;
    let mode = match (relative, config.priority_favor_small) {
        (false, false) => SizeMode::Large,
        (false, true) => SizeMode::Small,
        (true, false) => SizeMode::RelativeToTime,
        (true, true) => SizeMode::SmallRelativeToTime,
    };
    let partition = job.partition.map(|p| &ranked.tables.partitions[p.get()]);
    let minutes = match (job.time_limit, partition) {
        _ if !relative => None,
        (TimeLimit::Minutes(minutes), _) => Some(minutes),
        (TimeLimit::Unlimited, _) => None,
        (TimeLimit::Unset, Some(partition)) => partition.max_time_mins,
        (TimeLimit::Unset, None) => Some(1),
    };
    Formula::Size {
        mode,
        nodes: job.nodes,
        cluster_nodes: ranked.tables.cluster_nodes,
        cpus: job.cpus,
        cluster_cpus: ranked.tables.cluster_cpus,
        minutes,
    }
}

/// Of the TRES at `position` of the site.
pub(super) fn tres(ranked: &RankedSite<'_>, job: &Job, position: usize) -> Formula {
    let tables = ranked.tables;
    let count = |start: Option<fairtree::priority::Index>| {
        start.map_or(0, |start| tables.tres_counts[start.get() + position])
    };
    let partition = job.partition.map(|p| &tables.partitions[p.get()]);
    let raw = ranked.config.priority_flags.no_normal_tres;
    Formula::Tres {
        count: count(job.tres),
        of: (!raw).then(|| count(partition.and_then(|p| p.tres))),
    }
}
