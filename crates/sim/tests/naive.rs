//! Schedulers against naive models, on random jobs.
//!
//! The models are written from the rules: they keep nothing between events, look at every job at
//! every event, and count processors second by second.

use fairtree_sim::job::Job;
use fairtree_sim::replay::replay;
use fairtree_sim::scheduler::Kind;
use proptest::prelude::*;

const PROCESSORS: u32 = 8;

/// Starts of jobs so far; `None`: it waits, or is not submitted.
struct Site<'a> {
    jobs: &'a [Job],
    starts: Vec<Option<i64>>,
    /// Jobs that have ended, by an event.
    ended: Vec<bool>,
}

impl Site<'_> {
    /// Processors that the limits of running jobs leave at `moment`, as far as is known at `now`.
    fn free_at(&self, moment: i64) -> u32 {
        let mut free = PROCESSORS;
        for (at, job) in self.jobs.iter().enumerate() {
            let limit_ends = |start| start + job.limit_secs > moment;
            if !self.ended[at] && self.starts[at].is_some_and(limit_ends) {
                free -= job.processors;
            }
        }
        free
    }

    fn waiting(&self, submitted: usize) -> Vec<usize> {
        (0..submitted)
            .filter(|&at| self.starts[at].is_none())
            .collect()
    }

    /// The rules of EASY; of first come, first served without `backfills`.
    fn pass(&mut self, submitted: usize, now: i64, backfills: bool) {
        for at in self.waiting(submitted) {
            if self.jobs[at].processors > self.free_at(now) {
                break;
            }
            self.starts[at] = Some(now);
        }
        let waiting = self.waiting(submitted);
        let Some((&head, later)) = waiting.split_first() else {
            return;
        };
        if !backfills {
            return;
        }
        let need = self.jobs[head].processors;
        let shadow = (now..).find(|&moment| self.free_at(moment) >= need);
        let shadow = shadow.expect("limits end");
        let mut extra = self.free_at(shadow) - need;
        for &at in later {
            let job = self.jobs[at];
            if job.processors > self.free_at(now) {
                continue;
            }
            if now + job.limit_secs <= shadow {
                self.starts[at] = Some(now);
            } else if job.processors <= extra {
                extra -= job.processors;
                self.starts[at] = Some(now);
            }
        }
    }
}

/// Runs second by second: submissions, then ends in the order of their starts, each with a pass.
fn naive(jobs: &[Job], backfills: bool) -> Vec<Option<i64>> {
    let mut site = Site {
        jobs,
        starts: vec![None; jobs.len()],
        ended: vec![false; jobs.len()],
    };
    // In the order in which jobs started.
    let mut order: Vec<usize> = Vec::new();
    let mut submitted = 0;
    for now in 0.. {
        let started = |site: &Site, order: &mut Vec<usize>| {
            // Heads start before the jobs that are backfilled, both in the queue's order.
            let new: Vec<usize> = (0..jobs.len())
                .filter(|at| site.starts[*at].is_some() && !order.contains(at))
                .collect();
            order.extend(new);
        };
        while submitted < jobs.len() && jobs[submitted].submit == now {
            submitted += 1;
            if jobs[submitted - 1].processors <= site.free_at(now) {
                site.pass(submitted, now, backfills);
                started(&site, &mut order);
            }
        }
        for at in order.clone() {
            let ends = site.starts[at].map(|start| start + jobs[at].run_secs);
            if ends == Some(now) {
                site.ended[at] = true;
                site.pass(submitted, now, backfills);
                started(&site, &mut order);
            }
        }
        if site.ended.iter().all(|ended| *ended) {
            return site.starts;
        }
    }
    unreachable!("jobs end")
}

/// When a job occupies its processors, as planned, and the number of the decision for it.
#[derive(Clone, Copy)]
struct Plan {
    start: i64,
    end: i64,
    decision: u32,
}

