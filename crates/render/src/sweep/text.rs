//! A table, and the best points as settings.

use std::io::{self, Write};

use fairtree_analysis::sweep::{Best, PointResult, Spread, Sweep, lines};
use fairtree_model::span::Span;

use super::{RULE, counted, missing, of_seeds, varied};
use crate::columns::Columns;
use crate::figures::percent;

/// Writes the points, the best ones first, at most `top` of them (0: all), and what a site would change
/// for each of the best.
///
/// # Errors
/// Those of `out`.
pub fn write(
    out: &mut impl Write,
    source: &str,
    sweep: &Sweep,
    top: usize,
    width: Option<usize>,
) -> io::Result<()> {
    let runs = sweep.runs - sweep.missing;
    if sweep.missing > 0 {
        writeln!(out, "PARTIAL: {}", missing(sweep))?;
    }
    writeln!(
        out,
        "{source}: {} with results, {runs} of {}",
        counted(sweep.points.len(), "point"),
        counted(sweep.runs, "run")
    )?;
    if sweep.points.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let heading = [
        "SETTINGS",
        "RUNS",
        "MEAN WAIT",
        "90% BAND",
        "P95 WAIT",
        "UTILISATION",
        "OWED core-h",
        "90% BAND",
        "DELAYED",
        "BEST",
    ];
    let spare = &["RUNS", "UTILISATION", "P95 WAIT", "90% BAND"];
    let mut columns = Columns::new(&heading, 1).spare(spare);
    let best = sweep.best();
    let others = || sweep.points.iter().filter(|point| point.best == Best::No);
    let mut rest: Vec<&PointResult> = others().collect();
    rest.sort_by(|a, b| {
        let wait = |point: &PointResult| point.mean_wait_seconds.mean;
        wait(a).total_cmp(&wait(b))
    });
    let all: Vec<&PointResult> = best.iter().copied().chain(rest).collect();
    let kept = match top {
        0 => all.len(),
        top => top.min(all.len()),
    };
    for (at, point) in all[..kept].iter().enumerate() {
        let hours = |hours: f64| format!("{hours:.0}");
        columns.push([
            match varied(sweep, point) {
                settings if settings.is_empty() => "(as planned)".to_owned(),
                settings => settings,
            },
            point.runs.to_string(),
            span(point.mean_wait_seconds.mean),
            band(&point.mean_wait_seconds, point.runs, span),
            span(point.p95_wait_seconds.mean),
            percent(point.utilisation.mean),
            hours(point.owed_core_hours.mean),
            band(&point.owed_core_hours, point.runs, hours),
            point
                .unfairly_delayed
                .map_or(String::new(), |part| percent(part.mean)),
            match point.best {
                Best::Yes => format!("{}{}", at + 1, of_seeds(sweep, point)),
                Best::No => String::new(),
            },
        ]);
    }
    columns.write(out, width)?;
    if kept < all.len() {
        writeln!(out, "  ({} more; --top 0 has all)", all.len() - kept)?;
    }
    let jobs = || sweep.points.iter().map(|point| point.jobs);
    if let (Some(least), Some(most)) = (jobs().min(), jobs().max()) {
        if least < most {
            writeln!(
                out,
                "  (points differ in the jobs that start, {least} to {most}: the others can never start there, and \
                 are in no figure)"
            )?;
        }
    }
    writeln!(out)?;
    writeln!(out, "The best points: {RULE}")?;
    for (at, point) in best.iter().enumerate() {
        writeln!(
            out,
            "\n# {}: mean wait {}, owed {:.0} core-hours{}",
            at + 1,
            span(point.mean_wait_seconds.mean),
            point.owed_core_hours.mean,
            of_seeds(sweep, point)
        )?;
        for line in lines(&point.settings) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The band of a figure; empty of a single run.
fn band(spread: &Spread, runs: usize, text: impl Fn(f64) -> String) -> String {
    match runs {
        0 | 1 => String::new(),
        _ => format!("{} to {}", text(spread.band[0]), text(spread.band[1])),
    }
}

fn span(secs: f64) -> String {
    Span(secs.round().max(0.0) as u64).to_string()
}
