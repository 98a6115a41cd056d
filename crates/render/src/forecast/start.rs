//! When jobs start: sentences for one job, a table for several, JSON.

use std::io::{self, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::columns::Columns;
use crate::figures::percent;
use crate::json;
use fairtree_analysis::forecast::{
    Help, JobForecast, LEAST_HITS, LEAST_PAST_JOBS, Pattern, QueueForecast,
};
use fairtree_model::span::Span;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.start/1";

/// Where forecasts are from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Its name: a folder, or the live site.
    pub name: &'a str,
    /// How old it is, seconds; `None`: it is live, or described.
    pub age_secs: Option<i64>,
    /// It is a description of a site, of any day, whose times all have dates.
    pub is_described: bool,
    /// The zone in which times are shown.
    pub zone: &'a TimeZone,
}

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    age_seconds: Option<i64>,
    #[serde(flatten)]
    forecast: &'a QueueForecast,
}

/// Writes one JSON object and a line break, as `docs/forecast.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn starts_to_json(
    out: &mut impl Write,
    source: &Source<'_>,
    forecast: &QueueForecast,
) -> io::Result<()> {
    let content = Content {
        source: source.name,
        age_seconds: source.age_secs,
        forecast,
    };
    json::write_document(out, SCHEMA, &content)
}

/// The moment of the reader, whose day needs no date; `None`: the report does not depend on it.
fn today(source: &Source<'_>, forecast: &QueueForecast) -> Option<i64> {
    let age_secs = source.age_secs.unwrap_or(0);
    (!source.is_described).then(|| forecast.now.saturating_add(age_secs))
}

/// `14:05`, with the date on another day than that of `now`.
fn clock(at: i64, now: Option<i64>, zone: &TimeZone) -> String {
    let civil = |secs: i64| {
        let moment = Timestamp::from_second(secs).unwrap_or_default();
        zone.to_datetime(moment)
    };
    let at = civil(at);
    match now.is_some_and(|now| at.date() == civil(now).date()) {
        true => at.strftime("%H:%M").to_string(),
        false => at.strftime("%Y-%m-%d %H:%M").to_string(),
    }
}

/// Where it is from, and of which moment if that is on another day: `, from the capture of 5 minutes ago`; nothing
/// for a live site.
fn picture(source: &Source<'_>, forecast: &QueueForecast) -> String {
    let today = today(source, forecast);
    let at = clock(forecast.now, today, source.zone);
    // With its date.
    let is_other_day = at.len() > "14:05".len();
    match source.age_secs {
        _ if source.is_described => format!(", from the site as of {at}"),
        Some(secs) if is_other_day => {
            format!(", from the capture of {} ago, {at}", ago(secs))
        }
        Some(secs) => format!(", from the capture of {} ago", ago(secs)),
        None => String::new(),
    }
}

/// `5 minutes`, the largest unit that fits.
fn ago(secs: i64) -> String {
    let (count, unit) = match secs.max(0) {
        secs if secs < 60 => return "less than a minute".to_owned(),
        secs if secs < 3600 => (secs / 60, "minute"),
        secs if secs < 86_400 => (secs / 3600, "hour"),
        secs => (secs / 86_400, "day"),
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s}")
}

fn span(secs: i64) -> Span<u64> {
    Span(secs.max(0).unsigned_abs())
}

/// The forecast of a job in one line, without a line break.
pub fn likely(source: &Source<'_>, forecast: &QueueForecast, job: &JobForecast) -> String {
    let clock = |at: i64| clock(at, today(source, forecast), source.zone);
    let from = picture(source, forecast);
    if let Some(never) = &job.never {
        return format!("No start is forecast: {never}{from}");
    }
    let Some(start) = job.start else {
        return match forecast.run_times {
            Pattern::Planned => format!("slurmctld plans no start for it yet{from}"),
            _ => format!("No start is forecast{from}"),
        };
    };
    match (forecast.run_times, job.band_from, job.band_to) {
        (Pattern::History, Some(from_at), Some(to)) => format!(
            "Likely start {}, in 90 of 100 cases between {} and {}{from}",
            clock(start),
            clock(from_at),
            clock(to)
        ),
        (Pattern::History, ..) => format!(
            "Likely start {}; in some simulations it did not start{from}",
            clock(start)
        ),
        (Pattern::Planned, ..) => format!(
            "Start {} as slurmctld plans it: if every job runs to its time limit and none comes before it{from}",
            clock(start)
        ),
        _ => format!(
            "Start {} if every job runs to its time limit and none comes before it{from}",
            clock(start)
        ),
    }
}

