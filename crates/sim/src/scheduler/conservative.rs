//! Conservative backfilling.
//!
//! Every job has a plan from its submission on: the earliest start at which it delays no other plan,
//! by time limits. After each end the jobs that wait are planned anew, one after the other in the
//! queue's order, while the plans of the others stay: a start never moves later.
//!
//! Source: the order of events within a second is that of PySS.

use std::cmp::Ordering;

use super::Scheduler;
use super::profile::Profile;
use crate::job::Waiting;

/// The plan of a job that waits.
#[derive(Clone, Copy, Debug)]
struct Plan {
    start: i64,
    /// Number of the decision; jobs planned for the same second start in this order.
    decision: u64,
}

/// Conservative backfilling on a pool of processors.
#[derive(Clone, Debug)]
pub struct Conservative {
    processors: u32,
    profile: Profile,
    queue: Vec<Waiting>,
    /// One per job of `queue`.
    plans: Vec<Plan>,
    decisions: u64,
    next_start: Option<i64>,
}

impl Conservative {
    /// An empty machine of `processors`.
    pub fn new(processors: u32) -> Conservative {
        Conservative {
            processors,
            profile: Profile::new(processors),
            queue: Vec::new(),
            plans: Vec::new(),
            decisions: 0,
            next_start: None,
        }
    }

    fn plan(&mut self, job: Waiting, now: i64) -> Plan {
        let start = self.profile.earliest(job.processors, job.limit_secs, now);
        self.profile
            .take(job.processors, start, start + job.limit_secs);
        self.decisions += 1;
        Plan {
            start,
            decision: self.decisions,
        }
    }

    /// Plans jobs anew that do not start now.
    fn plan_again(&mut self, now: i64) {
        for at in 0..self.queue.len() {
            let (job, before) = (self.queue[at], self.plans[at]);
            if before.start <= now {
                continue;
            }
            self.profile
                .give(job.processors, before.start, before.start + job.limit_secs);
            let plan = self.plan(job, now);
            if plan.start != before.start {
                self.plans[at] = plan;
            }
        }
        self.find_next();
    }

    fn find_next(&mut self) {
        self.next_start = self.plans.iter().map(|plan| plan.start).min();
    }
}

impl Scheduler for Conservative {
    fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    fn submit(&mut self, job: Waiting, place: usize, now: i64, _starts: &mut Vec<Waiting>) {
        assert!(
            job.processors <= self.processors,
            "a job fits into the machine"
        );
        self.profile.forget_before(now);
        let plan = self.plan(job, now);
        self.queue.insert(place, job);
        self.plans.insert(place, plan);
        self.find_next();
    }

    fn end(&mut self, job: Waiting, start: i64, now: i64, _starts: &mut Vec<Waiting>) {
        self.profile.forget_before(now);
        self.profile
            .give(job.processors, now, start + job.limit_secs);
        self.plan_again(now);
    }

    /// All plans are made anew, in the new order; a start may move later.
    fn sort(
        &mut self,
        order: &mut dyn FnMut(&Waiting, &Waiting) -> Ordering,
        now: i64,
        _starts: &mut Vec<Waiting>,
    ) {
        self.profile.forget_before(now);
        for (job, plan) in self.queue.iter().zip(&self.plans) {
            self.profile
                .give(job.processors, plan.start, plan.start + job.limit_secs);
        }
        self.queue.sort_by(order);
        self.plans.clear();
        for at in 0..self.queue.len() {
            let plan = self.plan(self.queue[at], now);
            self.plans.push(plan);
        }
        self.find_next();
    }

    fn truncate(&mut self, kept: usize) {
        let behind = self.queue.iter().zip(&self.plans).skip(kept);
        for (job, plan) in behind {
            let end = plan.start + job.limit_secs;
            self.profile.give(job.processors, plan.start, end);
        }
        self.queue.truncate(kept);
        self.plans.truncate(kept);
        self.find_next();
    }

    fn boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }

    fn next_start(&self) -> Option<i64> {
        self.next_start
    }

    fn start_planned(&mut self, now: i64, starts: &mut Vec<Waiting>) {
        let due = |plan: &Plan| plan.start <= now;
        let mut started: Vec<(u64, Waiting)> = Vec::new();
        let both = self.plans.iter().zip(&self.queue);
        started.extend(
            both.filter(|(plan, _)| due(plan))
                .map(|(plan, job)| (plan.decision, *job)),
        );
        started.sort_by_key(|(decision, _)| *decision);
        starts.extend(started.into_iter().map(|(_, job)| job));
        let mut plans = self.plans.iter();
        self.queue.retain(|_| !plans.next().is_some_and(due));
        self.plans.retain(|plan| !due(plan));
        self.find_next();
    }
}
