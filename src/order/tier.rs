//! The jobs of one tier in their order, with all that tells where one more belongs.
//!
//! A job stands in a sequence on each level: that of its node, first come, first served; that of the
//! node above, the merge of its children's; and so on up to the sequence of all. Its key in a merge
//! is the ratio that the child will have reached when the job's turn comes. Of jobs with one key, a
//! merge takes the older one of those that stand first in their children's sequences. That is the
//! order by the oldest time up to which a child's sequence must have been taken: the latest one
//! among those of its jobs with this key, up to the job. So a merge is a sort, by key and latest
//! time, and where few jobs have moved since the last order, most of it is sorted already.

use std::collections::HashMap;
use std::ops::Range;

use super::forest::{Child, Forest};
use super::nearly_sorted;
use super::ratio::{Ratio, clearly};
use super::rows::Job;

/// Jobs of one tier, by slot: a slot is a job's place in the order before.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    /// What nodes will have used when the first of these jobs is taken.
    used: Vec<u128>,
    pub(super) jobs: Vec<Job>,
    /// Slots, node by node, as jobs came.
    fifo: Vec<u32>,
    /// Where each node's jobs are among these.
    by_node: HashMap<u32, Range<usize>>,
    /// The merges, the deepest first.
    merges: Vec<Merge>,
}

/// The merges of one step: of sequences below several parents, none of which is below another.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    /// See [`Forest::step`].
    step: u32,
    /// By slot.
    keys: Vec<Key>,
    /// Slots, parent by parent, in their order.
    order: Vec<u32>,
    /// By slot: where it is in `order`.
    places: Vec<u32>,
    /// Where the sequence of each parent is in `order`; `None`: of all.
    by_parent: HashMap<Option<u32>, Range<usize>>,
}

/// What a job competes with.
#[derive(Clone, Copy, Debug)]
struct Key {
    rounded: f64,
    /// What its child of the merge will have used, in two halves: a u128 would be padded.
    spent: [u64; 2],
    /// The child; [`OWN`]: the parent itself.
    child: u32,
    /// The slot with the latest time.
    latest: u32,
    /// Its place in the child's sequence.
    nth: u32,
}

const OWN: u32 = u32::MAX;
/// Stands in no sequence of this step.
const NOWHERE: u32 = u32::MAX;

/// When a job came, where nothing else tells jobs apart.
pub(super) type Stamp = (i64, u64);

pub(super) fn stamp(job: &Job) -> Stamp {
    (job.submit, job.id)
}

/// The order within a node.
pub(super) fn within(job: &Job) -> (i64, i64, u64) {
    (job.nice, job.submit, job.id)
}

impl Key {
    fn spent(&self) -> u128 {
        u128::from(self.spent[0]) << 64 | u128::from(self.spent[1])
    }

    fn ratio(&self, forest: &Forest) -> Ratio {
        match self.child {
            OWN => Ratio::ZERO,
            node => Ratio::new(self.spent(), forest.nodes[node as usize].entitled),
        }
    }
}

/// A sequence that is to be merged.
#[derive(Clone, Copy)]
struct Competitor {
    step: u32,
    parent: Option<u32>,
    child: Child,
    /// Where it is among all sequences.
    start: usize,
    end: usize,
}

/// A place in a sequence, and what its child will have used up to there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) ratio: Ratio,
    /// The latest time of those with this ratio.
    pub(super) latest: Stamp,
}

