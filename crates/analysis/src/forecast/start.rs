//! When the jobs of a cluster start: forecasts as values.

use std::collections::HashMap;

use serde::Serialize;

use crate::explain::ExplainError;
use crate::explain::wait::{Cause, Never, cause};
use crate::waiting::{WaitingLine, Way};
use fairtree::config::Order;
use fairtree_model::cluster::{Cluster, ClusterJob, JobPhase};
use fairtree_model::input::recorded::RecordedJob;
use fairtree_model::input::slurm::config::hides_jobs;
use fairtree_model::machine::Machine;
use fairtree_model::span::Span;
use fairtree_sim::forecast::{
    Change, Forecaster, LEAST_ENDED, Making, Queue, StartForecast, Stuck,
};
use fairtree_sim::slurm::ask::Ask;
use fairtree_sim::slurm::main_loop::breaks_partition;
use fairtree_sim::slurm::site::{Site, Unpriced};

/// Other partitions and QOS that are tried for a job, at most so many of each.
const MOST_TRIED: usize = 4;

/// What forecasts are made from.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The site with its queue.
    pub cluster: &'a Cluster,
    /// Its nodes, partitions and schedulers.
    pub machine: &'a Machine,
    /// The jobs that wait and run, with their requests.
    pub present: &'a [RecordedJob],
    /// The jobs that ended in the last weeks; empty: they are not known.
    pub past: &'a [RecordedJob],
    /// The moment, seconds since 1970.
    pub now: i64,
    /// How they are made.
    pub making: Making,
    /// Try what would help. Takes as long as some forecasts for each job.
    pub helps: bool,
}

/// A job that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its position among the jobs of the cluster.
    pub job: usize,
    /// The task of an array; `None`: the first of those that wait.
    pub task: Option<u32>,
}

/// Where run times of simulations are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Past jobs of each user.
    History,
    /// Time limits, because the past is too short.
    TooShort,
    /// Time limits, because that was asked for.
    Limits,
    /// Nothing is simulated, as jobs or shares of others are hidden: starts are those that slurmctld plans.
    Planned,
}

impl Pattern {
    /// By what was asked for, and what the past allows.
    pub(crate) fn of(asked: &Making, forecaster: &Forecaster) -> Pattern {
        match (asked.by_limits, forecaster.is_by_limits()) {
            (true, _) => Pattern::Limits,
            (false, true) => Pattern::TooShort,
            (false, false) => Pattern::History,
        }
    }
}

/// How far forecasts can be trusted: those of past jobs against their starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Trust {
    /// Forecasts that were made for past jobs while they waited.
    pub forecasts: usize,
    /// The last of them, whose bands count: the first 20 have none that could learn from misses.
    pub counted: usize,
    /// The part of these whose band held, 0 to 1; `None`: too few to say.
    pub band_90_held: Option<f64>,
    /// Median distance from the start, seconds; `None`: too few to say.
    pub median_error_seconds: Option<i64>,
}

/// An account with jobs ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Its name; empty for jobs without one.
    pub account: String,
    /// Jobs, from 1.
    pub jobs: u64,
}

/// A change that lets a job start earlier, tried by simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Help {
    /// `partition`, `qos` or `time_limit`.
    pub kind: &'static str,
    /// Name of the partition or the QOS; minutes of the limit.
    pub value: String,
    /// The likely start, seconds since 1970.
    pub start: i64,
    /// How much earlier that is, seconds; `None`: without it the job does not start.
    pub earlier_seconds: Option<i64>,
}

