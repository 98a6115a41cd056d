//! The standing of everyone at one moment: accounts, users, jobs.

use std::collections::HashMap;

use serde::Serialize;

use crate::explain::line::OrderedQueue;
use fairtree::engine::Claim;
use fairtree::order::OrderError;
use fairtree::priority::{Factor, Index, Job, Priced, Pricer, PriorityError, Term};
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Cluster, ClusterJob, JobPhase};

/// An account or a user at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AssocStanding {
    /// The account above.
    pub parent: String,
    /// Among those that it competes with ([`Ranking::contest`](fairtree::fairshare::Ranking::contest)):
    /// 1 is the first, equals share theirs; `None`: it does not compete.
    pub place: Option<u64>,
    /// How many places there are; 0 without one.
    pub of: u64,
    /// Raw shares; `None`: those of its parent, which JSON says in the word `parent`.
    #[serde(serialize_with = "shares_word")]
    pub raw_shares: Option<u32>,
    /// Normalised shares, 0..=1.
    pub norm_shares: f64,
    /// Its part of the whole, 0..=1.
    pub share_of_whole: f64,
    /// TRES-seconds.
    pub raw_usage: f64,
    /// TRES-seconds that it is entitled to; `None`: not known, `due` counts.
    pub entitled: Option<f64>,
    /// TRES-seconds that are due to it of what was used; `None`: it is entitled to a time.
    pub due: Option<f64>,
    /// Used over one of these; `None`: it is entitled to nothing.
    pub used_ratio: Option<f64>,
    /// Effective usage, from 0 up.
    pub effective_usage: f64,
    /// Level fairshare, 0..=infinity; `None` outside Fair Tree and for accounts that stand aside.
    #[serde(serialize_with = "number_or_inf")]
    pub level_fs: Option<f64>,
    /// Fair-share factor, 0..=1; `None` for accounts under Fair Tree.
    pub fs_factor: Option<f64>,
}

impl AssocStanding {
    /// Its part of what `entitled` or `due` are parts of, 0..=1: where the ranking compares use with
    /// these, of the whole, else its normalised shares.
    pub fn claimed_part(&self) -> f64 {
        match self.entitled {
            Some(_) => self.share_of_whole,
            None => self.norm_shares,
        }
    }
}

/// A job in one of its partitions and QOS, at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobStanding {
    /// Among the jobs of its partition that are not held, by priority, then by number, or under `order=`
    /// among all of the site: 1 is the first; `None`: it has none.
    pub place: Option<u64>,
    /// How many places there are.
    pub of: u64,
    /// Priority; 0: held.
    pub priority: u32,
    /// Points of each term; none of a priority that an administrator set.
    pub points: Points,
}

/// The terms of a priority, weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Points {
    /// Age.
    pub age: f64,
    /// Association.
    pub assoc: f64,
    /// Fair share.
    pub fairshare: f64,
    /// Job size.
    pub job_size: f64,
    /// Partition.
    pub partition: f64,
    /// QOS.
    pub qos: f64,
    /// All TRES.
    pub tres: f64,
    /// Site factor.
    pub site: i32,
    /// Nice value, subtracted.
    pub nice: i32,
}

impl Points {
    /// Points of one term; a nice value counts against the job.
    pub fn term(&self, term: Term) -> f64 {
        match term {
            Term::Factor(Factor::Age) => self.age,
            Term::Factor(Factor::Assoc) => self.assoc,
            Term::Factor(Factor::Fairshare) => self.fairshare,
            Term::Factor(Factor::JobSize) => self.job_size,
            Term::Factor(Factor::Partition) => self.partition,
            Term::Factor(Factor::Qos) => self.qos,
            Term::Factor(Factor::Tres) => self.tres,
            Term::Site => f64::from(self.site),
            Term::Nice => -f64::from(self.nice),
        }
    }

    fn of(priced: &Priced) -> Points {
        Points {
            age: priced.age,
            assoc: priced.assoc,
            fairshare: priced.fairshare,
            job_size: priced.job_size,
            partition: priced.partition,
            qos: priced.qos,
            tres: priced.tres,
            site: priced.site,
            nice: priced.nice,
        }
    }
}

/// The key of a job's entry in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct JobKey {
    pub(crate) id: u32,
    pub(crate) partition: Option<Index>,
    /// Of a job with several QOS which one.
    pub(crate) qos: Option<Index>,
}

/// An entry in the queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: JobKey,
    /// The place of the job among the jobs of the cluster.
    pub(crate) job: u32,
    /// The QOS that it has there.
    pub(crate) qos: Option<Index>,
    pub(crate) standing: JobStanding,
}