impl Tier {
    /// Orders the jobs; fast where they stand nearly in their order. No two ids are equal, and no
    /// node with jobs is [mixed](Forest::is_mixed).
    pub(super) fn new(forest: &Forest, used: Vec<u128>, jobs: Vec<Job>) -> Tier {
        let mut tier = Tier {
            used,
            jobs,
            fifo: Vec::new(),
            by_node: HashMap::new(),
            merges: Vec::new(),
        };
        let mut waiting = tier.first_come(forest);
        // All sequences, one behind the other.
        let mut sequences = tier.fifo.clone();
        while let Some(step) = waiting.iter().map(|one| one.step).max() {
            let (mut now, mut next): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|one| one.step == step);
            now.sort_by_key(|one| one.parent);
            let merge = tier.merge(forest, step, &now, &sequences);
            if step > 0 {
                for (&parent, range) in &merge.by_parent {
                    let node = parent.expect("only all have no parent, in the last step");
                    next.push(competitor(
                        forest,
                        node,
                        sequences.len() + range.start..sequences.len() + range.end,
                    ));
                }
                sequences.extend(&merge.order);
            }
            tier.merges.push(merge);
            waiting = next;
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
    pub(super) fn used_after(&self, forest: &Forest) -> Vec<u128> {
        let mut used = self.used.clone();
        for job in self.jobs.iter().filter(|job| job.expected > 0) {
            let mut above = Some(job.node);
            while let Some(node) = above {
                let used = &mut used[node as usize];
                *used = used.saturating_add(job.expected);
                above = forest.nodes[node as usize].parent;
            }
        }
        used
    }

    /// Sorts the jobs of each node as they came.
    fn first_come(&mut self, forest: &Forest) -> Vec<Competitor> {
        let mut starts = vec![0_u32; forest.nodes.len() + 1];
        for job in &self.jobs {
            starts[job.node as usize + 1] += 1;
        }
        for node in 0..forest.nodes.len() {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        self.fifo = vec![0; self.jobs.len()];
        for (job, slot) in self.jobs.iter().zip(0..) {
            let at = &mut next[job.node as usize];
            self.fifo[*at as usize] = slot;
            *at += 1;
        }
        let jobs = &self.jobs;
        let before = |a: &u32, b: &u32| within(&jobs[*a as usize]) < within(&jobs[*b as usize]);
        let mut found = Vec::new();
        for (node, pair) in (0..).zip(starts.windows(2)) {
            let range = pair[0] as usize..pair[1] as usize;
            if range.is_empty() {
                continue;
            }
            nearly_sorted::sort(&mut self.fifo[range.clone()], before);
            self.by_node.insert(node, range.clone());
            let (child, parent) = forest.chain(node).next().expect("a sequence of its own");
            found.push(Competitor {
                step: forest.step(child, parent),
                parent,
                child,
                start: range.start,
                end: range.end,
            });
        }
        found
    }

    /// Merges competitors, those of one parent together.
    fn merge(&self, forest: &Forest, step: u32, now: &[Competitor], sequences: &[u32]) -> Merge {
        let nothing = Key {
            rounded: 0.0,
            spent: [0; 2],
            child: OWN,
            latest: 0,
            nth: 0,
        };
        let mut merge = Merge {
            step,
            keys: vec![nothing; self.jobs.len()],
            order: Vec::new(),
            places: vec![NOWHERE; self.jobs.len()],
            by_parent: HashMap::new(),
        };
        // Which parent a job is below, until its place is known; where its sequence begins.
        let mut starts = vec![0];
        for (siblings, parent) in now.chunk_by(|a, b| a.parent == b.parent).zip(0..) {
            let mut len = 0;
            for one in siblings {
                let sequence = &sequences[one.start..one.end];
                self.fill_keys(forest, one.child, sequence, &mut merge.keys);
                for &slot in sequence {
                    merge.places[slot as usize] = parent;
                }
                len += sequence.len();
            }
            let start = starts[starts.len() - 1];
            merge
                .by_parent
                .insert(siblings[0].parent, start..start + len);
            starts.push(start + len);
        }
        // In the order before.
        let mut entries = vec![(0.0, 0_u32); starts[starts.len() - 1]];
        let mut next = starts.clone();
        for (parent, slot) in merge.places.iter().zip(0..) {
            if *parent != NOWHERE {
                let at = &mut next[*parent as usize];
                entries[*at] = (merge.keys[slot as usize].rounded, slot);
                *at += 1;
            }
        }
        for pair in starts.windows(2) {
            nearly_sorted::sort(&mut entries[pair[0]..pair[1]], |a, b| {
                self.comes_before(forest, &merge.keys, *a, *b)
            });
        }
        merge.order.extend(entries.iter().map(|entry| entry.1));
        for (slot, place) in merge.order.iter().zip(0..) {
            merge.places[*slot as usize] = place;
        }
        merge
    }

    /// The keys of a child's jobs.
    fn fill_keys(&self, forest: &Forest, child: Child, sequence: &[u32], keys: &mut [Key]) {
        let (node, mut spent, entitled) = match child {
            Child::Own => (OWN, 0, None),
            Child::Node(node) => {
                let entitled = forest.nodes[node as usize].entitled;
                (node, self.used[node as usize], Some(entitled))
            }
        };
        let mut latest: Option<(u128, u32)> = None;
        for (&slot, nth) in sequence.iter().zip(0..) {
            let job = &self.jobs[slot as usize];
            let same = latest.filter(|(before, _)| same_ratio(forest, child, *before, spent));
            let latest_slot = match same {
                Some((_, other)) if stamp(&self.jobs[other as usize]) > stamp(job) => other,
                _ => slot,
            };
            latest = Some((spent, latest_slot));
            keys[slot as usize] = Key {
                rounded: entitled.map_or(0.0, |entitled| Ratio::new(spent, entitled).rounded()),
                spent: [(spent >> 64) as u64, spent as u64],
                child: node,
                latest: latest_slot,
                nth,
            };
            if entitled.is_some() {
                spent = spent.saturating_add(job.expected);
            }
        }
    }

    fn comes_before(&self, forest: &Forest, keys: &[Key], a: (f64, u32), b: (f64, u32)) -> bool {
        let [one, two] = [a, b].map(|entry| &keys[entry.1 as usize]);
        let latest = |key: &Key| stamp(&self.jobs[key.latest as usize]);
        clearly(a.0, b.0)
            .unwrap_or_else(|| one.ratio(forest).cmp(&two.ratio(forest)))
            .then_with(|| latest(one).cmp(&latest(two)))
            .then_with(|| one.nth.cmp(&two.nth))
            .is_lt()
    }

    /// The slots of a node's own jobs, as they came.
    pub(super) fn of_node(&self, node: u32) -> &[u32] {
        let range = self.by_node.get(&node).cloned();
        &self.fifo[range.unwrap_or(0..0)]
    }

    fn at_step(&self, step: u32) -> Option<&Merge> {
        self.merges.iter().find(|merge| merge.step == step)
    }

    /// The slots below a parent in their order; `None`: those of all.
    pub(super) fn below(&self, step: u32, parent: Option<u32>) -> &[u32] {
        let Some(merge) = self.at_step(step) else {
            return &[];
        };
        let range = merge.by_parent.get(&parent).cloned();
        &merge.order[range.unwrap_or(0..0)]
    }

    /// Where a slot is in [`Tier::below`].
    pub(super) fn place_below(&self, step: u32, parent: Option<u32>, slot: u32) -> usize {
        let merge = self.at_step(step).expect("a merge with this job");
        merge.places[slot as usize] as usize - merge.by_parent[&parent].start
    }

    /// What competes for the job in a slot, in the merges of a step.
    pub(super) fn point(&self, forest: &Forest, step: u32, slot: u32) -> Point {
        let merge = self.at_step(step).expect("a merge with this job");
        let key = &merge.keys[slot as usize];
        Point {
            ratio: key.ratio(forest),
            latest: stamp(&self.jobs[key.latest as usize]),
        }
    }

    /// What a child will have used before a job that comes behind the one in the slot `behind`;
    /// `None`: first of all.
    pub(super) fn spent(&self, step: u32, child: Child, behind: Option<u32>) -> u128 {
        match (child, behind) {
            (Child::Own, _) => 0,
            (Child::Node(node), None) => self.used[node as usize],
            (Child::Node(_), Some(slot)) => {
                let merge = self.at_step(step).expect("a merge with this job");
                let expected = self.jobs[slot as usize].expected;
                merge.keys[slot as usize].spent().saturating_add(expected)
            }
        }
    }
}

/// Whether the ratio of a child is the same after both uses, of which the first one was before.
fn same_ratio(forest: &Forest, child: Child, before: u128, after: u128) -> bool {
    match child {
        Child::Own => true,
        Child::Node(node) => {
            let nothing = forest.nodes[node as usize].entitled.is_zero();
            before == after || (nothing && before > 0)
        }
    }
}

/// A node with its merged sequence.
fn competitor(forest: &Forest, node: u32, range: Range<usize>) -> Competitor {
    let over_all = forest.is_over_all(node, false);
    let parent = forest.nodes[node as usize].parent.filter(|_| !over_all);
    Competitor {
        step: forest.step(Child::Node(node), parent),
        parent,
        child: Child::Node(node),
        start: range.start,
        end: range.end,
    }
}
