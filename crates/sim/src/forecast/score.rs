//! Forecasts for the jobs of a log that had to wait, against their starts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::calibration::{Band, Calibration, Raw};
use super::run_times::RunTimes;
use super::{median, random};
use crate::job::{Job, Waiting};
use crate::replay::{Machine, Observer, replay};
use crate::scheduler::Kind;
use crate::workload::Workload;

/// The share of starts that a band should hold.
const NOMINAL: f64 = 0.9;
/// Weeks back from which arrivals are drawn.
const WEEKS: u64 = 4;
const MINUTE_SECS: i64 = 60;
const WEEK_SECS: i64 = 7 * 24 * 3600;
/// Bit of the number of a job that arrives as one of the past did.
const ARRIVED: u32 = 1 << 31;

/// How forecasts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The scheduler.
    pub scheduler: Kind,
    /// Forecasts at most; jobs that waited are spread evenly over the log.
    pub forecasts: usize,
    /// Simulations for each, from 3.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
}

/// A forecast, and what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Number of the job.
    pub job: u32,
    /// When it was made: the submission of the job.
    pub made_at: i64,
    /// The forecast start.
    pub start: i64,
    /// The band that should hold 90 % of the starts.
    pub band: Band,
    /// The start if every job ran to its limit and none arrived.
    pub by_limits: i64,
    /// The start that came.
    pub came: i64,
}

/// Forecasts for jobs of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// In the order in which they were made.
    pub forecasts: Vec<Forecast>,
    /// Jobs that had to wait.
    pub waited: usize,
    /// False where it was stopped.
    pub is_complete: bool,
}

/// Replays the jobs, and makes forecasts at the submission of jobs that have to wait: of those that a
/// user submits within a minute, for the first one, as they are one decision. Stops where
/// `go_on` says no. The same seed gives the same forecasts.
pub fn score(workload: &Workload, options: Options, go_on: &mut dyn FnMut() -> bool) -> Score {
    let jobs = &workload.jobs;
    let machine = || options.scheduler.scheduler(workload.processors);
    let mut stoppable = Stoppable { go_on };
    let schedule = replay(jobs, machine(), &mut stoppable);
    if schedule.stopped_at.is_some() {
        return Score::default();
    }
    let starts: Vec<i64> = schedule.starts.into_iter().flatten().collect();
    let waited = jobs.iter().zip(&starts).enumerate();
    let waited = waited.filter(|(_, (job, start))| **start > job.submit);
    let waited: Vec<u32> = waited.map(|(at, _)| at as u32).collect();
    // One decision of a user: its forecasts would all hold, or all miss.
    let mut seen = HashSet::new();
    let mut first = waited.clone();
    first.retain(|job| {
        let at = *job as usize;
        seen.insert((workload.owners[at].user, jobs[at].submit / MINUTE_SECS))
    });
    let count = options.forecasts.min(first.len());
    let wanted = (0..count)
        .map(|at| first[at * first.len() / count])
        .collect();
    let mut forecaster = Forecaster {
        workload,
        options,
        starts: &starts,
        wanted,
        history: RunTimes::default(),
        calibration: Calibration::new(NOMINAL),
        open: BinaryHeap::new(),
        undecided: BinaryHeap::new(),
        raws: Vec::new(),
        forecasts: Vec::new(),
        go_on: stoppable.go_on,
        stopped: false,
    };
    replay(jobs, machine(), &mut forecaster);
    Score {
        is_complete: !forecaster.stopped,
        forecasts: forecaster.forecasts,
        waited: waited.len(),
    }
}

struct Stoppable<'a> {
    go_on: &'a mut dyn FnMut() -> bool,
}

impl Observer for Stoppable<'_> {
    fn go_on(&mut self) -> bool {
        (self.go_on)()
    }
}

/// Makes forecasts while the log is replayed.
struct Forecaster<'a> {
    workload: &'a Workload,
    options: Options,
    /// Starts of the replay; looked at only where they have come.
    starts: &'a [i64],
    /// Jobs for which forecasts are made, ascending.
    wanted: Vec<u32>,
    history: RunTimes,
    calibration: Calibration,
    /// Forecasts whose job has not started, by its start and their number.
    open: BinaryHeap<Reverse<(i64, usize)>>,
    /// Forecasts of which it is not known whether their band holds, by the moment at which it will be.
    undecided: BinaryHeap<Reverse<(i64, usize)>>,
    /// One per forecast, before calibration.
    raws: Vec<Raw>,
    forecasts: Vec<Forecast>,
    go_on: &'a mut dyn FnMut() -> bool,
    stopped: bool,
}

