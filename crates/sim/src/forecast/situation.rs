//! The state of a cluster at a moment, and simulations from it on.

mod later;

pub use later::{Later, LaterJob, Stage};

use std::cell::OnceCell;
use std::collections::HashMap;

use fairtree_model::machine::Machine;

use super::known::Known;
use super::random;
use super::run_times::RunTimes;
use crate::slurm::ask::Ask;
use crate::slurm::free::{Begin, Jobs, Observer, Phases, resume};
use crate::slurm::life::Life;
use crate::slurm::limits::Counters;
use crate::slurm::node_set::NodeSet;
use crate::slurm::placed::placed;
use crate::slurm::site::{Site, Unpriced};
use crate::slurm::state::{Reason, Running, State};

const WEEK_SECS: i64 = 7 * 24 * 3600;
/// Weeks back from which arrivals are drawn, at most.
const WEEKS: i64 = 4;
/// Number of the first job that arrives; those of Slurm are below 2^26 unless a site says otherwise.
const FIRST_ARRIVAL: u32 = 3_000_000_000;

/// Why a job did not start in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// It is at this limit.
    Limit(&'static str),
    /// It breaks a limit of its partition, or no node can ever have it.
    Never,
    /// As many tasks of its array run as may.
    Array,
    /// Nodes did not become free, or it was not reached.
    Busy,
}

/// What a simulation did with a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Its start, seconds since 1970; `None`: the simulation ended before.
    pub start: Option<i64>,
    /// Why it did not start in the last cycle that looked at it; `None`: none did.
    pub stuck: Option<Stuck>,
    /// Steps of the simulation.
    pub steps: u64,
}

/// The jobs of a simulation.
#[derive(Debug)]
struct Cast {
    asks: Vec<Ask>,
    lives: Vec<Life>,
    /// Limit of each job, seconds.
    limits: Vec<i64>,
    /// How long each job has run, seconds.
    elapsed: Vec<i64>,
}

/// A cluster at a moment.
#[derive(Debug)]
pub(super) struct Situation<'a> {
    machine: &'a Machine,
    site: Site,
    history: &'a RunTimes,
    jobs: &'a [Known],
    /// Seconds since 1970.
    now: i64,
    cast: Cast,
    state: State,
    spread: i64,
    /// Places among the jobs of the simulation, by those among all.
    places: HashMap<usize, usize>,
    /// The same jobs with those that arrive as they did one week ago, two weeks ago and so on.
    weeks: Vec<OnceCell<Cast>>,
}

/// Weeks before a moment of which all jobs are known.
pub(super) fn weeks(jobs: &[Known], moment: i64) -> i64 {
    let first = jobs.iter().find(|job| !job.is_present);
    let known = first.map_or(0, |job| (moment - job.ask.submit) / WEEK_SECS);
    known.clamp(0, WEEKS)
}

