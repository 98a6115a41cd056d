//! Where runs come from: a file, or `sacct` slice by slice.

use std::path::Path;
use std::time::Duration;

use crate::Failure;
use crate::input::open_stream;
use crate::message::Messages;
use crate::progress::Waiting;
use fairtree_analysis::ledger::Filler;
use fairtree_model::input::sacct::{Accounted, Clusters, Slices, ask, read_accounted};
use fairtree_model::input::{Format, LeftOut};

/// The runs of a file.
pub(super) struct RecordFile {
    /// The runs.
    pub runs: Vec<Accounted>,
    /// The last moment that any of the records covers, seconds since 1970.
    pub known_until: i64,
}

/// Reads a file, or standard input for `-`.
pub(super) fn read(path: &Path, messages: &Messages) -> Result<RecordFile, Failure> {
    let opened = open_stream(Some(path), Some(Format::Sacct))?;
    let found = read_accounted(&opened.name, opened.input)?;
    tell(&found.left, messages);
    let known = found.runs.iter().map(Accounted::known_until).max();
    Ok(RecordFile {
        known_until: known.unwrap_or(0),
        runs: found.runs,
    })
}

fn tell(left: &LeftOut, messages: &Messages) {
    left.notes().iter().for_each(|note| messages.note(note));
}

/// Asks `sacct` for `[from, to)` and hands all to the filler; `is_gap`: what ended in it alone.
pub(super) fn walk(
    clusters: Clusters<'_>,
    (from, to): (i64, i64),
    is_gap: bool,
    limit: Duration,
    filler: &mut Filler<'_>,
    messages: &Messages,
) -> Result<(), Failure> {
    let _waiting = Waiting::new("asking the accounting database");
    let gap = (from, to);
    let mut slices = Slices::new(from, to);
    while let Some((from, to)) = slices.next() {
        let found = ask(clusters, from, to, limit)?;
        tell(&found.left, messages);
        slices.had(found.runs.len());
        let is_first = from == gap.0;
        match is_gap {
            true => filler.take_gap(found.runs, gap, from, to, is_first),
            false => filler.take(found.runs, from, to, is_first),
        }
    }
    Ok(())
}

/// The names of the clusters of runs, ascending.
pub(super) fn clusters(runs: &[Accounted]) -> Vec<String> {
    let mut names: Vec<String> = runs.iter().map(|run| run.cluster.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
