//! The arguments of `fairtree forecast`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::simulate::{MOST_PROCESSORS, PoolName};

/// `fairtree forecast`.
#[derive(Debug, Args)]
#[command(after_long_help = FORECAST_EXAMPLES, after_help = FORECAST_EXIT_CODES)]
pub struct ForecastArgs {
    /// A job that waits, as 4711, or 4711_3 for a task of an array; without it and -u your own
    pub job: Option<String>,
    /// The waiting jobs of these users, as alice,bob
    #[arg(
        help_heading = "Selection",
        short,
        long,
        value_name = "USERS",
        value_delimiter = ',',
        conflicts_with = "job"
    )]
    pub user: Vec<String>,
    /// All jobs that wait
    #[arg(help_heading = "Selection", short, long, conflicts_with_all = ["job", "user"])]
    pub all: bool,
    /// Read a capture instead: a folder of `fairtree capture`, or the latest in it; or a site in TOML that lists
    /// its nodes
    #[arg(long, value_name = "DIR|FILE")]
    pub from: Option<PathBuf>,
    /// Seconds that each command of Slurm may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub time_limit: u64,
    /// Where run times are from instead of past jobs; limit: one simulation in which every job runs to its
    /// time limit
    #[arg(help_heading = "Computation", long, value_name = "NAME", value_enum)]
    pub proxy: Option<ProxyName>,
    /// Simulations for each forecast; 20, and 12 with --score, unless given. Where each takes long there
    /// are fewer, but at least 5. Below 20 the band reaches over all of them before it is widened
    #[arg(
        help_heading = "Computation",
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(3..=1000)
    )]
    pub draws: Option<u16>,
    /// Seed of the draws, 1 by default: the same seed gives the same forecasts
    #[arg(help_heading = "Computation", long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Make forecasts for the jobs of this log that had to wait, and compare them with their starts;
    /// sacct -X -P, or Standard Workload Format; `-` reads standard input
    #[arg(
        help_heading = "Score",
        long,
        value_name = "LOG",
        conflicts_with_all = ["job", "user", "all", "from", "proxy"]
    )]
    pub score: Option<PathBuf>,
    /// The rules by which jobs of the log start, easy by default
    #[arg(help_heading = "Score", long, value_name = "NAME", value_enum)]
    pub scheduler: Option<PoolName>,
    /// Processors of the machine, a single pool; needed with --score
    #[arg(
        help_heading = "Score",
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(1..=MOST_PROCESSORS)
    )]
    pub procs: Option<u32>,
    /// Forecasts at most, 10000 by default, evenly spread over the jobs that had to wait, one for a user
    /// and a minute
    #[arg(
        help_heading = "Score",
        long,
        value_name = "JOBS",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub forecasts: Option<u32>,
    /// The columns of a listing of sacct without header
    #[arg(help_heading = "Score", long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Only the jobs of this cluster
    #[arg(help_heading = "Score", long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Print JSON, of the schema fairtree.start/1, or fairtree.forecast/1 with --score
    #[arg(long)]
    pub json: bool,
}

/// Where run times are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProxyName {
    /// Time limits.
    Limit,
}

pub(super) const FORECAST_ABOUT: &str = "\
Forecast when jobs start, and measure how good such forecasts are.

Simulates Slurm's schedulers on the site's nodes from the present state, or that of a capture, again and \
again: jobs run as the last jobs of their users did, and others come as on the same day of an earlier week. \
The likely start is the median; 90 of 100 jobs should start in the band beside it, which is widened by the \
misses of the same forecasts for past jobs. For one job it also shows its place, who is ahead, and which \
other partition, QOS or shorter time limit would help, each simulated.

--score replays a log as `fairtree simulate` does. When a job is submitted and has to wait, its start is \
forecast from what is known at that moment: simulations in which jobs run as the last jobs of their \
users did, and others arrive as on the same day of the week some weeks ago. The errors are compared \
with those of a forecast by time limits, and the bands that should hold 90% of the starts are counted. \
docs/forecast.md describes the method, figures of real logs and the JSON.";

const FORECAST_EXIT_CODES: &str = "\
Exit codes:
  0  all forecasts were made, also where a job can never start
  1  stopped by Ctrl-C before the end: the report says that it is partial
  2  the input, the options or the output are at fault; a message says which";

const FORECAST_EXAMPLES: &str = "\
Examples:
  fairtree forecast                                 when do my jobs start?
  fairtree forecast 4711                            this one, and what would help
  fairtree forecast -u alice --from week            those of alice, from a capture
  fairtree forecast 4711 --proxy limit              if every job ran to its time limit
  fairtree forecast --score examples/week.swf --procs 64
  fairtree forecast --score examples/week.swf --procs 64 --scheduler conservative --seed 7
  fairtree forecast --score examples/day.sacct --procs 64 --forecasts 20
  fairtree forecast --score examples/week.swf --procs 64 --json | jq '.band_90_holds'

Exit codes:
  0  all forecasts were made, also where a job can never start
  1  stopped by Ctrl-C before the end: the report says that it is partial
  2  the input, the options or the output are at fault; a message says which";
