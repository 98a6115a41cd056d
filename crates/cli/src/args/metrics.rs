//! The arguments of `fairtree metrics`.

use std::path::PathBuf;

use clap::Args;

use super::LiveArgs;

/// `fairtree metrics`.
#[derive(Debug, Args)]
#[command(after_long_help = METRICS_EXAMPLES, after_help = METRICS_EXIT_CODES)]
pub struct MetricsArgs {
    /// A site in TOML; without FILE and --from the live cluster
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Give users series, too: top=50 for the 50 associations with the most usage
    #[arg(long, value_name = "top=NUMBER")]
    pub users: Option<String>,
    /// Write this file instead of standard output: at once, so that a reader sees the old or the new
    /// one
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub(super) const METRICS_ABOUT: &str = "\
Write shares, use, factors and the queue as metrics for Prometheus.

The text is of Prometheus' format 0.0.4, for the textfile collector of node_exporter: all gauges, one \
series for each account, none for users unless --users asks for some. examples/metrics has a \
dashboard and alert rules.

Run it from a timer, from a capture that is made anyway, or live: then it asks Slurm once.";

const METRICS_EXIT_CODES: &str = "\
Exit codes:
  0  written
  2  the input, the options or the output are at fault; a message says which";

const METRICS_EXAMPLES: &str = "\
Examples:
  fairtree metrics --from week
  fairtree metrics -o fairtree.prom                 the live cluster, for node_exporter
  fairtree metrics --users top=50 --from week
  fairtree metrics examples/queue.toml

Exit codes:
  0  written
  2  the input, the options or the output are at fault; a message says which";
