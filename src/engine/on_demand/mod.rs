//! An on-demand queue: first come, first served, and reservations first.
//!
//! | rule | |
//! |---|---|
//! | reservation | a machine is an account's for a time; what it submits there meanwhile are jobs of the reservation, everything else is on-demand and stays so |
//! | next | the oldest job of the running reservation; if none waits, the oldest on-demand job |
//! | side by side | jobs of a reservation on disjoint parts of the machine, also past one that waits for other parts than theirs; an on-demand job runs alone |
//! | halt | where a job of a reservation waits and an on-demand job runs, that one is to be halted: it goes back to the very place it had, costs nothing and starts again |
//! | end of a reservation | jobs that still wait become on-demand jobs of that moment, in the order of their submission, within the limits; one that runs goes on |
//! | limits | waiting on-demand jobs of an account, and of a machine |
//! | maintenance | a paused machine gives no job |
//! | bills | [`OnDemand::bills`] |
//!
//! Times are microseconds since 1970 and come from the caller; an earlier moment than the latest
//! one counts as the latest. A call that fails changes nothing, and no time passes.
//!
//! ```
//! use fairtree::engine::on_demand::{NewJob, Next, OnDemand, Prices};
//! use fairtree::usage::EndState;
//! let mut queue = OnDemand::new("COMPLETED".parse().unwrap(), 0);
//! let prices = Prices { execution_microsecond: 3, reserved_second: 1_000 };
//! queue.add_machine("m", Some(10), prices)?;
//! queue.reserve(1, "m", 7, (1_000_000, 5_000_000), 0)?;
//! let job = |id, account| NewJob { id, account, machine: "m", parts: &[], expected: 500 };
//! queue.submit(&job(20, 8), 0)?;
//! assert_eq!(queue.next("m", 0)?, Next::Job(20));
//! queue.start(20, 0)?;
//! // The owner comes while it runs.
//! let submitted = queue.submit(&job(21, 7), 1_000_000)?;
//! assert_eq!((submitted.reservation, submitted.halt), (true, Some(20)));
//! queue.halted(20, 1_000_010)?;
//! assert_eq!(queue.next("m", 1_000_010)?, Next::Job(21));
//! queue.start(21, 1_000_010)?;
//! queue.finish(21, EndState::Completed, 0, 400, 1_000_500)?;
//! queue.start(20, 1_000_500)?;
//! queue.finish(20, EndState::Completed, 0, 500, 1_001_000)?;
//! queue.next("m", 5_000_000)?;
//! let bills = queue.bills(0..6_000_000);
//! assert_eq!(bills[&(8, "m".to_owned())].amount, 1_500);
//! assert_eq!(bills[&(7, "m".to_owned())].amount, 4_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
mod bill;
mod change;
mod error;
mod estimate;
mod machine;
mod reservation;
#[cfg(any(feature = "capi", feature = "slurm", test))]
mod save;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use super::queue::Micros;
use crate::engine::{Finished, MachineError};
use crate::usage::{EndState, Outcomes};

pub use ask::{MachineState, Reserved};
pub use bill::{Bill, Prices};
use bill::{BillLine, BillLines, Billed};
pub use error::OnDemandError;
pub use estimate::Estimate;
use machine::Machine;
use reservation::Reservation;

/// The account that is billed: any number.
pub type AccountId = u32;

/// A job that is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewJob<'a> {
    /// Unique among those that wait or run.
    pub id: u64,
    /// Who pays.
    pub account: AccountId,
    /// The machine that it waits for.
    pub machine: &'a str,
    /// Numbers of the parts of the machine that it uses; none: all of it. Only jobs of a
    /// reservation run side by side.
    pub parts: &'a [u32],
    /// How long it is expected to run, or may at most: for estimates. 0: the default of the machine,
    /// or of the queue; without one it is 0.
    pub expected: u64,
}

/// What became of a job that was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// A job of the reservation that runs; otherwise on-demand.
    pub reservation: bool,
    /// The on-demand job that is to be halted for it. [`OnDemand::next`] says so, too.
    pub halt: Option<u64>,
}

/// What a machine is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run this job.
    Job(u64),
    /// Halt this on-demand job, as one of a reservation waits. See [`OnDemand::halted`].
    Halt(u64),
    /// Nothing, as no job waits.
    NoneWaits,
    /// Nothing, as it is in maintenance.
    Paused,
    /// Nothing new, as the next job cannot run beside what runs.
    Busy,
}

/// What limits waiting on-demand jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Those of an account, for all machines.
    Account(AccountId),
    /// Those for a machine, of all accounts.
    Machine(String),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Account(account) => write!(f, "account {account}"),
            Limit::Machine(name) => write!(f, "machine {name:?}"),
        }
    }
}

