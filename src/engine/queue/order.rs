//! Positions of waiting jobs.

use super::competitors::NONE;
use super::error::QueueError;
use super::{Choice, Micros, Queue};
use crate::engine::MachineError;
use crate::order::{self, Node};

impl Queue {
    /// The ids of all jobs that wait for a machine, first to last, at the latest moment told of:
    /// with [`Choice::Interleaved`] the order in which they would start if each were charged its
    /// expected use at once, with [`Choice::Strict`] the order by present ratios. Takes time in
    /// O(n log n).
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn positions(&self, machine: &str) -> Result<Vec<u64>, QueueError> {
        let at = self.machine(machine)?;
        Ok(self.ordered(at))
    }

    /// The place of a waiting job among those that wait for its machine, from 0; as in
    /// [`Queue::positions`], and at the same cost.
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotWaiting`].
    pub fn position(&self, id: u64) -> Result<usize, QueueError> {
        let at = self.find(id)?;
        let job = self.job(at);
        if job.started.is_some() {
            return Err(MachineError::NotWaiting { job: id }.into());
        }
        let order = self.ordered(job.machine);
        let found = order.iter().position(|other| *other == id);
        Ok(found.expect("a waiting job"))
    }

    /// As [`Queue::positions`], at the moment `now`.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn positions_at(&mut self, machine: &str, now: Micros) -> Result<Vec<u64>, QueueError> {
        self.machine(machine)?;
        self.advance(now);
        self.positions(machine)
    }

    pub(super) fn ordered(&self, machine: u32) -> Vec<u64> {
        let nodes = self.competitors.nodes.iter().zip(0..);
        let nodes: Vec<Node> = nodes
            .map(|(node, at)| Node {
                parent: (node.parent != NONE).then_some(node.parent),
                used: self.contest.used(at),
                entitled: node.entitled,
            })
            .collect();
        let here = |job: &&super::Job| job.machine == machine && job.started.is_none();
        let jobs: Vec<order::Job> = (self.jobs.iter().flatten())
            .filter(here)
            .map(|job| order::Job {
                node: job.node,
                tier: 0,
                nice: job.nice,
                submit: job.submit,
                id: job.id,
                expected: job.expected_use(),
            })
            .collect();
        let order = match self.settings.choice {
            Choice::Strict => order::strict,
            Choice::Interleaved => order::interleaved,
        };
        let sorted = order(&nodes, self.settings.level, &jobs).expect("rows of a tree");
        sorted.iter().map(|at| jobs[*at as usize].id).collect()
    }
}
