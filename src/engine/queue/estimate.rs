//! When waiting jobs will start, by simulating the order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::error::QueueError;
use super::{Micros, Proxy, Queue};
use crate::usage::EndState;

/// When a waiting job will start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Its id.
    pub job: u64,
    /// When; `None`: never, as the machine is paused.
    pub start: Option<Micros>,
    /// What stands for its run time.
    pub proxy: Proxy,
}

impl Queue {
    /// When the jobs that wait for a machine will start, in this order: all machines run on, each
    /// job for its expected time, or its maximum if that is unknown, and no job arrives. A job that
    /// has run longer than that already ends now. Every run ends well. Machines that become idle at
    /// one moment choose one after the other, as they were added.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`](crate::engine::MachineError::UnknownMachine).
    pub fn estimate(&mut self, machine: &str, now: Micros) -> Result<Vec<Estimate>, QueueError> {
        self.simulate(machine, now, None)
    }

    /// As [`Queue::estimate`], where `lasts` has the run time of each job, by id, in microseconds from
    /// its start. Jobs are chosen and charged by their expected times all the same.
    ///
    /// # Errors
    /// As [`Queue::estimate`].
    pub fn estimate_lasting(
        &mut self,
        machine: &str,
        now: Micros,
        lasts: Lasts<'_>,
    ) -> Result<Vec<Estimate>, QueueError> {
        self.simulate(machine, now, Some(lasts))
    }

    fn simulate(
        &mut self,
        machine: &str,
        now: Micros,
        lasts: Option<Lasts<'_>>,
    ) -> Result<Vec<Estimate>, QueueError> {
        let at = self.machine(machine)?;
        self.advance(now);
        let mut found = Vec::with_capacity(self.machines[at as usize].waiting);
        if self.machines[at as usize].paused {
            let never = |id| self.estimated(id, None);
            return Ok(self.ordered(at).into_iter().map(never).collect());
        }
        let mut future = Future::new(self.clone(), lasts);
        while future.queue.machines[at as usize].waiting > 0 {
            future.start_all(|queue, job| {
                let job = queue.job(job);
                if job.machine == at {
                    found.push(Estimate {
                        job: job.id,
                        start: job.started,
                        proxy: job.proxy(),
                    });
                }
            });
            future.end_next();
        }
        Ok(found)
    }

    fn estimated(&self, job: u64, start: Option<Micros>) -> Estimate {
        let proxy = self.job(self.by_id[&job]).proxy();
        Estimate { job, start, proxy }
    }
}

/// Run time of a job, by id.
pub type Lasts<'a> = &'a dyn Fn(u64) -> u64;

/// A copy of the queue that is simulated forward.
struct Future<'a> {
    queue: Queue,
    /// Run times; `None`: as expected.
    lasts: Option<Lasts<'a>>,
    /// When what runs ends, and its position.
    ends: BinaryHeap<Reverse<(Micros, u32)>>,
    /// Machines that may have room.
    idle: BTreeSet<u32>,
}

impl<'a> Future<'a> {
    fn new(queue: Queue, lasts: Option<Lasts<'a>>) -> Future<'a> {
        let ends = queue.running.keys().map(|at| {
            let end = end(&queue, *at, lasts).max(queue.now);
            Reverse((end, *at))
        });
        Future {
            ends: ends.collect(),
            idle: (0..queue.machines.len() as u32).collect(),
            queue,
            lasts,
        }
    }

    /// Starts what can start now; calls `started` with the position of each.
    fn start_all(&mut self, mut started: impl FnMut(&Queue, u32)) {
        for machine in std::mem::take(&mut self.idle) {
            while let Ok(at) = self.queue.next_at(machine) {
                self.queue.run(at, self.queue.now);
                started(&self.queue, at);
                let end = end(&self.queue, at, self.lasts);
                self.ends.push(Reverse((end, at)));
            }
        }
    }

    /// Lets time pass to the next end, and ends all that ends then.
    fn end_next(&mut self) {
        let Some(Reverse((now, _))) = self.ends.peek().copied() else {
            return;
        };
        while let Some(&Reverse((_, at))) = self.ends.peek().filter(|next| next.0.0 == now) {
            self.ends.pop();
            let job = self.queue.job(at);
            self.idle.insert(job.machine);
            let counts = self.queue.settings.outcomes.counts(EndState::Completed, 0);
            self.queue.advance(now);
            self.queue.close(at, now, counts);
            self.queue.forget(at);
        }
    }
}

/// When a running job is expected to end.
fn end(queue: &Queue, at: u32, lasts: Option<Lasts<'_>>) -> Micros {
    let job = queue.job(at);
    let length = lasts.map_or(job.length(), |lasts| lasts(job.id));
    let length = i64::try_from(length).unwrap_or(Micros::MAX);
    job.started.expect("it runs").saturating_add(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::queue::{NewJob, Settings};
    use crate::tree::{Assoc, AssocKind, Shares, Tree};

    /// A run that has lasted for longer than a signed number of microseconds can say.
    #[test]
    fn a_run_since_the_first_moment_ends_now() {
        let row = |id, parent| Assoc {
            id,
            parent,
            kind: AssocKind::Account,
            shares: Shares::Raw(1),
        };
        let tree = Tree::from_rows([row(1, None), row(2, Some(1))]).unwrap();
        let mut queue = Queue::new(&tree, Settings::default(), i64::MIN).unwrap();
        queue.add_machine("m", 1).unwrap();
        for id in [1, 2] {
            let new = NewJob {
                id,
                assoc: 2,
                machine: "m",
                submit: 0,
                nice: 0,
                expected: Some(10),
                limit: None,
                rate: 1,
            };
            queue.add(&new).unwrap();
        }
        queue.start(1, i64::MIN).unwrap();
        for now in [0, 5, i64::MAX] {
            let found = queue.estimate("m", now).unwrap();
            assert_eq!((found[0].job, found[0].start), (2, Some(now)));
        }
    }
}
