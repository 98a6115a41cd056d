//! Charges by hooks since the last pass; can be queried by (job, start).
//!
//! A pass asks if a run was charged after its snapshot; a charge asks up to when the run was
//! charged before. Both are look-ups in a tree, because thousands of jobs may end between two
//! passes, and the answers are needed under locks.

use std::collections::BTreeMap;

use crate::engine::RunKey;

#[derive(Clone, Copy, Debug)]
struct Charged {
    until: i64,
    /// Number of charges before this one.
    serial: u64,
    /// True if the run is over: slurmctld's record of the job says that it is charged.
    over: bool,
    /// Time up to which the run was charged in the last snapshot.
    at_snapshot: Option<i64>,
}

/// Charges newer than the last pass, the last one of each run.
#[derive(Debug, Default)]
pub(in crate::slurm) struct ChargesSincePass {
    runs: BTreeMap<RunKey, Charged>,
    charges: u64,
}

impl ChargesSincePass {
    /// Records a charge up to `until`; `over`: true for the end of the run, false for that of one
    /// of its sizes.
    pub(in crate::slurm) fn note(&mut self, job_id: u32, start_time: i64, until: i64, over: bool) {
        let serial = self.charges;
        self.charges += 1;
        let known = self.runs.get(&(job_id, start_time));
        let charged = Charged {
            until,
            serial,
            over,
            at_snapshot: known.and_then(|known| known.at_snapshot),
        };
        self.runs.insert((job_id, start_time), charged);
    }

    /// Number of charges so far. The locks under which a snapshot is taken prevent concurrent
    /// charges, so this number separates charges in the snapshot from later ones. Ends of runs in
    /// the snapshot are forgotten: the job's own record says that they are charged.
    pub(in crate::slurm) fn snapshot(&mut self) -> u64 {
        self.runs.retain(|_, charged| {
            charged.at_snapshot = Some(charged.until);
            !charged.over
        });
        self.charges
    }

    /// Returns true if the run was charged after the first `snapshot` charges.
    pub(in crate::slurm) fn is_since(&self, snapshot: u64, job_id: u32, start_time: i64) -> bool {
        let charged = self.runs.get(&(job_id, start_time));
        charged.is_some_and(|charged| charged.serial >= snapshot)
    }

    /// Time up to which the run was charged.
    pub(in crate::slurm) fn until(&self, job_id: u32, start_time: i64) -> Option<i64> {
        let charged = self.runs.get(&(job_id, start_time));
        charged.map(|charged| charged.until)
    }

    /// Time up to which the run was charged in the last snapshot, without later charges: a
    /// computation from the snapshot's usage must not rely on charges that are not in it.
    pub(in crate::slurm) fn until_at_snapshot(&self, job_id: u32, start_time: i64) -> Option<i64> {
        self.runs.get(&(job_id, start_time))?.at_snapshot
    }

    /// Forgets charges that a pass at `last_ran` has covered.
    pub(in crate::slurm) fn pass(&mut self, last_ran: i64) {
        self.runs.retain(|_, charged| charged.until > last_ran);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_charge_of_a_run_counts() {
        let mut recent = ChargesSincePass::default();
        recent.note(7, 100, 150, false);
        recent.note(7, 100, 170, false);
        recent.note(7, 160, 165, true);
        assert_eq!(recent.until(7, 100), Some(170));
        assert_eq!(recent.until(7, 160), Some(165));
        assert_eq!(recent.until(8, 100), None);
    }

    #[test]
    fn a_snapshot_parts_what_it_holds_from_what_came_later() {
        let mut recent = ChargesSincePass::default();
        recent.note(1, 100, 150, false);
        recent.note(2, 100, 150, false);
        let snapshot = recent.snapshot();
        recent.note(2, 100, 160, false);
        recent.note(3, 100, 160, true);
        assert!(!recent.is_since(snapshot, 1, 100));
        assert!(recent.is_since(snapshot, 2, 100));
        assert!(recent.is_since(snapshot, 3, 100));
        assert!(!recent.is_since(snapshot, 3, 101));
    }

    #[test]
    fn a_snapshot_does_not_hold_what_came_later() {
        let mut recent = ChargesSincePass::default();
        recent.note(1, 100, 150, false);
        recent.snapshot();
        recent.note(1, 100, 160, false);
        recent.note(2, 100, 160, true);
        assert_eq!(recent.until_at_snapshot(1, 100), Some(150));
        assert_eq!(recent.until(1, 100), Some(160));
        assert_eq!(recent.until_at_snapshot(2, 100), None);
        recent.snapshot();
        assert_eq!(recent.until_at_snapshot(1, 100), Some(160));
    }

    #[test]
    fn what_is_over_or_caught_up_with_is_forgotten() {
        let mut recent = ChargesSincePass::default();
        recent.note(1, 100, 150, true);
        recent.note(2, 100, 150, false);
        recent.note(3, 100, 160, false);
        let snapshot = recent.snapshot();
        assert_eq!(recent.until(1, 100), None);
        assert_eq!(recent.until(2, 100), Some(150));
        recent.pass(150);
        assert_eq!(recent.until(2, 100), None);
        assert_eq!(recent.until(3, 100), Some(160));
        assert_eq!(recent.snapshot(), snapshot);
    }

    #[test]
    fn ends_without_passes_do_not_pile_up() {
        let mut recent = ChargesSincePass::default();
        for job in 0..10_000 {
            recent.note(job, 100, 200, true);
            if job % 100 == 0 {
                recent.snapshot();
            }
        }
        assert!(recent.runs.len() <= 100);
    }
}