#[derive(Clone, Debug)]
struct Job {
    account: AccountId,
    machine: u32,
    parts: Vec<u32>,
    expected: u64,
    submit: Micros,
    /// Since when it stands in the on-demand line; `None`: it is a job of a reservation.
    queued: Option<Micros>,
    started: Option<Micros>,
    /// Price of a microsecond, under which it runs.
    price: u64,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct OnDemand {
    billed: Outcomes,
    machines: Vec<Machine>,
    names: BTreeMap<String, u32>,
    jobs: HashMap<u64, Job>,
    /// Of every account without one of its own.
    account_limit: Option<u32>,
    account_limits: HashMap<AccountId, Option<u32>>,
    /// The machines that accounts are bound to, by name.
    bindings: BTreeMap<AccountId, Vec<String>>,
    /// The run time of jobs that come without any, on machines without one of their own.
    default_length: Option<u64>,
    /// On-demand jobs that wait.
    waiting: HashMap<AccountId, u32>,
    reservations: HashMap<u64, Reservation>,
    ends: BTreeSet<(Micros, u64)>,
    refused: Vec<(u64, OnDemandError)>,
    ledger: BillLines,
    now: Micros,
}

impl OnDemand {
    /// Ends of runs that are billed where nothing else was said.
    pub fn default_billed() -> Outcomes {
        Outcomes::from_words(["COMPLETED"]).expect("a state")
    }

    /// Without machines. `billed`: which ends of on-demand runs are ends that were well for the
    /// machine.
    pub fn new(billed: Outcomes, now: Micros) -> OnDemand {
        OnDemand {
            billed,
            machines: Vec::new(),
            names: BTreeMap::new(),
            jobs: HashMap::new(),
            account_limit: None,
            account_limits: HashMap::new(),
            bindings: BTreeMap::new(),
            default_length: None,
            waiting: HashMap::new(),
            reservations: HashMap::new(),
            ends: BTreeSet::new(),
            refused: Vec::new(),
            ledger: BillLines::default(),
            now,
        }
    }

    /// Limits waiting on-demand jobs of an account, or with `None` of every account that has no
    /// limit of its own. Jobs that wait already stay.
    pub fn limit_account(&mut self, account: Option<AccountId>, limit: Option<u32>) {
        match account {
            Some(account) => {
                self.account_limits.insert(account, limit);
            }
            None => self.account_limit = limit,
        }
    }

    fn job(&self, id: u64) -> Result<&Job, OnDemandError> {
        self.jobs
            .get(&id)
            .ok_or(MachineError::UnknownJob { job: id }.into())
    }

    /// A job begins to wait: one of a reservation if the account owns the one that runs on the
    /// machine at this moment, otherwise an on-demand job.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`], [`MachineError::JobTwice`], [`MachineError::Elsewhere`],
    /// [`OnDemandError::Full`].
    pub fn submit(&mut self, new: &NewJob<'_>, now: Micros) -> Result<Submitted, OnDemandError> {
        let machine = self.machine(new.machine)?;
        if self.jobs.contains_key(&new.id) {
            return Err(MachineError::JobTwice { job: new.id }.into());
        }
        self.check_bound(new.account, new.machine)?;
        let reservation = self.at(now, |queue| {
            let reserved = queue.reservation_now(machine);
            let reservation = reserved.is_some_and(|reserved| reserved.owner == new.account);
            match reservation {
                true => Ok(true),
                false => queue.check_room(new.account, machine).map(|()| false),
            }
        })?;
        let job = Job {
            account: new.account,
            machine,
            parts: new.parts.to_vec(),
            expected: match new.expected {
                0 => self.default_length_of(machine).unwrap_or(0),
                expected => expected,
            },
            submit: self.now,
            queued: (!reservation).then_some(self.now),
            started: None,
            price: 0,
        };
        self.jobs.insert(new.id, job);
        self.wait(new.id);
        let halt = match self.next_at(machine) {
            Next::Halt(job) if reservation => Some(job),
            _ => None,
        };
        Ok(Submitted { reservation, halt })
    }

    /// Is there room for another waiting on-demand job?
    fn check_room(&self, account: AccountId, machine: u32) -> Result<(), OnDemandError> {
        let own = self.account_limits.get(&account).copied();
        let of_account = self.waiting.get(&account).copied().unwrap_or(0);
        let found = &self.machines[machine as usize];
        let of_machine = u32::try_from(found.on_demand.len()).unwrap_or(u32::MAX);
        let full = |size: Option<u32>, waiting| size.filter(|size| waiting >= *size);
        if let Some(size) = full(own.unwrap_or(self.account_limit), of_account) {
            return Err(OnDemandError::Full {
                limit: Limit::Account(account),
                size,
                waiting: of_account,
            });
        }
        if let Some(size) = full(found.limit, of_machine) {
            return Err(OnDemandError::Full {
                limit: Limit::Machine(found.name.clone()),
                size,
                waiting: of_machine,
            });
        }
        Ok(())
    }

