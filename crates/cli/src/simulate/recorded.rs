//! A recorded run: predictions one step ahead, and runs on their own.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use super::super::args::SimulateArgs;
use super::super::progress::Waiting;
use super::super::{Failure, Outcome, terminal, told};
use super::interrupt::{Asked, Interrupt};
use super::{SEED, TOP, assumptions, no_job, refused};
use fairtree_analysis::simulate::FreeRuns;
use fairtree_model::input::recorded::Recorded;
use fairtree_render::simulate::{check_to_json, free_to_json, write_check, write_free};
use fairtree_sim::slurm::check::check_while;
use fairtree_sim::slurm::scene::{Scene, Setup};
use fairtree_sim::slurm::site::Unpriced;

/// Phases where no number is named.
const PHASES: u32 = 30;

/// The recorded run of an option.
fn read(folder: Option<&Path>) -> Result<Recorded, Failure> {
    Ok(Recorded::read(folder.unwrap_or(Path::new(".")))?)
}

/// Runs the jobs of a recorded run on their own.
pub(super) fn free(args: &SimulateArgs) -> Result<Outcome, Failure> {
    let recorded = read(args.free.as_deref())?;
    let name = &recorded.name;
    let unpriced = |error: Unpriced| refused(name, &error);
    let scene = Scene::new(Setup::of(&recorded), &recorded.jobs).map_err(unpriced)?;
    let notes = assumptions(&recorded, &scene.notes);
    if scene.asks.is_empty() {
        return Err(no_job(name, &notes));
    }
    let seed = args.seed.unwrap_or(SEED);
    let mut asked = Asked(Interrupt::new());
    let waiting = Waiting::new("simulating");
    let mut runs = Vec::new();
    let mut complete = true;
    for phase in 0..u64::from(args.phases.unwrap_or(PHASES)) {
        let ran = scene.run(seed.wrapping_add(phase), &mut asked);
        let ran = ran.map_err(unpriced)?;
        complete = ran.stopped_ms.is_none();
        if !complete {
            break;
        }
        runs.push(ran);
    }
    drop(waiting);
    drop(asked);
    let jobs = scene.recorded(&recorded.jobs);
    let found = FreeRuns::new(&jobs, &runs, seed, complete);
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

/// Checks Slurm's rules against a recorded run.
pub(super) fn check(args: &SimulateArgs) -> Result<Outcome, Failure> {
    let recorded = read(args.check.as_deref())?;
    let name = &recorded.name;
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("checking");
    let checked = check_while(&recorded, &mut || !interrupt.has_come());
    drop(waiting);
    drop(interrupt);
    let checked = checked.map_err(|error| refused(name, &error))?;
    let notes = assumptions(&recorded, &[]);
    let mut out = BufWriter::new(stdout().lock());
    let written = match args.json {
        true => check_to_json(&mut out, name, &checked, &notes),
        false => write_check(&mut out, name, &checked, &notes, args.top.unwrap_or(TOP)),
    };
    let outcome = match checked.complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written.and_then(|()| out.flush()), outcome)
}
