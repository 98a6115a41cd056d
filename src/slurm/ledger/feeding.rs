//! Runs on their way into both ledgers.

use super::book::{Numbers, Page};
use super::feed::Lane;
use super::keeper::LedgerComplaints;
use super::seen::SeenRun;
use crate::engine::RunKey;
use crate::number_hasher::BuildNumberHasher;
use crate::tree::AssocId;
use crate::usage::window::{READ_AHEAD, WindowError};
use crate::usage::{EndState, Outcomes};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

/// For so many passes, and for so many seconds, an end is remembered, so that it counts once however often
/// it is seen. Meanwhile the ledgers have the run as one that goes on, also in their files: a slurmctld
/// that is killed may have forgotten the end, and takes the run up again.
const REMEMBERED_PASSES: u32 = 3;
const REMEMBERED_SECS: i64 = 60;

/// For how long an end is remembered yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remembered {
    passes: u32,
    until: i64,
}

/// What a pass, or the end of the plugin, feeds.
pub(super) struct Feeding<'a, 'b, 'c> {
    pub(super) assocs: &'a mut Page<'b>,
    pub(super) qos: &'a mut Page<'c>,
    /// By position: use up to now is forgotten, of associations and of QOS; empty: of none.
    pub(super) resets: &'a [Vec<bool>; 2],
    pub(super) counts: &'a Outcomes,
    pub(super) no_decay: &'a [u32],
    /// Ends that the ledgers have.
    pub(super) ended: &'a mut HashMap<RunKey, Remembered, BuildNumberHasher>,
    pub(super) taken_back: &'a mut BTreeMap<u32, Numbers>,
    pub(super) complaints: &'a mut LedgerComplaints,
}

impl Feeding<'_, '_, '_> {
    /// Moves both ledgers to a moment, before what comes up to then.
    pub(super) fn advance(&mut self, now: i64) {
        self.assocs.advance(now);
        self.qos.advance(now);
    }

    /// Takes ends that were reported.
    pub(super) fn take_ended(&mut self, ended: &[SeenRun<'_>]) {
        for seen in ended {
            if !self.ended.contains_key(&seen.run) {
                self.take(seen, [true; 2]);
            }
        }
    }

    /// Takes all runs that are there. `before`: when the ledgers, of associations and of QOS, were fed
    /// last; where one was damaged, that was earlier.
    pub(super) fn take_rows(&mut self, rows: &[SeenRun<'_>], before: [i64; 2]) {
        let hasher = BuildNumberHasher::default;
        let mut there = HashSet::with_capacity_and_hasher(rows.len(), hasher());
        let mut jobs = HashSet::with_capacity_and_hasher(rows.len(), hasher());
        for some in rows.chunks(READ_AHEAD) {
            self.assocs.read_ahead(some, |seen| seen.assoc_id);
            // QOS are few: these are in the caches.
            self.qos.read_ahead(some, |_| 0);
            for seen in some {
                there.insert(seen.run);
                jobs.insert(seen.run.0);
                if !self.ended.contains_key(&seen.run) {
                    self.take_row(seen, before);
                }
            }
        }
        // What is left is gone, and nobody has told of its end.
        let mut open = self.assocs.open_runs();
        open.extend(self.qos.open_runs());
        open.retain(|run| !there.contains(run) && !self.ended.contains_key(run));
        open.sort_unstable();
        open.dedup();
        for run in open {
            // A job that runs again was requeued; of others nothing is known.
            let counts = !jobs.contains(&run.0) || self.counts.counts(EndState::Requeued, 0);
            self.end(run, counts);
        }
    }

    fn take_row(&mut self, seen: &SeenRun<'_>, before: [i64; 2]) {
        // A ledger that had its end has forgotten it.
        let is_over = |fed: i64| seen.end.is_some() && seen.until <= fed;
        let wants = [
            !is_over(before[0]) || self.assocs.is_open(seen.run),
            !is_over(before[1]) || self.qos.is_open(seen.run),
        ];
        if wants != [false; 2] {
            self.take(seen, wants);
        }
    }

    /// A pass is over: forgets ends that were remembered for long enough.
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

    /// `wants`: which ledgers, of associations and of QOS, take it.
    fn take(&mut self, seen: &SeenRun<'_>, wants: [bool; 2]) {
        let [job_qos, partition_qos] = seen.qos_ids;
        let [of_assocs, of_qos] = self.resets;
        let mut charged = Ok(());
        if wants[0] {
            charged = charge(self.assocs, of_assocs, seen.assoc_id, Lane::First, seen);
        }
        if wants[1] {
            charged = charged.and(charge(self.qos, of_qos, job_qos, Lane::First, seen));
        }
        if wants[1] && partition_qos != job_qos {
            charged = charged.and(charge(self.qos, of_qos, partition_qos, Lane::Second, seen));
        }
        if let Err(error) = charged {
            match &mut self.complaints.refused {
                Some((_, _, more)) => *more += 1,
                first => *first = Some((seen.run, error, 0)),
            }
        }
        if let Some(end) = seen.end {
            let counts = self.counts.counts(end.state, end.exit_code);
            self.end(seen.run, counts);
        }
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

/// Charges a run to one who pays, if there is one.
fn charge(
    page: &mut Page<'_>,
    resets: &[bool],
    id: AssocId,
    lane: Lane,
    seen: &SeenRun<'_>,
) -> Result<(), WindowError> {
    let Some(index) = page.index_of(id) else {
        return Ok(());
    };
    let free = resets.get(index.get()).copied().unwrap_or(false);
    page.charge((index, lane), seen, free)
}
