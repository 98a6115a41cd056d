//! Runs on their way into both ledgers.

use super::book::{Numbers, Page};
use super::feed::Lane;
use super::keeper::LedgerComplaints;
use super::seen::SeenRun;
use super::steady::SteadyRuns;
use crate::engine::RunKey;
use crate::number_hasher::BuildNumberHasher;
use crate::tree::AssocId;
use crate::usage::window::{Rate, WindowError};
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
    /// Those that the clock charges.
    pub(super) steady: &'a mut SteadyRuns,
    /// That of the run that is charged, so that none is allocated for each; and of one that costs nothing.
    pub(super) rate: Rate,
    pub(super) no_rate: Rate,
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
        let (mut is_steady, others) = self.move_clock(rows);
        // What was reset costs nothing in this pass.
        let may_clock = !self.resets.iter().flatten().any(|is_reset| *is_reset);
        self.assocs.begin_round();
        self.qos.begin_round();
        for at in others.iter().map(|at| *at as usize) {
            let seen = &rows[at];
            if !self.ended.contains_key(&seen.run) {
                is_steady[at] = self.take_row(seen, before) && may_clock && self.clock_in(seen);
            }
        }
        let stops = self.clock_stops();
        self.steady
            .renew(rows, &is_steady, others.is_empty(), stops);
        let mut unmet = self.assocs.end_round();
        unmet.extend(self.qos.end_round());
        unmet.retain(|run| !self.ended.contains_key(run));
        if !unmet.is_empty() {
            self.end_gone(unmet, rows);
        }
    }

    /// Ends those of `open` that are gone, and nobody has told of their end.
    fn end_gone(&mut self, mut open: Vec<RunKey>, rows: &[SeenRun<'_>]) {
        let there: HashSet<RunKey> = rows.iter().map(|seen| seen.run).collect();
        let jobs: HashSet<u32> = rows.iter().map(|seen| seen.run.0).collect();
        open.retain(|run| !there.contains(run));
        open.sort_unstable();
        open.dedup();
        for run in open {
            // A job that runs again was requeued; of others nothing is known.
            let counts = !jobs.contains(&run.0) || self.counts.counts(EndState::Requeued, 0);
            self.end(run, counts);
        }
    }

    /// Charges all runs of which nothing is new but the time; tells which of `rows` these are, and the positions
    /// of the others.
    fn move_clock(&mut self, rows: &[SeenRun<'_>]) -> (Vec<bool>, Vec<u32>) {
        let (now, stops) = (self.assocs.now(), self.clock_stops());
        if !self.steady.is_of(stops) {
            self.assocs.stop_clock();
            self.qos.stop_clock();
            self.steady.clear();
        }
        let found = self
            .steady
            .find(rows, now, |run| self.ended.contains_key(&run));
        for run in found.changed {
            self.assocs.clock_out(run);
            self.qos.clock_out(run);
        }
        self.assocs.move_clock();
        self.qos.move_clock();
        (found.is_steady, found.others)
    }

    fn clock_stops(&self) -> [u32; 2] {
        [self.assocs.clock_stops(), self.qos.clock_stops()]
    }

    /// True: it goes on, and all have charged it.
    fn take_row(&mut self, seen: &SeenRun<'_>, before: [i64; 2]) -> bool {
        // A ledger that had its end has forgotten it.
        let is_over = |fed: i64| seen.end.is_some() && seen.until <= fed;
        let wants = [
            !is_over(before[0]) || self.assocs.is_open(seen.run),
            !is_over(before[1]) || self.qos.is_open(seen.run),
        ];
        wants != [false; 2] && self.take(seen, wants)
    }

    /// Lets the clock charge a run that goes on and was charged just now. False where it may not.
    fn clock_in(&mut self, seen: &SeenRun<'_>) -> bool {
        if [self.assocs.now(), self.qos.now()] != [seen.until; 2] {
            return false;
        }
        let [job_qos, partition_qos] = seen.qos_ids;
        let (rate, assoc) = (&self.rate, (seen.assoc_id, Lane::First));
        let is_in = self.assocs.clock_in(assoc, seen, rate)
            && self.qos.clock_in((job_qos, Lane::First), seen, rate)
            && (partition_qos == job_qos
                || self.qos.clock_in((partition_qos, Lane::Second), seen, rate));
        if !is_in {
            self.assocs.clock_out(seen.run);
            self.qos.clock_out(seen.run);
        }
        is_in
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

    /// `wants`: which ledgers, of associations and of QOS, take it. True: it goes on, and all have charged it.
    fn take(&mut self, seen: &SeenRun<'_>, wants: [bool; 2]) -> bool {
        let charged = self.charge(seen, wants);
        let goes_on = charged.is_ok() && seen.end.is_none() && wants == [true; 2];
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
        goes_on
    }

    /// Charges a run to all who pay and want it; tells of the first who could not be charged.
    fn charge(&mut self, seen: &SeenRun<'_>, wants: [bool; 2]) -> Result<(), WindowError> {
        // The columns of both ledgers are those of the host's TRES.
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
            let book = (&mut *self.qos, of_qos.as_slice());
            let first = charge(book, (job_qos, Lane::First), seen, i64::MIN, rates);
            let from = *first.as_ref().unwrap_or(&i64::MIN);
            charged = charged.and(first);
            if partition_qos != job_qos {
                // A partition may have got its QOS when the run had been charged for a while.
                let to = (partition_qos, Lane::Second);
                let book = (&mut *self.qos, of_qos.as_slice());
                charged = charged.and(charge(book, to, seen, from, rates));
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

/// Charges a run to one who pays, if there is one; tells from when on, the beginning of time without.
/// `rates`: its own, and that of one that costs nothing, but is remembered.
fn charge(
    (page, resets): (&mut Page<'_>, &[bool]),
    (id, lane): (AssocId, Lane),
    seen: &SeenRun<'_>,
    not_before: i64,
    [rate, no_rate]: [&Rate; 2],
) -> Result<i64, WindowError> {
    let Some(index) = page.index_of(id) else {
        return Ok(i64::MIN);
    };
    let free = resets.get(index.get()).copied().unwrap_or(false);
    let rate = if free { no_rate } else { rate };
    page.charge((index, lane), seen, not_before, rate)
}
