//! Feeds runs into both ledgers.

use super::exchange::LedgerComplaints;
use super::feed::Lane;
use super::seen::SeenRun;
use super::tree_ledger::{Numbers, OpenLedger};
use crate::engine::RunKey;
use crate::tree::AssocId;
use crate::usage::window::{Rate, WindowError};
use crate::usage::{EndState, Outcomes};
use rustc_hash::FxHashMap;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

/// An end is remembered for this many passes and this many seconds, so that it counts once however
/// often it is reported. Until then the run continues in the ledgers, also in their files: a
/// slurmctld that is killed may have forgotten the end, and resumes the run.
const REMEMBERED_PASSES: u32 = 3;
const REMEMBERED_SECS: i64 = 60;

/// Remaining time for which an end is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered {
    passes: u32,
    until: i64,
}

/// Input and state of a pass, or of the end of the plugin.
pub(super) struct Feeding<'a, 'b, 'c> {
    pub(super) assocs: &'a mut OpenLedger<'b>,
    pub(super) qos: &'a mut OpenLedger<'c>,
    /// By position, for associations and for QOS: true if use up to now is forgotten. Empty: for
    /// none.
    pub(super) resets: &'a [Vec<bool>; 2],
    pub(super) counts: &'a Outcomes,
    pub(super) no_decay: &'a [u32],
    /// Ends that are already in the ledgers.
    pub(super) ended: &'a mut FxHashMap<RunKey, Remembered>,
    pub(super) taken_back: &'a mut BTreeMap<u32, Numbers>,
    /// Scratch rate for the run being charged, which saves an allocation per run; and the rate of a
    /// run that costs nothing.
    pub(super) rate: Rate,
    pub(super) no_rate: Rate,
    pub(super) complaints: &'a mut LedgerComplaints,
}

