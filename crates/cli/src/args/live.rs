//! Where a command finds a site: the arguments that `share`, `prio` and `explain` have alike.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// A capture, or Slurm itself.
#[derive(Debug, Args)]
pub struct LiveArgs {
    /// Read a capture instead: a folder of `fairtree capture`, or the latest in it
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub from: Option<PathBuf>,
    /// Seconds that each command of Slurm may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub time_limit: u64,
}

impl LiveArgs {
    /// How long each command of Slurm may take.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}