/// Writes sentences for one job, a table for several.
///
/// # Errors
/// Those of `out`.
pub fn write_starts(
    out: &mut impl Write,
    source: &Source<'_>,
    forecast: &QueueForecast,
    width: Option<usize>,
) -> io::Result<()> {
    if !forecast.complete {
        writeln!(
            out,
            "PARTIAL: stopped before the end; forecasts are of fewer simulations"
        )?;
    }
    match &forecast.jobs[..] {
        [job] => write_one(out, source, forecast, job)?,
        jobs => write_table(out, source, forecast, jobs, width)?,
    }
    writeln!(out, "  {}", trust(forecast))
}

fn write_one(
    out: &mut impl Write,
    source: &Source<'_>,
    forecast: &QueueForecast,
    job: &JobForecast,
) -> io::Result<()> {
    let account = job.account.as_deref().map(|name| format!(" ({name})"));
    let tasks = job.tasks.as_deref().map(|tasks| format!("_[{tasks}]"));
    writeln!(
        out,
        "Job {}{} of {}{}, partition {}",
        job.job,
        tasks.unwrap_or_default(),
        job.user,
        account.unwrap_or_default(),
        job.partitions.join(", ")
    )?;
    writeln!(out, "{}", likely(source, forecast, job))?;
    if let Some(start) = job.start.filter(|_| forecast.run_times == Pattern::History) {
        let after = span(start - forecast.now);
        match source.age_secs {
            _ if source.is_described => write!(out, "  that is {after} later")?,
            Some(_) => write!(out, "  that is {after} after the capture")?,
            None => write!(out, "  that is in {after}")?,
        }
        match job.by_limits {
            Some(limits) => writeln!(
                out,
                "; if every job ran to its time limit and none came, {}",
                clock(limits, today(source, forecast), source.zone)
            )?,
            None => writeln!(out)?,
        }
    }
    if let Some(place) = job.place {
        let of = match &job.place_partition {
            Some(partition) => format!(" in partition {partition}"),
            None => String::new(),
        };
        let seen = if forecast.visible_only {
            ", of the jobs that you may see"
        } else {
            ""
        };
        write!(out, "  place {place} of {}{of}{seen}", job.of)?;
        let ahead = job.ahead.iter().take(5).map(|one| match &*one.account {
            "" => format!("{} without account", one.jobs),
            name => format!("{} of {name}", one.jobs),
        });
        let ahead: Vec<String> = ahead.collect();
        match ahead.is_empty() {
            true => writeln!(out)?,
            false => {
                let more = if job.ahead.len() > 5 { ", ..." } else { "" };
                writeln!(out, "; ahead: {}{more}", ahead.join(", "))?;
            }
        }
    }
    if !job.helps.is_empty() {
        writeln!(out, "  what would help, each simulated:")?;
    }
    for help in &job.helps {
        let earlier = help
            .earlier_seconds
            .map_or(String::new(), |secs| format!(", {} earlier", span(secs)));
        let start = clock(help.start, today(source, forecast), source.zone);
        writeln!(out, "    {}: start {start}{earlier}", change(help))?;
    }
    Ok(())
}

/// The change in words.
fn change(help: &Help) -> String {
    match help.kind {
        "partition" => format!("partition {}", help.value),
        "qos" => format!("QOS {}", help.value),
        _ => {
            let minutes: u64 = help.value.parse().unwrap_or(0);
            format!("time limit {}", Span(minutes * 60))
        }
    }
}

