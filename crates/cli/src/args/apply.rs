//! The arguments of `fairtree apply`.

use clap::Args;

use super::ServiceArgs;

/// `fairtree apply`.
#[derive(Debug, Args)]
#[command(after_help = APPLY_EXAMPLES)]
pub struct ApplyArgs {
    /// The plan: its number, its address, or a file with its JSON; - reads standard input
    pub plan: String,
    /// Run the commands without a question
    #[arg(short, long)]
    pub immediate: bool,
    /// Print the commands if the shares are still those of the plan, and run nothing
    #[arg(short = 'n', long, conflicts_with = "immediate")]
    pub dry_run: bool,
    /// Longest time of a command of Slurm, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub time_limit: u64,
    #[command(flatten)]
    pub service: ServiceArgs,
}

pub(super) const APPLY_ABOUT: &str = "\
Give out the shares of a plan that the service has computed, with sacctmgr and as yourself: Slurm decides whether you may.

The shares are read first. If one of the levels of the plan has changed since the plan was made, the command names \
what has changed and runs nothing. Otherwise it prints the lines of sacctmgr, asks, runs them, and reads the shares \
again. The command reports to the service what became of the plan; munge proves who you are.";

const APPLY_EXAMPLES: &str = "\
Examples:
  fairtree apply 7
  fairtree apply https://fairtree.example.org/plan/7
  fairtree apply plan.json --dry-run

Exit codes:
  0  the shares are given out
  1  shares have changed since the plan was made: nothing was run
  2  the options or the plan are at fault, or Slurm refused; a message says which";
