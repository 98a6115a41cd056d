//! Why a job waits: its reason, its place in the queue, who is ahead, and what would help.
//!
//! [`waits`] answers for one job of a cluster with its queue. The reason is slurmctld's; how full a limit
//! is, and that no partition can ever run the job, is computed from the input. Places are those of
//! [`what_if`](crate::what_if): by priority within a partition, 1 is the first; under `order=` those of
//! [`line`](super::line), and both are read from a [`WaitingLine`], which is priced once. Each step that would
//! help was tried: its place is the one that the engine computes after the change, all else as it is.

mod cause;
mod limit;
mod never;
mod step;

use serde::Serialize;

use super::{ExplainError, RankedSite, Remedy, RemedyKind, compare_jobs};
use crate::waiting::{WaitingLine, Way};
use fairtree_model::cluster::{Cluster, ClusterJob};
use fairtree_model::input::slurm::config::hides_jobs;

pub use cause::{Cause, Dependency, cause};
pub use limit::Reached;
pub use never::Never;
pub use step::{Step, StepKind};

/// Why a job waits, and what would help.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// Slurm's word, as `squeue` prints it; `None`: the input does not have it.
    pub reason: Option<String>,
    /// The same in terms to act on.
    pub cause: Cause,
    /// Its places: one for each partition that it asks for, or one in the order of the site.
    pub places: Vec<Place>,
    /// The jobs ahead of it at the first of these places, by account, most jobs first.
    pub ahead: Vec<Ahead>,
    /// True where `PrivateData=jobs` hides jobs of others: places count only jobs that the asking user may see.
    pub visible_only: bool,
    /// Changes that its user can make, each tried; those that do not help are left out.
    pub steps: Vec<Step>,
    /// Changes that put it ahead of the next job, each tried; `None`: it is the first, or its place does not
    /// matter.
    pub next: Option<Next>,
}

/// The job right ahead of one, and changes that swap the two.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    /// Its number.
    pub job: u32,
    /// The changes.
    pub remedies: Vec<Remedy>,
}

/// Returns true if a change comes by waiting, which is all that a user can do about the order of two. The
/// others need an administrator, or are the use of others.
pub fn is_for_users(kind: &RemedyKind) -> bool {
    matches!(
        kind,
        RemedyKind::Waiting | RemedyKind::RunningLoad | RemedyKind::DecayAlone { .. }
    )
}

/// A place in the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The partition; `None`: the order of the whole site.
    pub partition: Option<String>,
    /// 1 is the first; `None`: it has none, because it is held.
    pub place: Option<u64>,
    /// Number of places.
    pub of: u64,
}

/// Jobs ahead of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ahead {
    /// Their account; `None`: they have none.
    pub account: Option<String>,
    /// Their number, from 1.
    pub jobs: u64,
}

/// Why a job waits; `None` for one that does not. `line`: the queue of the cluster.
///
/// # Errors
/// Those of [`ExplainError::Priority`] and [`ExplainError::Order`].
pub fn waits(
    ranked: &RankedSite<'_>,
    cluster: &Cluster,
    line: &WaitingLine,
    job: &ClusterJob,
) -> Result<Option<Waits>, ExplainError> {
    let Some((mut found, next)) = without_next(cluster, line, job)? else {
        return Ok(None);
    };
    found.next = match next {
        Some(other) => Some(Next {
            job: other.job.id,
            remedies: compare_jobs(ranked, cluster, [&job.job, &other.job])?.remedies,
        }),
        None => None,
    };
    Ok(Some(found))
}

/// As [`waits`], and the job right ahead where changes could swap the two, but not the changes: each is tried
/// by ranking all associations again, which takes a second where there are 50,000.
///
/// # Errors
/// Those of [`waits`].
pub fn without_next<'a>(
    cluster: &'a Cluster,
    line: &WaitingLine,
    job: &ClusterJob,
) -> Result<Option<(Waits, Option<&'a ClusterJob>)>, ExplainError> {
    if !cause::waits(job) {
        return Ok(None);
    }
    let (id, cause) = (job.job.id, cause(cluster, job));
    let ways = line.ways(cluster, id);
    let mut places: Vec<Place> = match line.ordered() {
        Some(of) => vec![Place {
            partition: None,
            place: ways.iter().find_map(|way| way.place),
            of,
        }],
        None => ways.into_iter().map(Place::from).collect(),
    };
    places.dedup();
    let ahead = line.ahead(id, 0).unwrap_or_default();
    let steps = match line.ordered() {
        Some(_) => step::without_places(cluster, job, &cause),
        None => {
            let best = places.iter().filter_map(|place| place.place).min();
            step::all(cluster, job, &cause, (line.entries(), best))?
        }
    };
    // Where shares are hidden it is not known what would change the order.
    let is_known = cluster.is_whole() && line.ordered().is_none();
    let next = ahead
        .next
        .filter(|_| is_known && cause::is_of_order(&cause));
    let next = next.and_then(|next| line.job(cluster, next));
    let found = Waits {
        reason: job.wait.as_deref().map(|wait| wait.reason.to_string()),
        cause,
        places,
        ahead: ahead.accounts.into_iter().map(Ahead::from).collect(),
        visible_only: hides_jobs(&cluster.private_data),
        steps,
        next: None,
    };
    Ok(Some((found, next)))
}

impl From<Way> for Place {
    fn from(way: Way) -> Place {
        Place {
            partition: way.partition,
            place: way.place,
            of: way.of,
        }
    }
}

/// Jobs without an account have an empty name.
impl From<(String, u64)> for Ahead {
    fn from((account, jobs): (String, u64)) -> Ahead {
        Ahead {
            account: Some(account).filter(|name| !name.is_empty()),
            jobs,
        }
    }
}
