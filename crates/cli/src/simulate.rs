//! `fairtree simulate`.

use std::io::{self, BufWriter, Write, stdout};
use std::path::Path;
use std::time::{Duration, Instant};

use super::args::SimulateArgs;
use super::input::{Opened, open_stream};
use super::message::Messages;
use super::progress::Waiting;
use super::{Failure, Outcome, terminal, told};
use fairtree_analysis::simulate::{FreeRuns, LeftOut, OnSite, Report, Why, run as replay};
use fairtree_model::input::recorded::Recorded;
use fairtree_model::input::workload::{LoggedJob, Summary};
use fairtree_model::input::{Format, MAX_ROWS, sacct, swf};
use fairtree_model::output::{HeldSignals, SHARED, replace_by};
use fairtree_render::simulate::{
    Shown, Wait, check_to_json, free_to_json, notes, to_json, why_to_json, write, write_check,
    write_free, write_jobs, write_schedule, write_why,
};
use fairtree_sim::scheduler::Kind;
use fairtree_sim::slurm::check::check;
use fairtree_sim::slurm::free::{self, Jobs, Phases};
use fairtree_sim::slurm::history::History;
use fairtree_sim::slurm::life::lives;
use fairtree_sim::slurm::site::Unpriced;
use fairtree_sim::workload::Workload;

/// Reads a log, replays it, shows; or checks a recorded run.
pub(super) fn run(args: &SimulateArgs, messages: &Messages) -> Result<Outcome, Failure> {
    if let Some(folder) = &args.check {
        return check_run(args, folder);
    }
    if let Some(folder) = &args.free {
        return free_runs(args, folder);
    }
    match (args.scheduler.of_pool(), &args.site, args.procs) {
        (None, Some(site), _) => on_site(args, site, messages),
        (None, None, _) => Err(Failure::Usage(
            "--scheduler slurm needs --site FOLDER|FILE: nodes, partitions and settings".to_owned(),
        )),
        (Some(_), Some(_), _) => Err(Failure::Usage(
            "--site is for --scheduler slurm; the others need --procs NUMBER".to_owned(),
        )),
        (Some(kind), None, Some(processors)) => replay_log(args, kind, processors, messages),
        (Some(_), None, None) => Err(Failure::Usage("--procs NUMBER is needed".to_owned())),
    }
}

