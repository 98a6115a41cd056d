//! What a user can do about a job that waits. Each step is tried before it is reported.

use serde::Serialize;

use super::cause::{Cause, is_of_order};
use super::limit::{Reached, count};
use super::{Place, never};
use crate::explain::ExplainError;
use crate::what_if::standing::Entry;
use fairtree::priority::{Index, Job, Pricer, Span};
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Cluster, ClusterJob, Names};

/// A change that the user of a job can make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The change.
    #[serde(flatten)]
    pub kind: StepKind,
    /// Its place after the change; `None`: the change makes it able to start, whatever its place.
    pub place: Option<Place>,
}

/// Kinds of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum StepKind {
    /// Another partition.
    Partition {
        /// Its name.
        name: String,
    },
    /// Another QOS that its association may use.
    Qos {
        /// Its name.
        name: String,
    },
    /// Another account of its user.
    Account {
        /// Its name.
        name: String,
    },
    /// At most this many nodes, CPUs or minutes, so that a partition can run it.
    Size {
        /// `nodes`, `cpus` or `minutes`.
        what: &'static str,
        /// The most.
        most: u64,
        /// The partition that can then run it.
        partition: String,
    },
    /// At most this much of a resource, which its limit leaves.
    WithinLimit {
        /// The resource; `None`: minutes.
        tres: Option<String>,
        /// The most that fits.
        most: u64,
    },
    /// Jobs that fill the limit end.
    LimitFrees,
    /// The jobs that it depends on start or end.
    DependencyEnds,
    /// The dependency is removed, or the job cancelled: it cannot be met.
    RemoveDependency,
    /// The time comes that it asked for, or it is changed.
    BeginTime,
    /// Its user releases it.
    Release,
}

/// Steps of a site whose order is not by priority: places there depend on all jobs, and are not tried.
pub(super) fn without_places(cluster: &Cluster, job: &ClusterJob, cause: &Cause) -> Vec<Step> {
    let mut steps = Vec::new();
    by_cause(cluster, job, cause, &mut steps);
    steps
}

/// All steps that help. `entries`: the queue; `best`: the best place of the job in it, `None` without any.
pub(super) fn all(
    cluster: &Cluster,
    job: &ClusterJob,
    cause: &Cause,
    (entries, best): (&[Entry], Option<u64>),
) -> Result<Vec<Step>, ExplainError> {
    let mut steps = Vec::new();
    by_cause(cluster, job, cause, &mut steps);
    let never = matches!(cause, Cause::Never { .. });
    let of_partition = never || matches!(cause, Cause::PartitionOff | Cause::NodesUnavailable);
    let trial = Trial {
        cluster,
        pricer: Pricer::new(&cluster.config, &cluster.tables, cluster.now().unwrap_or(0))?,
        job,
        entries,
    };
    if is_of_order(cause) || of_partition {
        trial.partitions(best.filter(|_| !of_partition), &mut steps);
    }
    if is_of_order(cause) {
        trial.qos(best, &mut steps);
        trial.accounts(best, &mut steps);
    }
    Ok(steps)
}

fn by_cause(cluster: &Cluster, job: &ClusterJob, cause: &Cause, steps: &mut Vec<Step>) {
    let mut add = |kind| steps.push(Step { kind, place: None });
    match cause {
        Cause::Never { partitions } => {
            for never in partitions {
                let Some(what) = never.what else { continue };
                // What is asked is changed by itself: the partition then grants the rest, too.
                if never.most > 0 && others_fit(cluster, job, &never.partition, what, never.most) {
                    add(StepKind::Size {
                        what,
                        most: never.most,
                        partition: never.partition.clone(),
                    });
                }
            }
        }
        Cause::Dependency { never: true, .. } => add(StepKind::RemoveDependency),
        Cause::Dependency { .. } => add(StepKind::DependencyEnds),
        Cause::BeginTime { .. } => add(StepKind::BeginTime),
        Cause::HeldByUser => add(StepKind::Release),
        Cause::Limit { limit } => {
            if let Some(kind) = within(cluster, job, limit) {
                add(kind);
            }
            if limit.used.is_some_and(|used| used > 0) {
                add(StepKind::LimitFrees);
            }
        }
        _ => {}
    }
}

/// The most that a limit leaves for a job that asks for more.
fn within(cluster: &Cluster, job: &ClusterJob, limit: &Reached) -> Option<StepKind> {
    let left = limit.most?.checked_sub(limit.used.unwrap_or(0))?;
    match (limit.limit, &limit.tres) {
        ("MaxWall", None) => Some(StepKind::WithinLimit {
            tres: None,
            most: left,
        }),
        ("GrpTRES" | "MaxTRES" | "MaxTRESPU" | "MaxTRESPA", Some(tres)) => {
            let asks = count(cluster, &job.job, tres)?;
            (left > 0 && left < asks).then(|| StepKind::WithinLimit {
                tres: Some(tres.clone()),
                most: left,
            })
        }
        _ => None,
    }
}

