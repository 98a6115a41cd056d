//! Forecasts of a cluster's own jobs, by Slurm's rules on its nodes.
//!
//! Each forecast is made of seeded simulations from a state: the jobs that run and those that wait, and
//! those that may come. The same is done for jobs of the past, whose starts are known, at moments at which
//! they waited: their misses widen the bands of the present, and tell how far forecasts can be trusted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use fairtree_model::input::recorded::RecordedJob;
use fairtree_model::machine::Machine;

use super::calibration::{Band, Calibration, Raw};
use super::known::{Known, all};
use super::making::{Making, Queue};
use super::rehearsal::Rehearsal;
use super::run_times::RunTimes;
use super::situation::{Drawn, Situation, weeks};
use super::start::{Change, Hits, StartForecast, Trial};
use super::{median, median_start};
use crate::slurm::ask::Ask;
use crate::slurm::site::{Site, Unpriced};

/// The share of starts that a band should hold.
const NOMINAL: f64 = 0.9;
/// Jobs that have ended and had a limit, below which the past says too little of run times.
pub const LEAST_ENDED: usize = 10;
/// Forecasts of the past below which their hits say nothing.
pub const LEAST_HITS: usize = 20;
/// Forecasts of the past whose misses count.
const KEPT: usize = 300;
/// How long a job of the past must have waited for a forecast, seconds: each job waits for the next cycle.
const WAITED_SECS: i64 = 60;
/// Cycles of the backfill scheduler are this part of the time since the forecast apart: a start is known to
/// some parts of a hundred of its wait, and one in a week costs no more than some in an hour.
const SPREAD: i64 = 30;
/// The same on a large cluster with a long queue.
const LARGE_SPREAD: i64 = 10;
/// A cycle is a large one above so many tested jobs times running jobs and nodes.
const LARGE: usize = 100_000;
/// Jobs of a partition that have plans in a large cycle; the others start if they can, and keep nobody.
const LARGE_PLANS: usize = 10;
/// Jobs that are tested in a large cycle.
const LARGE_TESTS: usize = 100;
/// Simulations of a change that may help.
const TRIAL_DRAWS: usize = 10;
/// The fewest simulations of a forecast, where each takes long.
pub(super) const FEWEST_DRAWS: usize = 5;
const MINUTE_SECS: i64 = 60;

/// Forecasts for the jobs of a cluster that wait.
#[derive(Debug)]
pub struct Forecaster {
    machine: Machine,
    site: Site,
    now: i64,
    making: Making,
    /// Jobs of the past and the present, in order of submission.
    jobs: Vec<Known>,
    /// Places of the present ones, by number and task.
    places: HashMap<(u32, Option<u32>), usize>,
    /// Present jobs that are not simulated, with what they name and the machine does not have.
    left_out: HashMap<u32, String>,
    history: RunTimes,
    /// Jobs that have ended and had a limit.
    ended: usize,
    /// See [`crate::slurm::free::Begin::spread`].
    spread: i64,
    calibration: Calibration,
    hits: Hits,
    /// Simulations of which the last forecasts were made.
    draws: usize,
    /// Jobs that were left out, one sentence for each reason.
    pub notes: Vec<String>,
}

/// What jobs run on nodes that the machine does not have, in a sentence.
fn elsewhere(machine: &Machine, present: &[RecordedJob]) -> Option<String> {
    let unknown = |job: &RecordedJob| {
        let mut nodes = job.nodes.iter();
        nodes.find(|name| machine.node(name).is_none()).cloned()
    };
    let running = present.iter().filter(|job| job.start_ms.is_some());
    let found: Vec<(u32, String)> = running
        .filter_map(|job| Some((job.id, unknown(job)?)))
        .collect();
    let (job, node) = found.first()?;
    Some(match found.len() {
        1 => format!(
            "job {job} runs on a node that is not known, {node}: it holds only its other nodes"
        ),
        count => format!(
            "{count} jobs run on nodes that are not known, as job {job} on {node}: they hold only their \
             other nodes"
        ),
    })
}

