//! The arguments of `fairtree explain`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatName, LiveArgs};

/// `fairtree explain`.
#[derive(Debug, Args)]
#[command(after_long_help = EXPLAIN_EXAMPLES, after_help = EXPLAIN_EXIT_CODES)]
pub struct ExplainArgs {
    /// A job by its number (4711, or 4711_3 for a task of an array), or a user: USER,
    /// USER@ACCOUNT, or USER@ACCOUNT:PARTITION where associations have partitions; or an account,
    /// which is shown beside its siblings
    pub who: String,
    /// The output of sshare with all users, for jobs that of sprio, a site in TOML, or a file of
    /// `sacctmgr dump`; `-` reads standard input. Without FILE:
    /// standard input if piped, else the live cluster
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// The job or the user to compare with; without it a job is explained by itself, and a user is
    /// compared with whoever comes right before
    #[arg(long, value_name = "WHO")]
    pub versus: Option<String>,
    /// Forecast now when the job will start, as `fairtree forecast` does; without this option the forecast is
    /// that of the newest capture with past jobs
    #[arg(long, conflicts_with_all = ["versus", "json"])]
    pub forecast: bool,
    /// Follow this policy file instead of the site's policy
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print JSON, of the schema fairtree.explain/1
    #[arg(long)]
    pub json: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say, or documented
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
}

pub(super) const EXPLAIN_ABOUT: &str = "\
Show why a job waits, its place and its priority, why one job or user comes before another, and what would help.

First the reason to wait in words, the place, and who is ahead by account; at the end the likely start. Then each term as factor x weight = points, and the numbers that the factor is made of. Then what would help: what its user can do, and what only others can do.

\
 Of two jobs the \
terms side by side, and which of them decide. Of two users the ways from the root to both, the \
first level where they part, and what was due and used there. Then what would put the one behind \
ahead: less usage, more shares, waiting, a lower nice value. Each amount was tried: with it the \
order changes, with one unit less it does not.

Jobs are known of a live site, of a capture, and of a site in TOML that describes them; of the \
output of sprio their points alone.";

const EXPLAIN_EXIT_CODES: &str = "\
Exit codes:
  0  explained
  2  the input, the options or the output are at fault; a message says which";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  fairtree explain 4711                             why it waits, and why this priority
  fairtree explain 4711 --forecast                  and when it will start
  fairtree explain 4711 --versus 4712               why is my job behind that one
  fairtree explain 4711 --versus 4712 --from week   the same in a capture
  fairtree explain 4711 site.toml                   a job that a file describes
  sprio -l | fairtree explain 4711 --versus 4712    which points decide
  fairtree explain alice                            who comes right before, and why
  sshare -a -l -P | fairtree explain alice --versus bob
  fairtree explain alice@physics --versus bob@chemistry site.toml
  fairtree explain alice --versus bob --json site.toml | jq .answer.remedies

Exit codes:
  0  explained
  2  the input, the options or the output are at fault; a message says which";
