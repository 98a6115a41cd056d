//! Jobs that start while time passes, and their number by account and user.

use std::io::{self, Write};

use maud::{Markup, html};

use super::text::{Shown, write_left_out};
use crate::columns::Columns;
use crate::figures::{arrow, percent};
use fairtree_analysis::forecast::Pattern;
use fairtree_analysis::what_if::{Meanwhile, Named, StartCount, StartMove, Started, WhatIf};
use fairtree_model::span::Span;

/// `00:59:00` for seconds.
fn span(secs: i64) -> Span<u64> {
    Span(secs.max(0).unsigned_abs())
}

/// How it was simulated, and what the two sides are, in a sentence.
fn how(meanwhile: &Meanwhile) -> String {
    let time = span(meanwhile.until - meanwhile.from);
    let draws = match meanwhile.draws {
        1 => "1 simulation".to_owned(),
        count => format!("{count} simulations"),
    };
    let runs = match meanwhile.run_times {
        Pattern::History => "run times of past jobs",
        Pattern::TooShort => "run times are limits, as the past is too short",
        Pattern::Limits | Pattern::Planned => "run times are limits",
    };
    let seed = meanwhile.seed;
    let medians = match meanwhile.draws {
        0 | 1 => "",
        _ => ", each the median of its own (of jobs started the mean), so that rows do not add up",
    };
    match meanwhile.both {
        true => format!(
            "{time} simulated without and with the changes: {draws} each, seed {seed}, {runs}; all figures are \
             those at the end{medians}"
        ),
        false => format!(
            "{time} simulated: {draws}, seed {seed}, {runs}; figures are those now and at the end{medians}"
        ),
    }
}

/// `00:59:00`: the time to the median start; words where it does not start in most simulations.
fn start(side: &Started, from: i64) -> String {
    match side.start {
        Some(at) => span(at - from).to_string(),
        None if side.held => "held".to_owned(),
        None => "not started".to_owned(),
    }
}

/// `-` where a side does not have it.
fn both(meanwhile: &Meanwhile, row: &StartMove, figure: &dyn Fn(&Started) -> String) -> String {
    let after = row.after.as_ref().map(figure);
    match meanwhile.both {
        true => arrow(row.before.as_ref().map(figure), after),
        false => after.unwrap_or_default(),
    }
}

/// `00:10:00 earlier`.
fn by(row: &StartMove) -> String {
    match row.earlier_seconds {
        None | Some(0) => String::new(),
        Some(secs) if secs > 0 => format!("{} earlier", span(secs)),
        Some(secs) => format!("{} later", span(-secs)),
    }
}

/// The name of a job with its tasks.
fn job(row: &StartMove) -> String {
    match &row.tasks {
        Some(tasks) => format!("{} [{tasks}]", row.job_id),
        None => row.job_id.to_string(),
    }
}

fn cells(meanwhile: &Meanwhile, row: &StartMove) -> [String; 6] {
    [
        job(row),
        row.user.clone(),
        row.account.clone().unwrap_or_default(),
        both(meanwhile, row, &|side| start(side, meanwhile.from)),
        by(row),
        both(meanwhile, row, &|side| percent(side.part)),
    ]
}

/// A mean number of jobs.
fn jobs(count: f64) -> String {
    format!("{count:.1}")
}

fn count_cells(meanwhile: &Meanwhile, row: &StartCount) -> [String; 4] {
    let after = row.after.map(jobs);
    let count = match meanwhile.both {
        true => arrow(row.before.map(jobs), after),
        false => after.unwrap_or_default(),
    };
    let difference = row
        .difference
        .map(|count| match jobs(count + 0.0).as_str() {
            "0.0" | "-0.0" => "none".to_owned(),
            _ => format!("{count:+.1}"),
        });
    let band = row
        .band
        .map(|[low, high]| format!("{low:+.1} to {high:+.1}"));
    [
        row.name.clone(),
        count,
        difference.unwrap_or_default(),
        band.unwrap_or_default(),
    ]
}

/// The jobs to show, and how many are left out: those that move, and those that were named; all that start
/// where nothing but time changes.
fn chosen<'m>(
    meanwhile: &'m Meanwhile,
    named: &Named,
    shown: &Shown,
) -> (Vec<&'m StartMove>, usize) {
    let is_named = |row: &StartMove| named.jobs.contains(&row.job_id);
    let counts = |row: &&StartMove| {
        let moves =
            row.moves_by() > 0 || row.before.map(|one| one.part) != row.after.map(|one| one.part);
        shown.all || !meanwhile.both || is_named(row) || moves
    };
    let mut rows: Vec<&StartMove> = meanwhile.jobs.iter().filter(counts).collect();
    let all = rows.len();
    let most = shown.top.unwrap_or(usize::MAX);
    let first = |row: &StartMove| row.after.and_then(|side| side.start).unwrap_or(i64::MAX);
    if all > most {
        match meanwhile.both {
            true => rows.sort_by_key(|row| std::cmp::Reverse(row.moves_by())),
            false => rows.sort_by_key(|row| first(row)),
        }
        let mut at = 0;
        rows.retain(|row| {
            at += 1;
            at <= most || is_named(row)
        });
    }
    rows.sort_by_key(|row| (first(row), row.job_id));
    let left_out = all - rows.len();
    (rows, left_out)
}