/// The standings of all associations, by position; `None` for the root.
pub(crate) fn associations(cluster: &Cluster) -> Vec<Option<AssocStanding>> {
    let standings = cluster.standings();
    let standing = |at: usize| {
        let index = AssocIndex::new(at);
        let parent = cluster.tree().parent(index)?;
        let (found, standing) = (&cluster.fairshare[at], standings.of(index));
        let (entitled, due) = match standing.claim {
            Claim::Entitled(secs) => (Some(secs), None),
            Claim::Due(secs) => (None, Some(secs)),
        };
        Some(AssocStanding {
            parent: cluster.name(parent).account.clone(),
            place: standing.place.map(|place| place.place),
            of: standing.place.map_or(0, |place| place.of),
            raw_shares: cluster.tree().rows()[at].shares.raw(),
            norm_shares: found.norm_shares,
            share_of_whole: standing.share_of_whole,
            raw_usage: standing.used,
            entitled,
            due,
            used_ratio: standing.ratio,
            effective_usage: found.effective_usage.to_f64(),
            level_fs: standing.level_fs,
            fs_factor: standing.fs_factor,
        })
    };
    (0..cluster.tree().len()).map(standing).collect()
}

/// Why a queue has no places.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QueueError {
    /// Settings and jobs that cannot be priced.
    #[error(transparent)]
    Priority(#[from] PriorityError),
    /// Jobs that have no order.
    #[error(transparent)]
    Order(#[from] OrderError),
}

/// The queue: an entry for each way to run each job that waits.
///
/// Places are by priority within a partition; under `order=` they are those of the whole site's order.
///
/// # Errors
/// [`QueueError`].
pub(crate) fn queue(cluster: &Cluster) -> Result<Vec<Entry>, QueueError> {
    let pricer = Pricer::new(&cluster.config, &cluster.tables, cluster.now().unwrap_or(0))?;
    let mut entries: Vec<Entry> = Vec::new();
    for (job, at) in cluster.jobs().iter().zip(0..) {
        if job.phase == JobPhase::Pending {
            cluster.tables.check_job(&job.job)?;
            ways(&pricer, at, job, &mut entries);
        }
    }
    if let Some(ordered) = OrderedQueue::of(cluster)? {
        let of = ordered.waiting() as u64;
        let places = ordered.places();
        for entry in &mut entries {
            let standing = &mut entry.standing;
            (standing.place, standing.of) = (places.get(&entry.key.id).copied(), of);
        }
        return Ok(entries);
    }
    let mut by_partition: HashMap<Option<Index>, Vec<u32>> = HashMap::new();
    for (entry, at) in entries.iter().zip(0..) {
        if entry.standing.priority > 0 {
            by_partition
                .entry(entry.key.partition)
                .or_default()
                .push(at);
        }
    }
    for waiting in by_partition.values_mut() {
        waiting.sort_by_key(|at| {
            let entry = &entries[*at as usize];
            (std::cmp::Reverse(entry.standing.priority), entry.key.id)
        });
        for (place, at) in waiting.iter().enumerate() {
            let standing = &mut entries[*at as usize].standing;
            (standing.place, standing.of) = (Some(place as u64 + 1), waiting.len() as u64);
        }
    }
    Ok(entries)
}

/// The entries of the job at a place.
fn ways(pricer: &Pricer<'_>, at: u32, job: &ClusterJob, entries: &mut Vec<Entry>) {
    let row: &Job = &job.job;
    let priced = pricer.price(row);
    let entry = |key: JobKey, qos, priced: &Priced| Entry {
        key,
        job: at,
        qos,
        standing: JobStanding {
            place: None,
            of: 0,
            priority: priced.priority,
            points: Points::of(priced),
        },
    };
    let mut several = false;
    for variant in pricer.variants(row) {
        several = true;
        let fixed = row.priority == 0 || row.direct;
        let own = match fixed {
            true => priced,
            false => pricer.price_variant(row, &priced, variant),
        };
        let key = JobKey {
            id: row.id,
            partition: variant.partition,
            qos: variant.qos,
        };
        entries.push(entry(key, variant.qos.or(row.qos), &own));
    }
    if !several {
        let key = JobKey {
            id: row.id,
            partition: row.partition,
            qos: None,
        };
        entries.push(entry(key, row.qos, &priced));
    }
}

pub(super) fn shares_word<S: serde::Serializer>(
    value: &Option<u32>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_str("parent"),
        Some(shares) => serializer.serialize_u32(*shares),
    }
}

fn number_or_inf<S: serde::Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_none(),
        Some(value) if value.is_infinite() => serializer.serialize_str("inf"),
        Some(value) => serializer.serialize_f64(*value),
    }
}
