//! What the runs of jobs that go on were charged, so that all of it can be taken back.

use std::collections::hash_map::Entry;
use std::fmt;

use rustc_hash::FxHashMap;

use super::{Rate, WindowError};

/// A run of a job in a ledger: a requeued job has another one, and so has a job whose use moves to
/// another leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerRun {
    /// Job id (not that of an array).
    pub job: u32,
    /// What tells this run from the job's others: its start time, or its restart count. The same
    /// for all charges to the run, and in all ledgers of a cluster.
    pub run: i64,
}

impl fmt::Display for LedgerRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "job {} run {}", self.job, self.run)
    }
}

/// Time in which a run used the same per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub from: i64,
    pub to: i64,
    pub rate: Rate,
}

/// What one run was charged.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Where it was charged.
    pub leaf: u32,
    /// The round in which it was met last, see [`Runs::begin_round`].
    met: u32,
    /// The latest.
    pub last: Segment,
    /// Those before, ascending, disjoint.
    pub earlier: Vec<Segment>,
}

impl Run {
    /// A run that no round has met. `earlier`: segments before the last, ascending, disjoint.
    pub(super) fn new(leaf: u32, last: Segment, earlier: Vec<Segment>) -> Run {
        Run {
            leaf,
            met: 0,
            last,
            earlier,
        }
    }

    /// All segments, ascending.
    pub(super) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.earlier.iter().chain([&self.last])
    }

    /// For how many seconds it was charged.
    pub(super) fn charged_secs(&self) -> i64 {
        self.segments().map(|each| each.to - each.from).sum()
    }

    /// A segment that overlaps with `from..to`.
    fn overlap(&self, from: i64, to: i64) -> Option<&Segment> {
        let behind = self.earlier.partition_point(|each| each.from < to);
        let before = behind.checked_sub(1).map(|at| &self.earlier[at]);
        let segments = before.into_iter().chain([&self.last]);
        // No second of an empty one is another's.
        segments
            .rev()
            .find(|each| each.from.max(from) < each.to.min(to))
    }

    /// Adds a segment that overlaps with none.
    fn add(&mut self, from: i64, to: i64, rate: &Rate) {
        let continues = |each: &Segment| each.to == from && each.rate == *rate;
        if from >= self.last.to {
            if continues(&self.last) {
                self.last.to = to;
                return;
            }
            let rate = rate.clone();
            let last = std::mem::replace(&mut self.last, Segment { from, to, rate });
            self.earlier.push(last);
            return;
        }
        let place = self.earlier.partition_point(|each| each.from < from);
        let rate = rate.clone();
        self.earlier.insert(place, Segment { from, to, rate });
        self.join();
    }

    /// Makes adjacent segments with the same rate one.
    fn join(&mut self) {
        let mut joined: Vec<Segment> = Vec::with_capacity(self.earlier.len() + 1);
        let all = std::mem::take(&mut self.earlier);
        for segment in all.into_iter().chain([self.last.clone()]) {
            match joined.last_mut() {
                Some(last) if last.to == segment.from && last.rate == segment.rate => {
                    last.to = segment.to;
                }
                _ => joined.push(segment),
            }
        }
        self.last = joined.pop().expect("at least the last");
        self.earlier = joined;
    }
}

/// Runs that have not ended, by id.
#[derive(Clone, Debug)]
pub(super) struct Runs<K = LedgerRun> {
    by_id: FxHashMap<K, Run>,
    round: u32,
}

impl<K> Default for Runs<K> {
    fn default() -> Runs<K> {
        Runs {
            by_id: FxHashMap::default(),
            round: 0,
        }
    }
}

impl<K: Copy + Eq + std::hash::Hash> Runs<K> {
    /// Whether `from..to` may be charged to a leaf, which is `None` before its first charge.
    ///
    /// `id`: of the run and the association, for the message.
    pub(super) fn check(
        &self,
        key: K,
        id: impl Fn() -> (LedgerRun, u32),
        leaf: Option<u32>,
        from: i64,
        to: i64,
    ) -> Result<(), WindowError> {
        let Some(run) = self.by_id.get(&key) else {
            return Ok(());
        };
        if Some(run.leaf) != leaf {
            let (run, id) = id();
            return Err(WindowError::OtherLeaf { run, id });
        }
        match run.overlap(from, to) {
            Some(segment) => Err(WindowError::Overlap {
                run: id().0,
                from,
                to,
                charged_from: segment.from,
                charged_to: segment.to,
            }),
            None => Ok(()),
        }
    }

