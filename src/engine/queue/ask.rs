//! Content of a queue: its jobs, its machines, and all standings at once.

use super::competitors::NONE;
use super::{Micros, Queue, QueueStanding};
use crate::engine::Held;
use crate::tree::AssocId;

/// A machine as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineState<'a> {
    /// Its number: how many machines were added before it.
    pub number: u32,
    /// Its name.
    pub name: &'a str,
    /// Jobs that it runs at a time.
    pub slots: u32,
    /// Jobs that run there.
    pub running: u32,
    /// Jobs that wait for it.
    pub waiting: usize,
    /// In maintenance.
    pub paused: bool,
    /// The maximum run time of jobs that come without any; `None`: that of the queue.
    pub default_limit: Option<u64>,
}

impl Queue {
    /// The machines, in the order in which they were added.
    pub fn machine_states(&self) -> impl Iterator<Item = MachineState<'_>> {
        let machines = self.machines.iter().zip(0..);
        let present = machines.filter(|(machine, _)| !machine.removed);
        present.map(|(machine, number)| MachineState {
            number,
            name: &machine.name,
            slots: machine.slots,
            running: machine.running,
            waiting: machine.waiting,
            paused: machine.paused,
            default_limit: machine.default_limit,
        })
    }

    /// How many jobs wait or run.
    pub fn job_count(&self) -> usize {
        self.by_id.len()
    }

    /// All jobs at the moment `now`, machine by machine: those that run, by start and id, and then
    /// those that wait, as [`Queue::positions_at`] orders them.
    pub fn held(&mut self, now: Micros) -> Vec<Held> {
        self.advance(now);
        let mut running: Vec<_> = self.running.keys().map(|at| self.job(*at)).collect();
        running.sort_unstable_by_key(|job| (job.machine, job.started, job.id));
        let mut running = running.into_iter().peekable();
        let mut found = Vec::with_capacity(self.job_count());
        for machine in 0..self.machines.len() as u32 {
            while let Some(job) = running.next_if(|job| job.machine == machine) {
                found.push(self.row(job.id, None));
            }
            if self.machines[machine as usize].waiting > 0 {
                let order = self.ordered(machine).into_iter().enumerate();
                found.extend(order.map(|(place, id)| self.row(id, Some(place))));
            }
        }
        found
    }

    fn row(&self, id: u64, place: Option<usize>) -> Held {
        let job = self.job(self.by_id[&id]);
        Held {
            job: id,
            account: job.assoc,
            machine: job.machine,
            place,
            in_reservation: false,
            submit: job.submit,
            since: job.started.unwrap_or(job.submit),
        }
    }

    /// How many associations have a standing of their own.
    pub fn standing_count(&self) -> usize {
        self.competitors.nodes.len()
    }

    /// The standings of all associations that compete at the moment `now`, in the order of the
    /// tree's rows; each as [`Queue::standing`] has it.
    pub fn standings(&mut self, now: Micros) -> Vec<(AssocId, QueueStanding)> {
        self.advance(now);
        let nodes = &self.competitors.nodes;
        let mut ahead = vec![0_u128; nodes.len()];
        for job in self.running.keys().map(|at| self.job(*at)) {
            let mut node = job.node;
            while node != NONE {
                ahead[node as usize] += self.ahead(job, node);
                node = nodes[node as usize].parent;
            }
        }
        let mut found: Vec<_> = (nodes.iter().zip(ahead).zip(0..))
            .map(|((node, ahead), at)| (node.assoc, self.stands(at, ahead)))
            .collect();
        found.sort_by_key(|(assoc, _)| self.tree.index_of(*assoc));
        found
    }
}
