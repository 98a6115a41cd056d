//! The rules of the on-demand queue as lists that are searched each time.

use std::collections::BTreeMap;

use fairtree::engine::on_demand::{Bill, Limit, Next, Prices};
use fairtree::engine::queue::SECOND;

pub const MACHINES: [&str; 2] = ["a", "b"];
pub const PRICES: [Prices; 2] = [
    Prices {
        execution_microsecond: 3,
        reserved_second: 7_000,
    },
    Prices {
        execution_microsecond: 5,
        reserved_second: 11_000,
    },
];

#[derive(Clone, Debug)]
pub struct Job {
    pub id: u64,
    pub account: u32,
    pub machine: &'static str,
    pub parts: Vec<u32>,
    pub submit: i64,
    /// `None`: a job of a reservation.
    pub queued: Option<i64>,
    pub started: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct Reservation {
    pub id: u64,
    pub machine: &'static str,
    pub owner: u32,
    pub start: i64,
    pub end: i64,
    pub over: bool,
}

/// A run of an on-demand job, or a reservation: account, machine, end, billed part.
pub type Line = (u32, &'static str, i64, Billed);

#[derive(Clone, Copy)]
pub enum Billed {
    Micros(i64),
    Seconds(i64),
}

#[derive(Default)]
pub struct Naive {
    pub jobs: Vec<Job>,
    pub reservations: Vec<Reservation>,
    pub lines: Vec<Line>,
    pub refused: Vec<u64>,
    pub account_limit: usize,
    pub machine_limit: usize,
    pub paused: Vec<&'static str>,
}

impl Naive {
    /// Rule 4, for the first reservation that has ended.
    pub fn pass(&mut self, now: i64) {
        loop {
            let ended = (self.reservations.iter_mut())
                .filter(|one| !one.over && one.end <= now)
                .min_by_key(|one| (one.end, one.id));
            let Some(one) = ended else { return };
            one.over = true;
            let (machine, end) = (one.machine, one.end);
            let seconds = Billed::Seconds((one.end - one.start) / SECOND);
            self.lines.push((one.owner, machine, end, seconds));
            let mut left: Vec<(i64, u64)> = (self.jobs.iter())
                .filter(|job| job.machine == machine && job.queued.is_none())
                .filter(|job| job.started.is_none())
                .map(|job| (job.submit, job.id))
                .collect();
            left.sort_unstable();
            for (_, id) in left {
                let job = self.job(id);
                if self.full(job.account, machine).is_some() {
                    self.jobs.retain(|job| job.id != id);
                    self.refused.push(id);
                } else {
                    self.job_mut(id).queued = Some(end);
                }
            }
        }
    }

    pub fn job(&self, id: u64) -> Job {
        self.jobs.iter().find(|job| job.id == id).unwrap().clone()
    }

    pub fn job_mut(&mut self, id: u64) -> &mut Job {
        self.jobs.iter_mut().find(|job| job.id == id).unwrap()
    }

    /// Rule 5.
    pub fn full(&self, account: u32, machine: &str) -> Option<(Limit, usize, usize)> {
        let waits = |job: &&Job| job.queued.is_some() && job.started.is_none();
        let all = || self.jobs.iter().filter(waits);
        let own = all().filter(|job| job.account == account).count();
        let here = all().filter(|job| job.machine == machine).count();
        if own >= self.account_limit {
            Some((Limit::Account(account), self.account_limit, own))
        } else if here >= self.machine_limit {
            Some((Limit::Machine(machine.to_owned()), self.machine_limit, here))
        } else {
            None
        }
    }

    /// Rule 1.
    pub fn owns_now(&self, account: u32, machine: &str, now: i64) -> bool {
        self.reservations.iter().any(|one| {
            one.owner == account && one.machine == machine && (one.start..one.end).contains(&now)
        })
    }

    pub fn positions(&self, machine: &str) -> Vec<u64> {
        let mut waiting: Vec<&Job> = (self.jobs.iter())
            .filter(|job| job.machine == machine && job.started.is_none())
            .collect();
        waiting.sort_by_key(|job| (job.queued.is_some(), job.queued, job.submit, job.id));
        waiting.iter().map(|job| job.id).collect()
    }

    /// Rules 2, 3 and 6 as a table.
    pub fn next(&self, machine: &str) -> Next {
        let first = self.positions(machine).first().map(|id| self.job(*id));
        let running: Vec<&Job> = (self.jobs.iter())
            .filter(|job| job.machine == machine && job.started.is_some())
            .collect();
        let on_demand = running.iter().find(|job| job.queued.is_some());
        let disjoint = |job: &Job| {
            running.iter().all(|other| {
                let both = !other.parts.is_empty() && !job.parts.is_empty();
                both && other.parts.iter().all(|part| !job.parts.contains(part))
            })
        };
        let paused = self.paused.contains(&machine);
        match (paused, &first, on_demand, running.is_empty()) {
            //  paused  first waiting                        on-demand runs  idle
            (true, _, _, _) => Next::Paused,
            (_, None, _, _) => Next::NoneWaits,
            (_, Some(job), None, true) => Next::Job(job.id),
            (_, Some(job), Some(run), _) if job.queued.is_none() => Next::Halt(run.id),
            (_, Some(job), None, false) if job.queued.is_none() && disjoint(job) => {
                Next::Job(job.id)
            }
            _ => Next::Busy,
        }
    }

    /// Bills as a sum over runs.
    pub fn bills(&self, from: i64, to: i64) -> BTreeMap<(u32, String), Bill> {
        let mut bills: BTreeMap<(u32, String), Bill> = BTreeMap::new();
        for (account, machine, end, billed) in &self.lines {
            if !(from..to).contains(end) {
                continue;
            }
            let prices = PRICES[usize::from(*machine == "b")];
            let bill = bills.entry((*account, (*machine).to_owned())).or_default();
            match billed {
                Billed::Micros(micros) => bill.executed += *micros as u128,
                Billed::Seconds(secs) => bill.reserved_secs += *secs as u128,
            }
            bill.amount = bill.executed * u128::from(prices.execution_microsecond)
                + bill.reserved_secs * u128::from(prices.reserved_second);
        }
        bills
    }
}
