//! The jobs of one tier in their order, with all that tells where one more belongs.
//!
//! A job stands in a sequence on each level: that of its node, first come, first served; that of the
//! node above, the merge of its children's; and so on up to the sequence of all. Its key in a merge
//! is the ratio that the child will have reached when the job's turn comes. Of jobs with one key, a
//! merge takes the older one of those that stand first in their children's sequences. That is the
//! order by the oldest time up to which a child's sequence must have been taken: the latest one
//! among those of its jobs with this key, up to the job. So a merge is a sort, by key and latest
//! time. What is sorted are runs, the jobs of a child that have one key: where nothing is expected to
//! be used, that is all of a child at once. Rounded keys are sorted first, and runs whose
//! rounded keys are not clearly apart then by what decides.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::columns::{JobColumns, Stamp};
use super::forest::{Child, Forest};
use super::ratio::{Ratio, clearly};

/// Jobs of one tier, by slot: node by node, as they came.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    /// What nodes will have used when the first of these jobs is taken.
    used: Arc<Vec<u128>>,
    pub(super) jobs: JobColumns,
    /// All slots.
    slots: Vec<u32>,
    /// Where each node's jobs begin, and behind all of them their end.
    starts: Vec<u32>,
    /// The merges, the deepest first.
    merges: Vec<Merge>,
}

/// The merges of one step: of sequences below several parents, none of which is below another.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    /// See [`Forest::step`].
    step: u32,
    /// By slot, what its child of the merge will have used; empty where no job is expected to use
    /// anything.
    spent: Vec<u128>,
    /// By slot, the slot with the latest time.
    latest: Vec<u32>,
    /// Slots, parent by parent, in their order.
    order: Vec<u32>,
    /// By slot: where it is in `order`.
    places: Vec<u32>,
    /// Where the sequence of each parent is in `order`, ascending by parent; `None`: of all.
    by_parent: Vec<(Option<u32>, Range<usize>)>,
}

/// A sequence that is to be merged.
#[derive(Clone)]
struct Competitor {
    step: u32,
    parent: Option<u32>,
    child: Child,
    /// Where it is among all sequences.
    range: Range<usize>,
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

impl Run {
    fn rounded(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

/// A job of which the rounded key does not tell the place.
#[derive(Clone, Copy)]
struct Tied {
    rounded: f64,
    latest: Stamp,
    child: Child,
    slot: u32,
}

/// A place in a sequence, and what its child will have used up to there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) ratio: Ratio,
    /// The latest time of those with this ratio.
    pub(super) latest: Stamp,
}

impl Tier {
    /// Orders those of the `jobs` that `rows` lists, and puts the list in the order of slots;
    /// `interleaves`: by what they are expected to use, too. No two ids are equal, and no node with
    /// jobs is [mixed](Forest::is_mixed).
    pub(super) fn new(
        forest: &Forest,
        used: Arc<Vec<u128>>,
        rows: &mut [u32],
        jobs: &JobColumns,
        interleaves: bool,
    ) -> Tier {
        let (starts, jobs) = first_come(forest, rows, jobs, interleaves);
        let mut tier = Tier {
            used,
            jobs,
            slots: (0..).take(rows.len()).collect(),
            starts,
            merges: Vec::new(),
        };
        let mut waiting = tier.by_node(forest);
        // All sequences, one behind the other.
        let mut sequences = tier.slots.clone();
        while let Some(step) = waiting.iter().map(|one| one.step).max() {
            let (mut now, later): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|one| one.step == step);
            now.sort_by_key(|one| one.parent);
            let merge = tier.merge(forest, step, &now, &sequences);
            waiting = Vec::new();
            if step > 0 {
                let mut next = merge.order.clone();
                for (parent, range) in &merge.by_parent {
                    let node = parent.expect("only all have no parent, in the last step");
                    waiting.push(competitor(forest, node, range.clone()));
                }
                for one in later {
                    let start = next.len();
                    next.extend_from_slice(&sequences[one.range.clone()]);
                    waiting.push(Competitor {
                        range: start..next.len(),
                        ..one
                    });
                }
                sequences = next;
            }
            tier.merges.push(merge);
        }
        tier
    }

    /// The slots of all jobs, first to last.
    pub(super) fn order(&self) -> &[u32] {
        self.merges.last().map_or(&[], |merge| &merge.order)
    }

    /// Where the job in a slot is in [`Tier::order`].
    pub(super) fn place(&self, slot: u32) -> usize {
        let last = self.merges.last().expect("a merge of all");
        last.places[slot as usize] as usize
    }

    /// What nodes will have used when all these jobs are taken.
    pub(super) fn used_after(&self, forest: &Forest) -> Arc<Vec<u128>> {
        if self.jobs.expected.is_default() {
            return Arc::clone(&self.used);
        }
        let mut used = self.used.to_vec();
        for &slot in &self.slots {
            let expected = self.jobs.expected.get(slot);
            let mut above = Some(self.jobs.nodes[slot as usize]);
            while let Some(node) = above {
                let used = &mut used[node as usize];
                *used = used.saturating_add(expected);
                above = forest.parents[node as usize];
            }
        }
        Arc::new(used)
    }