    /// Notes a charge that [`Runs::check`] allows.
    pub(super) fn note(&mut self, key: K, leaf: u32, from: i64, to: i64, rate: &Rate) {
        match self.by_id.entry(key) {
            Entry::Occupied(run) => run.into_mut().add(from, to, rate),
            Entry::Vacant(none) => {
                let rate = rate.clone();
                let mut run = Run::new(leaf, Segment { from, to, rate }, Vec::new());
                run.met = self.round;
                none.insert(run);
            }
        }
    }

    /// Begins a round, in which no run is met yet.
    pub(super) fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// A run, which this round has met now.
    pub(super) fn meet(&mut self, key: &K) -> Option<&mut Run> {
        let run = self.by_id.get_mut(key)?;
        run.met = self.round;
        Some(run)
    }

    /// The runs that this round has not met, nor noted a first charge of.
    pub(super) fn unmet(&self) -> impl Iterator<Item = &K> {
        let unmet = self.by_id.iter().filter(|(_, run)| run.met != self.round);
        unmet.map(|(key, _)| key)
    }

    pub(super) fn get(&self, key: &K) -> Option<&Run> {
        self.by_id.get(key)
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<Run> {
        self.by_id.remove(key)
    }

    /// Takes over a run that this round has not met.
    pub(super) fn insert(&mut self, key: K, mut run: Run) {
        run.met = self.round.wrapping_sub(1);
        self.by_id.insert(key, run);
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &Run)> {
        self.by_id.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Run> {
        self.by_id.values_mut()
    }

    pub(super) fn into_runs(self) -> impl Iterator<Item = (K, Run)> {
        self.by_id.into_iter()
    }

    /// Keeps the times of some runs as charged, at a rate of 0; to `until`, seconds since 1970, where
    /// it gives a later moment than the last of them.
    pub(super) fn uncharge(
        &mut self,
        is_one: impl Fn(&Run) -> bool,
        until: impl Fn(&K) -> Option<i64>,
    ) {
        for (key, run) in self.by_id.iter_mut().filter(|(_, run)| is_one(run)) {
            run.last.to = until(key).unwrap_or(run.last.to).max(run.last.to);
            let segments = run.earlier.iter_mut().chain([&mut run.last]);
            segments.for_each(|segment| segment.rate.units.fill(0));
            run.join();
        }
    }

    /// Forgets the runs for which `kept` is false.
    pub(super) fn retain(&mut self, mut kept: impl FnMut(&K, &Run) -> bool) {
        self.by_id.retain(|key, run| kept(key, run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::window::Columns;
    use proptest::prelude::*;

    const ID: LedgerRun = LedgerRun { job: 7, run: 100 };

    proptest! {
        // Against the rate of each second.
        #[test]
        fn segments_hold_each_second_once(
            charges in prop::collection::vec((0_i64..30, 0_i64..6, 1_u64..3), 1..20)
        ) {
            let columns = Columns::new(["cpu"]).unwrap();
            let mut runs = Runs::default();
            let mut seconds = [0; 40];
            for (from, len, cpus) in charges {
                let rate = columns.rate(cpus as f64, 1.0, &[(0, cpus)]).unwrap();
                let time = from as usize..(from + len) as usize;
                let free = seconds[time.clone()].iter().all(|cpus| *cpus == 0);
                let leaf = Some(3);
                let checked = runs.check(ID, || (ID, 9), leaf, from, from + len);
                prop_assert_eq!(checked.is_ok(), free);
                if free && len > 0 {
                    runs.note(ID, 3, from, from + len, &rate);
                    seconds[time].fill(cpus);
                }
            }
            let mut found = [0; 40];
            let mut before: Option<Segment> = None;
            // Empty ones are not noted.
            for segment in runs.get(&ID).into_iter().flat_map(Run::segments) {
                let cpus = segment.rate.units[2] as u64 / crate::usage::window::UNITS;
                found[segment.from as usize..segment.to as usize].fill(cpus);
                if let Some(before) = before {
                    prop_assert!(before.to < segment.from || before.rate != segment.rate);
                }
                before = Some(segment.clone());
            }
            prop_assert_eq!(found, seconds);
            if runs.get(&ID).is_some() {
                let other = runs.check(ID, || (ID, 9), Some(4), 35, 36);
                prop_assert_eq!(other, Err(WindowError::OtherLeaf { run: ID, id: 9 }));
            }
        }
    }
}
