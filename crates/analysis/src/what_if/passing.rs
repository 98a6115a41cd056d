//! One side of a change after some time, by simulation: places, shares, and jobs that have started.
//!
//! The state is that of forecasts ([`Forecaster`]). At the end of each simulation the cluster has its usage,
//! its ranks and its queue, and is looked at as a cluster of the present is; each figure of a side is the
//! median over the simulations.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::WhatIfError;
use super::standing::{AssocStanding, Entry, JobKey, JobStanding, Points, associations, queue};
use crate::forecast::{Asked, Pattern, fixed};
use fairtree::priority::Index;
use fairtree_model::cluster::{Cluster, ClusterJob, JobPhase};
use fairtree_model::input::recorded::RecordedJob;
use fairtree_sim::forecast::{Forecaster, Later, Queue, Stage, median};
use fairtree_sim::slurm::site::Site;

/// One side after some time.
pub(super) struct Passed {
    /// Standings of all associations, by position.
    pub assocs: Vec<Option<AssocStanding>>,
    /// The queue.
    pub queue: Option<Vec<Entry>>,
    /// By the number of each job that waits at the beginning: the part of its tasks that has started, and
    /// the first start, in each simulation.
    pub starts: HashMap<u32, Vec<(f64, Option<i64>)>>,
    /// Jobs of each association that started, with those below it, by position, in each simulation.
    pub counts: Vec<Vec<f64>>,
    /// Simulations.
    pub draws: usize,
    /// Where run times are from.
    pub run_times: Pattern,
    /// Past jobs that show how long jobs run.
    pub past_jobs: usize,
    /// Whole weeks of the past from which arrivals are drawn.
    pub past_weeks: i64,
    /// Jobs that were left out, and what was assumed, one sentence each.
    pub notes: Vec<String>,
}

impl Passed {
    /// Returns true if a job waits at the end, and is held.
    pub(super) fn holds(&self, id: u32) -> bool {
        let mut own = self.queue.iter().flatten();
        own.any(|entry| entry.key.id == id && entry.standing.priority == 0)
    }
}

/// The jobs of a cluster that wait, by the numbers of their requests.
struct Records {
    /// Positions among the jobs of the cluster.
    by_id: HashMap<u32, usize>,
    /// Those of arrays, whose tasks have no number yet.
    by_array: HashMap<u32, usize>,
}

impl Records {
    fn of(cluster: &Cluster) -> Records {
        let mut records = Records {
            by_id: HashMap::new(),
            by_array: HashMap::new(),
        };
        for (at, job) in cluster.jobs().iter().enumerate() {
            if job.phase != JobPhase::Pending {
                continue;
            }
            records.by_id.insert(job.job.id, at);
            if let Some((array, tasks)) = &job.array {
                // One number is a task that has its own record.
                if tasks.parse::<u32>().is_err() {
                    records.by_array.insert(*array, at);
                }
            }
        }
        records
    }

    fn find(&self, id: u32, array: Option<u32>) -> Option<usize> {
        let of_array = || self.by_array.get(&array?);
        self.by_id.get(&id).or_else(of_array).copied()
    }
}

/// The requests of a queue after changes: those of jobs that left it are gone.
pub(super) fn requests(before: &Cluster, after: &Cluster, asked: &Asked<'_>) -> Vec<RecordedJob> {
    let records = Records::of(before);
    let rows = |cluster: &Cluster| -> HashMap<u32, usize> {
        let jobs = cluster.jobs().iter().enumerate();
        jobs.map(|(at, job)| (job.job.id, at)).collect()
    };
    let (old, new) = (rows(before), rows(after));
    let mut kept = Vec::with_capacity(asked.present.len());
    for job in asked.present {
        let array = job.task.map(|(array, _)| array);
        let waits = records
            .find(job.id, array)
            .filter(|_| job.start_ms.is_none());
        let Some(at) = waits.or_else(|| old.get(&job.id).copied()) else {
            // The queue does not have it, so no change names it.
            kept.push(job.clone());
            continue;
        };
        let was = &before.jobs()[at];
        if let Some(now) = new.get(&was.job.id).map(|at| &after.jobs()[*at]) {
            let mut job = job.clone();
            change(&mut job, (before, was), (after, now), asked.now);
            kept.push(job);
        }
    }
    kept
}

/// Changes a request as the row of its job was changed.
fn change(
    job: &mut RecordedJob,
    (before, was): (&Cluster, &ClusterJob),
    (after, now): (&Cluster, &ClusterJob),
    moment: i64,
) {
    let request = &mut job.request;
    let partitions = names(after, now);
    if names(before, was) != partitions {
        request.partitions = partitions;
    }
    if was.job.qos != now.job.qos {
        request.qos = now.job.qos.map(|at| after.qos[at.get()].name.clone());
    }
    request.nice += now.job.nice - was.job.nice;
    match (was.job.priority > 0, now.job.priority > 0) {
        (true, false) => job.held_ms = vec![(0, i64::MAX)],
        (false, true) => {
            job.held_ms.clear();
            job.eligible_ms = job.eligible_ms.or(Some(moment * 1000));
        }
        _ => return,
    }
    job.request.held = now.job.priority == 0;
}