    /// The jobs of each node as a sequence that is to be merged.
    fn by_node(&self, forest: &Forest) -> Vec<Competitor> {
        let mut found = Vec::new();
        for (node, pair) in (0..).zip(self.starts.windows(2)) {
            let range = pair[0] as usize..pair[1] as usize;
            if range.is_empty() {
                continue;
            }
            let (child, parent) = forest.chain(node).next().expect("a sequence of its own");
            found.push(Competitor {
                step: forest.step(child, parent),
                parent,
                child,
                range,
            });
        }
        found
    }

    /// Merges competitors, those of one parent together.
    fn merge(&self, forest: &Forest, step: u32, now: &[Competitor], sequences: &[u32]) -> Merge {
        let jobs = self.jobs.len();
        let spends = !self.jobs.expected.is_default();
        let mut merge = Merge {
            step,
            spent: vec![0; if spends { jobs } else { 0 }],
            latest: vec![0; jobs],
            order: Vec::with_capacity(now.iter().map(|one| one.range.len()).sum()),
            places: vec![0; jobs],
            by_parent: Vec::new(),
        };
        let mut runs = Vec::new();
        for siblings in now.chunk_by(|a, b| a.parent == b.parent) {
            runs.clear();
            for one in siblings {
                self.add_runs(forest, one, sequences, &mut merge, &mut runs);
            }
            // Those of a child stay as they are.
            runs.sort_by_key(|run| run.bits);
            let start = merge.order.len();
            let parent = siblings[0].parent;
            self.take_runs(forest, parent, &runs, sequences, &mut merge);
            merge.by_parent.push((parent, start..merge.order.len()));
        }
        for (slot, place) in merge.order.iter().zip(0..) {
            merge.places[*slot as usize] = place;
        }
        merge
    }

    /// The keys of a child's jobs, and its runs.
    fn add_runs(
        &self,
        forest: &Forest,
        one: &Competitor,
        sequences: &[u32],
        merge: &mut Merge,
        runs: &mut Vec<Run>,
    ) {
        let (mut spent, rounding) = match one.child {
            Child::Own => (0, None),
            Child::Node(node) => {
                let rounding = &forest.roundings[node as usize];
                (self.used[node as usize], Some(rounding))
            }
        };
        let sequence = &sequences[one.range.clone()];
        let mut from = 0;
        while from < sequence.len() {
            let mut latest = sequence[from];
            // Most runs are of one job.
            let mut latest_stamp = None;
            let before = spent;
            let mut at = from;
            while at < sequence.len() && same_ratio(forest, one.child, before, spent) {
                let slot = sequence[at];
                if at > from {
                    let stamp = self.jobs.stamp(slot);
                    if stamp > *latest_stamp.get_or_insert_with(|| self.jobs.stamp(latest)) {
                        (latest, latest_stamp) = (slot, Some(stamp));
                    }
                }
                merge.latest[slot as usize] = latest;
                if let Some(before) = merge.spent.get_mut(slot as usize) {
                    *before = spent;
                    if rounding.is_some() {
                        spent = spent.saturating_add(self.jobs.expected.get(slot));
                    }
                }
                at += 1;
            }
            let rounded = rounding.map_or(0.0, |by| by.rounded(before));
            runs.push(Run {
                bits: rounded.to_bits(),
                start: (one.range.start + from) as u32,
                len: (at - from) as u32,
            });
            from = at;
        }
    }

    /// Appends the jobs of runs, which are sorted by their rounded keys.
    fn take_runs(
        &self,
        forest: &Forest,
        parent: Option<u32>,
        runs: &[Run],
        sequences: &[u32],
        merge: &mut Merge,
    ) {
        let of = |run: &Run| &sequences[run.start as usize..][..run.len as usize];
        let is_unclear =
            |a: &Run, b: &Run| clearly(a.rounded(), b.rounded()) != Some(Ordering::Less);
        for close in runs.chunk_by(is_unclear) {
            if let [run] = close {
                merge.order.extend_from_slice(of(run));
                continue;
            }
            let mut tied = Vec::new();
            for run in close {
                let node = self.jobs.nodes[of(run)[0] as usize];
                let child = forest.child(node, parent).expect("below the parent");
                tied.extend(of(run).iter().map(|&slot| Tied {
                    rounded: run.rounded(),
                    latest: self.latest(merge, slot),
                    child,
                    slot,
                }));
            }
            // Those of a child stay as they are.
            tied.sort_by(|a, b| {
                let ratio = |one: &Tied| self.ratio(forest, merge, one.child, one.slot);
                let rounded = clearly(a.rounded, b.rounded);
                rounded
                    .unwrap_or_else(|| ratio(a).cmp(&ratio(b)))
                    .then_with(|| a.latest.cmp(&b.latest))
            });
            merge.order.extend(tied.iter().map(|one| one.slot));
        }
    }

