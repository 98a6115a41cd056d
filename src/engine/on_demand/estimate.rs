//! When waiting jobs will start, if nothing comes.

use std::collections::HashSet;

use super::error::OnDemandError;
use super::{Next, OnDemand};
use crate::engine::queue::{Lasts, Micros};
use crate::usage::EndState;

/// When a waiting job will start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Its id.
    pub job: u64,
    /// When; `None`: never, as the machine is paused, or as the limits will leave no room for it
    /// at the end of its reservation.
    pub start: Option<Micros>,
}

impl OnDemand {
    /// When the jobs that wait for a machine will start, in this order, if each runs for its
    /// expected time, halted ones restart and nothing comes. A job that has run longer than that
    /// already ends now.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`](crate::engine::MachineError::UnknownMachine).
    pub fn estimate(&mut self, machine: &str, now: Micros) -> Result<Vec<Estimate>, OnDemandError> {
        self.simulate(machine, now, None)
    }

    /// As [`OnDemand::estimate`], where `lasts` has the run time of each job, by id, in microseconds
    /// from its start.
    ///
    /// # Errors
    /// As [`OnDemand::estimate`].
    pub fn estimate_lasting(
        &mut self,
        machine: &str,
        now: Micros,
        lasts: Lasts<'_>,
    ) -> Result<Vec<Estimate>, OnDemandError> {
        self.simulate(machine, now, Some(lasts))
    }

    fn simulate(
        &mut self,
        machine: &str,
        now: Micros,
        lasts: Option<Lasts<'_>>,
    ) -> Result<Vec<Estimate>, OnDemandError> {
        let at = self.machine(machine)?;
        let waiting = self.positions(machine, now)?;
        let mut unknown: HashSet<u64> = waiting.iter().copied().collect();
        let mut future = self.clone();
        let mut found: Vec<Estimate> = Vec::with_capacity(waiting.len());
        loop {
            let now = future.now;
            match future.next_at(at) {
                Next::Job(job) => {
                    future.start(job, now)?;
                    if unknown.remove(&job) {
                        let start = Some(now);
                        found.push(Estimate { job, start });
                    }
                }
                Next::Halt(job) => future.halted(job, now)?,
                Next::Busy => future.end_next(at, lasts)?,
                Next::NoneWaits | Next::Paused => break,
            }
        }
        for job in waiting {
            if unknown.contains(&job) {
                found.push(Estimate { job, start: None });
            }
        }
        Ok(found)
    }

    /// Lets time pass to the next end of a run on a machine.
    fn end_next(&mut self, machine: u32, lasts: Option<Lasts<'_>>) -> Result<(), OnDemandError> {
        let ends = self.machines[machine as usize].running.iter().map(|id| {
            let job = &self.jobs[id];
            let length = lasts.map_or(job.expected, |lasts| lasts(*id));
            let length = Micros::try_from(length).unwrap_or(Micros::MAX);
            let end = job.started.unwrap_or(self.now).saturating_add(length);
            (end.max(self.now), *id)
        });
        let Some((end, job)) = ends.min() else {
            return Ok(());
        };
        self.finish(job, EndState::Completed, 0, 0, end).map(drop)
    }
}