impl Feeding<'_, '_, '_> {
    /// Advances both ledgers to a moment, before events up to then are added.
    pub(super) fn advance(&mut self, now: i64) {
        self.assocs.advance(now);
        self.qos.advance(now);
    }

    /// Adds reported ends.
    pub(super) fn take_ended(&mut self, ended: &[SeenRun<'_>]) {
        for seen in ended {
            if !self.ended.contains_key(&seen.run) {
                self.take(seen, [true; 2]);
            }
        }
    }

    /// Adds all existing runs. `before`: last time the ledgers of associations and of QOS were fed;
    /// earlier for a ledger that was damaged.
    pub(super) fn take_rows(&mut self, rows: &[SeenRun<'_>], before: [i64; 2]) {
        self.assocs.begin_round();
        self.qos.begin_round();
        for seen in rows {
            if !self.ended.contains_key(&seen.run) {
                self.take_row(seen, before);
            }
        }
        let mut unmet = self.assocs.end_round();
        unmet.extend(self.qos.end_round());
        unmet.retain(|run| !self.ended.contains_key(run));
        if !unmet.is_empty() {
            self.end_gone(unmet, rows);
        }
    }

    /// Ends runs in `open` that no longer exist and whose end was not reported.
    fn end_gone(&mut self, mut open: Vec<RunKey>, rows: &[SeenRun<'_>]) {
        let there: HashSet<RunKey> = rows.iter().map(|seen| seen.run).collect();
        let jobs: HashSet<u32> = rows.iter().map(|seen| seen.run.0).collect();
        open.retain(|run| !there.contains(run));
        open.sort_unstable();
        open.dedup();
        for run in open {
            // A job that runs again was requeued; for others the outcome is unknown.
            let counts = !jobs.contains(&run.0) || self.counts.counts(EndState::Requeued, 0);
            self.end(run, counts);
        }
    }

    fn take_row(&mut self, seen: &SeenRun<'_>, before: [i64; 2]) {
        // A ledger that contained this end has forgotten it.
        let is_over = |fed: i64| seen.end.is_some() && seen.until <= fed;
        let wants = [
            !is_over(before[0]) || self.assocs.is_open(seen.run),
            !is_over(before[1]) || self.qos.is_open(seen.run),
        ];
        if wants != [false; 2] {
            self.take(seen, wants);
        }
    }

    /// Ends a pass: forgets ends that were remembered long enough.
    pub(super) fn forget_ends(&mut self) {
        let now = self.assocs.now();
        let (assocs, qos) = (&mut *self.assocs, &mut *self.qos);
        self.ended.retain(|run, end| {
            end.passes = end.passes.saturating_sub(1);
            let stays = end.passes > 0 || now < end.until;
            if !stays {
                assocs.close(*run);
                qos.close(*run);
            }
            stays
        });
    }

    /// `wants`: true for each ledger, of associations and of QOS, that must add the run.
    fn take(&mut self, seen: &SeenRun<'_>, wants: [bool; 2]) {
        if let Err(error) = self.charge(seen, wants) {
            match &mut self.complaints.refused {
                Some((_, _, more)) => *more += 1,
                first => *first = Some((seen.run, error, 0)),
            }
        }
        if let Some(end) = seen.end {
            let counts = self.counts.counts(end.state, end.exit_code.into());
            self.end(seen.run, counts);
        }
    }

    /// Charges a run to all payers in the wanted ledgers; returns the first error.
    fn charge(&mut self, seen: &SeenRun<'_>, wants: [bool; 2]) -> Result<(), WindowError> {
        // Both ledgers have the same columns: the host's TRES.
        self.assocs.set_rate(&mut self.rate, seen)?;
        let rates = [&self.rate, &self.no_rate];
        let [of_assocs, of_qos] = self.resets;
        let mut charged = Ok(i64::MIN);
        if wants[0] {
            let to = (seen.assoc_id, Lane::First);
            charged = charge((self.assocs, of_assocs), to, seen, i64::MIN, rates);
        }
        if wants[1] {
            let [job_qos, partition_qos] = seen.qos_ids;
            let tree_ledger = (&mut *self.qos, of_qos.as_slice());
            let first = charge(tree_ledger, (job_qos, Lane::First), seen, i64::MIN, rates);
            let from = *first.as_ref().unwrap_or(&i64::MIN);
            charged = charged.and(first);
            if partition_qos != job_qos {
                // A partition may have been given its QOS after the run had been charged for a
                // while.
                let to = (partition_qos, Lane::Second);
                let tree_ledger = (&mut *self.qos, of_qos.as_slice());
                charged = charged.and(charge(tree_ledger, to, seen, from, rates));
            }
        }
        charged.map(|_| ())
    }

    fn end(&mut self, run: RunKey, counts: bool) {
        let remembered = Remembered {
            passes: REMEMBERED_PASSES,
            until: self.assocs.now().saturating_add(REMEMBERED_SECS),
        };
        self.ended.insert(run, remembered);
        if counts {
            return;
        }
        self.assocs.take_back(run);
        for (id, numbers) in self.qos.take_back(run) {
            if !self.no_decay.contains(&id) {
                continue;
            }
            match self.taken_back.entry(id) {
                Entry::Vacant(first) => {
                    first.insert(numbers);
                }
                Entry::Occupied(sum) => sum.into_mut().add(&numbers),
            }
        }
    }
}

/// Charges a run to one payer, if there is one; returns the start of the charged time, or
/// `i64::MIN` without a payer. `rates`: the run's own rate, and the rate of a run that costs
/// nothing but is remembered.
fn charge(
    (open, resets): (&mut OpenLedger<'_>, &[bool]),
    (id, lane): (AssocId, Lane),
    seen: &SeenRun<'_>,
    not_before: i64,
    [rate, no_rate]: [&Rate; 2],
) -> Result<i64, WindowError> {
    let Some(index) = open.index_of(id) else {
        return Ok(i64::MIN);
    };
    let free = resets.get(index.get()).copied().unwrap_or(false);
    let rate = if free { no_rate } else { rate };
    open.charge((index, lane), seen, not_before, rate)
}
