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
    /// List the captures in the folder instead of making one
    #[arg(long, conflicts_with = "anonymise")]
    pub list: bool,
    /// Seconds that each command of Slurm may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub time_limit: u64,
}

pub(super) const CAPTURE_ABOUT: &str = "\
Keep the answers of Slurm's commands in a folder, to look at them elsewhere.

Runs scontrol, sacctmgr, sprio and sshare, which only read, and adds a folder named for the moment \
to the one given: the answers as they were printed, and a manifest. `fairtree share --from` and \
`fairtree prio --from` read it where there is no Slurm. The file pseudonyms.json, which \
--anonymise leaves beside the captures, tells who is who: keep it, and do not pass it on.";

const CAPTURE_EXAMPLES: &str = "\
Examples:
  fairtree capture week                       a capture now
  fairtree capture --anonymise bundle         one to pass on
  fairtree capture --list week                what there is
  fairtree share --from week -l               the latest of them
  fairtree prio --from week --check           does the engine agree with slurmctld?

Exit codes:
  0  all is well
  2  a command, the options or the output are at fault; a message says which";