/// Returns true if a partition can run a job that asks for less of one thing.
fn others_fit(cluster: &Cluster, job: &ClusterJob, name: &str, what: &str, most: u64) -> bool {
    let Ok(at) = cluster.find_partition(name) else {
        return false;
    };
    let small = u32::try_from(most).unwrap_or(u32::MAX);
    let mut changed = job.job;
    match what {
        "nodes" => changed.nodes = small,
        "minutes" => changed.time_limit = fairtree::priority::TimeLimit::Minutes(small),
        // The count of CPUs is among its resources, which stay; there is one check for each.
        _ => return true,
    }
    !never::of(cluster, &changed, Index::new(at), true).is_certain()
}

/// One job, tried with changes in a queue that is otherwise the same.
struct Trial<'a> {
    cluster: &'a Cluster,
    pricer: Pricer<'a>,
    job: &'a ClusterJob,
    entries: &'a [Entry],
}

impl Trial<'_> {
    /// The place of a changed job among the jobs of its partition.
    fn place(&self, changed: &Job) -> Option<Place> {
        let priority = self.pricer.price(changed).priority;
        if priority == 0 {
            return None;
        }
        let id = changed.id;
        let (mut ahead, mut of) = (0, 1);
        for other in self.entries {
            let theirs = other.standing.priority;
            if other.key.id == id || other.key.partition != changed.partition || theirs == 0 {
                continue;
            }
            of += 1;
            if (std::cmp::Reverse(theirs), other.key.id) < (std::cmp::Reverse(priority), id) {
                ahead += 1;
            }
        }
        Some(Place {
            partition: changed.partition.map(|at| self.cluster.partition(at)),
            place: Some(ahead + 1),
            of,
        })
    }

    /// Adds a change that leads to an earlier place than `best`, or to any place without one.
    fn add(&self, changed: &Job, best: Option<u64>, kind: StepKind, steps: &mut Vec<Step>) {
        if let Some(place) = self.place(changed) {
            let found = place.place.unwrap_or(u64::MAX);
            if best.is_none_or(|best| found < best) {
                steps.push(Step {
                    kind,
                    place: Some(place),
                });
            }
        }
    }

    fn partitions(&self, best: Option<u64>, steps: &mut Vec<Step>) {
        if self.cluster.hidden.partitions {
            return;
        }
        let own = never::partitions(self.cluster, &self.job.job, true);
        for (at, about) in self.cluster.partitions.iter().enumerate() {
            let index = Index::new(at);
            let asked = own.iter().any(|own| own.partition == about.name);
            let is_up = about.state.as_deref().is_none_or(|state| state == "UP");
            let never = never::of(self.cluster, &self.job.job, index, true);
            let is_admitted = self.cluster.admits(self.job, at);
            if asked || !is_up || !is_admitted || never.is_certain() {
                continue;
            }
            let changed = Job {
                partition: Some(index),
                partitions: Span::default(),
                ..self.job.job
            };
            let name = about.name.clone();
            self.add(&changed, best, StepKind::Partition { name }, steps);
        }
    }

    fn qos(&self, best: Option<u64>, steps: &mut Vec<Step>) {
        let listed = self.job.job.assoc.and_then(|at| self.cluster.listed(at));
        for name in listed.map(|row| &row.qos[..]).unwrap_or_default() {
            let Ok(at) = self.cluster.find_qos(name) else {
                continue;
            };
            let changed = Job {
                qos: Some(Index::new(at)),
                qos_list: Span::default(),
                ..self.job.job
            };
            if self.job.job.qos != changed.qos {
                let name = name.to_string();
                self.add(&changed, best, StepKind::Qos { name }, steps);
            }
        }
    }

    fn accounts(&self, best: Option<u64>, steps: &mut Vec<Step>) {
        for (at, known) in self.cluster.names.iter().enumerate() {
            let own = known.user.as_deref() == Some(&*self.job.user) && known.partition.is_none();
            if !own || Some(known.account.as_str()) == self.job.account.as_deref() {
                continue;
            }
            let changed = Job {
                assoc: Some(AssocIndex::new(at)),
                ..self.job.job
            };
            let name = known.account.clone();
            self.add(&changed, best, StepKind::Account { name }, steps);
        }
    }
}
