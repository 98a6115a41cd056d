//! `fairtree simulate`.

use std::io::{self, BufWriter, Write, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use super::args::SimulateArgs;
use super::input::{Opened, open_stream};
use super::message::Messages;
use super::progress::Waiting;
use super::{Failure, Outcome, terminal, told};
use fairtree_analysis::simulate::{LeftOut, Report, run as replay};
use fairtree_model::input::workload::{LoggedJob, Summary};
use fairtree_model::input::{Format, MAX_ROWS, sacct, swf};
use fairtree_model::output::{HeldSignals, SHARED, replace_by};
use fairtree_render::simulate::{Shown, notes, to_json, write, write_jobs, write_schedule};
use fairtree_sim::workload::Workload;

/// Reads a log, replays it, shows.
pub(super) fn run(args: &SimulateArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let options = sacct::Options {
        columns: args.columns.as_deref(),
        cluster: args.cluster.as_deref(),
    };
    let log = read_log(args.file.as_deref(), options, args.procs)?;
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
        args.scheduler.into(),
        args.fair_starts,
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
        false => {
            let shown = Shown {
                by: args.by.iter().map(|by| (*by).into()).collect(),
                top: args.top,
                width: terminal::table_width(),
            };
            write(&mut out, &report, &shown)
        }
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// A log of jobs, read.
pub(super) struct Log {
    /// Name in messages.
    pub name: String,
    /// Its jobs, filtered for the machine.
    pub workload: Workload,
    /// What its reader says.
    pub summary: Summary,
}

/// Reads the jobs of a log for a machine of `processors`.
pub(super) fn read_log(
    file: Option<&Path>,
    options: sacct::Options<'_>,
    processors: u32,
) -> Result<Log, Failure> {
    let format = options.columns.map(|_| Format::Sacct);
    let Opened {
        name,
        format,
        input,
        ..
    } = open_stream(file, format)?;
    let mut workload = Workload::new(processors);
    let mut beyond = 0_u64;
    let mut add = |job: &LoggedJob<'_>| match workload.jobs.len() < MAX_ROWS {
        true => workload.add(job),
        false => beyond += 1,
    };
    let summary = match format {
        Format::Swf => swf::read_jobs(&name, input, &mut add)?,
        Format::Sacct => sacct::read_jobs(&name, input, options, &mut add)?,
        _ => {
            return Err(Failure::Usage(format!(
                "{name}: is no log of jobs; allowed are the output of sacct -X -P and the Standard \
                 Workload Format"
            )));
        }
    };
    if beyond > 0 {
        return Err(Failure::Usage(format!(
            "{name}: has more than {MAX_ROWS} jobs"
        )));
    }
    workload.sort();
    if workload.jobs.is_empty() {
        let whole = notes(
            &workload,
            &LeftOut::of(&workload, summary.idle, summary.unreadable),
        );
        return Err(Failure::Usage(format!(
            "{name}: has no job that can be replayed\n{}",
            whole.join("\n")
        )));
    }
    Ok(Log {
        name,
        workload,
        summary,
    })
}

/// Equal parts of a machine.
fn equal_parts(accounts: usize) -> Vec<f64> {
    vec![1.0 / accounts.max(1) as f64; accounts]
}

/// Puts what `write` writes in place of a file.
fn put(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let written = replace_by(path, SHARED, write);
    written.map_err(|error| Failure::File(path.display().to_string(), error))
}

/// Signals that would end the command, held as long as this lives.
pub(super) struct Interrupt {
    held: HeldSignals,
    looked: Instant,
    has_come: bool,
}

impl Interrupt {
    /// Holds them.
    pub fn new() -> Interrupt {
        Interrupt {
            held: HeldSignals::new(),
            looked: Instant::now(),
            has_come: false,
        }
    }

    /// Returns true if one has come; looks for it a few times a second.
    pub fn has_come(&mut self) -> bool {
        if !self.has_come && self.looked.elapsed() > Duration::from_millis(50) {
            self.looked = Instant::now();
            let arriving = self.held.arriving();
            let came = arriving.and_then(|signals| Ok(signals.read_signal()?));
            self.has_come = matches!(came, Ok(Some(_)));
        }
        self.has_come
    }
}
