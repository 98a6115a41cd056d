//! The jobs of one tier in their order, with the data to find the place of a new job.
//!
//! A job belongs to a sequence on each level: that of its node, first come, first served; that of
//! the node above, which is the merge of its children's sequences; and so on up to the sequence of
//! all jobs. Its key in a merge is the ratio that the child will have reached when the job's turn
//! comes. Among jobs with one key, a merge takes the older of the jobs that are first in their
//! children's sequences. That is the order by the oldest time up to which a child's sequence must
//! have been taken: the latest time among the child's jobs with this key, up to the job. So a merge
//! is a sort by key and latest time. It sorts runs, which are jobs of a child with one key: without
//! expected use, all jobs of a child are one run. Rounded keys are sorted first; runs whose rounded
//! keys are too close are then sorted by the exact keys.

use std::ops::Range;
use std::sync::Arc;

use super::forest::{Child, Forest};
use super::ratio::Ratio;
use super::rows::{Job, Placed, Stamp};
use super::runs::{MergeInput, Merger, ratio};

/// Jobs of one tier, by slot: node by node, in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    /// Use of nodes when the first of these jobs is taken.
    used: Arc<Vec<u128>>,
    pub(super) jobs: Vec<Job>,
    /// All slots.
    slots: Vec<u32>,
    /// Start of each node's jobs, followed by the end of all.
    starts: Vec<u32>,
    /// The merges, the deepest first.
    merges: Vec<Merge>,
}

/// The merges of one step: sequences below several parents, none of which is below another.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    /// See [`Forest::step`].
    step: u32,
    /// Slots, parent by parent, in their order; after them the slots of later steps.
    order: Vec<u32>,
    /// Place in `order`, by slot.
    places: Vec<u32>,
    /// Use that the child will have reached, by place before the merge ([`Tier::place_before`]).
    spent: Vec<u128>,
    /// Slot with the latest time, by place before the merge.
    latest: Vec<u32>,
    /// Range of each parent's sequence in `order`, ascending by parent; `None`: that of all jobs.
    by_parent: Vec<(Option<u32>, Range<usize>)>,
}

/// A place in a sequence, and what its child will have used up to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) ratio: Ratio,
    /// Latest time of the jobs with this ratio.
    pub(super) latest: Stamp,
}

impl Tier {
    /// Orders the `jobs` listed in `rows`, and puts `rows` in the order of slots. `interleaves`:
    /// expected use counts too. Ids are unique, and no node with jobs is [mixed](Forest::is_mixed).
    pub(super) fn new(
        forest: &Forest,
        used: Arc<Vec<u128>>,
        rows: &mut [u32],
        jobs: &[Placed],
        interleaves: bool,
    ) -> Tier {
        let starts = sort_by_node(forest, rows, jobs);
        let job = |row: &u32| match (jobs[*row as usize].job, interleaves) {
            (job, true) => job,
            (job, false) => Job { expected: 0, ..job },
        };
        let mut tier = Tier {
            used,
            jobs: rows.iter().map(job).collect(),
            slots: (0..).take(rows.len()).collect(),
            starts,
            merges: Vec::new(),
        };
        tier.merge_all(forest);
        tier
    }