impl<'a> Situation<'a> {
    /// The jobs of `jobs`, which are in order of submission, that run or wait at `now`. `change`: of one
    /// of them, by its place.
    pub fn new(
        machine: &'a Machine,
        site: Site,
        history: &'a RunTimes,
        jobs: &'a [Known],
        now: i64,
        change: &dyn Fn(usize, &mut Ask),
    ) -> Situation<'a> {
        let mut cast = Cast {
            asks: Vec::new(),
            lives: Vec::new(),
            limits: Vec::new(),
            elapsed: Vec::new(),
        };
        let mut places = HashMap::new();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        // Jobs that were submitted later are not there.
        let there = jobs.partition_point(|job| job.ask.submit <= now);
        let mut running: Vec<(usize, usize)> = Vec::new();
        for (at, job) in jobs[..there].iter().enumerate() {
            let runs = job.runs_at(now);
            if !runs && !job.waits_at(now) {
                continue;
            }
            let place = cast.asks.len();
            if runs {
                running.push((place, at));
            }
            let began = job.start.filter(|_| runs);
            cast.elapsed
                .push(began.map_or(0, |start| (now - start).max(0)));
            places.insert(at, place);
            numbers.insert(job.ask.id as usize, place);
            let mut ask = job.ask.clone();
            change(at, &mut ask);
            let own = ask.limit_secs.or(job.limit_secs);
            let partition = ask.partitions[0];
            cast.limits
                .push(own.unwrap_or_else(|| ask.run_limit_in(machine, partition)));
            cast.asks.push(ask);
            let mut life = job.life.clone();
            if !job.is_present {
                // What it waited for is not known, and was over.
                life.conditions.clear();
                life.begin_ms = job.ready * 1000;
                life.held_ms.clear();
            }
            life.cancel_ms = None;
            cast.lives.push(life);
        }
        for life in &mut cast.lives {
            for condition in &mut life.conditions {
                let found = condition.jobs.iter().filter_map(|id| numbers.get(id));
                condition.jobs = found.copied().collect();
            }
            life.conditions.retain(|one| !one.jobs.is_empty());
        }
        let mut state = State::new(machine);
        state.counters = Counters::new(site.limits.clone());
        // Others may have the CPUs of suspended jobs: these are placed first, while their nodes have room for them.
        running.sort_by_key(|(_, at)| {
            let job = &jobs[*at];
            (!job.is_suspended, job.start, job.ask.id)
        });
        let size = machine.nodes.len();
        for (place, at) in running {
            let (job, ask) = (&jobs[at], &cast.asks[place]);
            let nodes = NodeSet::of(size, job.nodes.iter().copied());
            let holds = |at: &&usize| {
                let own = &machine.partitions[**at].nodes;
                job.nodes.iter().all(|node| own.binary_search(node).is_ok())
            };
            let partition = ask.partitions.iter().find(holds);
            let partition = partition.copied().unwrap_or(ask.partitions[0]);
            let mut allocation = placed(machine, ask, partition, &nodes, job.cpus, &state);
            if job.is_suspended {
                allocation.whole = false;
                allocation.parts.iter_mut().for_each(|part| part.cores = 0);
            }
            let start = job.start.unwrap_or(now);
            let running = Running {
                job: place,
                partition,
                start,
                limit_end: start + ask.run_limit_in(machine, partition),
                allocation,
            };
            state.start(machine, &cast.asks, running);
        }
        let count = usize::try_from(weeks(jobs, now)).unwrap_or(0);
        Situation {
            machine,
            site,
            history,
            jobs,
            now,
            cast,
            state,
            spread: 0,
            places,
            weeks: (0..count).map(|_| OnceCell::new()).collect(),
        }
    }

    /// The same with rarer cycles, see [`Begin::spread`].
    #[must_use]
    pub fn with_spread(self, spread: i64) -> Situation<'a> {
        Situation { spread, ..self }
    }

    /// Places among the jobs of the simulation.
    pub fn places(&self, wanted: &[usize]) -> Vec<usize> {
        let found = wanted.iter().filter_map(|at| self.places.get(at));
        found.copied().collect()
    }

    /// The jobs, and those that were submitted in the week after this moment, `back` weeks ago.
    fn with_arrivals(&self, back: i64) -> Cast {
        let ago = back * WEEK_SECS;
        let first = self
            .jobs
            .partition_point(|job| job.ask.submit <= self.now - ago);
        let until = self.now - ago + WEEK_SECS;
        let mut cast = Cast {
            asks: self.cast.asks.clone(),
            lives: self.cast.lives.clone(),
            limits: self.cast.limits.clone(),
            elapsed: self.cast.elapsed.clone(),
        };
        let past = self.jobs[first..].iter();
        let past = past.take_while(|job| job.ask.submit <= until.min(self.now));
        // Jobs that never started were cancelled: nobody waited for them to the end.
        let came = past.filter(|job| job.start.is_some());
        for (job, number) in came.zip(FIRST_ARRIVAL..) {
            let mut ask = job.ask.clone();
            (ask.id, ask.submit) = (number, job.ask.submit + ago);
            ask.task = None;
            let submit_ms = ask.submit * 1000;
            cast.lives.push(Life {
                submit_ms,
                begin_ms: (job.ready + ago) * 1000,
                conditions: Vec::new(),
                any: false,
                held_ms: Vec::new(),
                run_ms: None,
                cancel_ms: None,
                succeeds: true,
            });
            let own = ask.limit_secs.or(job.limit_secs);
            let partition = ask.partitions[0];
            cast.limits
                .push(own.unwrap_or_else(|| ask.run_limit_in(self.machine, partition)));
            cast.elapsed.push(0);
            cast.asks.push(ask);
        }
        cast
    }

    /// The jobs, and their lives, in the simulation with this number, and its seed.
    fn drawn(&self, (seed, draw): (u64, u64)) -> (&Cast, Vec<Life>, u64) {
        let seed = random([seed, draw]);
        let count = self.weeks.len() as u64;
        let cast = match count {
            0 => &self.cast,
            _ => {
                let at = random([seed]) % count;
                let back = at as i64 + 1;
                self.weeks[at as usize].get_or_init(|| self.with_arrivals(back))
            }
        };
        let mut lives = cast.lives.clone();
        for (at, life) in lives.iter_mut().enumerate() {
            let ask = &cast.asks[at];
            let limit = cast.limits[at].max(1);
            let random = random([seed, u64::from(ask.id)]);
            let run = self.history.draw(ask.user, limit, cast.elapsed[at], random);
            life.run_ms = Some(run * 1000);
        }
        (cast, lives, seed)
    }

    /// The lives of the jobs in a simulation in which every job runs to its limit.
    fn limited(&self) -> Vec<Life> {
        let mut lives = self.cast.lives.clone();
        for (life, limit) in lives.iter_mut().zip(&self.cast.limits) {
            life.run_ms = Some(limit.max(&1) * 1000);
        }
        lives
    }

    /// The fates of jobs in the simulation with this number: run times and arrivals are drawn.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn draw(
        &self,
        wanted: &[usize],
        (seed, draw): (u64, u64),
        most_steps: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Drawn>, Unpriced> {
        let (cast, lives, seed) = self.drawn((seed, draw));
        self.run(cast, &lives, wanted, seed, most_steps, go_on)
    }

    /// What became of jobs in a simulation in which every job runs to its limit, and none arrives.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn by_limits(
        &self,
        wanted: &[usize],
        seed: u64,
        most_steps: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Drawn>, Unpriced> {
        let lives = self.limited();
        self.run(&self.cast, &lives, wanted, seed, most_steps, go_on)
    }

    fn run(
        &self,
        cast: &Cast,
        lives: &[Life],
        wanted: &[usize],
        seed: u64,
        most_steps: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Drawn>, Unpriced> {
        let mut watch = self.watch(cast, wanted.len(), most_steps, go_on);
        for (slot, place) in wanted.iter().enumerate() {
            watch.slots[*place] = Some(slot);
        }
        let jobs = Jobs {
            asks: &cast.asks,
            lives,
        };
        let (site, begin, phases) = (self.site.clone(), self.begin(), self.phases(seed));
        resume(self.machine, site, jobs, begin, phases, &mut watch)?;
        let steps = watch.steps;
        let drawn = watch.drawn.into_iter();
        Ok(drawn.map(|one| Drawn { steps, ..one }).collect())
    }
}

