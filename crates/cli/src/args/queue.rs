//! The arguments of `fairtree queue`.

use std::path::PathBuf;

use clap::Args;

/// `fairtree queue`.
#[derive(Debug, Args)]
#[command(after_long_help = QUEUE_EXAMPLES, after_help = QUEUE_EXIT_CODES)]
pub struct QueueArgs {
    /// A site in TOML: accounts, machines, policy; `-` reads standard input
    pub file: PathBuf,
    /// What happens, in lines of JSON; `-`, or nothing, reads standard input, and answers each line
    /// before the next one is there
    #[arg(short = 'E', long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Tell at the end in which order the waiting jobs of each machine stand
    #[arg(long)]
    pub positions: bool,
    /// Tell at the end when the waiting jobs of each machine will start
    #[arg(long)]
    pub estimate: bool,
    /// Tell at the end what each account owes (policy = "on_demand")
    #[arg(long)]
    pub bill: bool,
    /// Print lines of JSON, of the schema fairtree.queue/1; so it is where the output is no terminal
    #[arg(long, conflicts_with = "table")]
    pub json: bool,
    /// Print a table; so it is on a terminal
    #[arg(long)]
    pub table: bool,
}

pub(super) const QUEUE_ABOUT: &str = "\
Simulate a queue: which job does each machine run next?

A file says who shares which machines, and by which policy: least used first, over a window or a \
total, or on demand with reservations, limits and prices. Events come as lines of JSON: jobs are \
submitted, start and end, machines ask, time passes. Each is answered at once: with the decision, \
places in the queue, estimated starts, bills. docs/queue.md describes both formats.";

const QUEUE_EXIT_CODES: &str = "\
Exit codes:
  0  all events are answered
  2  the input, the options or the output are at fault; a message says which";

const QUEUE_EXAMPLES: &str = "\
Examples:
  fairtree queue examples/cloud.toml --events examples/cloud.jsonl --table
  fairtree queue examples/cloud.toml --events examples/cloud.jsonl --positions --estimate
  fairtree queue examples/on_demand.toml --events examples/on_demand.jsonl --bill --table
  fairtree queue examples/cloud.toml < examples/cloud.jsonl | jq 'select(.event == \"next\").job'

Exit codes:
  0  all events are answered
  2  the input, the options or the output are at fault; a message says which";