/// The forecast of a job. Moments are seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobForecast {
    /// Number of the job.
    pub job: u32,
    /// Of an array, the tasks that wait, as `1-10%2`; the forecast is of the first of them.
    pub tasks: Option<String>,
    /// User.
    pub user: String,
    /// Account.
    pub account: Option<String>,
    /// Partitions that it asks for.
    pub partitions: Vec<String>,
    /// QOS.
    pub qos: Option<String>,
    /// Time limit, minutes; `None`: that of the partition.
    pub limit_minutes: Option<u32>,
    /// The likely start: the median of the simulations. `None`: it starts in none of them, see `never`.
    pub start: Option<i64>,
    /// The band that should hold 90 % of the starts: its beginning. `None`: a forecast by limits has none.
    pub band_from: Option<i64>,
    /// Its end; `None` also where the job did not start in some simulations.
    pub band_to: Option<i64>,
    /// The beginning of the band before it was widened by the misses of past forecasts.
    pub drawn_from: Option<i64>,
    /// Its end.
    pub drawn_to: Option<i64>,
    /// The start if every job ran to its limit and none came.
    pub by_limits: Option<i64>,
    /// Why it can never start as things are.
    pub never: Option<String>,
    /// Its place in the queue of its partition, or under `order=` of the site, from 1; `None`: it has none.
    pub place: Option<u64>,
    /// Jobs there.
    pub of: u64,
    /// The partition of the place; `None`: the whole site.
    pub place_partition: Option<String>,
    /// Jobs ahead by account, the most first; empty where several jobs were asked for.
    pub ahead: Vec<Account>,
    /// What would help, the earliest start first; empty unless it was tried.
    pub helps: Vec<Help>,
}

/// Forecasts of a queue.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueForecast {
    /// Name of the cluster.
    pub cluster: Option<String>,
    /// The moment that they are of, seconds since 1970.
    pub now: i64,
    /// Where run times are from.
    pub run_times: Pattern,
    /// Simulations of each.
    pub draws: usize,
    /// Their seed.
    pub seed: u64,
    /// Past jobs that tell how long jobs run.
    pub past_jobs: usize,
    /// Whole weeks of the past from which later arrivals are drawn; 0: none arrive.
    pub past_weeks: i64,
    /// How far they can be trusted.
    pub trust: Trust,
    /// False where it was stopped before its end.
    pub complete: bool,
    /// Places count only jobs that the asking user may see.
    pub visible_only: bool,
    /// The jobs, in the order of the input.
    pub jobs: Vec<JobForecast>,
    /// What a history lacks and what was assumed, one sentence each.
    pub assumptions: Vec<String>,
}

