//! Rounds of a host that tells again and again of all runs that go on, without those that the
//! [clock](super::clock) charges: the runs that a round has not met are those that the host does not tell of
//! any more.

use super::{RunId, WindowLedger};
use crate::tree::Tree;

impl WindowLedger {
    /// Begins a round, in which no run is met yet. What is met or charged in no round counts for the last one.
    pub fn begin_round(&mut self) {
        self.runs.begin_round();
    }

    /// Meets a run, which the clock charges no more; tells for how many seconds it was charged, all in all, and up to when, seconds since
    /// 1970. `None` if it is not known.
    pub fn meet(&mut self, tree: &Tree, run: RunId) -> Option<(i64, i64)> {
        self.clock_out(tree, run);
        let run = self.runs.meet(&run)?;
        Some((run.charged_secs(), run.last.to))
    }

    /// The runs that the last round has neither met nor charged for the first time.
    pub fn unmet_runs(&self) -> impl Iterator<Item = RunId> {
        self.runs.unmet().copied()
    }
}