/// Partitions of a job.
fn names(cluster: &Cluster, job: &ClusterJob) -> Vec<String> {
    let name = |at: &Index| cluster.partitions[at.get()].name.clone();
    let several = job.job.partitions;
    let lists = &cluster.tables.partition_lists;
    let range = several.start as usize..several.start as usize + several.len as usize;
    match lists.get(range).filter(|list| !list.is_empty()) {
        Some(list) => list.iter().map(name).collect(),
        None => job.job.partition.iter().map(name).collect(),
    }
}

/// Simulates a side up to a moment, seconds since 1970, `draws` times. `present`: its jobs.
///
/// # Errors
/// Settings and jobs that cannot be priced; no simulation that came to its end.
pub(super) fn pass(
    asked: &Asked<'_>,
    cluster: &Cluster,
    present: &[RecordedJob],
    until: i64,
    draws: Option<usize>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Passed, WhatIfError> {
    let mut notes = Vec::new();
    let site = Site::of_cluster(cluster, asked.machine, &mut notes)?;
    let fixed = fixed(cluster);
    let queue = Queue {
        present,
        past: asked.past,
        fixed: &fixed,
    };
    let forecaster = Forecaster::new(asked.machine, site, asked.now, queue, asked.making);
    notes.extend(forecaster.notes.iter().cloned());
    let running = present.iter().filter(|job| job.start_ms.is_some());
    let mut found = Found {
        cluster,
        until,
        records: Records::of(cluster),
        running: running.map(|job| job.id).collect(),
        assocs: Vec::new(),
        queues: Vec::new(),
        starts: HashMap::new(),
        counts: vec![Vec::new(); cluster.tree().len()],
    };
    let mut failed = None;
    let mut take = |later: Later| {
        if failed.is_none() {
            failed = found.add(&later).err();
        }
    };
    let made = forecaster.later(until, draws, go_on, &mut take)?;
    if let Some(error) = failed {
        return Err(error);
    }
    if made == 0 {
        return Err(WhatIfError::Stopped);
    }
    let queues = cluster.jobs.is_some().then(|| middle_queue(&found.queues));
    Ok(Passed {
        assocs: middle_standings(&found.assocs),
        queue: queues,
        starts: found.starts,
        counts: found.counts,
        draws: made,
        run_times: Pattern::of(&asked.making, &forecaster),
        past_jobs: forecaster.ended(),
        past_weeks: forecaster.weeks(),
        notes,
    })
}

/// Results of the simulations of a side so far.
struct Found<'a> {
    cluster: &'a Cluster,
    until: i64,
    records: Records,
    /// Numbers of the jobs that run at the beginning.
    running: HashSet<u32>,
    assocs: Vec<Vec<Option<AssocStanding>>>,
    queues: Vec<Vec<Entry>>,
    starts: HashMap<u32, Vec<(f64, Option<i64>)>>,
    counts: Vec<Vec<f64>>,
}

/// The tasks of a job at the end of a simulation.
#[derive(Clone, Copy, Default)]
struct Tasks {
    waiting: u32,
    started: u32,
    first: Option<i64>,
    eligible: Option<i64>,
}

impl Found<'_> {
    /// Looks at the end of a simulation.
    fn add(&mut self, later: &Later) -> Result<(), WhatIfError> {
        let mut tasks: HashMap<usize, Tasks> = HashMap::new();
        // Priorities of those that came and wait, by partition.
        let mut came: HashMap<usize, Vec<u32>> = HashMap::new();
        let mut counts = vec![0.0; self.counts.len()];
        for job in &later.jobs {
            if job.id.is_some_and(|id| self.running.contains(&id)) {
                continue;
            }
            let record = job.id.and_then(|id| self.records.find(id, job.array));
            let mut own = record.map(|at| tasks.entry(at).or_default());
            match &job.stage {
                Stage::Started { at } => {
                    for index in self.cluster.tree().upward(job.assoc) {
                        counts[index.get()] += 1.0;
                    }
                    if let Some(own) = &mut own {
                        own.started += 1;
                        own.first = Some(own.first.map_or(*at, |first| first.min(*at)));
                    }
                }
                Stage::Waits {
                    eligible,
                    priorities,
                } => {
                    if let Some(own) = &mut own {
                        own.waiting += 1;
                        own.eligible = own.eligible.or(*eligible);
                    }
                    for (partition, priority) in priorities {
                        came.entry(*partition).or_default().push(*priority);
                    }
                }
            }
        }
        for (counts, count) in self.counts.iter_mut().zip(counts) {
            counts.push(count);
        }
        let mut then = self.cluster.clone();
        then.set_usage(later.site.raw(), self.until);
        for (at, job) in then.jobs_mut().into_iter().flatten().enumerate() {
            let Some(own) = tasks.get(&at) else { continue };
            if own.waiting == 0 {
                job.phase = JobPhase::Running;
            } else if job.job.accrue_time == 0 {
                job.job.accrue_time = own.eligible.unwrap_or(0);
            }
            let all = f64::from(own.waiting + own.started);
            let started = (f64::from(own.started) / all, own.first);
            self.starts.entry(job.job.id).or_default().push(started);
        }
        then.rank();
        self.assocs.push(associations(&then));
        let mut entries = queue(&then)?;
        for ours in &mut entries {
            let partition = ours.key.partition.map(Index::get);
            let others = partition.and_then(|at| came.get(&at));
            let standing = &mut ours.standing;
            if let (Some(place), Some(others)) = (&mut standing.place, others) {
                // Equal ones came later.
                let ahead = others.iter().filter(|one| **one > standing.priority);
                *place += ahead.count() as u64;
                standing.of += others.len() as u64;
            }
        }
        self.queues.push(entries);
        Ok(())
    }
}