    /// Merges the sequences of all nodes, step by step.
    fn merge_all(&mut self, forest: &Forest) {
        let mut waiting: Vec<MergeInput> = self.by_node(forest).collect();
        while let Some(step) = waiting.iter().map(|one| one.step).max() {
            let (mut now, later): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|one| one.step == step);
            now.sort_by_key(|one| one.parent);
            waiting = Vec::new();
            let count = self.jobs.len();
            let mut merger = Merger {
                forest,
                used: &self.used,
                jobs: &self.jobs,
                slots: self
                    .merges
                    .last()
                    .map_or(&*self.slots, |merge| &merge.order),
                spent: vec![0; count],
                latest: vec![0; count],
                merged: Vec::with_capacity(count),
            };
            let mut by_parent = Vec::new();
            for siblings in now.chunk_by(|a, b| a.parent == b.parent) {
                let parent = siblings[0].parent;
                let range = merger.merge(parent, siblings.iter().cloned());
                waiting.extend(parent.map(|node| competitor(forest, node, range.clone())));
                by_parent.push((parent, range));
            }
            for one in later {
                let range = merger.pass_on(one.range);
                waiting.push(MergeInput { range, ..one });
            }
            let mut places = vec![0; count];
            for (slot, place) in merger.merged.iter().zip(0..) {
                places[*slot as usize] = place;
            }
            let merge = Merge {
                step,
                order: merger.merged,
                places,
                spent: merger.spent,
                latest: merger.latest,
                by_parent,
            };
            self.merges.push(merge);
        }
    }

    /// The slots of all jobs, first to last.
    pub(super) fn order(&self) -> &[u32] {
        self.merges.last().map_or(&[], |merge| &merge.order)
    }

    /// Place of the job in a slot in [`Tier::order`].
    pub(super) fn place(&self, slot: u32) -> usize {
        let last = self.merges.last().expect("a merge of all");
        last.places[slot as usize] as usize
    }

    /// Use of nodes when all these jobs have been taken.
    pub(super) fn used_after(&self, forest: &Forest) -> Arc<Vec<u128>> {
        let mut used = self.used.to_vec();
        for job in &self.jobs {
            let mut above = Some(job.node);
            while let Some(node) = above {
                let used = &mut used[node as usize];
                *used = used.saturating_add(job.expected);
                above = forest.parents[node as usize];
            }
        }
        Arc::new(used)
    }

    /// The jobs of each node, as a sequence that must be merged.
    fn by_node(&self, forest: &Forest) -> impl Iterator<Item = MergeInput> {
        let nodes = (0..).zip(self.starts.windows(2));
        let ranges = nodes.map(|(node, pair)| (node, pair[0] as usize..pair[1] as usize));
        let ranges = ranges.filter(|(_, range)| !range.is_empty());
        ranges.map(|(node, range)| {
            let (child, parent) = forest.chain(node).next().expect("a sequence of its own");
            MergeInput {
                step: forest.step(child, parent),
                parent,
                child,
                range,
            }
        })
    }

    /// Slots of a node's own jobs, in order of arrival.
    pub(super) fn of_node(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.slots[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    fn at_step(&self, step: u32) -> Option<&Merge> {
        self.merges.iter().find(|merge| merge.step == step)
    }

    /// The merge of a step, and the place before it of the job in a slot.
    fn place_before(&self, step: u32, slot: u32) -> (&Merge, u32) {
        let at = self.merges.iter().position(|merge| merge.step == step);
        let at = at.expect("a merge with this job");
        let before = at.checked_sub(1).map(|before| &self.merges[before]);
        let place = before.map_or(slot, |before| before.places[slot as usize]);
        (&self.merges[at], place)
    }

    /// Slots below a parent in their order; `None`: those of all jobs.
    pub(super) fn below(&self, step: u32, parent: Option<u32>) -> &[u32] {
        let Some(merge) = self.at_step(step) else {
            return &[];
        };
        &merge.order[merge.range(parent)]
    }

    /// Place of a slot in [`Tier::below`].
    pub(super) fn place_below(&self, step: u32, parent: Option<u32>, slot: u32) -> usize {
        let merge = self.at_step(step).expect("a merge with this job");
        merge.places[slot as usize] as usize - merge.range(parent).start
    }

    /// The key of the job in a slot below a parent, in the merges of a step.
    pub(super) fn point(
        &self,
        forest: &Forest,
        step: u32,
        parent: Option<u32>,
        slot: u32,
    ) -> Point {
        let (merge, place) = self.place_before(step, slot);
        let child = forest.child(self.jobs[slot as usize].node, parent);
        let child = child.expect("below the parent");
        let latest = merge.latest[place as usize];
        Point {
            ratio: ratio(forest, child, merge.spent[place as usize]),
            latest: self.jobs[latest as usize].stamp(),
        }
    }

    /// Use of a child before a job that follows the job in the slot `behind`; `None`: before the
    /// child's first job.
    pub(super) fn spent(&self, step: u32, child: Child, behind: Option<u32>) -> u128 {
        match (child, behind) {
            (Child::Own, _) => 0,
            (Child::Node(node), None) => self.used[node as usize],
            (Child::Node(_), Some(slot)) => {
                let (merge, place) = self.place_before(step, slot);
                merge.spent[place as usize].saturating_add(self.jobs[slot as usize].expected)
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

/// Sorts jobs by node and, within a node, by arrival: puts `rows` in that order, and returns the
/// start of each node's jobs, followed by the end of all.
fn sort_by_node(forest: &Forest, rows: &mut [u32], jobs: &[Placed]) -> Vec<u32> {
    let job = |row: u32| &jobs[row as usize].job;
    let mut starts = vec![0_u32; forest.len() + 1];
    for row in &*rows {
        starts[job(*row).node as usize + 1] += 1;
    }
    for node in 0..forest.len() {
        starts[node + 1] += starts[node];
    }
    let (mut next, mut sorted) = (starts.clone(), vec![0; rows.len()]);
    for row in &*rows {
        let at = &mut next[job(*row).node as usize];
        sorted[*at as usize] = *row;
        *at += 1;
    }
    for pair in starts.windows(2) {
        let own = &mut sorted[pair[0] as usize..pair[1] as usize];
        own.sort_unstable_by_key(|row| job(*row).within());
    }
    rows.copy_from_slice(&sorted);
    starts
}

/// A node with its merged sequence.
fn competitor(forest: &Forest, node: u32, range: Range<usize>) -> MergeInput {
    let over_all = forest.is_over_all(node, false);
    let parent = forest.parents[node as usize].filter(|_| !over_all);
    MergeInput {
        step: forest.step(Child::Node(node), parent),
        parent,
        child: Child::Node(node),
        range,
    }
}
