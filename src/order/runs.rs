//! Merges sequences of jobs by sorting runs: jobs of a child that have one key.

use std::cmp::Ordering;
use std::ops::Range;

use super::amounts::Amount;
use super::columns::{JobColumns, Stamp};
use super::forest::{Child, Forest};
use super::radix;
use super::ratio::{Ratio, clearly};

/// Jobs of some sequences, one sequence after the other.
#[derive(Clone, Copy)]
pub(super) struct Sequences<S, E> {
    pub(super) slots: S,
    /// Expected use of the jobs, copied here because it is scattered in memory by slot. Empty if no
    /// job has expected use, and after the last merge.
    pub(super) expected: E,
}

/// Keys of jobs, by place before the merge. If keys are moved to the places after the merge, an
/// interleaved order of a million jobs takes 3 to 5 % more time; if the latest slots are stored for
/// all jobs, another 4 to 7 % (versions of [`super::Line::ordered`] alternating in one process).
pub(super) struct Keys<T> {
    /// Use that the child of the merge will have reached; empty if no job has expected use.
    pub(super) spent: Vec<T>,
    /// Slot with the latest time; empty if that is always the job's own.
    pub(super) latest: Vec<u32>,
}

/// A sequence that must be merged.
#[derive(Clone)]
pub(super) struct Competitor {
    pub(super) step: u32,
    pub(super) parent: Option<u32>,
    pub(super) child: Child,
    /// Its range in all sequences.
    pub(super) range: Range<usize>,
}

/// The merges of one step.
pub(super) struct Merger<'a, T> {
    forest: &'a Forest,
    /// By node: what it will have used when the first job is taken.
    used: &'a [u128],
    jobs: &'a JobColumns,
    sequences: Sequences<&'a [u32], &'a [T]>,
    /// Keys of `sequences`.
    pub(super) keys: Keys<T>,
    /// Scratch memory.
    runs: Vec<Run>,
    spare: Vec<Run>,
    /// True for the first step: sequences are all slots, in their order. If they are read instead,
    /// an interleaved order of 100,000 jobs takes 1 to 3 % more time, one of a million 7 to 13 %
    /// (both versions of [`super::Line::ordered`] alternating in one process).
    is_first: bool,
    /// True if there are later steps.
    goes_on: bool,
    pub(super) merged: Sequences<Vec<u32>, Vec<T>>,
}

/// Consecutive jobs of a child that have one key.
#[derive(Clone, Copy)]
struct Run {
    /// Bits of the rounded key, which is never negative: they compare as the key does.
    bits: u64,
    /// Position of its first job in all sequences.
    start: u32,
    len: u32,
}

/// A job whose place is not decided by the rounded key.
#[derive(Clone, Copy)]
struct Tied {
    rounded: f64,
    latest: Stamp,
    child: Child,
    /// Its position in all sequences.
    at: usize,
}

/// Appends the elements of a run; most runs have one job.
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
    /// Merger of a step; `is_first`: the first step; `goes_on`: later steps follow.
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

    /// Appends a sequence that is merged in a later step, and returns its new range.
    pub(super) fn pass_on(&mut self, range: Range<usize>) -> Range<usize> {
        let start = self.merged.slots.len();
        let expected = self.sequences.expected.get(range.clone());
        let expected = expected.unwrap_or_default();
        self.merged.expected.extend_from_slice(expected);
        let slots = &self.sequences.slots[range];
        self.merged.slots.extend_from_slice(slots);
        start..self.merged.slots.len()
    }

    /// Merges the sequences below one parent, and returns the range of the result.
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
        // Stable, so runs of a child keep their order.
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

    /// Appends the elements of a run. If it is not inlined, an interleaved order takes 1 to 4 %
    /// more time (both versions of [`super::Line::ordered`] alternating in one process).
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

    /// Adds the keys of a child's jobs, and its runs.
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
                // The most frequent case. Without it, an interleaved order takes 3 to 4 % more time
                // (both versions of `Line::ordered` alternating in one process).
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

    /// Appends the jobs of runs whose rounded keys are too close to decide, in their order.
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
        // Stable, so jobs of a child keep their order.
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

/// Returns true if each of the jobs, at least one, has expected use: then the ratio of their node
/// grows with each job, unless it is entitled to nothing.
#[inline]
fn all_grow<T: Amount>(mut spent: T, expected: &[T]) -> bool {
    let grows = |expected: &T| {
        let before = spent;
        spent = spent.saturating_add(*expected);
        before != spent
    };
    !expected.is_empty() && expected.iter().all(grows)
}

/// Use that a child will have reached (`spent`, or else its present use) over its entitlement.
pub(super) fn ratio(forest: &Forest, used: &[u128], child: Child, spent: Option<u128>) -> Ratio {
    match child {
        Child::Own => Ratio::ZERO,
        Child::Node(node) => {
            let spent = spent.unwrap_or(used[node as usize]);
            Ratio::new(spent, forest.entitled[node as usize])
        }
    }
}

/// Returns true if the ratio of a child is the same after both uses, `before` being the earlier
/// one.
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
