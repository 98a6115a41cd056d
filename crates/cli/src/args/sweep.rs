//! The arguments of `fairtree sweep`.

use std::path::PathBuf;

use clap::Args;

/// `fairtree sweep`.
#[derive(Debug, Args)]
#[command(after_long_help = SWEEP_EXAMPLES, after_help = SWEEP_EXIT_CODES)]
pub struct SweepArgs {
    /// The plan, in TOML: a log, a site, the settings that vary
    pub plan: PathBuf,
    /// Threads, by default one for each processor
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with_all = ["merge", "sbatch"])]
    pub threads: Option<u16>,
    /// Run only part I of N, as 3/8, into a file of its own; several at once do not disturb each other
    #[arg(long, value_name = "I/N", conflicts_with_all = ["merge", "sbatch", "json", "csv", "chart"])]
    pub shard: Option<String>,
    /// Join the files of the shards, run nothing, and report; exit code 1 if runs are missing
    #[arg(long, conflicts_with = "sbatch")]
    pub merge: bool,
    /// Print a batch script for Slurm, an array job of shards that take about ten minutes each, by a run
    /// that is measured now
    #[arg(long, conflicts_with_all = ["json", "csv", "chart"])]
    pub sbatch: bool,
    /// Draw mean waits against owed core-hours to this file: SVG, or a page where it ends in .html
    #[arg(long, value_name = "FILE")]
    pub chart: Option<PathBuf>,
    /// Rows of the table, the best points first, 20 by default; 0 shows all
    #[arg(
        long,
        value_name = "ROWS",
        default_value_t = 20,
        hide_default_value = true
    )]
    pub top: usize,
    /// Print a line of CSV for each point
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print JSON, of the schema fairtree.sweep/1
    #[arg(long)]
    pub json: bool,
}

pub(super) const SWEEP_ABOUT: &str = "\
Replay a log under many policies, and show the best ones.

The plan names a log, a site and the settings that vary: a grid, or points that are drawn. Each point is \
one `fairtree simulate` for each seed. Results are kept beside the plan, so that a further call runs only \
what is missing. With --shard parts of it run elsewhere, with --sbatch on the cluster itself. The best \
points are those than which no other one is better in mean wait or in owed core-hours and no worse in the other. \
docs/sweep.md describes the plan and the JSON.";

const SWEEP_EXIT_CODES: &str = "\
Exit codes:
  0  all runs of the plan, or of the shard, have a result
  1  stopped by Ctrl-C before the end, or --merge found runs missing; the next call continues
  2  the input, the options or the output are at fault; a message says which";

const SWEEP_EXAMPLES: &str = "\
Examples:
  fairtree sweep examples/sweep.toml --sbatch > sweep.sh     then: sbatch sweep.sh
  fairtree sweep examples/sweep.toml
  fairtree sweep examples/sweep.toml --chart waits.html --csv > points.csv
  fairtree sweep examples/sweep.toml --merge

A plan:
  log = \"month.sacct\"
  site = \"site\"
  seeds = 3
  [fixed]
  scheduler = \"slurm\"
  [vary.shares]
  physics = [20, 40, 80]
  [vary.set]
  PriorityWeightAge = [1000, 5000]

Exit codes:
  0  all runs of the plan, or of the shard, have a result
  1  stopped by Ctrl-C before the end, or --merge found runs missing; the next call continues
  2  the input, the options or the output are at fault; a message says which";
