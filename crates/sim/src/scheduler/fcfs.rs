//! First come, first served: jobs start from the head of the queue while they fit.

use std::cmp::Ordering;

use super::Scheduler;
use super::occupied::Occupied;
use crate::job::Waiting;

/// First come, first served, on a pool of processors.
#[derive(Clone, Debug)]
pub struct Fcfs {
    occupied: Occupied,
    queue: Vec<Waiting>,
}

impl Fcfs {
    /// An empty machine of `processors`.
    pub fn new(processors: u32) -> Fcfs {
        Fcfs {
            occupied: Occupied::new(processors),
            queue: Vec::new(),
        }
    }

    fn pass(&mut self, now: i64, starts: &mut Vec<Waiting>) {
        self.occupied.start_heads(&mut self.queue, now, starts);
    }
}

impl Scheduler for Fcfs {
    fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    fn submit(&mut self, job: Waiting, place: usize, now: i64, starts: &mut Vec<Waiting>) {
        self.queue.insert(place, job);
        self.pass(now, starts);
    }

    fn end(&mut self, job: Waiting, start: i64, now: i64, starts: &mut Vec<Waiting>) {
        self.occupied.end(job.job, start + job.limit_secs);
        self.pass(now, starts);
    }

    fn sort(
        &mut self,
        order: &mut dyn FnMut(&Waiting, &Waiting) -> Ordering,
        now: i64,
        starts: &mut Vec<Waiting>,
    ) {
        self.queue.sort_by(order);
        self.pass(now, starts);
    }

    fn truncate(&mut self, kept: usize) {
        self.queue.truncate(kept);
    }

    fn boxed(&self) -> Box<dyn Scheduler> {
        Box::new(self.clone())
    }
}