impl Forecaster {
    /// Forecasts for a queue at `now`, seconds since 1970. Where fewer than [`LEAST_ENDED`] jobs of the
    /// past tell how long jobs run, they are made by limits.
    pub fn new(
        machine: &Machine,
        mut site: Site,
        now: i64,
        queue: Queue<'_>,
        making: Making,
    ) -> Forecaster {
        let mut own = machine.clone();
        // The few seconds after which the main scheduler looks again would only be chance.
        own.scheduling.batch_delay = 0;
        let running = queue.present.iter().filter(|job| job.start_ms.is_some());
        let running = running.count();
        let tested = (queue.present.len() - running).min(own.scheduling.max_tests);
        let is_large = tested * (running + own.nodes.len()) > LARGE;
        if is_large {
            let plans = &mut own.scheduling.partition_plans;
            *plans = match *plans {
                0 => LARGE_PLANS,
                plans => plans.min(LARGE_PLANS),
            };
            own.scheduling.max_tests = own.scheduling.max_tests.min(LARGE_TESTS);
        }
        let mut unknown: Vec<(u32, String)> = Vec::new();
        let mut jobs = all(machine, &mut site, queue.present, true, &mut unknown);
        let left_out: HashMap<u32, String> = unknown.iter().cloned().collect();
        for job in &mut jobs {
            job.ask.fixed = queue.fixed.get(&job.ask.id).copied();
        }
        let mut places = HashMap::new();
        // What sacct told of a job that is still there is old, and so is what it told of one that ran then.
        let numbers: HashSet<u32> = queue.present.iter().map(|job| job.id).collect();
        let is_over = |job: &&RecordedJob| job.end_ms.is_some() && !numbers.contains(&job.id);
        let past: Vec<RecordedJob> = queue.past.iter().filter(is_over).cloned().collect();
        for mut job in all(machine, &mut site, &past, false, &mut unknown) {
            job.ask.fixed = (!queue.fixed.is_empty()).then_some(1);
            jobs.push(job);
        }
        jobs.sort_by_key(|job| (job.ask.submit, job.ask.id));
        for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.is_present) {
            let task = job.ask.task.map(|(_, task)| task);
            places.insert((job.ask.group(), task), at);
            places.entry((job.ask.group(), None)).or_insert(at);
            places.entry((job.ask.id, None)).or_insert(at);
        }
        let mut names: Vec<String> = unknown.into_iter().map(|(_, name)| name).collect();
        names.sort();
        let left = names.chunk_by(|a, b| a == b);
        let notes = left.map(|same| {
            let (count, s) = (same.len(), if same.len() == 1 { "" } else { "s" });
            format!("{count} job{s} left out: the site has no {}", same[0])
        });
        let mut notes: Vec<String> = notes.collect();
        notes.extend(elsewhere(machine, queue.present));
        let mut history = RunTimes::default();
        let mut told: Vec<&Known> = jobs.iter().filter(|job| job.tells()).collect();
        told.sort_by_key(|job| (job.end, job.ask.id));
        told.iter().for_each(|job| job.tell(&mut history));
        let ended = told.len();
        let making = Making {
            by_limits: making.by_limits || ended < LEAST_ENDED,
            ..making
        };
        Forecaster {
            machine: own,
            site,
            now,
            making,
            jobs,
            places,
            left_out,
            history,
            ended,
            spread: if is_large { LARGE_SPREAD } else { SPREAD },
            calibration: Calibration::new(NOMINAL),
            hits: Hits::default(),
            draws: 0,
            notes,
        }
    }

    /// How they are made: by limits also where the past is too short.
    pub fn making(&self) -> Making {
        self.making
    }

    /// Returns true if run times are limits, because that was asked for or the past is too short.
    pub fn is_by_limits(&self) -> bool {
        self.making.by_limits
    }

    /// Jobs of the past that tell how long jobs run.
    pub fn ended(&self) -> usize {
        self.ended
    }

    /// How good forecasts of the past were; nothing before [`Forecaster::rehearse`].
    pub fn hits(&self) -> Hits {
        self.hits
    }

    /// Simulations of which the last forecasts were made.
    pub fn draws(&self) -> usize {
        self.draws
    }

    /// Whole weeks of the past, up to four, from which arrivals are drawn.
    pub fn weeks(&self) -> i64 {
        weeks(&self.jobs, self.now)
    }

    /// The place of a job that waits or runs: by its number, or by that of its array and its task. An array
    /// has the place of its first task.
    pub fn find(&self, id: u32, task: Option<u32>) -> Option<usize> {
        self.places.get(&(id, task)).copied()
    }

    /// The name, for instance `partition main`, that the machine does not have and for which a present job is not
    /// simulated; `None`: the job is simulated, or not there.
    pub fn left_out(&self, id: u32) -> Option<&str> {
        self.left_out.get(&id).map(String::as_str)
    }

    /// The job at a place.
    ///
    /// # Panics
    /// Without one.
    pub fn ask(&self, place: usize) -> &Ask {
        &self.jobs[place].ask
    }

    /// Returns true if the job at a place runs.
    ///
    /// # Panics
    /// Without one.
    pub fn runs(&self, place: usize) -> bool {
        self.jobs[place].runs_at(self.now)
    }

    pub(super) fn situation(&self, change: Option<(usize, Change)>) -> Situation<'_> {
        let site = self.site.clone();
        let (machine, history, jobs) = (&self.machine, &self.history, &self.jobs);
        let apply = |at: usize, ask: &mut Ask| {
            if let Some((_, change)) = change.filter(|(place, _)| *place == at) {
                match change {
                    Change::Partition(partition) => ask.partitions = vec![partition],
                    Change::Qos(qos) => ask.qos = Some(qos),
                    Change::Limit(secs) => ask.limit_secs = Some(secs),
                }
            }
        };
        Situation::new(machine, site, history, jobs, self.now, &apply).with_spread(self.spread)
    }

    /// Forecasts for the jobs at some places, all of them from the same simulations.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn forecast(
        &mut self,
        wanted: &[usize],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<StartForecast>, Unpriced> {
        let Making { seed, steps, .. } = self.making;
        let situation = self.situation(None);
        let of = |drawn: &Drawn| StartForecast {
            start: drawn.start,
            by_limits: drawn.start,
            stuck: drawn.stuck,
            ..StartForecast::default()
        };
        // One that is held would let a simulation run to its end, and start in none.
        let is_free = |at: &usize| self.jobs[*at].life.held_ms.is_empty();
        let free: Vec<usize> = wanted.iter().copied().filter(is_free).collect();
        let limits = situation.by_limits(&situation.places(&free), seed, steps, go_on)?;
        let mut made: HashMap<usize, StartForecast> =
            free.iter().copied().zip(limits.iter().map(of)).collect();
        let mut draws = 1;
        let each = steps / 2;
        if !self.making.by_limits {
            draws = self.affordable(&limits);
            // By limits and alone it does not start: others do not help.
            let starts = |at: &usize| made[at].by_limits.is_some();
            let live: Vec<usize> = free.iter().copied().filter(starts).collect();
            let places = situation.places(&live);
            let mut starts: Vec<Vec<Option<i64>>> = vec![Vec::with_capacity(draws); live.len()];
            for draw in 0..draws as u64 {
                let drawn = situation.draw(&places, (seed, draw), each, go_on)?;
                for (own, drawn) in starts.iter_mut().zip(drawn) {
                    own.push(drawn.start);
                }
                if !go_on() {
                    break;
                }
            }
            for (at, starts) in live.iter().zip(starts) {
                if let Some(forecast) = made.get_mut(at) {
                    self.widen(forecast, starts);
                }
            }
        }
        let found = wanted.iter();
        let found = found.map(|at| made.get(at).copied().unwrap_or_default());
        let found = found.collect();
        self.draws = draws;
        Ok(found)
    }

    /// The median and the widened band of some starts.
    fn widen(&self, forecast: &mut StartForecast, mut starts: Vec<Option<i64>>) {
        // One of twenty outside at each end.
        let outside = starts.len() / 20;
        forecast.start = median_start(&mut starts);
        let from = starts.get(outside).copied().flatten();
        let to = starts[..starts.len() - outside].last().copied().flatten();
        if let (Some(start), Some(from), Some(to)) = (forecast.start, from, to) {
            let raw = Raw {
                made_at: self.now,
                start,
                band: Band { from, to },
            };
            forecast.drawn = Some(raw.band);
            forecast.band = Some(self.calibration.band(&raw));
        }
    }

    /// Number of simulations: fewer than asked for only where the steps are enough for less than half of them,
    /// so that one job and several have the same forecasts on most sites. `limits`: the one by limits.
    fn affordable(&self, limits: &[Drawn]) -> usize {
        let each = limits.first().map_or(1, |drawn| drawn.steps.max(1));
        let count = usize::try_from(self.making.steps / each).unwrap_or(usize::MAX);
        let most = self.making.draws.max(1);
        match count >= most / 2 {
            true => most,
            false => most.min(count.max(FEWEST_DRAWS)),
        }
    }

    /// The likely start of the job at a place, with a change.
    fn likely(
        &self,
        place: usize,
        change: Option<Change>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<i64>, Unpriced> {
        let Making { seed, steps, .. } = self.making;
        let situation = self.situation(change.map(|change| (place, change)));
        let wanted = situation.places(&[place]);
        let limits = situation.by_limits(&wanted, seed, steps, go_on)?;
        let alone = limits.first().and_then(|drawn| drawn.start);
        if self.making.by_limits || alone.is_none() {
            return Ok(alone);
        }
        let draws = self.affordable(&limits).min(TRIAL_DRAWS);
        let mut starts = Vec::with_capacity(draws);
        for draw in 0..draws as u64 {
            let drawn = situation.draw(&wanted, (seed, draw), steps, go_on)?;
            starts.extend(drawn.iter().map(|one| one.start));
        }
        Ok(median_start(&mut starts))
    }

    /// Those of `changes` with which the job at a place starts a minute earlier or more, by the same
    /// draws and than its likely start, `shown`; the earliest first.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn helps(
        &self,
        place: usize,
        shown: Option<i64>,
        changes: &[Change],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<Trial>, Unpriced> {
        let now = self.likely(place, None, go_on)?;
        let is_earlier =
            |than: Option<i64>, start: i64| than.is_none_or(|than| than - start >= MINUTE_SECS);
        let mut trials = Vec::new();
        for change in changes {
            let Some(start) = self.likely(place, Some(*change), go_on)? else {
                continue;
            };
            if is_earlier(now, start) && is_earlier(shown, start) {
                trials.push(Trial {
                    change: *change,
                    start,
                    earlier_secs: shown.map(|shown| shown - start),
                });
            }
        }
        trials.sort_by_key(|trial| trial.start);
        Ok(trials)
    }

    /// A shorter limit for the job at a place, seconds: what nineteen of twenty past jobs of its user would
    /// have kept, and a tenth more, in whole five minutes. `None`: that is hardly shorter than its own.
    ///
    /// # Panics
    /// Without a job there.
    pub fn shorter_limit(&self, place: usize) -> Option<i64> {
        let job = &self.jobs[place];
        let own = job.limit_secs?;
        let ratio = self.history.quantile(job.ask.user, 0.95)?;
        let secs = (ratio * own as f64 * 1.1).ceil() as i64;
        let limit = (secs.max(1) + 299) / 300 * 300;
        (limit * 10 <= own * 9).then_some(limit)
    }

    /// Makes forecasts for jobs of the past, by whose misses the bands of the present are widened. Stops
    /// where `go_on` says no.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn rehearse(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<(), Unpriced> {
        if self.making.by_limits {
            return Ok(());
        }
        let mut seen = HashSet::new();
        let mut wanted: Vec<(i64, usize)> = Vec::new();
        for (at, job) in self
            .jobs
            .iter()
            .enumerate()
            .filter(|(_, job)| !job.is_present)
        {
            let moment = job.ready + WAITED_SECS;
            let waited = job.start.is_some_and(|start| start > moment);
            // One decision of a user: its forecasts would all hold, or all miss.
            if waited && seen.insert((job.ask.user, job.ask.submit / MINUTE_SECS)) {
                wanted.push((moment, at));
            }
        }
        wanted.sort_unstable();
        let rehearsal = || Rehearsal::new(&self.machine, &self.site, &self.jobs, self.spread);
        // As many for one job as for all, so that both have the same bands.
        let most_steps = self.making.steps.min(Making::default().steps);
        let how = (self.making.seed, most_steps / 12);
        let mut steps = 0;
        // The last one tells how many the steps are enough for.
        if let Some((moment, job)) = wanted.last().copied() {
            rehearsal().raw(moment, job, how, &mut steps, go_on)?;
        }
        let enough = usize::try_from(most_steps / steps.max(1)).unwrap_or(KEPT);
        let count = match enough {
            // Fewer would say nothing, and take long.
            enough if enough < LEAST_HITS / 3 => 0,
            enough if enough < LEAST_HITS => enough,
            enough => enough.clamp(2 * LEAST_HITS, KEPT),
        };
        wanted.drain(..wanted.len().saturating_sub(count));
        let mut rehearsal = rehearsal();
        let mut made: Vec<(Raw, i64)> = Vec::new();
        for (moment, job) in wanted {
            // Some take many more steps than the last one.
            if !go_on() || steps > 2 * most_steps {
                break;
            }
            let came = self.jobs[job].start.unwrap_or(moment);
            let raw = rehearsal.raw(moment, job, how, &mut steps, go_on)?;
            made.extend(raw.map(|raw| (raw, came)));
        }
        self.calibrate(&made);
        Ok(())
    }

    /// Widens the bands of forecasts, which are in order of their moments, by the misses that were known at
    /// each, and counts those that held. `made`: with the starts that came.
    fn calibrate(&mut self, made: &[(Raw, i64)]) {
        let mut open: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut bands: Vec<Band> = Vec::with_capacity(made.len());
        let (mut came, mut counted, mut held) = (0, 0_usize, 0_usize);
        let mut errors: Vec<i64> = Vec::new();
        let moments = made.iter().map(|(raw, _)| raw.made_at).chain([self.now]);
        for (at, moment) in moments.enumerate() {
            while let Some(Reverse((start, other))) = open.peek().copied() {
                if start > moment {
                    break;
                }
                open.pop();
                self.calibration.came(&made[other].0, start);
                self.calibration.held(bands[other].holds(start));
                came += 1;
            }
            let Some((raw, start)) = made.get(at) else {
                break;
            };
            let band = self.calibration.band(raw);
            bands.push(band);
            open.push(Reverse((*start, at)));
            errors.push((raw.start - start).abs());
            if came >= LEAST_HITS {
                counted += 1;
                held += usize::from(band.holds(*start));
            }
        }
        errors.sort_unstable();
        let middle = median(&errors);
        self.hits = Hits {
            forecasts: made.len(),
            counted,
            held: (counted >= LEAST_HITS).then(|| held as f64 / counted as f64),
            median_error_secs: middle.filter(|_| made.len() >= LEAST_HITS),
        };
    }
}
