//! `fairtree simulate`.

mod against;
mod interrupt;
mod log;
mod mode;
mod on_site;
mod policy;
mod pool;
mod recorded;

use std::io::{self, Write};
use std::path::Path;

use super::args::{ByName, SimulateArgs};
use super::message::Messages;
use super::{Failure, Outcome, terminal};
use fairtree_analysis::simulate::By;
use fairtree_model::input::recorded::Recorded;
use fairtree_model::output::{SHARED, replace_by};
use fairtree_render::simulate::Shown;
use fairtree_sim::slurm::site::Unpriced;
use mode::Mode;

pub(super) use interrupt::{Flag, Interrupt};
pub(super) use log::{Log, read_log};
pub(super) use mode::refuse_first;
pub(super) use policy::Policies;

/// The first seed where none is named.
const SEED: u64 = 1;

/// Fair starts on a pool where no number is named.
const FAIR_STARTS: usize = 4000;

/// Rows of a table where no number is named.
const TOP: usize = 10;

/// Reads a log, replays it, shows; or checks a recorded run.
pub(super) fn run(args: &SimulateArgs, messages: &Messages) -> Result<Outcome, Failure> {
    match Mode::of(args)? {
        Mode::Pool(kind) => pool::run(args, kind, messages),
        mode @ (Mode::PoolOnSite(_) | Mode::Slurm | Mode::Why) => {
            on_site::run(args, mode, messages)
        }
        Mode::Against(rules) => against::run(args, rules, messages),
        Mode::Check => recorded::check(args),
        Mode::Free => recorded::free(args),
    }
}

/// Which tables are shown.
fn shown(args: &SimulateArgs) -> Shown {
    Shown {
        by: match &args.by[..] {
            [] => vec![By::Account, By::Size],
            by => by.iter().copied().map(ByName::into).collect(),
        },
        top: args.top.unwrap_or(TOP),
        width: terminal::table_width(),
    }
}

/// Sentences about missing records, assumptions and what is not modelled.
fn assumptions(recorded: &Recorded, more: &[String]) -> Vec<String> {
    let mut notes = recorded.assumptions.clone();
    let not_modelled = recorded.machine.not_modelled.iter();
    notes.extend(not_modelled.map(|what| format!("{what} is not modelled")));
    notes.extend_from_slice(more);
    notes
}

/// A log without a job that can be replayed, and why, a sentence for each reason.
fn no_job(name: &str, reasons: &[String]) -> Failure {
    let mut lines = vec![format!("{name}: has no job that can be replayed")];
    lines.extend_from_slice(reasons);
    Failure::Usage(lines.join("\n"))
}

/// Settings of a site that cannot be priced.
fn refused(name: &str, error: &Unpriced) -> Failure {
    Failure::Usage(format!("{name}: {}", error.0))
}

/// Puts what `write` writes in place of a file.
fn put(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let written = replace_by(path, SHARED, write);
    written.map_err(|error| Failure::File(path.display().to_string(), error))
}