/// Replays a log on the machine of a site, under Slurm's rules.
fn on_site(args: &SimulateArgs, site: &Path, messages: &Messages) -> Result<Outcome, Failure> {
    let Some(log) = &args.file else {
        let why = "the name of a log is needed with --site: standard input is not read";
        return Err(Failure::Usage(why.to_owned()));
    };
    let recorded = Recorded::of_log(log, site)?;
    let name = &recorded.name;
    let unpriced = |error: Unpriced| refused(name, &error);
    let (history, _) = History::new(&recorded).map_err(unpriced)?;
    let (_, site) = History::new(&recorded).map_err(unpriced)?;
    if history.asks.is_empty() {
        return Err(Failure::Usage(format!(
            "{name}: has no job that can be replayed"
        )));
    }
    let lives = lives(&history.jobs);
    let jobs = Jobs {
        asks: &history.asks,
        lives: &lives,
    };
    let wanted = args.why.map(|id| {
        let found = history.jobs.iter().position(|job| job.id == id);
        found.ok_or_else(|| Failure::Usage(format!("{name}: has no job {id}")))
    });
    let wanted = wanted.transpose()?;
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("simulating");
    let mut go_on = || !interrupt.has_come();
    let mut why = Why::new(wanted.unwrap_or(usize::MAX), &mut go_on);
    let phases = Phases::random(&recorded.machine, &site, args.seed);
    let ran = free::run(&recorded.machine, site, jobs, phases, &mut why).map_err(unpriced)?;
    drop(waiting);
    let notes = assumptions(&recorded, &history.notes);
    let mut out = BufWriter::new(stdout().lock());
    let outcome = match ran.stopped_ms {
        None => Outcome::Done,
        Some(_) => Outcome::Differences,
    };
    if let Some(job) = wanted {
        let life = &lives[job];
        let called = |job: usize| format!("job {}", history.asks[job].id);
        let fate = &ran.fates[job];
        let spans = why.spans(life.submit_ms, fate, &called);
        let end = fate.start_ms.or(fate.end_ms).unwrap_or(life.submit_ms);
        let wait = Wait {
            source: name,
            job: &history.asks[job].id.to_string(),
            wait_seconds: (end - life.submit_ms) as f64 / 1000.0,
            spans: &spans,
        };
        let written = match args.json {
            true => why_to_json(&mut out, &wait),
            false => write_why(&mut out, &wait, terminal::table_width()),
        };
        return told(written.and_then(|()| out.flush()), outcome);
    }
    for note in &notes {
        messages.note(&format!("assumed: {note}"));
    }
    let (_, site) = History::new(&recorded).map_err(unpriced)?;
    let found = OnSite::new(&recorded.machine, &site, &history, &ran);
    let left_out = LeftOut::of(&found.workload, found.never_started, 0);
    let report = Report::new(&found.workload, &found.replayed, &found.entitled, left_out);
    if let Some(path) = &args.schedule {
        put(path, |out| {
            write_schedule(&mut &mut *out, name, 0, &found.workload, &found.replayed)
        })?;
    }
    if let Some(path) = &args.jobs {
        put(path, |out| {
            write_jobs(&mut &mut *out, &found.workload, &found.replayed)
        })?;
    }
    let written = match args.json {
        true => to_json(&mut out, name, &report),
        false => write(&mut out, &report, &shown(args)),
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// Which tables are shown.
fn shown(args: &SimulateArgs) -> Shown {
    Shown {
        by: args.by.iter().map(|by| (*by).into()).collect(),
        top: args.top,
        width: terminal::table_width(),
    }
}

/// Runs the jobs of a recorded run on their own.
fn free_runs(args: &SimulateArgs, folder: &Path) -> Result<Outcome, Failure> {
    let recorded = Recorded::read(folder)?;
    let name = &recorded.name;
    let unpriced = |error: Unpriced| refused(name, &error);
    let (history, _) = History::new(&recorded).map_err(unpriced)?;
    let lives = lives(&history.jobs);
    let jobs = Jobs {
        asks: &history.asks,
        lives: &lives,
    };
    let mut asked = Asked(Interrupt::new());
    let waiting = Waiting::new("simulating");
    let mut runs = Vec::new();
    let mut complete = true;
    for phase in 0..u64::from(args.phases) {
        let (_, site) = History::new(&recorded).map_err(unpriced)?;
        let seed = args.seed.wrapping_add(phase);
        let phases = Phases::random(&recorded.machine, &site, seed);
        let ran = free::run(&recorded.machine, site, jobs, phases, &mut asked).map_err(unpriced)?;
        complete = ran.stopped_ms.is_none();
        if !complete {
            break;
        }
        runs.push(ran);
    }
    drop(waiting);
    drop(asked);
    let found = FreeRuns::new(&history.jobs, &runs, args.seed, complete);
    let notes = assumptions(&recorded, &history.notes);
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => free_to_json(&mut out, name, &found, &notes),
        false => write_free(&mut out, name, &found, &notes, terminal::table_width()),
    };
    let outcome = match complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written.and_then(|()| out.flush()), outcome)
}

/// Asks whether Ctrl-C was pressed.
struct Asked(Interrupt);

impl free::Observer for Asked {
    fn go_on(&mut self) -> bool {
        !self.0.has_come()
    }
}

/// Sentences about missing records, assumptions and what is not modelled.
fn assumptions(recorded: &Recorded, more: &[String]) -> Vec<String> {
    let mut notes = recorded.assumptions.clone();
    let not_modelled = recorded.machine.not_modelled.iter();
    notes.extend(not_modelled.map(|what| format!("{what} is not modelled")));
    notes.extend_from_slice(more);
    notes
}

/// Checks Slurm's rules against a recorded run.
fn check_run(args: &SimulateArgs, folder: &Path) -> Result<Outcome, Failure> {
    let recorded = Recorded::read(folder)?;
    let name = &recorded.name;
    let checked = check(&recorded).map_err(|error| refused(name, &error))?;
    let notes = assumptions(&recorded, &[]);
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => check_to_json(&mut out, name, &checked, &notes),
        false => write_check(&mut out, name, &checked, &notes, args.top),
    };
    told(written.and_then(|()| out.flush()), Outcome::Done)
}

/// Settings of a site that cannot be priced.
fn refused(name: &str, error: &Unpriced) -> Failure {
    Failure::Usage(format!("{name}: {}", error.0))
}

/// Replays a log on a pool of processors.
fn replay_log(
    args: &SimulateArgs,
    kind: Kind,
    processors: u32,
    messages: &Messages,
) -> Result<Outcome, Failure> {
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
    let replayed = replay(workload, kind, args.fair_starts, &mut || {
        !interrupt.has_come()
    });
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
