//! The arguments of `fairtree forecast`.

use std::path::PathBuf;

use clap::Args;

use super::simulate::{MOST_PROCESSORS, PoolName};

/// `fairtree forecast`.
#[derive(Debug, Args)]
#[command(after_long_help = FORECAST_EXAMPLES, after_help = FORECAST_EXIT_CODES)]
pub struct ForecastArgs {
    /// Make forecasts for the jobs of this log that had to wait, and compare them with their starts;
    /// sacct -X -P, or Standard Workload Format; `-` reads standard input
    #[arg(long, value_name = "LOG")]
    pub score: PathBuf,
    /// The rules by which jobs start
    #[arg(long, value_name = "NAME", value_enum, default_value_t = PoolName::Easy)]
    pub scheduler: PoolName,
    /// Processors of the machine, a single pool
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(1..=MOST_PROCESSORS)
    )]
    pub procs: u32,
    /// Forecasts at most, evenly spread over the jobs that had to wait, one for a user and a minute
    #[arg(long, value_name = "JOBS", default_value_t = 10_000)]
    pub forecasts: usize,
    /// Simulations for each forecast
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 12,
        value_parser = clap::value_parser!(u16).range(3..=1000)
    )]
    pub draws: u16,
    /// Seed of the draws: the same seed gives the same forecasts
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// The columns of a listing of sacct without header
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Only the jobs of this cluster
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Print JSON, of the schema fairtree.forecast/1
    #[arg(long)]
    pub json: bool,
}

pub(super) const FORECAST_ABOUT: &str = "\
Forecast when jobs start, and measure how good such forecasts are.

--score replays a log as `fairtree simulate` does. When a job is submitted and has to wait, its start is \
forecast from what is known at that moment: simulations in which jobs run as the last jobs of their \
users did, and others arrive as on the same day of the week some weeks ago. The errors are compared \
with those of a forecast by time limits, and the bands that should hold 90% of the starts are counted. \
docs/forecast.md describes the method, figures of real logs and the JSON.";

const FORECAST_EXIT_CODES: &str = "\
Exit codes:
  0  all forecasts were made
  1  stopped by Ctrl-C before the end: the report says that it is partial
  2  the input, the options or the output are at fault; a message says which";

const FORECAST_EXAMPLES: &str = "\
Examples:
  fairtree forecast --score examples/week.swf --procs 64
  fairtree forecast --score examples/week.swf --procs 64 --scheduler conservative --seed 7
  fairtree forecast --score examples/day.sacct --procs 64 --forecasts 20
  fairtree forecast --score examples/week.swf --procs 64 --json | jq '.band_90_holds'

Exit codes:
  0  all forecasts were made
  1  stopped by Ctrl-C before the end: the report says that it is partial
  2  the input, the options or the output are at fault; a message says which";
