//! The arguments of `fairtree compare`.

use std::path::PathBuf;

use clap::Args;

use super::EXIT_CODES;

/// `fairtree compare`.
#[derive(Debug, Args)]
#[command(after_long_help = COMPARE_EXAMPLES, after_help = EXIT_CODES)]
pub struct CompareArgs {
    /// The earlier output of sshare, of sprio, or of both one after the other, or the folder of a capture; `-` reads
    /// standard input
    pub before: PathBuf,
    /// The later one, of the same kind
    pub after: PathBuf,
    /// Print JSON, of the schema fairtree.compare/1
    #[arg(long)]
    pub json: bool,
}

pub(super) const COMPARE_ABOUT: &str = "\
Tell what changed between two outputs of sshare or sprio, or two captures, and why.

Of shares: who passed whom at which level, by which LevelFS; what was charged and what only decayed; \
new shares; why a rank moved, ties that Slurm's own plugin ranks against its documentation included. Of the \
queue: which factors moved which job. What holds both outputs, as a capture does, is compared in both ways.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  fairtree compare monday.sshare tuesday.sshare
  sprio -l | fairtree compare earlier.sprio -
  (sshare -a -l -P; sprio -l) | fairtree compare before -
  fairtree compare week/20261121T103630Z week/20261121T104015Z
  fairtree compare --json monday.sshare tuesday.sshare | jq -r '.changes[].about'

Exit codes:
  0  nothing changed
  1  something did
  2  the input, the options or the output are at fault; a message says which";
