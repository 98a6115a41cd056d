//! The reason of a job that waits, in terms that a user can act on.

use serde::Serialize;

use super::limit::{self, Reached};
use super::never::{self, Never};
use fairtree_model::cluster::{Cluster, ClusterJob, JobName, JobPhase};

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// No partition that it asks for can run it, whatever ends: more nodes, CPUs or time than they have.
    Never {
        /// One for each partition.
        partitions: Vec<Never>,
    },
    /// Jobs with a higher priority come first.
    Priority,
    /// It is next, and waits until resources are free.
    Resources,
    /// Other jobs must start or end before.
    Dependency {
        /// These.
        on: Vec<Dependency>,
        /// True if this can no longer happen.
        never: bool,
    },
    /// It asked not to start before a time.
    BeginTime {
        /// The time, seconds since 1970; 0: not known.
        begin: i64,
    },
    /// A user held it.
    HeldByUser,
    /// An administrator held it, or its priority is 0.
    HeldByAdmin,
    /// A limit of its association, an account above or its QOS is reached.
    Limit {
        /// The limit.
        limit: Reached,
    },
    /// Its partition is down or inactive.
    PartitionOff,
    /// Nodes that it asks for are down, drained or reserved.
    NodesUnavailable,
    /// Another reason: Slurm's word shows which.
    Other,
    /// The input does not have the reason.
    Unknown,
}

/// A condition of `--dependency` that is not met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dependency {
    /// `afterok` and others of sbatch(1).
    pub condition: String,
    /// The job, as `302` or `302_4`; `None`: any other job of the same name and user (`singleton`).
    pub job: Option<String>,
    /// True if it was met in the wrong way: the job cannot start any more.
    pub failed: bool,
    /// `JobState` of that job where the input has it.
    pub state: Option<String>,
}

/// The cause of a job that waits.
pub fn cause(cluster: &Cluster, job: &ClusterJob) -> Cause {
    let reason = job.wait.as_deref().map(|wait| &*wait.reason);
    let refused = reason.is_none_or(|reason| reason.starts_with("Partition"));
    let partitions = never::partitions(cluster, &job.job, refused);
    if !partitions.is_empty() && partitions.iter().all(Never::is_certain) {
        return Cause::Never { partitions };
    }
    let Some(wait) = job.wait.as_deref() else {
        return match job.job.priority {
            0 => Cause::HeldByAdmin,
            _ => Cause::Unknown,
        };
    };
    let on = wait.dependency.as_deref().unwrap_or_default();
    match &*wait.reason {
        "Priority" => Cause::Priority,
        "Resources" => Cause::Resources,
        reason @ ("Dependency" | "DependencyNeverSatisfied") => {
            let on = dependencies(cluster, on);
            let never = reason != "Dependency" || on.iter().any(|one| one.failed);
            Cause::Dependency { on, never }
        }
        "BeginTime" => Cause::BeginTime { begin: wait.begin },
        "JobHeldUser" => Cause::HeldByUser,
        "JobHeldAdmin" | "JobHoldMaxRequeue" => Cause::HeldByAdmin,
        "PartitionDown" | "PartitionInactive" => Cause::PartitionOff,
        "ReqNodeNotAvail" | "NodeDown" => Cause::NodesUnavailable,
        "None" => Cause::Unknown,
        reason => match limit::of(cluster, job, reason) {
            Some(limit) => Cause::Limit { limit },
            None => Cause::Other,
        },
    }
}

/// Reads `afterok:302(unfulfilled),singleton(unfulfilled)`; `?` between conditions: one is enough.
fn dependencies(cluster: &Cluster, text: &str) -> Vec<Dependency> {
    let parts = text.split([',', '?']).filter(|part| !part.is_empty());
    parts.map(|part| dependency(cluster, part)).collect()
}

fn dependency(cluster: &Cluster, text: &str) -> Dependency {
    let (what, state) = text.split_once('(').unwrap_or((text, ""));
    let (condition, job) = match what.split_once(':') {
        Some((condition, job)) => (condition, Some(job)),
        None => (what, None),
    };
    // `302+5`: five minutes after.
    let job = job.map(|job| job.split('+').next().unwrap_or(job).to_owned());
    let name: Option<JobName> = job.as_deref().and_then(|job| job.parse().ok());
    let found = name.and_then(|name| cluster.find_job(name).ok());
    Dependency {
        condition: condition.to_owned(),
        failed: state.starts_with("failed"),
        state: found.map(|at| cluster.jobs()[at].state.to_string()),
        job,
    }
}

/// Returns true if a higher priority helps a job that waits for this.
pub(super) fn is_of_order(cause: &Cause) -> bool {
    matches!(cause, Cause::Priority | Cause::Resources | Cause::Unknown)
}

/// Returns true if a job waits in the queue.
pub(super) fn waits(job: &ClusterJob) -> bool {
    job.phase == JobPhase::Pending
}
