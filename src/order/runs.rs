//! Sequences of jobs that are merged by sorting runs, the jobs of a child that have one key.

use std::cmp::Ordering;
use std::ops::Range;

use super::amounts::Amount;
use super::columns::{JobColumns, Stamp};
use super::forest::{Child, Forest};
use super::radix;
use super::ratio::{Ratio, clearly};

/// Jobs of some sequences, one sequence behind the other.
#[derive(Clone, Copy)]
pub(super) struct Sequences<S, E> {
    pub(super) slots: S,
    /// What they are expected to use, here as well: by slot it lies anywhere in memory. Empty where no
    /// job is expected to use anything, and behind the last merge.
    pub(super) expected: E,
}

/// Why jobs stand where they do, by place before the merge. Moved to the places behind it, they cost an
/// interleaved order of a million jobs 3 to 5 % more time, and the latest slots stored for all jobs
/// another 4 to 7 % (versions of [`super::Line::ordered`] in turns in one process).
pub(super) struct Keys<T> {
    /// What the child of the merge will have used; empty where no job is expected to use anything.
    pub(super) spent: Vec<T>,
    /// The slot with the latest time; empty where that is each job's own.
    pub(super) latest: Vec<u32>,
}

/// A sequence that is to be merged.
#[derive(Clone)]
pub(super) struct Competitor {
    pub(super) step: u32,
    pub(super) parent: Option<u32>,
    pub(super) child: Child,
    /// Where it is among all sequences.
    pub(super) range: Range<usize>,
}

/// The merges of one step.
pub(super) struct Merger<'a, T> {
    forest: &'a Forest,
    /// By node, what it will have used when the first job is taken.
    used: &'a [u128],
    jobs: &'a JobColumns,
    sequences: Sequences<&'a [u32], &'a [T]>,
    /// Of `sequences`.
    pub(super) keys: Keys<T>,
    /// Memory.
    runs: Vec<Run>,
    spare: Vec<Run>,
    /// Whether there are no merges before: sequences are all slots, in their order. Read instead, they cost
    /// an interleaved order of 100,000 jobs 1 to 3 % more time, and of a million 7 to 13 % (both versions of
    /// [`super::Line::ordered`] in turns in one process).
    is_first: bool,
    /// Whether there are merges to come.
    goes_on: bool,
    pub(super) merged: Sequences<Vec<u32>, Vec<T>>,
}

/// Jobs of a child that stand one behind the other and have one key.
#[derive(Clone, Copy)]
struct Run {
    /// Of the rounded key, which is never negative: they compare as it does.
    bits: u64,
    /// Where the first one is among all sequences.
    start: u32,
    len: u32,
}

/// A job of which the rounded key does not tell the place.
#[derive(Clone, Copy)]
struct Tied {
    rounded: f64,
    latest: Stamp,
    child: Child,
    /// Where it is among all sequences.
    at: usize,
}

/// Appends what a run has; most have one job.
#[inline]
fn append<T: Copy>(to: &mut Vec<T>, from: &[T], run: Run) {
    match run.len {
        1 => to.push(from[run.start as usize]),
        _ => to.extend_from_slice(&from[run.range()]),
    }
}

impl Run {
    fn rounded(self) -> f64 {
        f64::from_bits(self.bits)
    }

    fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

impl<'a, T: Amount> Merger<'a, T> {
    /// Of a step; `is_first`: there are none before; `goes_on`: there are others to come.
    pub(super) fn new(
        (forest, used, jobs): (&'a Forest, &'a [u128], &'a JobColumns),
        sequences: Sequences<&'a [u32], &'a [T]>,
        (is_first, goes_on): (bool, bool),
    ) -> Merger<'a, T> {
        let (count, expect) = (sequences.slots.len(), sequences.expected.len());
        Merger {
            forest,
            used,
            jobs,
            sequences,
            keys: Keys {
                spent: vec![T::default(); expect],
                latest: Vec::new(),
            },
            runs: Vec::with_capacity(count),
            spare: Vec::new(),
            is_first,
            goes_on,
            merged: Sequences {
                slots: Vec::with_capacity(count),
                expected: Vec::with_capacity(if goes_on { expect } else { 0 }),
            },
        }
    }

    /// Appends a sequence that is merged in a later step, and tells where it is now.
    pub(super) fn pass_on(&mut self, range: Range<usize>) -> Range<usize> {
        let start = self.merged.slots.len();
        let expected = self.sequences.expected.get(range.clone());
        let expected = expected.unwrap_or_default();
        self.merged.expected.extend_from_slice(expected);
        let slots = &self.sequences.slots[range];
        self.merged.slots.extend_from_slice(slots);
        start..self.merged.slots.len()
    }

    /// Merges the sequences below one parent, and tells where the merged one is.
    pub(super) fn merge(
        &mut self,
        parent: Option<u32>,
        siblings: impl Iterator<Item = Competitor>,
    ) -> Range<usize> {
        let mut runs = std::mem::take(&mut self.runs);
        let mut spare = std::mem::take(&mut self.spare);
        runs.clear();
        for one in siblings {
            self.add_runs(&one, &mut runs);
        }
        // Those of a child stay as they are.
        radix::sort(&mut runs, &mut spare, |run| run.bits);
        let is_unclear =
            |a: &Run, b: &Run| clearly(a.rounded(), b.rounded()) != Some(Ordering::Less);
        let start = self.merged.slots.len();
        for close in runs.chunk_by(is_unclear) {
            match close {
                [run] => self.append(*run),
                _ => self.append_tied(parent, close),
            }
        }
        (self.runs, self.spare) = (runs, spare);
        start..self.merged.slots.len()
    }

