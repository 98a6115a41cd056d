//! The results of a sweep: a table, CSV, a picture, and one object of the schema `fairtree.sweep/1`.

mod chart;
mod text;

use std::io::{self, Write};

use fairtree_analysis::sweep::{Best, PointResult, Spread, Sweep, lines};
use serde::Serialize;

use crate::json;

pub use chart::{to_html, to_svg};
pub use text::write;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.sweep/1";

/// What makes a point one of the best.
const RULE: &str =
    "no other one is better in mean wait or in owed core-hours and no worse in the other.";

/// `1 point`, `2 points`.
fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// The runs that are missing, in words.
fn missing(sweep: &Sweep) -> String {
    format!(
        "{} of {} have no result",
        sweep.missing,
        counted(sweep.runs, "run")
    )
}

/// Remark for a point that has not all of its runs; else nothing.
fn of_seeds(sweep: &Sweep, point: &PointResult) -> String {
    match point.runs < sweep.seeds {
        true => format!(" ({} of {} seeds)", point.runs, sweep.seeds),
        false => String::new(),
    }
}

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    #[serde(flatten)]
    sweep: &'a Sweep,
    /// What a site would change for each of the best points, shortest mean wait first.
    best_settings: Vec<Vec<String>>,
}

/// Writes one JSON object and a line break, as `docs/sweep.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, source: &str, sweep: &Sweep) -> io::Result<()> {
    let best = sweep.best();
    let best_settings = best.iter().map(|point| lines(&point.settings)).collect();
    let content = Content {
        source,
        sweep,
        best_settings,
    };
    json::write_document(out, SCHEMA, &content)
}

/// Writes a heading and a line for each point, in the order of the plan.
///
/// # Errors
/// Those of `out`.
pub fn to_csv(out: &mut impl Write, sweep: &Sweep) -> io::Result<()> {
    let mut rows = ::csv::Writer::from_writer(out);
    let mut names: Vec<&str> = Vec::new();
    for point in &sweep.points {
        names.extend(point.settings.keys().map(String::as_str));
    }
    names.sort_unstable();
    names.dedup();
    let figures = [
        "runs",
        "jobs",
        "mean_wait_seconds",
        "mean_wait_low",
        "mean_wait_high",
        "median_wait_seconds",
        "p95_wait_seconds",
        "p95_bounded_slowdown",
        "utilisation",
        "owed_core_hours",
        "owed_low",
        "owed_high",
        "unfairly_delayed",
        "best",
    ];
    rows.write_record(names.iter().chain(&figures))?;
    for point in &sweep.points {
        let mut row: Vec<String> = names
            .iter()
            .map(|name| point.settings.get(*name).cloned().unwrap_or_default())
            .collect();
        let mean = |spread: &Spread| spread.mean.to_string();
        let (wait, owed) = (&point.mean_wait_seconds, &point.owed_core_hours);
        row.extend([
            point.runs.to_string(),
            point.jobs.to_string(),
            mean(wait),
            wait.band[0].to_string(),
            wait.band[1].to_string(),
            mean(&point.median_wait_seconds),
            mean(&point.p95_wait_seconds),
            mean(&point.p95_bounded_slowdown),
            mean(&point.utilisation),
            mean(owed),
            owed.band[0].to_string(),
            owed.band[1].to_string(),
            point
                .unfairly_delayed
                .as_ref()
                .map(mean)
                .unwrap_or_default(),
            match point.best {
                Best::Yes => "yes".to_owned(),
                Best::No => "no".to_owned(),
            },
        ]);
        rows.write_record(&row)?;
    }
    rows.flush()
}

/// The settings of a point that differ from point to point, in one line.
fn varied(sweep: &Sweep, point: &PointResult) -> String {
    let own = sweep.varied.iter();
    let own = own.filter_map(|name| {
        let value = point.settings.get(name)?;
        // `set.PriorityWeightAge` is clear without its first part.
        let name = name.strip_prefix("set.").unwrap_or(name);
        Some(format!("{name}={value}"))
    });
    own.collect::<Vec<_>>().join(" ")
}