/// Accounts and users whose counts are shown: where both sides are, those that differ, and those that were named.
fn counted<'m>(meanwhile: &'m Meanwhile, named: &Named, shown: &Shown) -> Vec<&'m StartCount> {
    let differs = |row: &StartCount| {
        let moves = row.band.is_none_or(|band| band != [0.0, 0.0]);
        shown.all || named.assocs.contains(&row.name) || moves
    };
    let rows = meanwhile.counts.iter().filter(|row| differs(row));
    rows.take(shown.top.unwrap_or(usize::MAX)).collect()
}

/// Writes how the time was simulated, the jobs that start and the counts.
pub(super) fn write(
    out: &mut impl Write,
    what_if: &WhatIf,
    meanwhile: &Meanwhile,
    shown: Shown,
) -> io::Result<()> {
    if !meanwhile.complete {
        writeln!(
            out,
            "PARTIAL: stopped before the end; it is of fewer simulations"
        )?;
    }
    writeln!(out, "{}", how(meanwhile))?;
    writeln!(out)?;
    let named = &what_if.named;
    writeln!(out, "Starts: {}", summary(meanwhile))?;
    let heading = ["JOBID", "USER", "ACCOUNT", "STARTS AFTER", "", "IN"];
    let mut columns = Columns::new(&heading, 3).spare(&["IN", "ACCOUNT"]);
    let (rows, left_out) = chosen(meanwhile, named, &shown);
    for row in rows {
        columns.push(cells(meanwhile, row));
    }
    columns.write(out, shown.width)?;
    write_left_out(out, left_out)?;
    let rows = counted(meanwhile, named, &shown);
    if !rows.is_empty() {
        writeln!(out)?;
        let heading = ["NAME", "JOBS STARTED", "DIFFERENCE", "90% BAND"];
        let mut columns = Columns::new(&heading, 1).spare(&["90% BAND"]);
        for row in rows {
            columns.push(count_cells(meanwhile, row));
        }
        columns.write(out, shown.width)?;
    }
    writeln!(out)
}

/// `5 jobs, 1 earlier, 2 later`.
fn summary(meanwhile: &Meanwhile) -> String {
    let count =
        |fits: &dyn Fn(&StartMove) -> bool| meanwhile.jobs.iter().filter(|row| fits(row)).count();
    let all = match meanwhile.jobs.len() {
        1 => "1 job".to_owned(),
        count => format!("{count} jobs"),
    };
    let started = |side: Option<Started>| side.is_some_and(|side| side.start.is_some());
    let moves: [(usize, &str); 4] = [
        (
            count(&|row| row.earlier_seconds.is_some_and(|secs| secs > 0)),
            "earlier",
        ),
        (
            count(&|row| row.earlier_seconds.is_some_and(|secs| secs < 0)),
            "later",
        ),
        (
            count(&|row| meanwhile.both && !started(row.before) && started(row.after)),
            "only after the changes",
        ),
        (
            count(&|row| started(row.before) && !started(row.after)),
            "not any more",
        ),
    ];
    let moves = moves.iter().filter(|(count, _)| *count > 0);
    let moves = moves.map(|(count, word)| format!(", {count} {word}"));
    std::iter::once(all).chain(moves).collect()
}

/// The same as a part of a page.
pub(super) fn section(meanwhile: &Meanwhile, most: usize) -> Markup {
    html! {
        h2 { "Meanwhile" }
        p { (how(meanwhile)) }
        p { "Starts: " (summary(meanwhile)) }
        @if !meanwhile.jobs.is_empty() {
            details {
                summary { "Jobs that start" }
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Job" } th { "User" } th { "Account" } th { "Starts after" } th { "" } th { "In" }
                        } }
                        tbody {
                            @for row in meanwhile.jobs.iter().take(most) {
                                tr { @for cell in cells(meanwhile, row) { td { (cell) } } }
                            }
                        }
                    }
                }
            }
        }
        @if !meanwhile.counts.is_empty() {
            details {
                summary { "Jobs started by account and user" }
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Name" } th { "Jobs started" } th { "Difference" } th { "90% band" }
                        } }
                        tbody {
                            @for row in meanwhile.counts.iter().take(most) {
                                tr { @for cell in count_cells(meanwhile, row) { td { (cell) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