fn write_table(
    out: &mut impl Write,
    source: &Source<'_>,
    forecast: &QueueForecast,
    jobs: &[JobForecast],
    width: Option<usize>,
) -> io::Result<()> {
    let age = picture(source, forecast);
    writeln!(out, "{} jobs wait{age}", jobs.len())?;
    let heading = [
        "JOB",
        "USER",
        "PARTITION",
        "PLACE",
        "LIKELY START",
        "90% FROM",
        "TO",
        "WHY NOT",
    ];
    let spare = &["PLACE", "PARTITION"];
    let mut columns = Columns::new(&heading, 3).words_last().spare(spare);
    let today = today(source, forecast);
    let clock = |at: Option<i64>| at.map_or(String::new(), |at| clock(at, today, source.zone));
    for job in jobs {
        let tasks = job.tasks.as_deref().map(|tasks| format!("_[{tasks}]"));
        columns.push([
            format!("{}{}", job.job, tasks.unwrap_or_default()),
            job.user.clone(),
            job.partitions.join(","),
            job.place.map_or(String::new(), |place| place.to_string()),
            clock(job.start),
            clock(job.band_from),
            clock(job.band_to),
            job.never.clone().unwrap_or_default(),
        ]);
    }
    columns.write(out, width)
}

/// How far the forecasts can be trusted.
fn trust(forecast: &QueueForecast) -> String {
    let of = format!("{} simulations, seed {}", forecast.draws, forecast.seed);
    match forecast.run_times {
        Pattern::Planned => {
            "no simulation: what is hidden may be ahead; a start is the StartTime that scontrol \
             shows"
                .to_owned()
        }
        Pattern::Limits => "one simulation: run times are time limits, and no job comes".to_owned(),
        Pattern::TooShort => format!(
            "the history is too short, {} ended jobs of the {LEAST_PAST_JOBS} that are needed: run \
             times are time limits, and no job comes",
            forecast.past_jobs
        ),
        Pattern::History => match (forecast.trust.band_90_held, forecast.trust.forecasts) {
            (Some(held), count) => {
                let error = forecast.trust.median_error_seconds.unwrap_or(0);
                format!(
                    "{of}; of {count} such forecasts for past jobs half were no more than {} off, and of \
                     the last {} bands {} held",
                    span(error),
                    forecast.trust.counted,
                    percent(held)
                )
            }
            (None, count) => format!(
                "{of}; run times are ratios of {} past jobs; {}",
                forecast.past_jobs,
                untold(count)
            ),
        },
    }
}

