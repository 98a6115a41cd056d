//! The arguments of `fairtree bill`.

use std::path::PathBuf;

use clap::Args;

/// `fairtree bill`.
#[derive(Debug, Args)]
#[command(after_long_help = BILL_EXAMPLES, after_help = BILL_EXIT_CODES)]
pub struct BillArgs {
    /// The output of sacct -D -P; `-`, or nothing, reads standard input
    pub file: Option<PathBuf>,
    /// Prices in TOML
    #[arg(short = 'p', long, value_name = "FILE")]
    pub prices: PathBuf,
    /// Which ends are billed, as COMPLETED,TIMEOUT,FAILED:12, instead of what the prices say
    #[arg(long, value_name = "ENDS")]
    pub counts: Option<String>,
    /// Only runs that ended from this moment on; without offset it is UTC
    #[arg(short = 'S', long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only runs that ended before this moment
    #[arg(short = 'E', long, value_name = "TIME")]
    pub until: Option<String>,
    /// The columns of a listing of sacct without header
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Only the jobs of this cluster
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Print JSON, of the schema fairtree.bill/1
    #[arg(long)]
    pub json: bool,
}

pub(super) const BILL_ABOUT: &str = "\
Add up what is to be paid for the runs that sacct lists.

Each record of sacct -D is a run: it is billed by its elapsed seconds, and by its billing TRES times \
those, at the prices of its partition, when it ended. Where the site keeps executed_us=N in \
AdminComment, it is billed by the microseconds of its execution. A record that cannot be (twice the same, \
an unknown state, an end before the start, a time longer than the run) is not billed, but listed. Runs that ended PREEMPTED, REQUEUED, NODE_FAIL \
or BOOT_FAIL are left out, unless the prices or --counts say which ends are billed. Time in the queue \
and, by seconds, runs of less than one cost nothing. docs/bill.md describes prices and JSON.";

const BILL_EXIT_CODES: &str = "\
Exit codes:
  0  added up
  1  runs whose records cannot be were left out, and listed
  2  the input, the options or the output are at fault; a message says which";

const BILL_EXAMPLES: &str = "\
Examples:
  sacct -aDXP -S 2026-11-01 -o JobID,User,Account,Partition,State,Start,Elapsed,AllocTRES \\
    | fairtree bill -p examples/prices.toml
  fairtree bill -p examples/prices.toml --since 2026-11-21 --until 2026-11-22 sacct.txt
  fairtree bill -p examples/prices.toml --counts COMPLETED,TIMEOUT sacct.txt
  fairtree bill -p examples/prices.toml --json sacct.txt | jq '.total'

Exit codes:
  0  added up
  1  runs whose records cannot be were left out, and listed
  2  the input, the options or the output are at fault; a message says which";