/// Returns true if a job fits from `start` on, beside all plans and running jobs except its own.
fn fits(jobs: &[Job], plans: &[Option<Plan>], own: usize, start: i64) -> bool {
    (start..start + jobs[own].limit_secs).all(|moment| {
        let busy = |plan: Plan| plan.start <= moment && moment < plan.end;
        let used = jobs.iter().zip(plans).enumerate();
        let used = used.filter(|(at, (_, plan))| *at != own && plan.is_some_and(busy));
        let used: u32 = used.map(|(_, (job, _))| job.processors).sum();
        used + jobs[own].processors <= PROCESSORS
    })
}

/// Conservative backfilling by brute force: plans are tried second by second.
fn naive_conservative(jobs: &[Job]) -> Vec<Option<i64>> {
    let mut plans: Vec<Option<Plan>> = vec![None; jobs.len()];
    let mut decision = 0;
    let mut ended = 0;
    let mut submitted = 0;
    for now in 0.. {
        let mut place = |plans: &mut Vec<Option<Plan>>, at: usize| {
            let start = (now..).find(|&start| fits(jobs, plans, at, start));
            let start = start.expect("plans end");
            decision += 1;
            if plans[at].is_none_or(|before| before.start != start) {
                let end = start + jobs[at].limit_secs;
                plans[at] = Some(Plan {
                    start,
                    end,
                    decision,
                });
            }
        };
        while submitted < jobs.len() && jobs[submitted].submit == now {
            place(&mut plans, submitted);
            submitted += 1;
        }
        let ends = |at: &usize| plans[*at].map(|plan| plan.start + jobs[*at].run_secs) == Some(now);
        let mut ending: Vec<usize> = (0..submitted).filter(ends).collect();
        // In the order of their starts; those of one second start in the order of the decisions.
        ending.sort_by_key(|at| plans[*at].map(|plan| (plan.start, plan.decision)));
        for at in ending {
            plans[at].as_mut().expect("it ran").end = now;
            ended += 1;
            for other in 0..submitted {
                if plans[other].is_some_and(|plan| plan.start > now) {
                    place(&mut plans, other);
                }
            }
        }
        if ended == jobs.len() {
            return plans
                .iter()
                .map(|plan| plan.map(|plan| plan.start))
                .collect();
        }
    }
    unreachable!("jobs end")
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let job = (0..6_i64, 1..=12_i64, 0..=12_i64, 1..=PROCESSORS);
    proptest::collection::vec(job, 1..24).prop_map(|jobs| {
        let mut submit = 0;
        let mut next = |(later, run_secs, unused, processors)| {
            // Several in one second, and long pauses.
            submit += if later > 3 { later * 2 } else { later / 2 };
            Job {
                submit,
                run_secs,
                limit_secs: run_secs + if unused > 8 { 0 } else { unused },
                processors,
            }
        };
        jobs.into_iter().map(&mut next).collect()
    })
}

fn ours(kind: Kind, jobs: &[Job]) -> Vec<Option<i64>> {
    replay(jobs, kind.scheduler(PROCESSORS), &mut ()).starts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn easy_is_a_full_scan(jobs in jobs()) {
        prop_assert_eq!(ours(Kind::Easy, &jobs), naive(&jobs, true));
    }

    #[test]
    fn fcfs_is_a_full_scan(jobs in jobs()) {
        prop_assert_eq!(ours(Kind::Fcfs, &jobs), naive(&jobs, false));
    }

    #[test]
    fn conservative_plans_are_those_of_brute_force(jobs in jobs()) {
        prop_assert_eq!(ours(Kind::Conservative, &jobs), naive_conservative(&jobs));
    }

    /// No start is before its submission, and no moment uses more than there is.
    #[test]
    fn schedules_fit_the_machine(jobs in jobs()) {
        for kind in [Kind::Easy, Kind::Fcfs, Kind::Conservative] {
            let starts = ours(kind, &jobs);
            for (job, start) in jobs.iter().zip(&starts) {
                let start = start.expect("every job starts");
                prop_assert!(start >= job.submit);
                let runs = jobs.iter().zip(&starts).filter(|(other, begun)| {
                    let begun = begun.unwrap_or(i64::MAX);
                    begun <= start && start < begun + other.run_secs
                });
                let used: u32 = runs.map(|(other, _)| other.processors).sum();
                prop_assert!(used <= PROCESSORS, "{kind:?}");
            }
        }
    }
}
