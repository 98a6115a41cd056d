//! The arguments of `fairtree what-if`.

use std::path::PathBuf;

use clap::Args;

use super::{ChangeArgs, FormatName, LiveArgs};

/// `fairtree what-if`.
#[derive(Debug, Args)]
#[command(after_long_help = WHAT_IF_EXAMPLES, after_help = WHAT_IF_EXIT_CODES)]
pub struct WhatIfArgs {
    /// The output of sshare with all users, a site in TOML, or a file of `sacctmgr dump`; `-` reads
    /// standard input. Without FILE:
    /// standard input if piped, else the live cluster
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Changes of slurm.conf and of accounting.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Forget the usage of a user, or of an account with all below it; root: of all
    #[arg(long, value_name = "WHO", help_heading = USAGE)]
    pub reset_usage: Vec<String>,
    /// Charge a user so many TRES-hours more: 5000h; also s, m, d for TRES-seconds, -minutes, -days
    #[arg(long, value_name = "USER=AMOUNT", help_heading = USAGE)]
    pub charge: Vec<String>,
    /// Change the QOS of a job that waits; several with commas
    #[arg(long, value_name = "JOB=QOS", help_heading = JOBS)]
    pub qos: Vec<String>,
    /// Change the partition of a job that waits; several with commas
    #[arg(long, value_name = "JOB=PARTITION", help_heading = JOBS)]
    pub partition: Vec<String>,
    /// Change the nice value of a job that waits
    #[arg(long, value_name = "JOB=NUMBER", help_heading = JOBS, allow_hyphen_values = true)]
    pub nice: Vec<String>,
    /// Set the priority of a job that waits, as scontrol does
    #[arg(long, value_name = "JOB=NUMBER", help_heading = JOBS)]
    pub priority: Vec<String>,
    /// Hold a job
    #[arg(long, value_name = "JOB", help_heading = JOBS)]
    pub hold: Vec<String>,
    /// Release a job
    #[arg(long, value_name = "JOB", help_heading = JOBS)]
    pub release: Vec<String>,
    /// Take a job away, whether it waits or runs
    #[arg(long, value_name = "JOB", help_heading = JOBS)]
    pub cancel: Vec<String>,
    /// Then let time pass: 7-0 is seven days, 90 are minutes. Where the machines are known, it is simulated
    /// with and without the changes: jobs run, start and come as in a forecast. Otherwise, or with
    /// --no-starts, running jobs continue up to their time limits, usage decays, jobs age, and none starts
    #[arg(long, value_name = "TIME", help_heading = TIME)]
    pub after: Option<String>,
    /// No job starts while the time passes, and none comes, also where the machines are known
    #[arg(long, help_heading = TIME, requires = "after", conflicts_with_all = ["draws", "seed"])]
    pub no_starts: bool,
    /// Simulations of the time, 20 by default; where each takes long there are fewer, but at least 5
    #[arg(
        long,
        value_name = "NUMBER",
        help_heading = TIME,
        requires = "after",
        value_parser = clap::value_parser!(u16).range(3..=1000)
    )]
    pub draws: Option<u16>,
    /// Seed of the simulations, 1 by default: the same seed gives the same answer
    #[arg(long, value_name = "NUMBER", help_heading = TIME, requires = "after")]
    pub seed: Option<u64>,
    /// Show those that stay, too
    #[arg(short = 'a', long)]
    pub all: bool,
    /// Show at most so many of each kind, those that move farthest; 0: all
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub top: usize,
    /// Print JSON, of the schema fairtree.what-if/1
    #[arg(long)]
    pub json: bool,
    /// Write a page with before and after side by side, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Whose behaviour to follow before: documented, slurm, or slurm:RELEASE as slurm:22.05.8;
    /// otherwise what the site's settings say, or documented
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
}

const USAGE: &str = "Changes of usage";
const JOBS: &str = "Changes of jobs";
const TIME: &str = "Time";

pub(super) const WHAT_IF_ABOUT: &str = "\
Tell who would move up and down if something changed.

The live or captured site before and after the changes: accounts on their level, users in the \
order of all, and jobs in the queue of their partition. Both are computed by the engine that the \
plugin runs. Changes are made in the order of this help, each option in the order given; time \
passes last. Where time passes and the machines are known, jobs that start meanwhile are shown, too.";

const WHAT_IF_EXIT_CODES: &str = "\
Exit codes:
  0  compared
  1  --after was stopped by Ctrl-C before the end: the report says that it is partial, or there is none
  2  the input, the options or the output are at fault; a message says which";

const WHAT_IF_EXAMPLES: &str = "\
Examples:
  fairtree what-if --set PriorityWeightFairshare=50000 --set PriorityDecayHalfLife=14-0
  fairtree what-if --from week --shares physics=40 --charge alice@physics=5000h
  fairtree what-if --from week --slurm-conf new/slurm.conf --html change.html
  fairtree what-if --from week --set PriorityType=priority/fairtree
  fairtree what-if --after 7-0 site.toml
  fairtree what-if --policy old.toml --policy new.toml site.toml
  fairtree what-if --qos 4711=high --nice 4712=100 --json | jq '.jobs[] | select(.move == \"up\")'

Exit codes:
  0  compared
  1  --after was stopped by Ctrl-C before the end: the report says that it is partial, or there is none
  2  the input, the options or the output are at fault; a message says which";
