//! How well a recorded run is predicted: sentences, and one object of the schema
//! `fairtree.check/1`.

use std::io::{self, Write};

use fairtree_sim::slurm::check::{Checked, Mismatch};
use fairtree_sim::slurm::state::Reason;
use fairtree_sim::slurm::timeline::Cycle;
use jiff::Timestamp;
use serde::Serialize;

use crate::figures::percent;
use crate::json;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const CHECK_SCHEMA: &str = "fairtree.check/1";

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    complete: bool,
    starts: usize,
    starts_predicted: usize,
    predictions: usize,
    predictions_wrong: usize,
    same_nodes: usize,
    cycles: usize,
    cycles_from: &'static str,
    plans: usize,
    plans_same: usize,
    priorities: usize,
    priorities_same: usize,
    corrections: usize,
    mismatches: Vec<Different>,
    assumptions: Vec<&'a str>,
}

/// A mismatch as JSON has it.
#[derive(Serialize)]
struct Different {
    at: f64,
    job: u32,
    cycle: &'static str,
    /// `start`: it really started, and was not predicted; `prediction`: the reverse.
    kind: &'static str,
    rule: String,
}

fn assumptions<'a>(checked: &'a Checked, more: &'a [String]) -> Vec<&'a str> {
    more.iter()
        .chain(&checked.notes)
        .map(String::as_str)
        .collect()
}

/// Writes one JSON object and a line break, as `docs/simulate.md` describes it. `more`: assumptions
/// of the reader.
///
/// # Errors
/// Those of `out`.
pub fn check_to_json(
    out: &mut impl Write,
    source: &str,
    checked: &Checked,
    more: &[String],
) -> io::Result<()> {
    let different = |one: &Mismatch| Different {
        at: one.at_ms as f64 / 1000.0,
        job: one.id,
        cycle: cycle(one.cycle),
        kind: if one.simulated { "prediction" } else { "start" },
        rule: rule(one),
    };
    let content = Content {
        source,
        complete: checked.complete,
        starts: checked.starts,
        starts_predicted: checked.starts_predicted,
        predictions: checked.predictions,
        predictions_wrong: checked.predictions_wrong,
        same_nodes: checked.same_nodes,
        cycles: checked.cycles,
        cycles_from: checked.cycles_from.name(),
        plans: checked.plans,
        plans_same: checked.plans_same,
        priorities: checked.priorities,
        priorities_same: checked.priorities_same,
        corrections: checked.corrections,
        mismatches: checked.mismatches.iter().map(different).collect(),
        assumptions: assumptions(checked, more),
    };
    json::write_document(out, CHECK_SCHEMA, &content)
}

/// Writes the figures, the first `top` differences, and the assumptions.
///
/// # Errors
/// Those of `out`.
pub fn write_check(
    out: &mut impl Write,
    source: &str,
    checked: &Checked,
    more: &[String],
    top: usize,
) -> io::Result<()> {
    let part = |some: usize, all: usize| match all {
        0 => "none".to_owned(),
        all => percent(some as f64 / all as f64),
    };
    let Checked {
        starts,
        predictions,
        ..
    } = *checked;
    let right = predictions - checked.predictions_wrong;
    if !checked.complete {
        writeln!(out, "PARTIAL: stopped before the end")?;
    }
    writeln!(out, "{source}: one step ahead in {} cycles", checked.cycles)?;
    writeln!(
        out,
        "  starts predicted   {} of {starts}, {}; on the same nodes {}",
        checked.starts_predicted,
        part(checked.starts_predicted, starts),
        checked.same_nodes
    )?;
    writeln!(
        out,
        "  predictions right  {right} of {predictions}, {}",
        part(right, predictions)
    )?;
    if checked.plans > 0 {
        writeln!(
            out,
            "  plans as logged    {} of {}, {}",
            checked.plans_same,
            checked.plans,
            part(checked.plans_same, checked.plans)
        )?;
        writeln!(
            out,
            "  priorities         {} of {}, {}",
            checked.priorities_same,
            checked.priorities,
            part(checked.priorities_same, checked.priorities)
        )?;
    }
    let shown = match top {
        0 => checked.mismatches.len(),
        top => top.min(checked.mismatches.len()),
    };
    for one in &checked.mismatches[..shown] {
        let time = Timestamp::from_millisecond(one.at_ms).unwrap_or_default();
        let what = match one.simulated {
            true => "predicted, did not start",
            false => "started, not predicted",
        };
        writeln!(out, "  {time} job {} {what}: {}", one.id, rule(one))?;
    }
    if shown < checked.mismatches.len() {
        let more = checked.mismatches.len() - shown;
        writeln!(out, "  ({more} more; --top 0 has all)")?;
    }
    for note in assumptions(checked, more) {
        writeln!(out, "  assumed: {note}")?;
    }
    Ok(())
}

fn cycle(cycle: Cycle) -> &'static str {
    match cycle {
        Cycle::Main => "main",
        Cycle::MainFull => "main, full queue",
        Cycle::Backfill => "backfill",
    }
}

/// The rule that decided.
fn rule(one: &Mismatch) -> String {
    let cycle = cycle(one.cycle);
    match &one.reason {
        None if one.simulated => format!("{cycle} scheduler, it fits"),
        None => "it was in no cycle before".to_owned(),
        Some(reason) => format!("{cycle} scheduler, {}", sentence(reason)),
    }
}

fn sentence(reason: &Reason) -> String {
    match reason {
        Reason::Limit(limit) => format!("at the limit {limit}"),
        Reason::Blocked { .. } => "a job before it in its partition does not fit".to_owned(),
        Reason::Resources => "its nodes are not free".to_owned(),
        Reason::Planned { .. } => "its nodes are planned for jobs before it".to_owned(),
        Reason::Never => "no node of its partition can have it".to_owned(),
        Reason::Array => "a task of its array before it does not start".to_owned(),
        Reason::NotReached => "the cycle ended before it".to_owned(),
    }
}
