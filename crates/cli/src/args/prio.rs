//! The arguments of `fairtree prio`.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::{EXIT_CODES, LiveArgs};
use fairtree_model::cluster::JobName;

/// `fairtree prio`.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = PRIO_EXAMPLES,
    after_help = EXIT_CODES
)]
#[allow(clippy::struct_excessive_bools)] // One per flag of sprio.
pub struct PrioArgs {
    /// The output of sprio, or a site in TOML with jobs; `-` reads standard input. Without FILE:
    /// standard input if piped, else the live cluster
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Show only these jobs: 4711, or 4711_3 for a task of an array
    #[arg(short = 'j', long, value_name = "JOBS", value_delimiter = ',', value_parser = job)]
    pub jobs: Vec<JobName>,
    /// Show only jobs of these users, and who they are
    #[arg(
        short = 'u',
        long,
        visible_alias = "users",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub user: Vec<String>,
    /// Show only these partitions
    #[arg(short = 'p', long, value_name = "NAMES", value_delimiter = ',')]
    pub partition: Vec<String>,
    /// Show all factors, weighted or not, the user and the nice value, too
    #[arg(short = 'l', long, conflicts_with = "format")]
    pub long: bool,
    /// Show factors without their weights
    #[arg(short = 'n', long)]
    pub norm: bool,
    /// Show the weights instead of jobs
    #[arg(short = 'w', long, conflicts_with_all = ["json", "check"])]
    pub weights: bool,
    /// Leave out the header
    #[arg(short = 'h', long)]
    pub noheader: bool,
    /// Show these columns, as \"%.15i %9r %.10Y\": % with an optional . (flush right) and width, and
    /// a letter
    #[arg(short = 'o', long, value_name = "FORMAT", allow_hyphen_values = true)]
    pub format: Option<String>,
    /// Sort by these letters of columns, the first counts most; - before a letter: descending
    #[arg(short = 'S', long, value_name = "LETTERS", allow_hyphen_values = true)]
    pub sort: Option<String>,
    /// List the letters for --format
    #[arg(long)]
    pub helpformat: bool,
    /// Print JSON, of the schema fairtree.prio/1
    #[arg(long, conflicts_with_all = ["format", "check"])]
    pub json: bool,
    /// Compare each PRIORITY with what its factors add up to, and of a capture or a live site each
    /// factor with the computed one, and list the differences; exit code 1 if there are any
    #[arg(long)]
    pub check: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

fn job(text: &str) -> Result<JobName, String> {
    text.parse()
        .map_err(|()| "allowed is the number of a job, as 4711, or 4711_3".to_owned())
}

pub(super) const PRIO_ABOUT: &str = "\
Show job priorities and their factors in sprio's columns.

Of a capture, of what Slurm says now, or of a site in TOML with jobs, every factor is computed from jobs, shares, usage and \
settings. The input can also be the output of sprio: any choice of columns with their header, -n, \
-w, several listings in one file. There PRIORITY is added up anew from the factors beside it; \
printed factors are rounded, so a priority that some factors of that print could have stays as it \
is. Columns, widths and number forms are those of sprio 22.05 and 24.11.";

const PRIO_EXAMPLES: &str = "\
Examples:
  sprio -l | fairtree prio -l -S -Y           the queue, first in line first
  sprio -l | fairtree prio --check            does every priority follow from its factors?
  sprio -l | fairtree prio -u alice -o '%.10i %.10Y %.10F %.10A'
  sprio -l | fairtree prio --json | jq '.rows[] | select(.points.qos > 0) | .job_id'
  fairtree prio -l site.toml                  every factor of jobs that a file describes
  fairtree prio -l                            computed from what Slurm says now
  fairtree prio --from week --check           a capture: does the engine agree with slurmctld?

Letters for --format and --sort, capital ones weighted, small ones normalised:
  i job, r partition, c cluster, u user, o account, n QOS, Y priority, S site, N nice,
  A age, B association, F fair share, J job size, P partition, Q QOS, T resources

Exit codes:
  0  all is well
  1  --check found differences
  2  the input, the options or the output are at fault; a message says which";