impl Observer for Forecaster<'_> {
    fn go_on(&mut self) -> bool {
        self.stopped = !(self.go_on)();
        !self.stopped && self.forecasts.len() < self.wanted.len()
    }

    fn ended(&mut self, job: u32, _now: i64) {
        let at = job as usize;
        let user = self.workload.owners[at].user;
        self.history.ended(user, &self.workload.jobs[at]);
    }

    fn waits(&mut self, job: u32, now: i64, machine: &Machine) {
        if self.wanted.get(self.forecasts.len()) != Some(&job) {
            return;
        }
        self.learn(now);
        let known = Known {
            workload: self.workload,
            history: &self.history,
            options: self.options,
            now,
            machine,
        };
        let (raw, by_limits) = (known.raw(job), known.by_limits(job));
        let came = self.starts[job as usize];
        let number = self.forecasts.len();
        let band = self.calibration.band(&raw);
        self.open.push(Reverse((came, number)));
        // A band that ends before the start does not hold, which is known one second later.
        let known_at = came.min(band.to + 1);
        self.undecided.push(Reverse((known_at, number)));
        self.raws.push(raw);
        self.forecasts.push(Forecast {
            job,
            made_at: now,
            start: raw.start,
            band,
            by_limits,
            came,
        });
    }
}

impl Forecaster<'_> {
    /// Learns from the forecasts whose outcome is known at `now`.
    fn learn(&mut self, now: i64) {
        while let Some(number) = due(&mut self.open, now) {
            let came = self.forecasts[number].came;
            self.calibration.came(&self.raws[number], came);
        }
        while let Some(number) = due(&mut self.undecided, now) {
            let made = &self.forecasts[number];
            self.calibration.held(made.band.holds(made.came));
        }
    }
}

/// The number of the first forecast whose moment has come.
fn due(moments: &mut BinaryHeap<Reverse<(i64, usize)>>, now: i64) -> Option<usize> {
    let Reverse((moment, _)) = moments.peek()?;
    let is_due = *moment <= now;
    is_due
        .then(|| moments.pop())
        .flatten()
        .map(|Reverse((_, number))| number)
}

/// What is known at the moment of a forecast.
struct Known<'a> {
    workload: &'a Workload,
    history: &'a RunTimes,
    options: Options,
    now: i64,
    machine: &'a Machine,
}

impl Known<'_> {
    fn job(&self, number: u32) -> (&Job, u32) {
        let at = (number & !ARRIVED) as usize;
        (&self.workload.jobs[at], self.workload.owners[at].user)
    }

    /// The forecast before calibration, by the draws.
    fn raw(&self, job: u32) -> Raw {
        let draws = 0..self.options.draws;
        let mut starts: Vec<i64> = draws.map(|draw| self.draw(job, draw as u64)).collect();
        starts.sort_unstable();
        // One of twenty outside at each end.
        let outside = starts.len() / 20;
        Raw {
            made_at: self.now,
            start: median(&starts).unwrap_or(self.now),
            band: Band {
                from: starts[outside],
                to: starts[starts.len() - 1 - outside],
            },
        }
    }

    /// The start in one simulation. Each job has a random number of its own, whatever the order in
    /// which jobs start.
    fn draw(&self, wanted: u32, draw: u64) -> i64 {
        let seed = random([self.options.seed, u64::from(wanted), draw]);
        let run_secs = |number: u32, elapsed_secs: i64| {
            let (job, user) = self.job(number);
            let random = random([seed, u64::from(number)]);
            self.history
                .draw(user, job.limit_secs, elapsed_secs, random)
        };
        let drawn = Machine {
            scheduler: self.machine.scheduler.boxed(),
            ends: self
                .machine
                .ends
                .redrawn(|run| run_secs(run.job.job, self.now - run.start)),
        };
        let weeks = 1 + random([seed]) % WEEKS;
        let arrivals = self.arrivals(weeks as i64 * WEEK_SECS);
        drawn.start_of(wanted, arrivals, |number| run_secs(number, 0))
    }

    /// The jobs that were submitted after this moment some weeks ago, as if they came now; a log
    /// that began later has none until its beginning.
    fn arrivals(&self, ago: i64) -> impl Iterator<Item = (i64, Waiting)> {
        let (jobs, now) = (&self.workload.jobs, self.now);
        let first = jobs.partition_point(|job| job.submit <= now - ago);
        let past = jobs[first..].iter().zip(first..);
        let past = past.take_while(move |(job, _)| job.submit <= now);
        past.map(move |(job, at)| (job.submit + ago, Waiting::new(at as u32 | ARRIVED, job)))
    }

    /// The start if every job ran to its limit and none arrived.
    fn by_limits(&self, wanted: u32) -> i64 {
        let limit = |number: u32| self.job(number).0.limit_secs;
        let limited = Machine {
            scheduler: self.machine.scheduler.boxed(),
            ends: self.machine.ends.redrawn(|run| limit(run.job.job)),
        };
        limited.start_of(wanted, std::iter::empty(), limit)
    }
}
