//! A log under a policy, ready to run with any seed.

use fairtree_model::input::recorded::RecordedJob;
use fairtree_sim::fair_start::fair_starts_in;
use fairtree_sim::job::Job;
use fairtree_sim::replay::{Observer as PoolObserver, replay_in};
use fairtree_sim::scheduler::Kind;
use fairtree_sim::slurm::ask::Ask;
use fairtree_sim::slurm::free::{Observer, Phases};
use fairtree_sim::slurm::pool::Priorities;
use fairtree_sim::slurm::scene::Scene;
use fairtree_sim::slurm::site::Unpriced;
use fairtree_sim::workload::{Owner, Tally, Why, Workload};

use super::on_site::{OnSite, part};
use super::replayed::{Replayed, sample_of};
use super::report::{LeftOut, Report};

/// The rules by which jobs start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Slurm's, on nodes.
    Slurm,
    /// Those of a pool of processors, in the order of the site's priorities; `None`: as many as the
    /// site's nodes have.
    Pool(Kind, Option<u32>),
}

/// A log under the policy of a site.
#[derive(Clone, Debug)]
pub struct Trial<'a> {
    /// The site with the jobs.
    pub scene: Scene,
    /// The log.
    pub log: &'a [RecordedJob],
    /// The rules.
    pub rules: Rules,
    /// Fair starts to compute at most, of jobs evenly spread over the log.
    pub fair_starts: usize,
}

impl Trial<'_> {
    /// Runs it in the phases of a seed.
    ///
    /// # Errors
    /// Rows that cannot be priced.
    pub fn run(&self, seed: u64, observer: &mut dyn Observer) -> Result<OnSite, Unpriced> {
        match self.rules {
            Rules::Slurm => {
                let count = self.scene.asks.len();
                let wanted = spread(count, self.fair_starts);
                let (ran, fair) = self.scene.run_with(seed, &wanted, observer)?;
                Ok(OnSite::new(&self.scene, self.log, &ran, &fair))
            }
            Rules::Pool(kind, processors) => {
                let machine = &self.scene.setup.machine;
                let processors = processors.unwrap_or_else(|| machine.cpus());
                Ok(self.on_pool(kind, processors, seed, observer))
            }
        }
    }

    /// The report of a run in the phases of a seed.
    ///
    /// # Errors
    /// Rows that cannot be priced.
    pub fn report(&self, seed: u64, observer: &mut dyn Observer) -> Result<Report, Unpriced> {
        Ok(report_of(&self.run(seed, observer)?))
    }

    fn on_pool(
        &self,
        kind: Kind,
        processors: u32,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> OnSite {
        let machine = &self.scene.setup.machine;
        let site = self.scene.site();
        let (workload, asks, never_started) = self.workload(processors);
        let first = workload.jobs.first().map_or(0, |job| job.submit);
        let phase = Phases::random(machine, site, seed).pass_ms / 1000;
        let order = || Priorities::new(machine, site.clone(), &asks, first, phase);
        let mut asked = Asked {
            observer,
            is_complete: true,
        };
        let scheduler = kind.scheduler(processors);
        let schedule = replay_in(&workload.jobs, scheduler, &mut order(), &mut asked);
        let sample = sample_of(&workload.jobs, &schedule.starts, self.fair_starts);
        let fair_starts = match schedule.stopped_at {
            None if !sample.is_empty() => {
                let mut order = order();
                let jobs = &workload.jobs;
                fair_starts_in(jobs, kind, processors, &mut order, &sample, || {
                    PoolObserver::go_on(&mut asked)
                })
            }
            _ => Vec::new(),
        };
        let entitled = workload.accounts.names.iter();
        OnSite {
            entitled: entitled.map(|account| part(site, account)).collect(),
            replayed: Replayed {
                scheduler: kind.name(),
                order: "priority",
                schedule,
                fair_starts,
                is_complete: asked.is_complete,
            },
            workload,
            never_started,
        }
    }

    /// The jobs of a pool of `processors`, with their requests, and the number of jobs that never
    /// started in the log.
    fn workload(&self, processors: u32) -> (Workload, Vec<Ask>, u64) {
        let machine = &self.scene.setup.machine;
        let mut workload = Workload::new(processors);
        let mut asks = Vec::new();
        let mut never_started = 0;
        for (ask, place) in self.scene.asks.iter().zip(&self.scene.places) {
            let job = &self.log[*place];
            let Some(ran) = ran_secs(job) else {
                never_started += 1;
                continue;
            };
            let partition = ask.partitions[0];
            let limit_secs = ask.run_limit_in(machine, partition).max(1);
            let wanted = job.allocated_cpus.max(ask.cpus);
            if wanted > processors {
                count(&mut workload.left_out[Why::TooLarge as usize]);
                continue;
            }
            if ran > limit_secs {
                count(&mut workload.cut);
            }
            let owner = owner(&mut workload, self.scene_partition(partition), job);
            workload.owners.push(owner);
            workload.jobs.push(Job {
                submit: job.submit_ms.div_euclid(1000),
                run_secs: ran.min(limit_secs),
                limit_secs,
                processors: wanted.max(1),
            });
            asks.push(ask.clone());
        }
        (workload, asks, never_started)
    }

    fn scene_partition(&self, at: usize) -> &str {
        &self.scene.setup.machine.partitions[at].name
    }
}

/// The report of a run.
pub fn report_of(run: &OnSite) -> Report {
    let left_out = LeftOut::of(&run.workload, run.never_started, 0);
    Report::new(&run.workload, &run.replayed, &run.entitled, left_out)
}

/// Run time of a job of a log, rounded, from a second up; `None` for one that never ran.
pub(super) fn ran_secs(job: &RecordedJob) -> Option<i64> {
    let (from, to) = job.start_ms.zip(job.end_ms)?;
    (to > from).then(|| ((to - from + 500) / 1000).max(1))
}

/// The owner of a job, with numbers of its names.
pub(super) fn owner(workload: &mut Workload, partition: &str, job: &RecordedJob) -> Owner {
    let request = &job.request;
    let name = |name: &'_ Option<String>| name.clone().unwrap_or_default();
    Owner {
        id: job.id.to_string(),
        user: workload.users.number(&name(&request.user)),
        account: workload.accounts.number(&name(&request.account)),
        partition: workload.partitions.number(partition),
        qos: workload.qos.number(&name(&request.qos)),
    }
}

fn count(tally: &mut Tally) {
    tally.count += 1;
}

/// At most `most` of `count` numbers, evenly spread, ascending.
fn spread(count: usize, most: usize) -> Vec<usize> {
    let most = most.min(count);
    (0..most).map(|at| at * count / most).collect()
}

/// Asks an observer of Slurm's rules, whether to go on, for those of a pool.
struct Asked<'o> {
    observer: &'o mut dyn Observer,
    is_complete: bool,
}

impl PoolObserver for Asked<'_> {
    fn go_on(&mut self) -> bool {
        self.is_complete = self.is_complete && self.observer.go_on();
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_evenly_spread() {
        assert_eq!(spread(10, 3), [0, 3, 6]);
        assert_eq!(spread(2, 3), [0, 1]);
        assert!(spread(0, 3).is_empty() && spread(3, 0).is_empty());
    }
}
