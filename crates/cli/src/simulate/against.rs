//! Two policies over the same log, side by side.

use std::io::{BufWriter, Write, stdout};

use clap::ValueEnum;

use super::super::args::{ByName, SimulateArgs};
use super::super::message::Messages;
use super::super::progress::Waiting;
use super::super::{Failure, Outcome, terminal, threads, told};
use super::interrupt::{Flag, Interrupt};
use super::policy::Policies;
use super::{SEED, TOP, assumptions, no_job, refused};
use fairtree_analysis::simulate::{Against, Report, Rules, Trial};
use fairtree_model::input::recorded::Recorded;
use fairtree_render::simulate::{
    Shown, against_to_csv, against_to_json, too_large_for, write_against,
};
use fairtree_sim::slurm::scene::{Scene, Setup};
use fairtree_sim::slurm::site::Unpriced;

/// Phases of Slurm's loops where no number is named. A pool has no such loops, and one run.
const PHASES: u32 = 10;

/// Replays a log under both policies.
pub(super) fn run(
    args: &SimulateArgs,
    rules: Rules,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let named = args.file.as_deref().zip(args.site.as_deref());
    let (log, site) = named.expect("the mode needs both");
    let of_others = args
        .by
        .iter()
        .find(|by| !matches!(by, ByName::Account | ByName::User));
    if let Some(by) = of_others {
        return Err(Failure::Usage(format!(
            "--by {}: not with --against; allowed are account and user",
            by.to_possible_value()
                .map_or(String::new(), |value| value.get_name().to_owned())
        )));
    }
    let recorded = Recorded::of_log(log, site)?;
    let name = &recorded.name;
    let policies = Policies::of(Setup::of(&recorded), name, &args.changes, &args.nodes)?;
    if policies.changes.is_empty() && args.changes.first().is_none() {
        return Err(Failure::Usage(
            "--against: nothing is changed\nhint: --shares, --set, --policy, --slurm-conf, --nodes and \
             others change something: fairtree simulate --help"
                .to_owned(),
        ));
    }
    let trial = |setup: Setup| -> Result<Trial<'_>, Unpriced> {
        Ok(Trial {
            scene: Scene::new(setup, &recorded.jobs)?,
            log: &recorded.jobs,
            rules,
            fair_starts: args.fair_starts.unwrap_or(0),
        })
    };
    let unpriced = |error: Unpriced| refused(name, &error);
    let before = trial(policies.before).map_err(unpriced)?;
    let after = trial(policies.after).map_err(unpriced)?;
    let notes = assumptions(&recorded, &before.scene.notes);
    if before.scene.asks.is_empty() {
        return Err(no_job(name, &notes));
    }
    let phases = match rules {
        Rules::Slurm => args.phases.unwrap_or(PHASES) as usize,
        Rules::Pool(..) => 1,
    };
    let seed = args.seed.unwrap_or(SEED);
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("simulating");
    let mut reports: Vec<Option<Result<Report, Unpriced>>> = Vec::new();
    reports.resize_with(2 * phases, || None);
    threads::run(
        2 * phases,
        threads::default_threads(),
        &mut interrupt,
        |at, stop| {
            let side = if at % 2 == 0 { &before } else { &after };
            side.report(seed.wrapping_add(at as u64 / 2), &mut Flag(stop))
        },
        |at, report| {
            let is_sound = report.is_ok();
            reports[at] = Some(report);
            is_sound
        },
    );
    drop(waiting);
    drop(interrupt);
    let mut complete = true;
    let mut pairs: Vec<(Report, Report)> = Vec::new();
    let mut all = reports.into_iter();
    while let (Some(a), Some(b)) = (all.next(), all.next()) {
        let (Some(a), Some(b)) = (
            a.transpose().map_err(unpriced)?,
            b.transpose().map_err(unpriced)?,
        ) else {
            complete = false;
            continue;
        };
        match a.complete && b.complete {
            true => pairs.push((a, b)),
            false => complete = false,
        }
    }
    for note in &notes {
        messages.note(note);
    }
    if let Some((before, after)) = pairs.first() {
        for (side, report) in [("before", before), ("after", after)] {
            if let Some(note) = too_large_for(report.left_out.too_large, report.processors) {
                messages.note(&format!("{side} the changes: {note}"));
            }
        }
    }
    for note in &after.scene.notes {
        if !before.scene.notes.contains(note) {
            messages.note(&format!("after the changes: {note}"));
        }
    }
    if !complete {
        messages.note("stopped before the end: the report is partial");
    }
    if pairs.is_empty() {
        messages.note("no phase has ended under both policies: there is nothing to report");
        return Ok(Outcome::Differences);
    }
    let found = Against::new(&pairs, policies.changes, seed, complete);
    let mut out = BufWriter::new(stdout().lock());
    let written = match (args.json, args.csv) {
        (true, _) => against_to_json(&mut out, name, &found),
        (_, true) => against_to_csv(&mut out, &found),
        _ => {
            let shown = Shown {
                by: args.by.iter().map(|by| (*by).into()).collect(),
                top: args.top.unwrap_or(TOP),
                width: terminal::table_width(),
            };
            write_against(&mut out, name, &found, &shown)
        }
    };
    let outcome = match complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written.and_then(|()| out.flush()), outcome)
}
