//! Sentences and tables.

use std::io::{self, Write};

use crate::columns::Columns;
use crate::figures::percent;
use fairtree_analysis::simulate::{By, Delayed, Group, Report};
use fairtree_model::span::Span;

/// Which tables are shown, and how much of them.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The tables, in this order.
    pub by: Vec<By>,
    /// At most this many rows of each, those with the most core-hours; 0: all.
    pub top: usize,
    /// Columns of the terminal.
    pub width: Option<usize>,
}

/// Writes the figures of all jobs, then a table for each group that is shown.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, report: &Report, shown: &Shown) -> io::Result<()> {
    let all = &report.all;
    if !report.complete {
        writeln!(
            out,
            "PARTIAL: stopped before the end; the figures are of what was replayed until then"
        )?;
    }
    writeln!(
        out,
        "{} on {} processors, in order of {}: {} jobs in {}",
        report.scheduler,
        report.processors,
        report.order,
        all.jobs,
        span(report.span_seconds as f64)
    )?;
    writeln!(
        out,
        "  wait               median {}, 95% up to {}, mean {}",
        span(all.median_wait_seconds),
        span(all.p95_wait_seconds),
        span(all.mean_wait_seconds)
    )?;
    writeln!(
        out,
        "  bounded slowdown   95% up to {:.2}",
        all.p95_bounded_slowdown
    )?;
    writeln!(
        out,
        "  utilisation        {}, {:.0} core-hours",
        percent(all.utilisation),
        all.core_hours
    )?;
    let part = match all.core_hours > 0.0 {
        true => report.owed_core_hours / all.core_hours,
        false => 0.0,
    };
    writeln!(
        out,
        "  owed to accounts   {:.0} core-hours, {} of those used",
        report.owed_core_hours,
        percent(part)
    )?;
    write!(out, "  unfairly delayed   {}", delayed(&all.delayed))?;
    if let Some(secs) = all.delayed.mean_unfair_delay_seconds {
        write!(out, ", by {} on average", span(secs))?;
    }
    writeln!(
        out,
        " (fair starts of {} jobs that waited)",
        report.fair_starts
    )?;
    for by in &shown.by {
        let groups = report.groups(*by);
        if !groups.is_empty() {
            writeln!(out)?;
            table(out, *by, groups, shown)?;
        }
    }
    Ok(())
}

fn table(out: &mut impl Write, by: By, groups: &[Group], shown: &Shown) -> io::Result<()> {
    let heading = [
        match by {
            By::Account => "ACCOUNT",
            By::User => "USER",
            By::Partition => "PARTITION",
            By::Qos => "QOS",
            By::Size => "PROCESSORS",
        },
        "JOBS",
        "MEDIAN WAIT",
        "P95 WAIT",
        "MEAN WAIT",
        "SLOWDOWN",
        "USED",
        "OWED core-h",
        "DELAYED",
        "BY",
    ];
    let spare = &["MEAN WAIT", "SLOWDOWN", "BY", "USED"];
    let mut columns = Columns::new(&heading, 1).spare(spare);
    let mut rows: Vec<&Group> = groups.iter().collect();
    match by {
        By::Size => rows.sort_by_key(|group| first_number(&group.name)),
        _ => rows.sort_by(|a, b| b.sums.core_hours.total_cmp(&a.sums.core_hours)),
    }
    let kept = match (shown.top, by) {
        (0, _) | (_, By::Size) => rows.len(),
        (top, _) => top.min(rows.len()),
    };
    for group in &rows[..kept] {
        let sums = &group.sums;
        columns.push([
            match group.name.as_str() {
                "" => "(none)".to_owned(),
                name => name.to_owned(),
            },
            sums.jobs.to_string(),
            span(sums.median_wait_seconds),
            span(sums.p95_wait_seconds),
            span(sums.mean_wait_seconds),
            format!("{:.2}", sums.p95_bounded_slowdown),
            percent(sums.utilisation),
            group
                .owed_core_hours
                .map_or(String::new(), |hours| format!("{hours:.0}")),
            delayed(&sums.delayed),
            sums.delayed
                .mean_unfair_delay_seconds
                .map_or(String::new(), span),
        ]);
    }
    columns.write(out, shown.width)?;
    if kept < rows.len() {
        writeln!(out, "  ({} more; --top 0 has all)", rows.len() - kept)?;
    }
    Ok(())
}

fn first_number(name: &str) -> u64 {
    let first = name.split('-').next().unwrap_or_default();
    first.parse().unwrap_or(u64::MAX)
}

fn delayed(delayed: &Delayed) -> String {
    delayed.unfairly_delayed.map_or("?".to_owned(), percent)
}

/// A time, rounded to whole seconds.
fn span(secs: f64) -> String {
    Span(secs.round().max(0.0) as u64).to_string()
}