/// The median of figures, by the rule of [`median`]. A figure that is missing is larger than all others.
fn middle<T: Copy>(mut of: Vec<Option<T>>, order: fn(&T, &T) -> Ordering) -> Option<T> {
    of.sort_by(|a, b| match (a, b) {
        (Some(a), Some(b)) => order(a, b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    });
    median(&of).flatten()
}

/// The standings of which each figure is the median.
fn middle_standings(draws: &[Vec<Option<AssocStanding>>]) -> Vec<Option<AssocStanding>> {
    let Some(first) = draws.first() else {
        return Vec::new();
    };
    let standing = |at: usize| {
        let same = first[at].clone()?;
        let all: Vec<&AssocStanding> = draws.iter().filter_map(|own| own[at].as_ref()).collect();
        let maybe = |of: fn(&AssocStanding) -> Option<f64>| {
            middle(all.iter().map(|one| of(one)).collect(), f64::total_cmp)
        };
        let number = |of: fn(&AssocStanding) -> f64| {
            let all = all.iter().map(|one| Some(of(one)));
            middle(all.collect(), f64::total_cmp).unwrap_or(0.0)
        };
        Some(AssocStanding {
            place: middle(all.iter().map(|one| one.place).collect(), u64::cmp),
            raw_usage: number(|one| one.raw_usage),
            entitled: maybe(|one| one.entitled),
            due: maybe(|one| one.due),
            used_ratio: maybe(|one| one.used_ratio),
            effective_usage: number(|one| one.effective_usage),
            level_fs: maybe(|one| one.level_fs),
            fs_factor: maybe(|one| one.fs_factor),
            ..same
        })
    };
    (0..first.len()).map(standing).collect()
}

/// The entries of the jobs that wait at the end of half of the simulations or more; each figure is the
/// median of those in which the job waits.
fn middle_queue(draws: &[Vec<Entry>]) -> Vec<Entry> {
    let mut found: HashMap<JobKey, Vec<&Entry>> = HashMap::new();
    for entry in draws.iter().flatten() {
        found.entry(entry.key).or_default().push(entry);
    }
    let often = found.values().filter(|own| own.len() * 2 >= draws.len());
    let mut queue: Vec<Entry> = often.map(|own| middle_entry(own)).collect();
    let order = |key: JobKey| (key.partition.map(Index::get), key.qos.map(Index::get));
    queue.sort_by_key(|entry| (entry.job, order(entry.key)));
    queue
}

fn middle_entry(all: &[&Entry]) -> Entry {
    let first = all[0].clone();
    let standing = |of: &dyn Fn(&JobStanding) -> u64| {
        let all = all.iter().map(|entry| Some(of(&entry.standing)));
        middle(all.collect(), u64::cmp).unwrap_or(0)
    };
    let points = |of: fn(&Points) -> f64| {
        let all = all.iter().map(|entry| Some(of(&entry.standing.points)));
        middle(all.collect(), f64::total_cmp).unwrap_or(0.0)
    };
    let places = all.iter().map(|entry| entry.standing.place);
    let own = &first.standing.points;
    Entry {
        standing: JobStanding {
            place: middle(places.collect(), u64::cmp),
            of: standing(&|one| one.of),
            priority: standing(&|one| u64::from(one.priority)) as u32,
            points: Points {
                age: points(|one| one.age),
                assoc: points(|one| one.assoc),
                fairshare: points(|one| one.fairshare),
                job_size: points(|one| one.job_size),
                partition: points(|one| one.partition),
                qos: points(|one| one.qos),
                tres: points(|one| one.tres),
                site: own.site,
                nice: own.nice,
            },
        },
        ..first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_take_the_upper_of_two() {
        let middle = |of: &[Option<u64>]| middle(of.to_vec(), u64::cmp);
        assert_eq!(middle(&[Some(3), Some(1), Some(2)]), Some(2));
        assert_eq!(middle(&[Some(3), Some(1)]), Some(3));
        // Two of three have none.
        assert_eq!(middle(&[None, Some(1), None]), None);
        assert_eq!(middle(&[]), None);
    }
}
