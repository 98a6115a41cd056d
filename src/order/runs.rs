//! Merges sequences of jobs by sorting runs: jobs of a child that have one key.

use std::cmp::Ordering;
use std::ops::Range;

use super::forest::{Child, Forest};
use super::ratio::{Ratio, clearly};
use super::rows::{Job, Stamp};

/// A sequence that must be merged.
#[derive(Clone)]
pub(super) struct MergeInput {
    pub(super) step: u32,
    pub(super) parent: Option<u32>,
    pub(super) child: Child,
    /// Its range in all sequences.
    pub(super) range: Range<usize>,
}

/// The merges of one step.
pub(super) struct Merger<'a> {
    pub(super) forest: &'a Forest,
    /// By node: what it will have used when the first job is taken.
    pub(super) used: &'a [u128],
    /// By slot.
    pub(super) jobs: &'a [Job],
    /// Slots of the jobs of all sequences, one sequence after the other.
    pub(super) slots: &'a [u32],
    /// Use that the child of the merge will have reached, by place in `slots`.
    pub(super) spent: Vec<u128>,
    /// Slot with the latest time up to a job among those of its child with the same key, by place
    /// in `slots`.
    pub(super) latest: Vec<u32>,
    /// Slots in their new order.
    pub(super) merged: Vec<u32>,
}

/// Consecutive jobs of a child that have one key.
#[derive(Clone, Copy)]
struct Run {
    rounded: f64,
    /// Position of its first job in all sequences.
    start: usize,
    len: usize,
}

/// A job whose place is not decided by the rounded key.
struct Tied {
    ratio: Ratio,
    latest: Stamp,
    slot: u32,
}

impl Merger<'_> {
    /// Appends a sequence that is merged in a later step, and returns its new range.
    pub(super) fn pass_on(&mut self, range: Range<usize>) -> Range<usize> {
        let start = self.merged.len();
        self.merged.extend_from_slice(&self.slots[range]);
        start..self.merged.len()
    }

    /// Merges the sequences below one parent, and returns the range of the result.
    pub(super) fn merge(
        &mut self,
        parent: Option<u32>,
        siblings: impl Iterator<Item = MergeInput>,
    ) -> Range<usize> {
        let mut runs = Vec::new();
        for one in siblings {
            self.add_runs(&one, &mut runs);
        }
        // Stable, so runs of a child keep their order.
        runs.sort_by(|a, b| a.rounded.total_cmp(&b.rounded));
        let is_unclear = |a: &Run, b: &Run| clearly(a.rounded, b.rounded) != Some(Ordering::Less);
        let start = self.merged.len();
        for close in runs.chunk_by(is_unclear) {
            match close {
                [run] => {
                    let slots = &self.slots[run.start..run.start + run.len];
                    self.merged.extend_from_slice(slots);
                }
                _ => self.append_tied(parent, close),
            }
        }
        start..self.merged.len()
    }

    /// Adds the keys of a child's jobs, and its runs.
    fn add_runs(&mut self, one: &MergeInput, runs: &mut Vec<Run>) {
        let mut spent = match one.child {
            Child::Own => 0,
            Child::Node(node) => self.used[node as usize],
        };
        let mut at = one.range.start;
        while at < one.range.end {
            let (start, before) = (at, spent);
            let mut latest = self.slots[at];
            while at < one.range.end && same_ratio(self.forest, one.child, before, spent) {
                let slot = self.slots[at];
                let job = &self.jobs[slot as usize];
                if job.stamp() > self.jobs[latest as usize].stamp() {
                    latest = slot;
                }
                (self.latest[at], self.spent[at]) = (latest, spent);
                spent = spent.saturating_add(job.expected);
                at += 1;
            }
            runs.push(Run {
                rounded: ratio(self.forest, one.child, before).rounded(),
                start,
                len: at - start,
            });
        }
    }

    /// Appends the jobs of runs whose rounded keys are too close to decide, in their order.
    fn append_tied(&mut self, parent: Option<u32>, close: &[Run]) {
        let mut tied = Vec::new();
        for run in close {
            let first = self.slots[run.start];
            let node = self.jobs[first as usize].node;
            let child = self.forest.child(node, parent);
            let child = child.expect("below the parent");
            tied.extend((run.start..run.start + run.len).map(|at| Tied {
                ratio: ratio(self.forest, child, self.spent[at]),
                latest: self.jobs[self.latest[at] as usize].stamp(),
                slot: self.slots[at],
            }));
        }
        // Stable, so jobs of a child keep their order.
        tied.sort_by(|a, b| {
            let by_ratio = a.ratio.cmp(&b.ratio);
            by_ratio.then_with(|| a.latest.cmp(&b.latest))
        });
        self.merged.extend(tied.iter().map(|one| one.slot));
    }
}

/// Use that a child will have reached over its entitlement.
pub(super) fn ratio(forest: &Forest, child: Child, spent: u128) -> Ratio {
    match child {
        Child::Own => Ratio::ZERO,
        Child::Node(node) => Ratio::new(spent, forest.entitled[node as usize]),
    }
}

/// Returns true if the ratio of a child is the same after both uses, `before` being the earlier
/// one.
fn same_ratio(forest: &Forest, child: Child, before: u128, after: u128) -> bool {
    match child {
        Child::Own => true,
        Child::Node(node) => {
            let nothing = || forest.entitled[node as usize].is_zero();
            before == after || (before != 0 && nothing())
        }
    }
}