/// Why there is no forecast.
#[derive(Debug, thiserror::Error)]
pub enum ForecastError {
    /// Settings or jobs that cannot be priced or ordered.
    #[error(transparent)]
    Order(#[from] ExplainError),
    /// The same, of a simulation.
    #[error("{0}")]
    Unpriced(String),
}

impl From<Unpriced> for ForecastError {
    fn from(error: Unpriced) -> ForecastError {
        ForecastError::Unpriced(error.0)
    }
}

/// Priorities that a simulation must not compute: those of `order=`, and those that an administrator set.
pub(crate) fn fixed(cluster: &Cluster) -> HashMap<u32, u32> {
    let ordered = cluster.config.order() != Order::Weighted;
    let pending = cluster.pending();
    pending
        .filter(|job| ordered || job.job.direct)
        .map(|job| (job.job.id, job.job.priority))
        .collect()
}

/// Forecasts for jobs that wait. Stops where `go_on` says no.
///
/// # Errors
/// Settings and jobs that cannot be priced.
pub fn forecast_jobs(
    asked: &Asked<'_>,
    jobs: &[Wanted],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<QueueForecast, ForecastError> {
    let Asked {
        cluster, machine, ..
    } = *asked;
    let mut assumptions = Vec::new();
    let site = Site::of_cluster(cluster, machine, &mut assumptions)?;
    let fixed = fixed(cluster);
    let queue = Queue {
        present: asked.present,
        past: asked.past,
        fixed: &fixed,
    };
    let mut forecaster = Forecaster::new(machine, site, asked.now, queue, asked.making);
    let mut complete = true;
    let mut go_on = || {
        complete = complete && go_on();
        complete
    };
    forecaster.rehearse(&mut go_on)?;
    let line = WaitingLine::of(cluster)?;
    let places: Vec<Option<usize>> = jobs
        .iter()
        .map(|wanted| {
            let job = &cluster.jobs()[wanted.job];
            let array = job.array.as_ref().map_or(job.job.id, |(array, _)| *array);
            let task = wanted
                .task
                .and_then(|task| forecaster.find(array, Some(task)));
            task.or_else(|| forecaster.find(job.job.id, None))
        })
        .collect();
    let known: Vec<usize> = places.iter().copied().flatten().collect();
    let starts = forecaster.forecast(&known, &mut go_on)?;
    let mut starts = starts.into_iter();
    let mut made = Vec::with_capacity(jobs.len());
    for (wanted, place) in jobs.iter().zip(&places) {
        let job = &cluster.jobs()[wanted.job];
        let start = place.and_then(|_| starts.next()).unwrap_or_default();
        let ask = place.map(|place| forecaster.ask(place));
        let off = match ask {
            Some(ask) => off(machine, ask),
            None => Some(match forecaster.left_out(job.job.id) {
                Some(name) => format!("the site has no {name}"),
                None => "what it asks for could not be read".to_owned(),
            }),
        };
        let mut forecast = of_job(cluster, &line, job, (&start, off), jobs.len() == 1);
        let is_tried = start.by_limits.is_some() || start.stuck.is_some();
        if let (true, Some(place), true) = (asked.helps && can_help(cluster, job), place, is_tried)
        {
            let found = (*place, forecast.start);
            forecast.helps = helps(asked, &forecaster, job, found, &mut go_on)?;
        }
        made.push(forecast);
    }
    let hits = forecaster.hits();
    let run_times = Pattern::of(&asked.making, &forecaster);
    assumptions.extend(forecaster.notes.iter().cloned());
    let not_modelled = machine.not_modelled.iter();
    assumptions.extend(not_modelled.map(|what| format!("{what} is not modelled")));
    Ok(QueueForecast {
        cluster: cluster.cluster.clone(),
        now: asked.now,
        run_times,
        draws: forecaster.draws(),
        seed: asked.making.seed,
        past_jobs: forecaster.ended(),
        past_weeks: forecaster.weeks(),
        trust: Trust {
            forecasts: hits.forecasts,
            counted: hits.counted,
            band_90_held: hits.held,
            median_error_seconds: hits.median_error_secs,
        },
        complete,
        visible_only: hides_jobs(&cluster.private_data),
        jobs: made,
        assumptions,
    })
}

/// The starts that slurmctld plans for jobs that wait, where too little of the queue is seen for a simulation.
/// `planned`: the start of each job that has one, seconds since 1970; `now`: the moment of the plan.
///
/// # Errors
/// Settings and jobs that cannot be priced.
pub fn planned_starts(
    cluster: &Cluster,
    jobs: &[Wanted],
    planned: &HashMap<u32, i64>,
    now: i64,
    why: String,
) -> Result<QueueForecast, ForecastError> {
    let line = WaitingLine::of(cluster)?;
    let of = |wanted: &Wanted| {
        let job = &cluster.jobs()[wanted.job];
        let at = planned.get(&job.job.id).copied();
        let start = StartForecast {
            start: at.filter(|at| *at > 0),
            ..StartForecast::default()
        };
        let mut made = of_job(cluster, &line, job, (&start, None), jobs.len() == 1);
        // No simulation has shown that it never starts.
        if start.start.is_none() && !is_stopped(cluster, job) {
            made.never = None;
        }
        made
    };
    Ok(QueueForecast {
        cluster: cluster.cluster.clone(),
        now,
        run_times: Pattern::Planned,
        draws: 0,
        seed: 0,
        past_jobs: 0,
        past_weeks: 0,
        trust: Trust::default(),
        complete: true,
        visible_only: hides_jobs(&cluster.private_data),
        jobs: jobs.iter().map(of).collect(),
        assumptions: vec![why],
    })
}

/// Returns true if a job cannot start whatever others do: it is held, or asks for more than there is.
fn is_stopped(cluster: &Cluster, job: &ClusterJob) -> bool {
    let cause = cause(cluster, job);
    job.job.priority == 0
        || matches!(
            cause,
            Cause::Never { .. }
                | Cause::Dependency { never: true, .. }
                | Cause::HeldByUser
                | Cause::HeldByAdmin
                | Cause::PartitionOff
        )
}

/// The least number of past jobs from which run times are drawn.
pub const LEAST_PAST_JOBS: usize = LEAST_ENDED;
/// Forecasts of past jobs from which bands learn how far they miss.
pub const LEAST_HITS: usize = fairtree_sim::forecast::LEAST_HITS;

fn of_job(
    cluster: &Cluster,
    line: &WaitingLine,
    job: &ClusterJob,
    (start, off): (&StartForecast, Option<String>),
    with_ahead: bool,
) -> JobForecast {
    let ways = line.ways(cluster, job.job.id);
    let first = ways.first();
    let ahead = with_ahead.then(|| line.ahead(job.job.id, 0)).flatten();
    let ahead = ahead.map(|ahead| ahead.accounts).unwrap_or_default();
    let ordered = cluster.config.order() != Order::Weighted;
    let never = never(cluster, job, start, off);
    let moment = |at: Option<i64>| at.filter(|_| never.is_none());
    JobForecast {
        job: job.job.id,
        tasks: job.array.as_ref().map(|(_, tasks)| tasks.to_string()),
        user: job.user.to_string(),
        account: job.account.as_ref().map(ToString::to_string),
        partitions: names(&ways),
        qos: first.and_then(|way| way.qos.clone()),
        limit_minutes: match job.job.time_limit {
            fairtree::priority::TimeLimit::Minutes(minutes) => Some(minutes),
            _ => None,
        },
        start: moment(start.start),
        band_from: moment(start.band.map(|band| band.from)),
        band_to: moment(start.band.map(|band| band.to)),
        drawn_from: moment(start.drawn.map(|band| band.from)),
        drawn_to: moment(start.drawn.map(|band| band.to)),
        by_limits: moment(start.by_limits),
        place: first.and_then(|way| way.place),
        of: first.map_or(0, |way| way.of),
        place_partition: first
            .filter(|_| !ordered)
            .and_then(|way| way.partition.clone()),
        ahead: (ahead.into_iter())
            .map(|(account, jobs)| Account { account, jobs })
            .collect(),
        helps: Vec::new(),
        never,
    }
}

/// Partitions of a job, each once.
fn names(ways: &[Way]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in ways.iter().filter_map(|way| way.partition.as_ref()) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Returns true unless no change of partition, QOS or time limit lets a job start.
fn can_help(cluster: &Cluster, job: &ClusterJob) -> bool {
    let is_stopped = matches!(
        cause(cluster, job),
        Cause::Dependency { never: true, .. } | Cause::HeldByUser | Cause::HeldByAdmin
    );
    !is_stopped && job.job.priority > 0
}

/// Why no partition of a job lets it start, whatever ends, in a sentence without a capital; `None`: one may.
fn off(machine: &Machine, ask: &Ask) -> Option<String> {
    let why = |at: &usize| {
        let part = &machine.partitions[*at];
        let name = &part.name;
        let most = part.max_time_mins.map(|mins| i64::from(mins) * 60);
        let limit = ask.limit_secs.zip(most).filter(|(own, most)| own > most);
        if !part.is_up {
            return Some(format!("partition {name} is not up and starts no job"));
        }
        if let Some((own, most)) = limit {
            let span = |secs: i64| Span(secs.max(0).unsigned_abs());
            return Some(format!(
                "its time limit of {} is over the MaxTime={} of partition {name}",
                span(own),
                span(most)
            ));
        }
        let is_down = part.nodes.iter().all(|node| !machine.nodes[*node].is_up);
        is_down.then(|| format!("all nodes of partition {name} are down or drained"))
    };
    let reasons: Option<Vec<String>> = ask.partitions.iter().map(why).collect();
    reasons
        .filter(|all| !all.is_empty())
        .map(|all| all.join("; "))
}

/// Why a job can never start as things are. `off`: why its partitions do not let it.
fn never(
    cluster: &Cluster,
    job: &ClusterJob,
    start: &StartForecast,
    off: Option<String>,
) -> Option<String> {
    let known = match cause(cluster, job) {
        Cause::Never { partitions } => {
            let asks = |one: &Never| {
                let what = one.what.unwrap_or("resources");
                let (asked, most) = (one.asked, one.most);
                format!(
                    "it asks for {asked} {what}, of which partition {} grants {most}",
                    one.partition
                )
            };
            let asks: Vec<String> = partitions.iter().map(asks).collect();
            Some(asks.join("; "))
        }
        Cause::Dependency { never: true, .. } => {
            Some("a job that it depends on did not end as required".to_owned())
        }
        Cause::HeldByUser => Some(format!(
            "its owner holds it, and scontrol release {} lets it wait",
            job.job.id
        )),
        Cause::HeldByAdmin => Some("an administrator holds it".to_owned()),
        Cause::PartitionOff => Some(off.clone().unwrap_or("its partition is down".to_owned())),
        _ => None,
    };
    let is_held = job.job.priority == 0;
    if known.is_some() || (start.start.is_some() && !is_held) {
        return known;
    }
    Some(match start.stuck {
        _ if is_held => "it is held, its priority is 0".to_owned(),
        _ if off.is_some() => off.unwrap_or_default(),
        Some(Stuck::Limit(limit)) => {
            format!("{limit} stops it, whatever other jobs end")
        }
        Some(Stuck::Never) => "no node can ever run what it asks for".to_owned(),
        Some(Stuck::Array) => "as many tasks of its array run as may".to_owned(),
        Some(Stuck::Busy) => "it did not start in the time that was simulated".to_owned(),
        None => "its partition refuses it, or what it depends on does not come".to_owned(),
    })
}

/// What would help a job, tried. `place`: among the jobs of the forecaster; `start`: its likely start.
fn helps(
    asked: &Asked<'_>,
    forecaster: &Forecaster,
    job: &ClusterJob,
    (place, start): (usize, Option<i64>),
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<Help>, ForecastError> {
    let Asked {
        cluster, machine, ..
    } = *asked;
    let ask = forecaster.ask(place);
    let others = 0..machine.partitions.len();
    let others = others.filter(|at| {
        let own = ask.partitions.contains(at);
        let known = cluster.find_partition(&machine.partitions[*at].name);
        let is_admitted = known.is_ok_and(|at| cluster.admits(job, at));
        !own && is_admitted && !breaks_partition(machine, ask, *at)
    });
    let mut changes: Vec<Change> = others.take(MOST_TRIED).map(Change::Partition).collect();
    let row = job.job.assoc.and_then(|assoc| cluster.listed(assoc));
    let allowed = row.map(|row| row.qos.clone()).unwrap_or_default();
    let qos = cluster.qos.iter().enumerate();
    let qos = qos.filter(|(at, qos)| {
        let may = allowed.iter().any(|name| **name == *qos.name);
        may && ask.qos != Some(*at)
    });
    changes.extend(qos.take(MOST_TRIED).map(|(at, _)| Change::Qos(at)));
    changes.extend(forecaster.shorter_limit(place).map(Change::Limit));
    let trials = forecaster.helps(place, start, &changes, go_on)?;
    let help = |trial: &fairtree_sim::forecast::Trial| {
        let (kind, value) = match trial.change {
            Change::Partition(at) => ("partition", machine.partitions[at].name.clone()),
            Change::Qos(at) => ("qos", cluster.qos[at].name.clone()),
            Change::Limit(secs) => ("time_limit", (secs / 60).to_string()),
        };
        Help {
            kind,
            value,
            start: trial.start,
            earlier_seconds: trial.earlier_secs,
        }
    };
    Ok(trials.iter().map(help).collect())
}

/// The waiting jobs of a user, in the order of the cluster; of all users without one.
pub fn waiting_of(cluster: &Cluster, user: Option<&str>) -> Vec<Wanted> {
    let jobs = cluster.jobs().iter().enumerate();
    let own = jobs.filter(|(_, job)| {
        let is_own = user.is_none_or(|user| *job.user == *user);
        job.phase == JobPhase::Pending && is_own
    });
    own.map(|(job, _)| Wanted { job, task: None }).collect()
}
