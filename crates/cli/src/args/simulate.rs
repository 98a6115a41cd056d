//! The arguments of `fairtree simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::ChangeArgs;
use fairtree_analysis::simulate::By;
use fairtree_sim::scheduler::Kind;

/// The most processors of a simulated machine.
pub(super) const MOST_PROCESSORS: i64 = 1 << 30;

/// `fairtree simulate`.
#[derive(Debug, Args)]
#[command(after_long_help = SIMULATE_EXAMPLES, after_help = SIMULATE_EXIT_CODES)]
pub struct SimulateArgs {
    /// A log of jobs: the output of sacct -X -P, or Standard Workload Format, in gzip or not; `-`,
    /// or nothing, reads standard input
    pub file: Option<PathBuf>,
    /// The rules by which jobs start, easy by default
    #[arg(long, value_name = "NAME", value_enum)]
    pub scheduler: Option<SchedulerName>,
    /// Processors of the machine, a single pool
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(1..=MOST_PROCESSORS)
    )]
    pub procs: Option<u32>,
    /// Check Slurm's rules against a recorded run, one step ahead: a folder with slurm.conf, sacct.txt,
    /// slurmctld.log and the like
    #[arg(long, value_name = "FOLDER")]
    pub check: Option<PathBuf>,
    /// Run the jobs of a recorded run on their own under Slurm's rules, beside their real waits
    #[arg(long, value_name = "FOLDER")]
    pub free: Option<PathBuf>,
    /// Runs of --free, 30 by default, and of --against --scheduler slurm, 10, that differ in the phases of
    /// Slurm's loops
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub phases: Option<u32>,
    /// The seed of the first phase, 1 by default; each other one is the next number
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// With --scheduler slurm: a folder with slurm.conf and sacctmgr.script, a slurm.conf alone, or a site in
    /// TOML that lists its nodes
    #[arg(long, value_name = "FOLDER|FILE")]
    pub site: Option<PathBuf>,
    /// Compare the site as it is with the site after the changes, over the same log; with
    /// --scheduler slurm in --phases phases
    #[arg(long)]
    pub against: bool,
    /// Changes of slurm.conf and of accounting; with --site.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Give a partition this many nodes: more like its last one, or fewer
    #[arg(
        long,
        value_name = "PARTITION=NUMBER",
        help_heading = "Changes of the machine"
    )]
    pub nodes: Vec<String>,
    /// Show what this job waited for, and when; with --site
    #[arg(long, value_name = "JOB")]
    pub why: Option<u32>,
    /// Write the schedule to this file in the Standard Workload Format: column 3 is the simulated wait
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,
    /// Write a line of CSV for each job to this file
    #[arg(long, value_name = "FILE")]
    pub jobs: Option<PathBuf>,
    /// Show tables by these, in this order; account,size by default
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub by: Vec<ByName>,
    /// Rows of a table, those that used most, or differences of a check, 10 by default; 0 shows all
    #[arg(long, value_name = "ROWS")]
    pub top: Option<usize>,
    /// Compute the fair start of at most this many jobs that waited, evenly spread over the log, 4000
    /// by default
    #[arg(long, value_name = "JOBS")]
    pub fair_starts: Option<usize>,
    /// The columns of a listing of sacct without header
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Only the jobs of this cluster
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Print a line of CSV for each difference; with --against
    #[arg(long)]
    pub csv: bool,
    /// Print JSON, of the schema fairtree.simulate/1; with --check of fairtree.check/1, with --free of
    /// fairtree.free/1, with --against of fairtree.against/1
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
}

/// A scheduler of a pool of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PoolName {
    /// EASY backfilling: later jobs start early where they do not delay the first one.
    Easy,
    /// First come, first served.
    Fcfs,
    /// Conservative backfilling: later jobs start early where they delay no plan.
    Conservative,
}

impl From<PoolName> for Kind {
    fn from(name: PoolName) -> Kind {
        match name {
            PoolName::Easy => Kind::Easy,
            PoolName::Fcfs => Kind::Fcfs,
            PoolName::Conservative => Kind::Conservative,
        }
    }
}

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchedulerName {
    /// EASY backfilling: later jobs start early where they do not delay the first one.
    Easy,
    /// First come, first served.
    Fcfs,
    /// Conservative backfilling: later jobs start early where they delay no plan.
    Conservative,
    /// Slurm's main and backfill scheduler, on nodes, in the order of priorities; with --site.
    Slurm,
}

impl SchedulerName {
    /// The scheduler of a pool; `None` for the one that needs nodes.
    pub fn of_pool(self) -> Option<Kind> {
        match self {
            SchedulerName::Easy => Some(Kind::Easy),
            SchedulerName::Fcfs => Some(Kind::Fcfs),
            SchedulerName::Conservative => Some(Kind::Conservative),
            SchedulerName::Slurm => None,
        }
    }
}

/// What a table is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ByName {
    /// Account, or the group of the Standard Workload Format.
    Account,
    /// User.
    User,
    /// Partition.
    Partition,
    /// QOS, or the queue of the Standard Workload Format.
    Qos,
    /// Processors.
    Size,
}

impl From<ByName> for By {
    fn from(name: ByName) -> By {
        match name {
            ByName::Account => By::Account,
            ByName::User => By::User,
            ByName::Partition => By::Partition,
            ByName::Qos => By::Qos,
            ByName::Size => By::Size,
        }
    }
}

pub(super) const SIMULATE_ABOUT: &str = "\
Replay a log of jobs on a simulated machine.

Each job is submitted when the log says, asks for the processors and the time that it asked for, and \
runs as long as it ran; when it starts is up to the scheduler. Jobs wait in order of submission. The \
report has waits, slowdown and use by account, user, partition, QOS and size, the core-hours that each \
account was entitled to and asked for and did not get, and the part of the jobs that later jobs \
delayed. --scheduler slurm --site FOLDER replays it under Slurm's own rules on the nodes of a site; --check \
FOLDER and --free FOLDER compare these rules with a recorded run. docs/simulate.md says what is not modelled, how far to trust it, and describes the JSON.";

const SIMULATE_EXIT_CODES: &str = "\
Exit codes:
  0  replayed to the end
  1  stopped by Ctrl-C before the end: the report says that it is partial
  2  the input, the options or the output are at fault; a message says which";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  fairtree simulate examples/week.swf --procs 64
  fairtree simulate examples/week.swf --procs 64 --scheduler conservative --by user --top 5
  fairtree simulate examples/week.swf --procs 64 --schedule easy.swf --jobs easy.csv
  fairtree simulate examples/week.swf --procs 64 --json | jq '.mean_wait_seconds'
  fairtree simulate examples/day.sacct --procs 64            the output of sacct -a -X -P
  fairtree simulate examples/day.sacct --site examples/cluster --against --shares biology=80

Exit codes:
  0  replayed to the end
  1  stopped by Ctrl-C before the end: the report says that it is partial
  2  the input, the options or the output are at fault; a message says which";
