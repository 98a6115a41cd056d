//! `fairtree sweep`.

mod batch;
mod files;
mod inputs;
mod point;

use std::fs;
use std::io::{BufWriter, Write, stdout};
use std::time::{Duration, Instant};

use super::args::SweepArgs;
use super::message::Messages;
use super::progress::Waiting;
use super::simulate::Interrupt;
use super::{Failure, Outcome, terminal, threads, told};
use fairtree_analysis::sweep::{Sweep, figures_of};
use fairtree_model::input::sweep::{Plan, Point};
use fairtree_model::output::{SHARED, replace};
use fairtree_render::sweep::{to_csv, to_html, to_json, to_svg, write};
use files::{Files, Shard};
use inputs::Inputs;

/// Results are saved this often while runs end.
const SAVED_EACH: Duration = Duration::from_secs(5);

/// Reads the plan, runs what is missing, shows.
pub(super) fn run(args: &SweepArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let name = args.plan.display().to_string();
    let file = fs::File::open(&args.plan).map_err(|error| Failure::File(name.clone(), error))?;
    let plan = Plan::read(&name, file)?;
    let shard = args.shard.as_deref().map(Shard::parse).transpose()?;
    // Wrong settings are found before hours of runs.
    for point in &plan.points {
        point::check(point, plan.site.is_some())
            .map_err(|error| Failure::Usage(format!("{name}: {point}: {error}")))?;
    }
    let files = Files::new(&args.plan);
    let inputs = Inputs::read(&plan, &args.plan)?;
    let mut done = files.read(shard, args.merge, inputs.fingerprint())?;
    let all = plan.points.iter().flat_map(|point| {
        let seeds = plan.seeds.iter();
        seeds.map(move |seed| (point, *seed))
    });
    let missing = all.filter(|(point, seed)| {
        shard.is_none_or(|shard| shard.has(point, *seed))
            && !done.figures.contains_key(&((*point).clone(), *seed))
    });
    let missing: Vec<(&Point, u64)> = missing.collect();
    if args.sbatch {
        return batch::print(args, &plan, &inputs, &missing);
    }
    let mut complete = missing.is_empty();
    if !args.merge && !complete {
        complete = run_missing(args, &plan, &inputs, &files, shard, &missing, &mut done)?;
    } else if args.merge {
        files.write(None, &done)?;
    }
    if let Some(shard) = shard {
        let count = done.figures.len();
        messages.note(&format!(
            "{count} runs of shard {shard} are in {}",
            files.of(Some(shard)).display()
        ));
        return Ok(outcome(complete));
    }
    let sweep = Sweep::new(&plan, &done);
    if sweep.missing > 0 {
        messages.note(&format!(
            "{} of {} runs are missing, the first one {}: the next call{} runs them",
            sweep.missing,
            sweep.runs,
            missing
                .iter()
                .find(|(point, seed)| !done.figures.contains_key(&((*point).clone(), *seed)))
                .map_or(String::new(), |(point, seed)| format!(
                    "{point} seed {seed}"
                )),
            match args.merge {
                true => " without --merge",
                false => "",
            }
        ));
    }
    if let Some(path) = &args.chart {
        let is_page = path.extension().is_some_and(|end| end == "html");
        let drawn = match is_page {
            true => to_html(&name, &sweep),
            false => to_svg(&name, &sweep),
        };
        let written = replace(path, SHARED, drawn.as_bytes());
        written.map_err(|error| Failure::File(path.display().to_string(), error))?;
    }
    let mut out = BufWriter::new(stdout().lock());
    let written = match (args.json, args.csv) {
        (true, _) => to_json(&mut out, &name, &sweep),
        (_, true) => to_csv(&mut out, &sweep),
        _ => write(&mut out, &name, &sweep, args.top, terminal::table_width()),
    };
    told(
        written.and_then(|()| out.flush()),
        outcome(complete && sweep.missing == 0),
    )
}

fn outcome(is_complete: bool) -> Outcome {
    match is_complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    }
}

/// Runs what is missing and adds the results; true if nothing was stopped.
fn run_missing(
    args: &SweepArgs,
    plan: &Plan,
    inputs: &Inputs,
    files: &Files,
    shard: Option<Shard>,
    missing: &[(&Point, u64)],
    done: &mut fairtree_model::input::sweep::Runs,
) -> Result<bool, Failure> {
    let mut interrupt = Interrupt::new();
    let waiting = Waiting::new("running points of the sweep");
    let threads = args
        .threads
        .map_or_else(threads::default_threads, usize::from);
    let mut failed: Option<Failure> = None;
    let mut saved = Instant::now();
    let complete = threads::run(
        missing.len(),
        threads,
        &mut interrupt,
        |at, stop| {
            let (point, seed) = missing[at];
            inputs.report(plan, point, seed, stop)
        },
        |at, report| {
            match report {
                Ok(report) if report.complete => {
                    let (point, seed) = missing[at];
                    let figures = figures_of(&report);
                    done.figures.insert((point.clone(), seed), figures);
                    if saved.elapsed() > SAVED_EACH {
                        failed = files.write(shard, done).err();
                        saved = Instant::now();
                    }
                }
                // Stopped.
                Ok(_) => {}
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
            failed.is_none()
        },
    );
    drop(waiting);
    drop(interrupt);
    if !done.figures.is_empty() {
        files.write(shard, done)?;
    }
    match failed {
        Some(failure) => Err(failure),
        None => Ok(complete),
    }
}
