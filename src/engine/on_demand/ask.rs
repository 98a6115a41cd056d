//! Content of an on-demand queue: its jobs, its machines, its reservations.

use super::{AccountId, OnDemand, Prices};
use crate::engine::Held;
use crate::engine::queue::Micros;

/// A machine as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineState<'a> {
    /// Its number: how many machines were added before it.
    pub number: u32,
    /// Its name.
    pub name: &'a str,
    /// Limit of waiting on-demand jobs; `None`: none.
    pub limit: Option<u32>,
    /// Its prices.
    pub prices: Prices,
    /// In maintenance.
    pub paused: bool,
    /// Jobs that run there.
    pub running: usize,
    /// Jobs that wait for it.
    pub waiting: usize,
    /// The run time of jobs that come without any; `None`: that of the queue.
    pub default_length: Option<u64>,
}

/// A reservation that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its id.
    pub reservation: u64,
    /// Number of its machine.
    pub machine: u32,
    /// Its owner.
    pub owner: AccountId,
    /// From this moment.
    pub start: Micros,
    /// Until before this one.
    pub end: Micros,
    /// It has begun.
    pub begun: bool,
    /// Price of a second of it, if the machine keeps its price until it begins.
    pub price: u64,
}

impl OnDemand {
    /// The machines, in the order in which they were added, at the latest moment of a call.
    pub fn machine_states(&self) -> impl Iterator<Item = MachineState<'_>> {
        let machines = self.machines.iter().zip(0..);
        let present = machines.filter(|(machine, _)| !machine.removed);
        present.map(|(machine, number)| MachineState {
            number,
            name: &machine.name,
            limit: machine.limit,
            prices: machine.prices,
            paused: machine.paused,
            running: machine.running.len(),
            waiting: machine.on_demand.len() + machine.in_reservation.len(),
            default_length: machine.default_length,
        })
    }

    /// How many jobs will wait or run at a moment, if nothing comes; no time passes.
    pub fn count_jobs(&mut self, now: Micros) -> usize {
        self.foreseen(now, |queue| queue.jobs.len())
    }

    /// All jobs at the moment `now`, machine by machine: those that run, by start and id, and then
    /// those that wait, as [`OnDemand::positions`] orders them.
    pub fn held(&mut self, now: Micros) -> Vec<Held> {
        self.advance(now);
        let mut found = Vec::with_capacity(self.jobs.len());
        for machine in &self.machines {
            let mut running: Vec<_> = (machine.running.iter())
                .map(|id| (self.jobs[id].started, *id))
                .collect();
            running.sort_unstable();
            found.extend(running.into_iter().map(|(_, id)| self.row(id, None)));
            let reserved = machine.in_reservation.iter().map(|job| job.1);
            let waiting = reserved.chain(machine.on_demand.iter().map(|job| job.2));
            let places = waiting.enumerate();
            found.extend(places.map(|(place, id)| self.row(id, Some(place))));
        }
        found
    }

    fn row(&self, id: u64, place: Option<usize>) -> Held {
        let job = &self.jobs[&id];
        let waits = job.queued.unwrap_or(job.submit);
        Held {
            job: id,
            account: job.account,
            machine: job.machine,
            place,
            in_reservation: job.queued.is_none(),
            submit: job.submit,
            since: job.started.unwrap_or(waits),
        }
    }

    /// How many reservations will not be over at a moment; no time passes.
    pub fn count_reservations(&mut self, now: Micros) -> usize {
        self.foreseen(now, |queue| queue.reservations.len())
    }

    /// The reservations that are not over at the moment `now`, by machine and start.
    pub fn reservations(&mut self, now: Micros) -> Vec<Reserved> {
        self.advance(now);
        let mut found = Vec::with_capacity(self.reservations.len());
        for machine in &self.machines {
            for id in machine.reserved.values() {
                let one = &self.reservations[id];
                found.push(Reserved {
                    reservation: *id,
                    machine: one.machine,
                    owner: one.owner,
                    start: one.start,
                    end: one.end,
                    begun: one.start <= self.now,
                    price: one.price.unwrap_or(machine.prices.reserved_second),
                });
            }
        }
        found
    }
}
