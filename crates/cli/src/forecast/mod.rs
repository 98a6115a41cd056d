//! `fairtree forecast`.

mod likely;
mod queue;
mod score;

pub(super) use likely::{made_now, of_newest};

use std::io::{BufWriter, Write, stdout};

use super::args::{ForecastArgs, ProxyName};
use super::message::Messages;
use super::progress::Waiting;
use super::simulate::{Interrupt, refuse_first};
use super::user::{login_name, login_names};
use super::{Failure, Outcome, terminal, told};
use fairtree_analysis::forecast::{
    Asked, Pattern, QueueForecast, Wanted, forecast_jobs, waiting_of,
};
use fairtree_model::cluster::{Cluster, JobPhase};
use fairtree_model::input::recorded::is_described;
use fairtree_render::forecast::{Source, starts_to_json, write_starts};
use fairtree_sim::forecast::Making;
use jiff::tz::TimeZone;

use queue::Part;
pub(super) use queue::{From, Present, Read, Reading};

/// Forecasts for jobs that wait, or the score of forecasts on a log.
pub(super) fn run(args: &ForecastArgs, messages: &Messages) -> Result<Outcome, Failure> {
    if let Some(log) = &args.score {
        return score::run(args, log, messages);
    }
    refuse_others(args)?;
    let reading = Reading {
        wants_past: args.proxy.is_none(),
        time_limit: args.time_limit,
        ..Reading::default()
    };
    let from = match &args.from {
        Some(file) if is_described(file) => From::Site(file),
        Some(folder) => From::Capture(folder),
        None => From::Slurm,
    };
    let present = match Present::read(from, reading, messages)? {
        Read::Whole(present) => present,
        Read::Part(part) => {
            let wanted = wanted(args, &part.cluster)?;
            if wanted.is_empty() {
                messages.note("no such job waits among those that you may see");
            }
            let made = part.planned(&wanted)?;
            messages.note(&part.why);
            return say(args, &(&*part).into(), &made);
        }
    };
    // Before a job is looked for: a note may say why it is not there.
    for note in &present.notes {
        messages.note(note);
    }
    let wanted = wanted(args, &present.cluster)?;
    if wanted.is_empty() {
        messages.note("no such job waits");
    }
    let steps = match wanted.len() {
        0 | 1 => Making::default().steps,
        _ => 10 * Making::default().steps,
    };
    let making = Making {
        steps,
        draws: args.draws.map_or(Making::default().draws, usize::from),
        seed: args.seed.unwrap_or(Making::default().seed),
        by_limits: args.proxy == Some(ProxyName::Limit),
    };
    let asked = Asked {
        making,
        helps: args.job.is_some(),
        ..present.asked()
    };
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("simulating");
    let made = forecast_jobs(&asked, &wanted, &mut || !interrupt.has_come());
    drop(waiting);
    drop(interrupt);
    let mut made = made.map_err(|error| Failure::Usage(format!("{}: {error}", present.name)))?;
    if made.run_times == Pattern::TooShort && (args.draws.is_some() || args.seed.is_some()) {
        messages.note(
            "--draws and --seed have no effect: the history is too short, so that there is one simulation",
        );
    }
    let known = |note: &&String| !present.notes.contains(note);
    for note in made.assumptions.iter().filter(known) {
        messages.note(note);
    }
    made.assumptions.splice(0..0, present.unknown.clone());
    say(args, &(&*present).into(), &made)
}

/// Refuses the first option that does not belong to forecasts for jobs that wait.
fn refuse_others(args: &ForecastArgs) -> Result<(), Failure> {
    let simulates = args.proxy.is_none();
    let (score, past) = ("--score", "past jobs, without --proxy");
    refuse_first([
        (
            "--scheduler",
            args.scheduler.is_some(),
            false,
            "a queue",
            score,
        ),
        ("--procs", args.procs.is_some(), false, "a queue", score),
        (
            "--forecasts",
            args.forecasts.is_some(),
            false,
            "a queue",
            score,
        ),
        ("--columns", args.columns.is_some(), false, "a queue", score),
        ("--cluster", args.cluster.is_some(), false, "a queue", score),
        (
            "--draws",
            args.draws.is_some(),
            simulates,
            "--proxy limit",
            past,
        ),
        (
            "--seed",
            args.seed.is_some(),
            simulates,
            "--proxy limit",
            past,
        ),
    ])
}

fn say(args: &ForecastArgs, about: &About<'_>, made: &QueueForecast) -> Result<Outcome, Failure> {
    let zone = TimeZone::system();
    let source = about.source(&zone);
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => starts_to_json(&mut out, &source, made),
        false => write_starts(&mut out, &source, made, terminal::table_width()),
    };
    let outcome = match made.complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// Where a forecast is from.
pub(crate) struct About<'a> {
    name: &'a str,
    age_secs: Option<i64>,
    is_described: bool,
}

impl<'a> About<'a> {
    fn source(&self, zone: &'a TimeZone) -> Source<'a> {
        Source {
            name: self.name,
            age_secs: self.age_secs,
            is_described: self.is_described,
            zone,
        }
    }
}

impl<'a> std::convert::From<&'a Present> for About<'a> {
    fn from(present: &'a Present) -> About<'a> {
        About {
            name: &present.name,
            age_secs: present.age_secs,
            is_described: present.is_described,
        }
    }
}

impl<'a> std::convert::From<&'a Part> for About<'a> {
    fn from(part: &'a Part) -> About<'a> {
        About {
            name: &part.name,
            age_secs: part.age_secs,
            is_described: false,
        }
    }
}

/// The jobs that are asked for.
fn wanted(args: &ForecastArgs, cluster: &Cluster) -> Result<Vec<Wanted>, Failure> {
    let Some(name) = &args.job else {
        let users = match (args.all, args.user.is_empty()) {
            (true, _) => return Ok(waiting_of(cluster, None)),
            (false, false) => login_names(&args.user),
            (false, true) => vec![login_name().ok_or_else(|| {
                Failure::Usage("this user has no name: -u USER names one".to_owned())
            })?],
        };
        let mut wanted: Vec<Wanted> = Vec::new();
        for user in &users {
            wanted.extend(waiting_of(cluster, Some(user)));
        }
        return Ok(wanted);
    };
    let wanted = one(name, cluster)?;
    Ok(vec![wanted])
}

/// A job by its name, if it waits.
fn one(name: &str, cluster: &Cluster) -> Result<Wanted, Failure> {
    let allowed = "allowed is the number of a job, as 4711, or 4711_3 for a task of an array";
    let parsed = name
        .parse()
        .map_err(|()| Failure::Usage(format!("JOB: found {name:?}, {allowed}")))?;
    let found = cluster.find_job(parsed);
    let job = found.map_err(|error| Failure::Usage(error.to_string()))?;
    let about = &cluster.jobs()[job];
    let state = &about.state;
    match about.phase {
        JobPhase::Pending => Ok(Wanted {
            job,
            task: name.split_once('_').and_then(|(_, task)| task.parse().ok()),
        }),
        JobPhase::Running => Err(Failure::Usage(format!(
            "job {name} is {state}: it has started; allowed is a job that waits"
        ))),
        JobPhase::Ended => Err(Failure::Usage(format!(
            "job {name} is {state}: it is over; allowed is a job that waits"
        ))),
    }
}
