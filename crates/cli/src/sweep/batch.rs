//! A batch script for Slurm: an array job of shards.

use std::io::{BufWriter, Write, stdout};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::super::args::SweepArgs;
use super::super::progress::Waiting;
use super::super::{Failure, Outcome, told};
use super::inputs::Inputs;
use fairtree_model::input::sweep::{Plan, Point};

/// A task of the array takes about this long, seconds.
const TASK_SECS: f64 = 600.0;

/// The most tasks: `MaxArraySize` is 1001 by default, one more than the largest index.
const MOST_TASKS: usize = 1000;

/// Measures one run, and prints the script.
pub(super) fn print(
    args: &SweepArgs,
    plan: &Plan,
    inputs: &Inputs,
    missing: &[(&Point, u64)],
) -> Result<Outcome, Failure> {
    let Some((point, seed)) = missing.first() else {
        return Err(Failure::Usage(
            "--sbatch: all runs of the plan have a result".to_owned(),
        ));
    };
    let waiting = Waiting::new("measuring a run");
    let begun = Instant::now();
    inputs.report(plan, point, *seed, &AtomicBool::new(false))?;
    let secs = begun.elapsed().as_secs_f64();
    drop(waiting);
    let tasks = tasks(missing.len(), secs);
    // Points take different times, and nodes are not all as fast.
    let mins = (missing.len() as f64 * secs / tasks as f64 * 3.0 / 60.0).ceil() as u64 + 5;
    let program = std::env::current_exe().map_or("fairtree".into(), |path| path);
    let program = quoted(&program.display().to_string());
    let plan = std::path::absolute(&args.plan).unwrap_or_else(|_| args.plan.clone());
    let plan = quoted(&plan.display().to_string());
    let mut out = BufWriter::new(stdout().lock());
    let written = write!(
        out,
        "#!/bin/sh\n\
         # {}{} of {secs:.1} s, by one that was measured here: {tasks}{}.\n\
         #SBATCH --job-name=fairtree-sweep\n\
         #SBATCH --array=1-{tasks}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task=1\n\
         #SBATCH --time={mins}\n\
         # When all tasks have ended:\n\
         #   {program} sweep {plan} --merge\n\
         exec {program} sweep {plan} --threads 1 --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\"\n",
        missing.len(),
        if missing.len() == 1 { " run" } else { " runs" },
        if tasks == 1 { " task" } else { " tasks" },
    );
    told(written.and_then(|()| out.flush()), Outcome::Done)
}

/// Tasks of about ten minutes for runs of `secs` seconds.
fn tasks(runs: usize, secs: f64) -> usize {
    let wanted = (runs as f64 * secs / TASK_SECS).ceil() as usize;
    wanted.clamp(1, MOST_TASKS.min(runs.max(1)))
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand.
    #[test]
    fn tasks_take_ten_minutes() {
        assert_eq!(tasks(100, 60.0), 10);
        assert_eq!(tasks(100, 0.1), 1);
        assert_eq!(tasks(3, 3600.0), 3);
        assert_eq!(tasks(100_000, 600.0), 1000);
    }

    #[test]
    fn words_are_quoted() {
        assert_eq!(quoted("a b'c"), "'a b'\\''c'");
    }
}
