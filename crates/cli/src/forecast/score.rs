//! `fairtree forecast --score`.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use crate::args::{ForecastArgs, PoolName};
use crate::message::Messages;
use crate::progress::Waiting;
use crate::simulate::{Interrupt, Log, read_log};
use crate::{Failure, Outcome, told};
use fairtree_analysis::forecast::ForecastScore;
use fairtree_analysis::simulate::LeftOut;
use fairtree_model::input::sacct;
use fairtree_render::forecast::{to_json, write};
use fairtree_render::simulate::notes;
use fairtree_sim::forecast::{Making, Options, score};

/// Simulations for each forecast.
const SCORE_DRAWS: u16 = 12;
/// Forecasts where no number is named.
const SCORE_FORECASTS: usize = 10_000;

/// Reads a log, makes forecasts, compares.
pub(super) fn run(
    args: &ForecastArgs,
    score_of: &Path,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let Some(procs) = args.procs else {
        return Err(Failure::Usage(
            "--score needs --procs NUMBER: processors of the machine".to_owned(),
        ));
    };
    let columns = sacct::Options {
        columns: args.columns.as_deref(),
        cluster: args.cluster.as_deref(),
    };
    let log = read_log(Some(score_of), columns, procs)?;
    let Log {
        name,
        workload,
        summary,
    } = &log;
    let options = Options {
        scheduler: args.scheduler.unwrap_or(PoolName::Easy).into(),
        forecasts: args.forecasts.map_or(SCORE_FORECASTS, |most| most as usize),
        draws: usize::from(args.draws.unwrap_or(SCORE_DRAWS)),
        seed: args.seed.unwrap_or(Making::default().seed),
    };
    // Before there are threads: one that does not hold signals would get them.
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("making forecasts");
    let made = score(workload, options, &mut || !interrupt.has_come());
    drop(waiting);
    drop(interrupt);
    let figures = ForecastScore::new(&made, &options, procs, workload.jobs.len());
    let left_out = LeftOut::of(workload, summary.idle, summary.unreadable);
    for note in summary.notes.iter().chain(&notes(workload, &left_out)) {
        messages.note(note);
    }
    let outcome = match made.is_complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    if !made.is_complete {
        messages.note("stopped before the end: the report is partial");
    }
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => to_json(&mut out, name, &figures),
        false => write(&mut out, &figures),
    };
    told(written.and_then(|()| out.flush()), outcome)
}
