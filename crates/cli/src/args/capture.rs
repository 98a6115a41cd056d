//! The arguments of `fairtree capture`.

use std::path::PathBuf;

use clap::Args;

use super::EXIT_CODES;

/// `fairtree capture`.
#[derive(Debug, Args)]
#[command(after_long_help = CAPTURE_EXAMPLES, after_help = EXIT_CODES)]
pub struct CaptureArgs {
    /// The folder that captures are added to; it is made if need be
    pub folder: PathBuf,
    /// Put pseudonyms for users, accounts and jobs, and leave out what else tells of people
    #[arg(long)]
    pub anonymise: bool,
    /// Afterwards remove the oldest captures in the folder: all but the newest NUMBER, or those older than DAYS,
    /// as 30d
    #[arg(long, value_name = "NUMBER|DAYSd", value_parser = keep, conflicts_with = "list")]
    pub keep: Option<Keep>,
    /// Do not ask sacct for the jobs of the last 30 days, from which `fairtree forecast` learns; without this
    /// option it is asked once a day
    #[arg(long, conflicts_with = "list")]
    pub no_history: bool,
    /// List the captures in the folder instead of making one
    #[arg(long, conflicts_with = "anonymise")]
    pub list: bool,
    /// Seconds that each command of Slurm may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub time_limit: u64,
}

/// The captures that stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// This many, the newest.
    Newest(usize),
    /// Those of this many days.
    Days(u64),
}

/// Reads `100` or `30d`.
fn keep(text: &str) -> Result<Keep, String> {
    let allowed = "allowed is a number from 1 up, or days as 30d";
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let found = match text.strip_suffix('d') {
        Some(days) => number(days).map(Keep::Days),
        None => number(text)
            .and_then(|count| usize::try_from(count).ok())
            .map(Keep::Newest),
    };
    found.ok_or_else(|| allowed.to_owned())
}

pub(super) const CAPTURE_ABOUT: &str = "\
Keep the answers of Slurm's commands in a folder, to look at them elsewhere.

Runs scontrol, sacctmgr, sprio, sshare and, once a day, sacct, which only read, and adds a folder named for the moment \
to the one given: the answers as they were printed, and a manifest. `fairtree share --from` and \
`fairtree prio --from` read it where there is no Slurm. The table of \
pseudonyms, which --anonymise keeps beside the folder as FOLDER-pseudonyms.json, shows who is who: keep it, and do not pass it on.";

const CAPTURE_EXAMPLES: &str = "\
Examples:
  fairtree capture week                       a capture now
  fairtree capture --anonymise bundle         one to pass on
  fairtree capture --keep 30d week            and remove those older than 30 days
  fairtree capture --list week                what there is
  fairtree share --from week -l               the latest of them
  fairtree prio --from week --check           does the engine agree with slurmctld?

Exit codes:
  0  all is well
  2  a command, the options or the output are at fault; a message says which";