impl Situation<'_> {
    /// The state in which simulations begin.
    fn begin(&self) -> Begin {
        Begin {
            state: self.state.clone(),
            now_ms: self.now * 1000,
            last_pass_ms: Some(self.site.last_pass() * 1000),
            spread: self.spread,
        }
    }

    fn phases(&self, seed: u64) -> Phases {
        Phases {
            // The main scheduler looks at an end in the second in which it comes.
            tick_ms: 0,
            ..Phases::random(self.machine, &self.site, seed)
        }
    }

    /// A watcher of this number of starts.
    fn watch<'o>(
        &self,
        cast: &Cast,
        starts: usize,
        most_steps: u64,
        go_on: &'o mut dyn FnMut() -> bool,
    ) -> Watch<'o> {
        Watch {
            slots: vec![None; cast.asks.len()],
            drawn: vec![Drawn::default(); starts],
            left: starts,
            // Jobs that come are many, and are got ready for each simulation.
            steps: cast.asks.len() as u64 / 4,
            most_steps,
            test_steps: 3 + (self.machine.nodes.len() + self.state.running.len()) as u64 / 10,
            go_on,
        }
    }
}

/// Watches for the starts of some jobs.
struct Watch<'o> {
    /// The place of each job among those that are watched for.
    slots: Vec<Option<usize>>,
    drawn: Vec<Drawn>,
    left: usize,
    steps: u64,
    most_steps: u64,
    /// Steps of a job that is tested: nodes and running jobs are gone through.
    test_steps: u64,
    go_on: &'o mut dyn FnMut() -> bool,
}

impl Observer for Watch<'_> {
    fn go_on(&mut self) -> bool {
        self.steps += 1;
        // Asking each time would cost more than a step.
        let asked = self.steps % 1024 != 0 || (self.go_on)();
        asked && self.left > 0 && self.steps <= self.most_steps
    }

    fn starts(&mut self, job: usize, ms: i64) {
        if let Some(slot) = self.slots[job] {
            self.drawn[slot].start = Some(ms.div_euclid(1000));
            self.left -= 1;
        }
    }

    fn stays(&mut self, job: usize, _ms: i64, reason: &Reason) {
        // A job that was tested takes longer than one that was passed over.
        self.steps += match reason {
            Reason::Resources | Reason::Planned { .. } => self.test_steps,
            _ => 0,
        };
        if let Some(slot) = self.slots[job] {
            let stuck = match reason {
                Reason::Limit(limit) => Stuck::Limit(limit),
                Reason::Never => Stuck::Never,
                Reason::Array => Stuck::Array,
                _ => Stuck::Busy,
            };
            // The main scheduler knows it; the backfill scheduler finds no moment.
            let known = self.drawn[slot].stuck == Some(Stuck::Never) && stuck == Stuck::Busy;
            if !known {
                self.drawn[slot].stuck = Some(stuck);
            }
        }
    }
}
