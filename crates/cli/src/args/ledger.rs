//! The arguments of `fairtree ledger`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `fairtree ledger`.
#[derive(Debug, Args)]
#[command(
    subcommand_value_name = "ACTION",
    subcommand_help_heading = "Actions",
    disable_help_subcommand = true,
    after_long_help = LEDGER_EXAMPLES,
    after_help = LEDGER_EXIT_CODES
)]
pub struct LedgerArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: LedgerAction,
}

/// What to do with ledger files.
#[derive(Debug, Subcommand)]
pub enum LedgerAction {
    /// Fill in what the plugin has not seen: the time before its first pass, and when it was off
    #[command(after_help = LEDGER_EXIT_CODES, after_long_help = FILL_EXAMPLES)]
    Fill(FillArgs),
    /// Write what the other clusters have used that share the accounting database
    #[command(after_help = LEDGER_EXIT_CODES, after_long_help = SYNC_EXAMPLES)]
    Sync(FillArgs),
    /// Tell which times are covered by whom, and how old each source is
    #[command(after_help = LEDGER_EXIT_CODES, after_long_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Verify the files, and compare their sums with sacct
    #[command(after_help = LEDGER_EXIT_CODES, after_long_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
}

/// Where the files are, and by which rules they are written.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The folder of the ledger files; otherwise StateSaveLocation of slurmctld
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// This cluster; otherwise ClusterName of slurmctld
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// A policy file; otherwise what PriorityParameters of slurmctld says
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Seconds that each command of Slurm may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 300,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub time_limit: u64,
}

/// `fairtree ledger fill` and `fairtree ledger sync`.
#[derive(Debug, Args)]
pub struct FillArgs {
    /// Where the files are.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Read this output of sacct instead of asking it; - reads standard input
    #[arg(long, value_name = "FILE", requires = "since")]
    pub from: Option<PathBuf>,
    /// Only use from this moment on, for --from the one that sacct -S was told; otherwise what
    /// the policy's window and dates need. Without offset it is UTC
    #[arg(short = 'S', long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only use before this moment; otherwise now, for --from the last moment that the file tells
    /// of
    #[arg(short = 'E', long, value_name = "TIME")]
    pub until: Option<String>,
}

/// `fairtree ledger show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Where the files are.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// As of this moment instead of now; without offset it is UTC
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Print JSON, of the schema fairtree.ledger/1
    #[arg(long)]
    pub json: bool,
}

/// `fairtree ledger check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Where the files are.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Compare sums with this output of sacct instead of asking it; - reads standard input
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Look at the files alone, and ask nobody for sums
    #[arg(long, conflicts_with = "from")]
    pub files: bool,
    /// How much sums may differ, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub tolerance: u8,
    /// As of this moment instead of now; without offset it is UTC
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// Print JSON, of the schema fairtree.ledger/1
    #[arg(long)]
    pub json: bool,
}

pub(super) const LEDGER_ABOUT: &str = "\
Fill ledgers of past use from the accounting database, and tell which times they cover.

With usage=window or usage=total the plugin writes a ledger of what it has seen itself. Beside it \
`fill` writes what it has not seen, and `sync` what other clusters have used, as sacct tells it; \
the plugin takes new files at its next pass. Both may be run again at any time, and nothing counts \
twice. `show` and `check` print JSON of the schema fairtree.ledger/1; docs/ledger.md describes it.";

const LEDGER_EXIT_CODES: &str = "\
Exit codes:
  0  written, or all is well
  1  `check` found something
  2  the input, the options or the output are at fault, or Slurm does not answer; a message says
     which, and files are as before";

const LEDGER_EXAMPLES: &str = "\
Examples:
  fairtree ledger show --dir ledgers --now 2024-11-21T12:00:00
  fairtree ledger show --dir ledgers --json | jq '.times[] | select(.by == null)'
  fairtree ledger fill --dir ledgers --cluster fairtree --since 2024-11-20 --from accounting.txt
  fairtree ledger sync --dir ledgers --cluster fairtree --since 2024-11-20 --from accounting.txt
  fairtree ledger check --dir ledgers --from accounting.txt

Exit codes:
  0  written, or all is well
  1  `check` found something
  2  the input, the options or the output are at fault, or Slurm does not answer; a message says
     which, and files are as before";

const FILL_EXAMPLES: &str = "\
Examples:
  fairtree ledger fill
  fairtree ledger fill --policy /etc/slurm/fairtree.toml
  fairtree ledger fill --dir ledgers --cluster hpc --since 2024-11-20 --from sacct.txt

Exit codes:
  0  written, or all is well
  1  `check` found something
  2  the input, the options or the output are at fault, or Slurm does not answer; a message says
     which, and files are as before";

const SYNC_EXAMPLES: &str = "\
Examples:
  fairtree ledger sync
  fairtree ledger sync --dir ledgers --cluster hpc --since 2024-11-20 --from sacct.txt

Exit codes:
  0  written, or all is well
  1  `check` found something
  2  the input, the options or the output are at fault, or Slurm does not answer; a message says
     which, and files are as before";

const SHOW_EXAMPLES: &str = "\
Examples:
  fairtree ledger show
  fairtree ledger show --json | jq '.times[] | select(.by == null)'

Exit codes:
  0  written, or all is well
  1  `check` found something
  2  the input, the options or the output are at fault, or Slurm does not answer; a message says
     which, and files are as before";

const CHECK_EXAMPLES: &str = "\
Examples:
  fairtree ledger check
  fairtree ledger check --files
  fairtree ledger check --dir ledgers --from sacct.txt

Exit codes:
  0  written, or all is well
  1  `check` found something
  2  the input, the options or the output are at fault, or Slurm does not answer; a message says
     which, and files are as before";
