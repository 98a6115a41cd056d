//! A log on a pool of processors.

use std::io::{BufWriter, Write, stdout};

use super::super::args::SimulateArgs;
use super::super::message::Messages;
use super::super::progress::Waiting;
use super::super::{Failure, Outcome, told};
use super::interrupt::Interrupt;
use super::log::{Log, read_log};
use super::{FAIR_STARTS, put, shown};
use fairtree_analysis::simulate::{LeftOut, Report, run as replay};
use fairtree_model::input::sacct;
use fairtree_render::simulate::{notes, to_json, write, write_jobs, write_schedule};
use fairtree_sim::scheduler::Kind;

/// Replays a log on a pool of processors.
pub(super) fn run(
    args: &SimulateArgs,
    kind: Kind,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let processors = args.procs.unwrap_or(1);
    let options = sacct::Options {
        columns: args.columns.as_deref(),
        cluster: args.cluster.as_deref(),
    };
    let log = read_log(args.file.as_deref(), options, processors)?;
    let Log {
        name,
        workload,
        summary,
    } = &log;
    // Before there are threads: one that does not hold signals would get them.
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("simulating");
    let replayed = replay(
        workload,
        kind,
        args.fair_starts.unwrap_or(FAIR_STARTS),
        &mut || !interrupt.has_come(),
    );
    drop(waiting);
    // From here on a signal ends the command, as while it read.
    drop(interrupt);
    let left_out = LeftOut::of(workload, summary.idle, summary.unreadable);
    let entitled = equal_parts(workload.accounts.names.len());
    let report = Report::new(workload, &replayed, &entitled, left_out);
    let epoch = summary.epoch.unwrap_or(0);
    if let Some(path) = &args.schedule {
        put(path, |out| {
            write_schedule(&mut &mut *out, name, epoch, workload, &replayed)
        })?;
    }
    if let Some(path) = &args.jobs {
        put(path, |out| write_jobs(&mut &mut *out, workload, &replayed))?;
    }
    for note in summary
        .notes
        .iter()
        .chain(&notes(workload, &report.left_out))
    {
        messages.note(note);
    }
    if workload.accounts.names.len() > 1 {
        messages.note(
            "the log has no shares: every account is entitled to an equal part of the machine",
        );
    }
    let outcome = match replayed.is_complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    if !replayed.is_complete {
        messages.note("stopped before the end: the report is partial");
    }
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => to_json(&mut out, name, &report),
        false => write(&mut out, &report, &shown(args)),
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// Equal parts of a machine.
fn equal_parts(accounts: usize) -> Vec<f64> {
    vec![1.0 / accounts.max(1) as f64; accounts]
}