    fn wait(&mut self, id: u64) {
        let job = &self.jobs[&id];
        let machine = &mut self.machines[job.machine as usize];
        match job.queued {
            Some(queued) => {
                machine.on_demand.insert((queued, job.submit, id));
                *self.waiting.entry(job.account).or_default() += 1;
            }
            None => {
                machine.in_reservation.insert((job.submit, id));
            }
        }
    }

    fn leave_line(&mut self, id: u64) {
        let job = &self.jobs[&id];
        let machine = &mut self.machines[job.machine as usize];
        match job.queued {
            Some(queued) => {
                machine.on_demand.remove(&(queued, job.submit, id));
                let waiting = self.waiting.get_mut(&job.account);
                *waiting.expect("one that waits is counted") -= 1;
            }
            None => {
                machine.in_reservation.remove(&(job.submit, id));
            }
        }
    }

    /// Jobs that waited when their reservation ended and that the limits left no room for, as
    /// [`OnDemand::take_refused`] would tell them; they stay to be told.
    pub fn refused(&mut self, now: Micros) -> &[(u64, OnDemandError)] {
        self.advance(now);
        &self.refused
    }

    /// Jobs that waited when their reservation ended and that the limits left no room for, each
    /// with the error; once.
    pub fn take_refused(&mut self, now: Micros) -> Vec<(u64, OnDemandError)> {
        self.advance(now);
        std::mem::take(&mut self.refused)
    }

    /// How many jobs [`OnDemand::refused`] will report at a moment; no time passes.
    pub fn count_refused(&mut self, now: Micros) -> usize {
        self.foreseen(now, |queue| queue.refused.len())
    }

    /// What the machine is to do now; starts and halts nothing.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn next(&mut self, machine: &str, now: Micros) -> Result<Next, OnDemandError> {
        let at = self.machine(machine)?;
        self.advance(now);
        Ok(self.next_at(at))
    }

    fn next_at(&self, machine: u32) -> Next {
        let found = &self.machines[machine as usize];
        if found.paused {
            return Next::Paused;
        }
        if let Some(&(_, first)) = found.in_reservation.first() {
            if let Some(halt) = self
                .in_the_way(first)
                .filter(|id| self.jobs[id].queued.is_some())
            {
                return Next::Halt(halt);
            }
            let next = self.next_beside(found.in_reservation.iter().map(|job| job.1));
            return next.map_or(Next::Busy, Next::Job);
        }
        match found.on_demand.first() {
            None => Next::NoneWaits,
            Some(_) if !found.running.is_empty() => Next::Busy,
            Some(&(.., id)) => Next::Job(id),
        }
    }

    /// The first of the waiting jobs of a reservation, in their order, that can run beside what runs
    /// and uses no part that one before it waits for: whenever they end, it delays none of them.
    fn next_beside(&self, waiting: impl Iterator<Item = u64>) -> Option<u64> {
        let mut claimed: HashSet<u32> = HashSet::new();
        for id in waiting {
            let parts = &self.jobs[&id].parts;
            let free = !parts.iter().any(|part| claimed.contains(part));
            if free && self.in_the_way(id).is_none() && (!parts.is_empty() || claimed.is_empty()) {
                return Some(id);
            }
            if parts.is_empty() {
                return None;
            }
            claimed.extend(parts);
        }
        None
    }

    /// A job that runs and that this one cannot run beside.
    fn in_the_way(&self, id: u64) -> Option<u64> {
        let job = &self.jobs[&id];
        let beside = |other: &Job| {
            let reserved = job.queued.is_none() && other.queued.is_none();
            let parts = !job.parts.is_empty() && !other.parts.is_empty();
            reserved && parts && !job.parts.iter().any(|part| other.parts.contains(part))
        };
        let running = self.machines[job.machine as usize].running.iter();
        running.copied().find(|other| !beside(&self.jobs[other]))
    }

