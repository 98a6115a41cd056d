//! Rounds of a host that tells again and again of all runs that go on.
//!
//! The first charge of a run and any change go through [`WindowLedger::charge`]. Of most runs nothing is
//! new but the time since the last round, and [`WindowLedger::go_on`] charges that, for which it looks the
//! run up once. The runs that a round has not met are those that the host does not tell of any more.
//! With four look-ups for each charge, and two more to find those that are gone, a pass with a window takes
//! 5 % more CPU time with 100,000 waiting and 10,000 running jobs and 50,000 users (`time_pass` of the bench
//! host, alternating processes).

use super::history::hold;
use super::{Rate, RunId, WindowError, WindowLedger};
use crate::tree::{AssocIndex, Tree};

impl WindowLedger {
    /// Begins a round, in which no run is met yet. What is met or charged in no round counts for the last one.
    pub fn begin_round(&mut self) {
        self.runs.begin_round();
    }

    /// Meets a run; tells for how many seconds it was charged, all in all, and up to when, seconds since
    /// 1970. `None` if it is not known.
    pub fn meet(&mut self, run: RunId) -> Option<(i64, i64)> {
        let run = self.runs.meet(&run)?;
        Some((run.charged_secs(), run.last.to))
    }

    /// The runs that the last round has neither met nor charged for the first time.
    pub fn unmet_runs(&self) -> impl Iterator<Item = RunId> {
        self.runs.unmet().copied()
    }

    /// Charges a run that is only known to have run on: the time since its last charge.
    ///
    /// * `ran_secs`: for how many seconds it has run, all in all, without those in which it was suspended;
    ///   if it was charged as many, nothing is charged.
    /// * `not_before`: no time before this moment is to be charged, seconds since 1970; `i64::MIN`: all that
    ///   was not charged yet.
    /// * `until`: up to when it has run, seconds since 1970.
    /// * `rate`: what it uses per second.
    ///
    /// Tells from which moment on it was charged, `until` if it was not. `None`, and nothing is charged, where there is
    /// something else to decide: it is not known, was charged to another association or at another rate, has not
    /// run all the time since its last charge, or not all of that time is to be charged. The round has met it,
    /// unless it is not known.
    ///
    /// # Errors
    /// As [`WindowLedger::charge`], but for those about runs.
    pub fn go_on(
        &mut self,
        tree: &Tree,
        index: AssocIndex,
        id: RunId,
        (ran_secs, not_before, until): (i64, i64, i64),
        rate: &Rate,
    ) -> Option<Result<i64, WindowError>> {
        let run = self.runs.meet(&id)?;
        let (slot, from, due) = (run.leaf, run.last.to, ran_secs - run.charged_secs());
        if self.slot_of.get(index.get()) != Some(&slot) {
            return None;
        }
        if due <= 0 || until <= from {
            return Some(Ok(until));
        }
        if from < not_before || until - due > from || run.last.rate != *rate {
            return None;
        }
        if let Err(error) = self.check_charge(tree, index, (from, until), rate, Some(id)) {
            return Some(Err(error));
        }
        let run = self.runs.meet(&id).expect("it is there");
        run.last.to = until;
        hold(&mut self.held, rate, until - from, true);
        self.change(tree, slot, (from, until), rate, true);
        Some(Ok(from))
    }
}