    /// Appends what a run has. As a call of its own it costs an interleaved order 1 to 4 % more time (both
    /// versions of [`super::Line::ordered`] in turns in one process).
    #[inline(always)]
    fn append(&mut self, run: Run) {
        let (from, to) = (self.sequences, &mut self.merged);
        match self.is_first {
            true if run.len == 1 => to.slots.push(run.start),
            true => to.slots.extend(run.start..run.start + run.len),
            false => append(&mut to.slots, from.slots, run),
        }
        if self.goes_on && !from.expected.is_empty() {
            append(&mut to.expected, from.expected, run);
        }
    }

    /// The keys of a child's jobs, and its runs.
    fn add_runs(&mut self, one: &Competitor, runs: &mut Vec<Run>) {
        let (forest, range) = (self.forest, one.range.clone());
        let (mut spent, rounding) = match one.child {
            Child::Own => (T::default(), None),
            Child::Node(node) => {
                let rounding = &forest.roundings[node as usize];
                (T::of(self.used[node as usize]), Some(rounding))
            }
        };
        let slots = &self.sequences.slots[range.clone()];
        let expected = self.sequences.expected.get(range.clone());
        let expected = expected.filter(|_| rounding.is_some()).unwrap_or_default();
        let mut spent_of = self.keys.spent.get_mut(range.clone());
        if let (Some(by), Some(spent_of)) = (rounding, &mut spent_of) {
            if by.is_finite() && all_grow(spent, expected) {
                // By far the most. Looked at as all others, they cost an interleaved order 3 to 4 % more time (both
                // versions of `Line::ordered` in turns in one process).
                let rows = range.zip(expected).zip(spent_of.iter_mut());
                runs.extend(rows.map(|((at, expected), spent_of)| {
                    let before = spent;
                    *spent_of = before;
                    spent = spent.saturating_add(*expected);
                    Run {
                        bits: by.rounded(before.to_f64()).to_bits(),
                        start: at as u32,
                        len: 1,
                    }
                }));
                return;
            }
        }
        let mut from = 0;
        while from < slots.len() {
            let mut latest = slots[from];
            let mut latest_stamp = None;
            let before = spent;
            let mut at = from;
            while at < slots.len() && same_ratio(forest, one.child, before, spent) {
                let slot = slots[at];
                if at > from {
                    let stamp = self.jobs.stamp(slot);
                    if stamp > *latest_stamp.get_or_insert_with(|| self.jobs.stamp(latest)) {
                        (latest, latest_stamp) = (slot, Some(stamp));
                    }
                    if self.keys.latest.is_empty() {
                        self.keys.latest = self.sequences.slots.to_vec();
                    }
                    self.keys.latest[range.start + at] = latest;
                }
                if let Some(spent_of) = &mut spent_of {
                    spent_of[at] = spent;
                }
                if let Some(expected) = expected.get(at) {
                    spent = spent.saturating_add(*expected);
                }
                at += 1;
            }
            let rounded = rounding.map_or(0.0, |by| by.rounded(before.to_f64()));
            runs.push(Run {
                bits: rounded.to_bits(),
                start: (range.start + from) as u32,
                len: (at - from) as u32,
            });
            from = at;
        }
    }

    /// Appends the jobs of runs whose rounded keys do not tell them apart, in their order.
    fn append_tied(&mut self, parent: Option<u32>, close: &[Run]) {
        let mut tied = Vec::new();
        for run in close {
            let first = self.sequences.slots[run.start as usize];
            let node = self.jobs.nodes[first as usize];
            let child = self.forest.child(node, parent);
            let child = child.expect("below the parent");
            let latest = match self.keys.latest.is_empty() {
                true => self.sequences.slots,
                false => &self.keys.latest,
            };
            tied.extend(run.range().map(|at| Tied {
                rounded: run.rounded(),
                latest: self.jobs.stamp(latest[at]),
                child,
                at,
            }));
        }
        // Those of a child stay as they are.
        tied.sort_by(|a, b| {
            let ratio = |one: &Tied| {
                let spent = self.keys.spent.get(one.at).map(|spent| spent.to_u128());
                ratio(self.forest, self.used, one.child, spent)
            };
            let rounded = clearly(a.rounded, b.rounded);
            rounded
                .unwrap_or_else(|| ratio(a).cmp(&ratio(b)))
                .then_with(|| a.latest.cmp(&b.latest))
        });
        for one in tied {
            self.append(Run {
                bits: one.rounded.to_bits(),
                start: one.at as u32,
                len: 1,
            });
        }
    }
}

/// Whether each of some jobs, of which there is one at least, is expected to use something: then the ratio of
/// their node grows with each of them, unless it is entitled to nothing.
#[inline]
fn all_grow<T: Amount>(mut spent: T, expected: &[T]) -> bool {
    let grows = |expected: &T| {
        let before = spent;
        spent = spent.saturating_add(*expected);
        before != spent
    };
    !expected.is_empty() && expected.iter().all(grows)
}

/// What a child will have used, `spent` or what it used, over what it is entitled to.
pub(super) fn ratio(forest: &Forest, used: &[u128], child: Child, spent: Option<u128>) -> Ratio {
    match child {
        Child::Own => Ratio::ZERO,
        Child::Node(node) => {
            let spent = spent.unwrap_or(used[node as usize]);
            Ratio::new(spent, forest.entitled[node as usize])
        }
    }
}

/// Whether the ratio of a child is the same after both uses, of which the first one was before.
#[inline]
fn same_ratio<T: Amount>(forest: &Forest, child: Child, before: T, after: T) -> bool {
    match child {
        Child::Own => true,
        Child::Node(node) => {
            let nothing = || forest.entitled[node as usize].is_zero();
            before == after || (before != T::default() && nothing())
        }
    }
}
