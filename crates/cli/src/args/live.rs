//! Where a command finds a site: the arguments that `share`, `prio` and `explain` have alike.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// A capture, or Slurm itself.
#[derive(Clone, Debug, Args)]
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
    /// Ask Slurm again, also where its answers of the last 10 seconds are kept (not of root)
    #[arg(long, conflicts_with = "from")]
    pub fresh: bool,
}

impl LiveArgs {
    /// The same, with Slurm asked again.
    pub fn asked_again(&self, again: bool) -> LiveArgs {
        LiveArgs {
            fresh: self.fresh || again,
            ..self.clone()
        }
    }

    /// How long each command of Slurm may take.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}
