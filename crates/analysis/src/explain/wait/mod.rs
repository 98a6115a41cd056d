//! Why a job waits: its reason, its place in the queue, who is ahead, and what would help.
//!
//! [`waits`] answers for one job of a cluster with its queue. The reason is slurmctld's; how full a limit
//! is, and that no partition can ever run the job, is computed from the input. Places are those of
//! [`what_if`](crate::what_if): by priority within a partition, 1 is the first; under `order=` those of
//! [`line`](super::line). Each step that would help was tried: its place is the one that the engine
//! computes after the change, all else as it is.

mod cause;
mod limit;
mod never;
mod step;

use std::collections::HashMap;

use serde::Serialize;

use super::line::OrderedQueue;
use super::{ExplainError, RankedSite, Remedy, RemedyKind, compare_jobs};
use crate::what_if::standing::{Entry, queue};
use fairtree::priority::Index;
use fairtree_model::cluster::{Cluster, ClusterJob, Names};

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

/// Why a job waits; `None` for one that does not.
///
/// # Errors
/// Those of [`ExplainError::Priority`] and [`ExplainError::Order`].
pub fn waits(
    ranked: &RankedSite<'_>,
    cluster: &Cluster,
    job: &ClusterJob,
) -> Result<Option<Waits>, ExplainError> {
    if !cause::waits(job) {
        return Ok(None);
    }
    let cause = cause(cluster, job);
    let mut waits = Waits {
        reason: job.wait.as_deref().map(|wait| wait.reason.to_string()),
        cause,
        places: Vec::new(),
        ahead: Vec::new(),
        visible_only: cluster.private_data.iter().any(|word| word == "jobs"),
        steps: Vec::new(),
        next: None,
    };
    if let Some(ordered) = OrderedQueue::of(cluster)? {
        let place = ordered.place_of(job);
        waits.places.push(Place {
            partition: None,
            place: place.map(|at| at as u64 + 1),
            of: ordered.waiting() as u64,
        });
        waits.ahead = by_account(ordered.before(place.unwrap_or(0)));
        waits.steps = step::without_places(cluster, job, &waits.cause);
        return Ok(Some(waits));
    }
    let entries = queue(cluster)?;
    let own: Vec<&Entry> = entries.iter().filter(|e| e.key.id == job.job.id).collect();
    let name = |at: Index| cluster.partition(at);
    waits.places = own
        .iter()
        .map(|entry| Place {
            partition: entry.key.partition.map(name),
            place: entry.standing.place,
            of: entry.standing.of,
        })
        .collect();
    waits.places.dedup();
    if let Some(first) = own.first() {
        let ahead = entries.iter().filter(|other| is_ahead(other, first));
        waits.ahead = by_account(ahead.map(|entry| &cluster.jobs()[entry.job as usize]));
        let next = first.standing.place.and_then(|place| place.checked_sub(1));
        let next = next.filter(|_| cause::is_of_order(&waits.cause));
        let next = entries.iter().find(|other| {
            other.key.partition == first.key.partition && other.standing.place == next
        });
        if let Some(next) = next.filter(|next| next.standing.place.is_some()) {
            let other = &cluster.jobs()[next.job as usize];
            let compared = compare_jobs(ranked, cluster, [&job.job, &other.job])?;
            waits.next = Some(Next {
                job: other.job.id,
                remedies: compared.remedies,
            });
        }
    }
    waits.steps = step::all(cluster, job, &waits.cause, &entries)?;
    Ok(Some(waits))
}

/// Returns true if an entry has an earlier place than another one in the same partition.
fn is_ahead(entry: &Entry, own: &Entry) -> bool {
    let place = entry.standing.place.zip(own.standing.place);
    entry.key.partition == own.key.partition && place.is_some_and(|(place, own)| place < own)
}

fn by_account<'a>(jobs: impl Iterator<Item = &'a ClusterJob>) -> Vec<Ahead> {
    let mut counts: HashMap<Option<&str>, u64> = HashMap::new();
    for job in jobs {
        *counts.entry(job.account.as_deref()).or_default() += 1;
    }
    let counts = counts.into_iter().map(|(account, jobs)| Ahead {
        account: account.map(str::to_owned),
        jobs,
    });
    let mut ahead: Vec<Ahead> = counts.collect();
    ahead.sort_by(|a, b| (b.jobs, &a.account).cmp(&(a.jobs, &b.account)));
    ahead
}
