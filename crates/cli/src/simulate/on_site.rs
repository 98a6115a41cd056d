//! A log on the machine of a site, in the order of its priorities.

use std::io::{BufWriter, Write, stdout};

use super::super::args::SimulateArgs;
use super::super::message::Messages;
use super::super::progress::Waiting;
use super::super::{Failure, Outcome, terminal, told};
use super::interrupt::{Asked, Interrupt};
use super::mode::Mode;
use super::policy::Policies;
use super::{FAIR_STARTS, SEED, assumptions, no_job, put, refused, shown};
use fairtree_analysis::simulate::{OnSite, Rules, Trial, Why, report_of};
use fairtree_model::input::recorded::Recorded;
use fairtree_render::simulate::{
    Wait, notes, to_json, why_to_json, write, write_jobs, write_schedule, write_why,
};
use fairtree_sim::slurm::scene::{Scene, Setup};
use fairtree_sim::slurm::site::Unpriced;

/// Fair starts under Slurm's rules where no number is named: each is a run of its own.
const FAIR_STARTS_OF_SLURM: usize = 200;

/// Replays a log on the machine of a site.
pub(super) fn run(
    args: &SimulateArgs,
    mode: Mode,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let named = args.file.as_deref().zip(args.site.as_deref());
    let (log, site) = named.expect("the mode needs both");
    let recorded = Recorded::of_log(log, site)?;
    let name = &recorded.name;
    let unpriced = |error: Unpriced| refused(name, &error);
    let policies = Policies::of(Setup::of(&recorded), name, &args.changes, &args.nodes)?;
    for change in &policies.changes {
        messages.note(&format!("changed: {change}"));
    }
    let scene = Scene::new(policies.after, &recorded.jobs).map_err(unpriced)?;
    let mut assumed = assumptions(&recorded, &scene.notes);
    if scene.asks.is_empty() {
        return Err(no_job(name, &assumed));
    }
    if mode == Mode::Why {
        return why(args, name, &scene, messages);
    }
    let (rules, fair_starts) = match mode {
        Mode::PoolOnSite(kind) => (Rules::Pool(kind, args.procs), FAIR_STARTS),
        _ => (Rules::Slurm, FAIR_STARTS_OF_SLURM),
    };
    let trial = Trial {
        scene,
        log: &recorded.jobs,
        rules,
        fair_starts: args.fair_starts.unwrap_or(fair_starts),
    };
    let mut asked = Asked(Interrupt::new());
    let waiting = Waiting::new("simulating");
    let found = trial.run(args.seed.unwrap_or(SEED), &mut asked);
    drop(waiting);
    drop(asked);
    let found = found.map_err(unpriced)?;
    let report = report_of(&found);
    assumed.extend(notes(&found.workload, &report.left_out));
    if found.workload.jobs.is_empty() {
        return Err(no_job(name, &assumed));
    }
    let stuck = found.replayed.schedule.starts.iter().flatten().count();
    let stuck = found.workload.jobs.len() - stuck;
    if stuck > 0 && report.complete {
        assumed.push(format!(
            "{stuck} jobs that ran in the log never start here: --why JOB shows what one waits for"
        ));
    }
    for note in &assumed {
        messages.note(note);
    }
    if !report.complete {
        messages.note("stopped before the end: the report is partial");
    }
    let OnSite {
        workload, replayed, ..
    } = &found;
    if let Some(path) = &args.schedule {
        put(path, |out| {
            write_schedule(&mut &mut *out, name, 0, workload, replayed)
        })?;
    }
    if let Some(path) = &args.jobs {
        put(path, |out| write_jobs(&mut &mut *out, workload, replayed))?;
    }
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => to_json(&mut out, name, &report),
        false => write(&mut out, &report, &shown(args)),
    };
    told(written.and_then(|()| out.flush()), outcome(report.complete))
}

/// Shows what a job waited for.
fn why(
    args: &SimulateArgs,
    name: &str,
    scene: &Scene,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let id = args.why.expect("the mode needs a job");
    let found = scene.asks.iter().position(|ask| ask.id == id);
    let job = found.ok_or_else(|| Failure::Usage(format!("{name}: has no job {id}")))?;
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("simulating");
    let mut go_on = || !interrupt.has_come();
    let mut why = Why::new(job, &mut go_on);
    let ran = scene.run(args.seed.unwrap_or(SEED), &mut why);
    drop(waiting);
    let ran = ran.map_err(|error| refused(name, &error))?;
    let (life, fate) = (&scene.lives[job], &ran.fates[job]);
    let called = |job: usize| format!("job {}", scene.asks[job].id);
    let spans = why.spans(life.submit_ms, fate, &called);
    let end = fate.start_ms.or(fate.end_ms).unwrap_or(life.submit_ms);
    let wait = Wait {
        source: name,
        job: &id.to_string(),
        wait_seconds: (end - life.submit_ms) as f64 / 1000.0,
        spans: &spans,
    };
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => why_to_json(&mut out, &wait),
        false => write_why(&mut out, &wait, terminal::table_width()),
    };
    if ran.stopped_ms.is_some() {
        messages.note("stopped before the end: the spans are partial");
    }
    let outcome = outcome(ran.stopped_ms.is_none());
    told(written.and_then(|()| out.flush()), outcome)
}

/// The outcome of a run that was or was not stopped.
fn outcome(is_complete: bool) -> Outcome {
    match is_complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    }
}