/// The reason why nobody knows how many bands hold; `forecasts`: number of those that were made for past jobs.
pub fn untold(forecasts: usize) -> String {
    match forecasts < LEAST_HITS {
        true => format!(
            "bands are wide: only {forecasts} forecasts of past jobs show how far such forecasts miss, of the \
             {LEAST_HITS} that are needed, so that each is widened at both ends by the wait and its own width"
        ),
        false => format!(
            "{forecasts} forecasts of past jobs are too few to say how often such bands hold"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_analysis::forecast::{Account, Trust};

    fn forecast(job: JobForecast) -> QueueForecast {
        QueueForecast {
            cluster: None,
            // 2026-11-21 12:45 UTC.
            now: 1_795_265_100,
            run_times: Pattern::History,
            draws: 20,
            seed: 1,
            past_jobs: 500,
            past_weeks: 4,
            trust: Trust {
                forecasts: 187,
                counted: 167,
                band_90_held: Some(0.904),
                median_error_seconds: Some(720),
            },
            complete: true,
            visible_only: false,
            jobs: vec![job],
            assumptions: Vec::new(),
        }
    }

    fn job() -> JobForecast {
        JobForecast {
            job: 7,
            user: "ann".into(),
            account: Some("physics".into()),
            partitions: vec!["main".into()],
            start: Some(1_795_265_100 + 4800),
            band_from: Some(1_795_265_100 + 2100),
            band_to: Some(1_795_265_100 + 86_400),
            by_limits: Some(1_795_265_100 + 7200),
            place: Some(3),
            of: 23,
            place_partition: Some("main".into()),
            ahead: vec![Account {
                account: "chem".into(),
                jobs: 2,
            }],
            helps: vec![Help {
                kind: "time_limit",
                value: "90".into(),
                start: 1_795_265_100 + 600,
                earlier_seconds: Some(4200),
            }],
            ..JobForecast::default()
        }
    }

    fn text(forecast: &QueueForecast, age_secs: Option<i64>) -> String {
        let source = Source {
            name: "week",
            age_secs,
            is_described: false,
            zone: &TimeZone::UTC,
        };
        let mut out = Vec::new();
        write_starts(&mut out, &source, forecast, None).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_job_in_sentences() {
        assert_eq!(
            text(&forecast(job()), Some(330)),
            "Job 7 of ann (physics), partition main
Likely start 14:05, in 90 of 100 cases between 13:20 and 2026-11-22 12:45, from the capture of 5 \
             minutes ago
  that is 01:20:00 after the capture; if every job ran to its time limit and none came, 14:45
  place 3 of 23 in partition main; ahead: 2 of chem
  what would help, each simulated:
    time limit 01:30:00: start 12:55, 01:10:00 earlier
  20 simulations, seed 1; of 187 such forecasts for past jobs half were no more than 00:12:00 off, and \
             of the last 167 bands 90.40% held
"
        );
    }

    // A week later the times of the capture have dates; a live forecast counts from now.
    #[test]
    fn an_old_capture_has_dates() {
        let found = text(&forecast(job()), Some(7 * 86_400));
        assert!(
            found.contains("Likely start 2026-11-21 14:05, ")
                && found.contains("2026-11-21 14:45\n")
                && found.contains(", from the capture of 7 days ago, 2026-11-21 12:45\n"),
            "{found}"
        );
        let live = text(&forecast(job()), None);
        assert!(live.contains("  that is in 01:20:00; if every"), "{live}");
    }

    // A site in TOML is of its own moment, also where that is today.
    #[test]
    fn a_described_site_has_dates_and_its_moment() {
        let source = Source {
            name: "site.toml",
            age_secs: None,
            is_described: true,
            zone: &TimeZone::UTC,
        };
        let mut out = Vec::new();
        write_starts(&mut out, &source, &forecast(job()), None).unwrap();
        let found = String::from_utf8(out).unwrap();
        assert!(
            found.contains("Likely start 2026-11-21 14:05, ")
                && found.contains(", from the site as of 2026-11-21 12:45\n")
                && found.contains("  that is 01:20:00 later; if every"),
            "{found}"
        );
    }

    // Three forecasts of past jobs are fewer than the 20 that the bands learn from.
    #[test]
    fn few_past_jobs_are_the_reason_of_wide_bands() {
        let mut few = forecast(job());
        few.past_jobs = 12;
        few.trust = Trust {
            forecasts: 3,
            ..Trust::default()
        };
        let found = text(&few, None);
        for words in [
            "run times are ratios of 12 past jobs",
            "bands are wide: only 3 forecasts of past jobs",
            "of the 20 that are needed",
        ] {
            assert!(found.contains(words), "{found}");
        }
    }

    #[test]
    fn a_job_that_can_never_start_says_why() {
        let held = JobForecast {
            never: Some("Its owner holds it".into()),
            start: None,
            ..job()
        };
        let found = text(&forecast(held), None);
        assert!(
            found.contains("No start is forecast: Its owner holds it\n"),
            "{found}"
        );
    }

    #[test]
    fn several_jobs_in_a_table() {
        let mut several = forecast(job());
        several.jobs.push(job());
        several.run_times = Pattern::TooShort;
        several.past_jobs = 3;
        let found = text(&several, None);
        assert!(
            found.starts_with("2 jobs wait\n  JOB  USER  PARTITION  PLACE"),
            "{found}"
        );
        assert!(
            found.contains("too short, 3 ended jobs of the 10"),
            "{found}"
        );
    }
}
