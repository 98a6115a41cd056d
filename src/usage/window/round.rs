//! Rounds of a host that reports all runs that continue again and again: the runs that a round has
//! not met are those that the host does not report any more.

use super::{LedgerRun, WindowLedger};

impl WindowLedger {
    /// Begins a round, in which no run is met yet. A run that is met or charged outside a round counts for the last one.
    pub fn begin_round(&mut self) {
        self.runs.begin_round();
    }

    /// Meets a run; returns for how many seconds it was charged, all in all, and up to when, seconds
    /// since 1970. `None` if it is not known.
    pub fn meet(&mut self, run: LedgerRun) -> Option<(i64, i64)> {
        let run = self.runs.meet(&run)?;
        Some((run.charged_secs(), run.last.to))
    }

    /// The runs that the last round has neither met nor charged for the first time.
    pub fn unmet_runs(&self) -> impl Iterator<Item = LedgerRun> {
        self.runs.unmet().copied()
    }
}
