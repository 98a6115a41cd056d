//! Times up to which use was charged: by passes, and since the last pass by ends of jobs.

use super::charges_since_pass::ChargesSincePass;
use crate::engine::{ChargedByPasses, RunKey};

/// Time up to which each run of a job has been charged.
#[derive(Debug, Default)]
pub(in crate::slurm) struct ChargedUntil {
    passes: ChargedByPasses,
    /// Charges of the job_end hook that are newer than the last pass.
    pub(in crate::slurm) since_pass: ChargesSincePass,
}

impl ChargedUntil {
    /// State after a start. `last_ran`: the last pass, if there was one.
    pub(in crate::slurm) fn new(last_ran: Option<i64>) -> ChargedUntil {
        ChargedUntil {
            passes: ChargedByPasses::new(last_ran),
            since_pass: ChargesSincePass::default(),
        }
    }

    /// Time of the last pass; all usage in slurmctld's records is valued at this time.
    pub(in crate::slurm) fn last_ran(&self) -> Option<i64> {
        self.passes.last_ran()
    }

    /// The last pass that charged a run, or the run's start if none has; `None`: there was no pass.
    pub(in crate::slurm) fn by_passes(&self, run: RunKey, now: i64) -> Option<i64> {
        self.passes.until(run, now)
    }

    /// Returns true if the run was charged after a snapshot, `charges_seen` being the number of
    /// charges before it. Then it was charged to its end (or that of one of its sizes), and the
    /// pass must not charge it again.
    pub(in crate::slurm) fn is_charged_since(&self, charges_seen: u64, run: RunKey) -> bool {
        self.since_pass.is_since(charges_seen, run.0, run.1)
    }

    /// Called when a pass at `now` has written its charges; see [`ChargedByPasses::commit`].
    pub(in crate::slurm) fn commit(&mut self, last_ran: i64, now: i64, runs: Option<Vec<RunKey>>) {
        self.passes.commit(last_ran, now, runs);
        self.since_pass.pass(last_ran.min(now));
    }

    /// Called for a pass at `now` without charges.
    pub(in crate::slurm) fn touch(&mut self, now: i64) {
        self.passes.touch(now);
    }
}
