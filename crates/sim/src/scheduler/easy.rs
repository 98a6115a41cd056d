//! EASY backfilling.
//!
//! There is a pass after each end, and after each submission of a job that fits into what is free:
//! jobs start from the head of the queue while they fit. For the head that does not fit, *shadow* is
//! the earliest end of limits at which it will, and *extra* are the processors that are left over
//! then. Every later job that fits now starts, in the queue's order, if its limit ends by the shadow,
//! or if extra processors are enough for it, of which it then takes its part.
//!
//! Source: D. Lifka, "The ANL/IBM SP scheduling system", 1995; the order of events within a second
//! is that of PySS.

use std::cmp::Ordering;

use super::Scheduler;
use super::occupied::Occupied;
use crate::job::Waiting;

/// EASY backfilling on a pool of processors.
#[derive(Clone, Debug)]
pub struct Easy {
    occupied: Occupied,
    queue: Vec<Waiting>,
}

impl Easy {
    /// An empty machine of `processors`.
    pub fn new(processors: u32) -> Easy {
        Easy {
            occupied: Occupied::new(processors),
            queue: Vec::new(),
        }
    }

    fn start(&mut self, job: Waiting, now: i64, starts: &mut Vec<Waiting>) {
        let end_by = now + job.limit_secs;
        self.occupied.start(job.job, job.processors, end_by);
        starts.push(job);
    }

    fn pass(&mut self, now: i64, starts: &mut Vec<Waiting>) {
        let mut free = self.occupied.start_heads(&mut self.queue, now, starts);
        let Some(head) = self.queue.first() else {
            return;
        };
        if free == 0 {
            return;
        }
        let (shadow, mut extra) = self.occupied.fits_from(head.processors, free, now);
        let occupied = &mut self.occupied;
        // Most passes start nothing here, and move nothing.
        self.queue.retain(|job| {
            if job.processors > free {
                return true;
            }
            if now + job.limit_secs > shadow {
                if job.processors > extra {
                    return true;
                }
                extra -= job.processors;
            }
            free -= job.processors;
            occupied.start(job.job, job.processors, now + job.limit_secs);
            starts.push(*job);
            false
        });
    }
}

impl Scheduler for Easy {
    fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    fn submit(&mut self, job: Waiting, place: usize, now: i64, starts: &mut Vec<Waiting>) {
        self.queue.insert(place, job);
        let free = self.occupied.free(now);
        if job.processors > free {
            return;
        }
        if place == 0 || self.occupied.is_any_over(now) {
            self.pass(now, starts);
            return;
        }
        // Since the last pass no more became free, and limits end no earlier: whoever could not start
        // then cannot now.
        let (shadow, extra) = self.occupied.fits_from(self.queue[0].processors, free, now);
        if now + job.limit_secs <= shadow || job.processors <= extra {
            self.start(job, now, starts);
            self.queue.remove(place);
        }
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