    /// A waiting job starts: the one that [`OnDemand::next`] told, or any other that can.
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotWaiting`], [`MachineError::Paused`],
    /// [`OnDemandError::Busy`].
    pub fn start(&mut self, id: u64, now: Micros) -> Result<(), OnDemandError> {
        // The job may be refused at the end of its reservation.
        let machine = self.at(now, |queue| queue.check_start(id))?;
        self.leave_line(id);
        let machine = &mut self.machines[machine as usize];
        let job = self.jobs.get_mut(&id).expect("a job that is known");
        job.started = Some(self.now);
        job.price = match job.queued {
            Some(_) => machine.prices.execution_microsecond,
            None => 0,
        };
        machine.running.push(id);
        Ok(())
    }

    /// The machine of a waiting job that can start.
    fn check_start(&self, id: u64) -> Result<u32, OnDemandError> {
        let job = self.job(id)?;
        if job.started.is_some() {
            return Err(MachineError::NotWaiting { job: id }.into());
        }
        let machine = &self.machines[job.machine as usize];
        let name = || machine.name.clone();
        if machine.paused {
            return Err(MachineError::Paused {
                name: name(),
                job: id,
            }
            .into());
        }
        match self.in_the_way(id) {
            Some(running) => Err(OnDemandError::Busy {
                name: name(),
                running,
                job: id,
            }),
            None => Ok(job.machine),
        }
    }

    fn stop(&mut self, id: u64) {
        let job = self.jobs.get_mut(&id).expect("a job that is known");
        job.started = None;
        let running = &mut self.machines[job.machine as usize].running;
        running.retain(|other| *other != id);
    }

    /// An on-demand job was halted: its partial result is discarded, it costs nothing, and it
    /// waits again in the very place that it had, whatever the limits.
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotRunning`],
    /// [`OnDemandError::NotHalted`].
    pub fn halted(&mut self, id: u64, now: Micros) -> Result<(), OnDemandError> {
        self.at(now, |queue| {
            let job = queue.job(id)?;
            match (job.started, job.queued) {
                (None, _) => Err(MachineError::NotRunning { job: id }.into()),
                (_, None) => Err(OnDemandError::NotHalted { job: id }),
                _ => Ok(()),
            }
        })?;
        self.stop(id);
        self.wait(id);
        Ok(())
    }

    /// A run has ended after `executed` microseconds on the machine. It is billed if the job is
    /// on-demand and such ends are, at the price that the machine had when it started.
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotRunning`],
    /// [`MachineError::RanTooLong`].
    pub fn finish(
        &mut self,
        id: u64,
        end: EndState,
        exit_code: u32,
        executed: Micros,
        now: Micros,
    ) -> Result<Finished, OnDemandError> {
        self.at(now, |queue| {
            let started = queue.job(id)?.started;
            let started = started.ok_or(MachineError::NotRunning { job: id })?;
            let passed = queue.now.saturating_sub(started);
            match (0..=passed).contains(&executed) {
                true => Ok(()),
                false => Err(MachineError::RanTooLong {
                    job: id,
                    executed,
                    passed,
                }
                .into()),
            }
        })?;
        let job = self.job(id)?;
        let line = BillLine {
            account: job.account,
            machine: job.machine,
            billed: Billed::Executed(executed.unsigned_abs()),
            price: job.price,
        };
        let counts = job.queued.is_some() && self.billed.counts(end, exit_code);
        if counts && executed > 0 {
            self.ledger.add(self.now, line);
        }
        self.stop(id);
        self.jobs.remove(&id);
        Ok(Finished {
            executed,
            counts,
            price: line.price,
            cost: if counts { line.amount() } else { 0 },
        })
    }

    /// A waiting job is gone. One that runs is ended by [`OnDemand::finish`].
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotWaiting`].
    pub fn cancel(&mut self, id: u64, now: Micros) -> Result<(), OnDemandError> {
        self.at(now, |queue| match queue.job(id)?.started {
            Some(_) => Err(MachineError::NotWaiting { job: id }.into()),
            None => Ok(()),
        })?;
        self.leave_line(id);
        self.jobs.remove(&id);
        Ok(())
    }

    /// How many jobs will wait for a machine at a moment, if nothing comes; no time passes.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn count_waiting(&mut self, machine: &str, now: Micros) -> Result<usize, OnDemandError> {
        let at = self.machine(machine)? as usize;
        Ok(self.foreseen(now, |queue| {
            let found = &queue.machines[at];
            found.in_reservation.len() + found.on_demand.len()
        }))
    }

    /// The ids of all jobs that wait for a machine, first to last.
    ///
    /// # Errors
    /// [`MachineError::UnknownMachine`].
    pub fn positions(&mut self, machine: &str, now: Micros) -> Result<Vec<u64>, OnDemandError> {
        let at = self.machine(machine)?;
        self.advance(now);
        let found = &self.machines[at as usize];
        let reserved = found.in_reservation.iter().map(|job| job.1);
        Ok(reserved
            .chain(found.on_demand.iter().map(|job| job.2))
            .collect())
    }
}