    fn latest(&self, merge: &Merge, slot: u32) -> Stamp {
        self.jobs.stamp(merge.latest[slot as usize])
    }

    fn ratio(&self, forest: &Forest, merge: &Merge, child: Child, slot: u32) -> Ratio {
        match child {
            Child::Own => Ratio::ZERO,
            Child::Node(node) => {
                let spent = self.spent_before(merge, node, slot);
                Ratio::new(spent, forest.entitled[node as usize])
            }
        }
    }

    fn spent_before(&self, merge: &Merge, node: u32, slot: u32) -> u128 {
        let spent = merge.spent.get(slot as usize).copied();
        spent.unwrap_or(self.used[node as usize])
    }

    /// The slots of a node's own jobs, as they came.
    pub(super) fn of_node(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.slots[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    fn at_step(&self, step: u32) -> Option<&Merge> {
        self.merges.iter().find(|merge| merge.step == step)
    }

    /// The slots below a parent in their order; `None`: those of all.
    pub(super) fn below(&self, step: u32, parent: Option<u32>) -> &[u32] {
        let Some(merge) = self.at_step(step) else {
            return &[];
        };
        &merge.order[merge.range(parent)]
    }

    /// Where a slot is in [`Tier::below`].
    pub(super) fn place_below(&self, step: u32, parent: Option<u32>, slot: u32) -> usize {
        let merge = self.at_step(step).expect("a merge with this job");
        merge.places[slot as usize] as usize - merge.range(parent).start
    }

    /// What competes for the job in a slot below a parent, in the merges of a step.
    pub(super) fn point(
        &self,
        forest: &Forest,
        step: u32,
        parent: Option<u32>,
        slot: u32,
    ) -> Point {
        let merge = self.at_step(step).expect("a merge with this job");
        let child = forest.child(self.jobs.nodes[slot as usize], parent);
        let child = child.expect("below the parent");
        Point {
            ratio: self.ratio(forest, merge, child, slot),
            latest: self.latest(merge, slot),
        }
    }

    /// What a child will have used before a job that comes behind the one in the slot `behind`;
    /// `None`: first of all.
    pub(super) fn spent(&self, step: u32, child: Child, behind: Option<u32>) -> u128 {
        match (child, behind) {
            (Child::Own, _) => 0,
            (Child::Node(node), None) => self.used[node as usize],
            (Child::Node(node), Some(slot)) => {
                let merge = self.at_step(step).expect("a merge with this job");
                let expected = self.jobs.expected.get(slot);
                let before = self.spent_before(merge, node, slot);
                before.saturating_add(expected)
            }
        }
    }
}

impl Merge {
    fn range(&self, parent: Option<u32>) -> Range<usize> {
        let found = self.by_parent.binary_search_by_key(&parent, |one| one.0);
        found.map_or(0..0, |at| self.by_parent[at].1.clone())
    }
}

/// Whether the ratio of a child is the same after both uses, of which the first one was before.
#[inline]
fn same_ratio(forest: &Forest, child: Child, before: u128, after: u128) -> bool {
    match child {
        Child::Own => true,
        Child::Node(node) => {
            let nothing = || forest.entitled[node as usize].is_zero();
            before == after || (before > 0 && nothing())
        }
    }
}

/// Sorts jobs by node and, within one, as they came: puts `rows` in that order, and gives where each
/// node's jobs begin, and the jobs.
fn first_come(
    forest: &Forest,
    rows: &mut [u32],
    jobs: &JobColumns,
    interleaves: bool,
) -> (Vec<u32>, JobColumns) {
    let mut starts = vec![0_u32; forest.len() + 1];
    for row in &*rows {
        starts[jobs.nodes[*row as usize] as usize + 1] += 1;
    }
    for node in 0..forest.len() {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let given = rows.to_vec();
    for row in given {
        let at = &mut next[jobs.nodes[row as usize] as usize];
        rows[*at as usize] = row;
        *at += 1;
    }
    let mut own = Vec::new();
    for pair in starts.windows(2) {
        let rows = &mut rows[pair[0] as usize..pair[1] as usize];
        own.clear();
        own.extend(rows.iter().map(|row| (jobs.within(*row), *row)));
        if !own.is_sorted() {
            own.sort_unstable();
            for (row, one) in rows.iter_mut().zip(&own) {
                *row = one.1;
            }
        }
    }
    (starts, jobs.gather(rows, interleaves))
}

/// A node with its merged sequence.
fn competitor(forest: &Forest, node: u32, range: Range<usize>) -> Competitor {
    let over_all = forest.is_over_all(node, false);
    let parent = forest.parents[node as usize].filter(|_| !over_all);
    Competitor {
        step: forest.step(Child::Node(node), parent),
        parent,
        child: Child::Node(node),
        range,
    }
}
