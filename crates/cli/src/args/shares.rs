//! The arguments of `fairtree shares`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatName, LiveArgs};

/// `fairtree shares`.
#[derive(Debug, Args)]
#[command(after_long_help = SHARES_EXAMPLES, after_help = SHARES_EXIT_CODES)]
pub struct SharesArgs {
    /// The output of sshare with all users, a site in TOML, also one of `fairtree queue`, or a file of
    /// `sacctmgr dump`; `-` reads standard input; nothing reads what is piped in, or else asks Slurm
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Show the children of this account; by default those of root
    #[arg(long, value_name = "ACCOUNT")]
    pub below: Option<String>,
    /// Show the effect of these shares, and the commands that give them: a_group2=2, alice@lab=parent
    #[arg(long, value_name = "WHO=SHARES")]
    pub shares: Vec<String>,
    /// Show the effect of these minutes of accounts, and the commands that give them: lab=400
    #[arg(long, value_name = "ACCOUNT=MINUTES")]
    pub minutes: Vec<String>,
    /// Follow this policy file instead of the site's policy; minutes are changed in this file
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Print JSON, of the schema fairtree.shares/1
    #[arg(long)]
    pub json: bool,
    /// Print a page with a field for each number: percentages and commands follow as one types
    #[arg(long, conflicts_with = "json")]
    pub html: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say, or documented
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
}

pub(super) const SHARES_ABOUT: &str = "\
Show one level of shares: who is due what, who used what; and what to run to change it.

For each child of an account: its shares or minutes, its part of the level and of the whole, the \
time that it is entitled to (minutes, or its part of what the machines give in the window; where \
that is not known, its part of what was used), its use, the ratio of both, its place, and its score \
in words. With --shares and --minutes the level before and after, who moves up and down by most, and \
the commands that make the change. Nothing is changed. What the site would refuse is refused: minutes \
beyond those of the account above, `parent` for an account with minutes, accounts that are not below \
--below.";

const SHARES_EXIT_CODES: &str = "\
Exit codes:
  0  shown
  2  the input, the options or the output are at fault, or the site would refuse the change; a \
message says which";

const SHARES_EXAMPLES: &str = "\
Examples:
  fairtree shares                                    the accounts below root, from Slurm
  fairtree shares --below hub_a examples/hubs.toml   the groups of a hub
  fairtree shares --below hub_a --shares a_group2=2 examples/hubs.toml
  fairtree shares examples/cloud.toml                a site of fairtree queue
  sshare -a -l -P | fairtree shares --below physics
  fairtree shares --json --from week | jq '.level.rows[] | .name, .used_ratio'
  fairtree shares --html --below hub_a examples/hubs.toml > hub_a.html

Exit codes:
  0  shown
  2  the input, the options or the output are at fault, or the site would refuse the change; a \
message says which";
