//! A run of a cluster on its own: from the first submission on, only the rules decide.
//!
//! The main scheduler runs at the next tick of a second after a submission or an end, at least
//! `batch_sched_delay` after its last pass, and over all jobs each `sched_interval`; the backfill
//! scheduler `bf_interval` after its last cycle; a pass of priorities each `PriorityCalcPeriod`. The
//! phases of these loops are random: two runs that differ in them alone show what is noise.

mod events;

use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::life::{Fate, Life};
use super::limits::Counters;
use super::site::{Site, Unpriced};
use super::state::{Reason, State};
use events::Free;

/// Phases of the loops, milliseconds after the first submission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Ticks of the main scheduler, below 1000.
    pub tick_ms: i64,
    /// Its passes over all jobs.
    pub full_ms: i64,
    /// The backfill scheduler.
    pub backfill_ms: i64,
    /// Passes of priorities, counted from the first pass.
    pub pass_ms: i64,
}

impl Phases {
    /// Random phases of a seed.
    pub fn random(machine: &Machine, site: &Site, seed: u64) -> Phases {
        let mut random = fastrand::Rng::with_seed(seed);
        let settings = &machine.scheduling;
        let mut below = |secs: i64| random.i64(0..secs.max(1) * 1000);
        Phases {
            tick_ms: below(1),
            full_ms: below(settings.sched_interval),
            backfill_ms: below(settings.interval),
            pass_ms: below(site.period()),
        }
    }
}

/// Who watches a run.
pub trait Observer {
    /// Returns false to stop the run; asked before each event.
    fn go_on(&mut self) -> bool {
        true
    }

    /// A job starts.
    fn starts(&mut self, job: usize, ms: i64) {
        let _ = (job, ms);
    }

    /// A job that waits does not start in a cycle, for this reason.
    fn stays(&mut self, job: usize, ms: i64, reason: &Reason) {
        let _ = (job, ms, reason);
    }
}

impl Observer for () {}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The fate of each job.
    pub fates: Vec<Fate>,
    /// When it was stopped, milliseconds since 1970; `None`: it ran to its end.
    pub stopped_ms: Option<i64>,
    /// Starts by the backfill scheduler.
    pub backfilled: usize,
}

/// The jobs of a run.
#[derive(Clone, Copy, Debug)]
pub struct Jobs<'a> {
    /// Their requests.
    pub asks: &'a [Ask],
    /// Their lives, one each; those in order of submission.
    pub lives: &'a [Life],
}

/// Runs jobs to their ends. A job whose run time is not known runs to its limit.
///
/// # Errors
/// Rows that cannot be priced.
pub fn run(
    machine: &Machine,
    site: Site,
    jobs: Jobs<'_>,
    phases: Phases,
    observer: &mut dyn Observer,
) -> Result<Ran, Unpriced> {
    run_with(machine, site, jobs, phases, &[], observer).map(|(ran, _)| ran)
}

/// Numbers of jobs, ascending, and the fair start of each, milliseconds since 1970: the start if no
/// job came after it, and none that ranked behind it when it was submitted were there.
pub type FairStarts = Vec<(usize, i64)>;

/// As [`run`], with the fair starts of the jobs `wanted`, ascending; those that would never start
/// have none.
///
/// # Errors
/// Rows that cannot be priced.
pub fn run_with(
    machine: &Machine,
    site: Site,
    jobs: Jobs<'_>,
    phases: Phases,
    wanted: &[usize],
    observer: &mut dyn Observer,
) -> Result<(Ran, FairStarts), Unpriced> {
    let begin = Begin::empty(machine, &site, jobs);
    Free::new(machine, site, jobs, begin, phases).run(wanted, observer)
}

/// The state in which a run begins.
#[derive(Clone, Debug)]
pub struct Begin {
    /// Jobs that run, and what they have.
    pub state: State,
    /// The moment, milliseconds since 1970. Jobs that were submitted before it and do not run wait.
    pub now_ms: i64,
    /// When priorities were computed last, milliseconds since 1970; `None`: by the phase.
    pub last_pass_ms: Option<i64>,
    /// Cycles of the backfill scheduler, and passes of priorities, are at least this part of the time since
    /// the beginning apart, so that what is far away costs less: 30 means a thirtieth; 0: as Slurm has them.
    pub spread: i64,
}

impl Begin {
    /// An empty machine at the first submission.
    fn empty(machine: &Machine, site: &Site, jobs: Jobs<'_>) -> Begin {
        let mut state = State::new(machine);
        state.counters = Counters::new(site.limits.clone());
        let submissions = jobs.lives.iter().map(|life| life.submit_ms);
        Begin {
            state,
            now_ms: submissions.min().unwrap_or(0),
            last_pass_ms: None,
            spread: 0,
        }
    }
}

/// As [`run`], from a state in which jobs run and wait already. The run time of a job that runs counts
/// from its start.
///
/// # Errors
/// Rows that cannot be priced.
pub fn resume(
    machine: &Machine,
    site: Site,
    jobs: Jobs<'_>,
    begin: Begin,
    phases: Phases,
    observer: &mut dyn Observer,
) -> Result<Ran, Unpriced> {
    let mut free = Free::new(machine, site, jobs, begin, phases);
    free.enter_all()?;
    free.run(&[], observer).map(|(ran, _)| ran)
}

/// A cluster at the moment at which a run was stopped.
#[derive(Clone, Debug)]
pub struct Stopped {
    /// The fate of each job so far.
    pub fates: Vec<Fate>,
    /// Usage and factors by a pass at that moment.
    pub site: Site,
}

/// As [`resume`], up to a moment, milliseconds since 1970, with all that happens in it. `None`: the
/// observer stopped the run before.
///
/// # Errors
/// Rows that cannot be priced.
pub fn resume_until(
    machine: &Machine,
    site: Site,
    jobs: Jobs<'_>,
    begin: Begin,
    phases: Phases,
    until_ms: i64,
    observer: &mut dyn Observer,
) -> Result<Option<Stopped>, Unpriced> {
    let mut free = Free::new(machine, site, jobs, begin, phases);
    free.enter_all()?;
    free.run_until(until_ms, observer)
}
