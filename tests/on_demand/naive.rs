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
    pub expected: i64,
    /// Price of a microsecond, when it started.
    pub price: u64,
}

#[derive(Clone, Debug)]
pub struct Reservation {
    pub id: u64,
    pub machine: &'static str,
    pub owner: u32,
    pub start: i64,
    pub end: i64,
    pub over: bool,
    /// Price of a second, when it began.
    pub price: Option<u64>,
}

/// A run of an on-demand job, or a reservation: account, machine, end, billed part, price.
pub type Line = (u32, &'static str, i64, Billed, u64);

#[derive(Clone, Copy)]
pub enum Billed {
    Micros(i64),
    Seconds(i64),
}

#[derive(Clone)]
pub struct Naive {
    pub jobs: Vec<Job>,
    pub reservations: Vec<Reservation>,
    pub lines: Vec<Line>,
    pub refused: Vec<u64>,
    pub account_limit: usize,
    pub machine_limits: [usize; 2],
    pub prices: [Prices; 2],
    pub bindings: BTreeMap<u32, Vec<&'static str>>,
    pub default_length: i64,
    pub paused: Vec<&'static str>,
}

/// The position of a machine.
pub fn number(machine: &str) -> usize {
    usize::from(machine == MACHINES[1])
}

impl Naive {
    pub fn new(account_limit: usize, machine_limit: usize) -> Naive {
        Naive {
            jobs: Vec::new(),
            reservations: Vec::new(),
            lines: Vec::new(),
            refused: Vec::new(),
            account_limit,
            machine_limits: [machine_limit; 2],
            prices: PRICES,
            bindings: BTreeMap::new(),
            default_length: 0,
            paused: Vec::new(),
        }
    }

    /// The machines of an account; `None`: it may not use this one.
    pub fn is_bound_elsewhere(&self, account: u32, machine: &str) -> bool {
        let bound = self.bindings.get(&account);
        bound.is_some_and(|machines| !machines.contains(&machine))
    }

    /// A reservation that began before `now` keeps its price.
    pub fn set_prices(&mut self, machine: &str, prices: Prices, now: i64) {
        let old = self.prices[number(machine)].reserved_second;
        let begun = self.reservations.iter_mut();
        for one in begun.filter(|one| one.machine == machine && one.start < now) {
            one.price.get_or_insert(old);
        }
        self.prices[number(machine)] = prices;
    }

    pub fn start(&mut self, id: u64, now: i64) {
        let machine = self.job(id).machine;
        let price = self.prices[number(machine)].execution_microsecond;
        let job = self.job_mut(id);
        job.started = Some(now);
        job.price = if job.queued.is_some() { price } else { 0 };
    }

    /// Simulates the rules until nothing waits for the machine.
    pub fn estimates(&self, machine: &str, mut now: i64) -> Vec<(u64, Option<i64>)> {
        let mut future = self.clone();
        let waiting = self.positions(machine);
        let mut starts: Vec<(u64, Option<i64>)> = Vec::new();
        loop {
            future.pass(now);
            match future.next(machine) {
                Next::Job(id) => {
                    future.start(id, now);
                    if !starts.iter().any(|start| start.0 == id) && waiting.contains(&id) {
                        starts.push((id, Some(now)));
                    }
                }
                Next::Halt(id) => future.job_mut(id).started = None,
                Next::Busy => {
                    let here = future.jobs.iter().filter(|job| job.machine == machine);
                    let ends = here
                        .filter_map(|job| Some(((job.started? + job.expected).max(now), job.id)));
                    let (end, id) = ends.min().unwrap();
                    now = end;
                    future.pass(now);
                    future.jobs.retain(|job| job.id != id);
                }
                Next::NoneWaits | Next::Paused => break,
            }
        }
        for id in waiting {
            if !starts.iter().any(|start| start.0 == id) {
                starts.push((id, None));
            }
        }
        starts
    }

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
            let price = one
                .price
                .unwrap_or(self.prices[number(machine)].reserved_second);
            self.lines.push((one.owner, machine, end, seconds, price));
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
        } else if here >= self.machine_limits[number(machine)] {
            let limit = self.machine_limits[number(machine)];
            Some((Limit::Machine(machine.to_owned()), limit, here))
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
        let waiting: Vec<Job> = self
            .positions(machine)
            .iter()
            .map(|id| self.job(*id))
            .collect();
        let first = waiting.first().cloned();
        let running: Vec<&Job> = (self.jobs.iter())
            .filter(|job| job.machine == machine && job.started.is_some())
            .collect();
        let on_demand = running.iter().find(|job| job.queued.is_some());
        let apart = |job: &Job, other: &Job| {
            let both = !other.parts.is_empty() && !job.parts.is_empty();
            both && other.parts.iter().all(|part| !job.parts.contains(part))
        };
        // Beside what runs, and apart from all that were there before it.
        let beside = (0..waiting.len()).find(|at| {
            let job = &waiting[*at];
            let mut others = running.iter().copied().chain(&waiting[..*at]);
            job.queued.is_none() && others.all(|other| apart(job, other))
        });
        let paused = self.paused.contains(&machine);
        match (paused, &first, on_demand, running.is_empty()) {
            //  paused  first waiting                        on-demand runs  idle
            (true, _, _, _) => Next::Paused,
            (_, None, _, _) => Next::NoneWaits,
            (_, Some(job), None, true) => Next::Job(job.id),
            (_, Some(job), Some(run), _) if job.queued.is_none() => Next::Halt(run.id),
            (_, Some(job), None, false) if job.queued.is_none() => {
                beside.map_or(Next::Busy, |at| Next::Job(waiting[at].id))
            }
            _ => Next::Busy,
        }
    }

    /// Bills as a sum over runs.
    pub fn bills(&self, from: i64, to: i64) -> BTreeMap<(u32, String), Bill> {
        let mut bills: BTreeMap<(u32, String), Bill> = BTreeMap::new();
        for (account, machine, end, billed, price) in &self.lines {
            if !(from..to).contains(end) {
                continue;
            }
            let bill = bills.entry((*account, (*machine).to_owned())).or_default();
            let (Billed::Micros(units) | Billed::Seconds(units)) = *billed;
            match billed {
                Billed::Micros(_) => bill.executed += units as u128,
                Billed::Seconds(_) => bill.reserved_secs += units as u128,
            }
            bill.amount += units as u128 * u128::from(*price);
        }
        bills
    }
}
