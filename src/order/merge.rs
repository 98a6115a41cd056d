//! Orders of jobs, by merging from the nodes up.
//!
//! Jobs of a node are first come, first served; the key of each is the ratio that the node will
//! have reached when its turn comes. The sequence of the node above is the merge of its children's
//! sequences by that key; a tie goes to the older job. In that sequence the key of the node above
//! grows in the same way, and so on up to the level on which all nodes compete. The result is the
//! order of a loop that always takes the first job and charges its expected use. (The keys of a
//! sequence never fall, so only its first job can be the next one.)

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::heap::{heapify, sift_down};
use super::ratio::{Ratio, clearly};
use super::rows::{Job, Level, Node, OrderError};

/// Order in which jobs would be taken if each were charged its expected use at once: the positions
/// of the jobs, first to last.
///
/// Jobs of a higher tier come first; jobs of lower tiers are ranked with the use that these will
/// have added. A job may belong to a node with others below it. If that node competes by itself
/// ([`Level::Leaf`], or above the level), its own ratio is their key; otherwise its jobs come
/// before all jobs below the node, as users with `FairShare=parent` do in Fair Tree. No result
/// depends on the order of nodes or jobs. Sums of use saturate.
///
/// Takes time in O(n log n) for each level below the competing ones.
///
/// # Errors
/// Those of [`OrderError`].
pub fn interleaved(nodes: &[Node], level: Level, jobs: &[Job]) -> Result<Vec<u32>, OrderError> {
    order(nodes, level, jobs, |job| job.expected)
}

/// Order by present ratios alone: as [`interleaved`] if no job had expected use.
///
/// Nodes of one level with equal ratios are merged, the older job first.
///
/// # Errors
/// Those of [`OrderError`].
pub fn strict(nodes: &[Node], level: Level, jobs: &[Job]) -> Result<Vec<u32>, OrderError> {
    order(nodes, level, jobs, |_| 0)
}

/// Place of each job in `order`, from 0.
///
/// Panics if `order` is not a permutation.
pub fn positions(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &job) in (0..).zip(order) {
        places[job as usize] = place;
    }
    places
}

fn order(
    nodes: &[Node],
    level: Level,
    jobs: &[Job],
    expected: impl Fn(&Job) -> u128,
) -> Result<Vec<u32>, OrderError> {
    check(nodes, jobs.iter())?;
    let depths = depths(nodes)?;
    let inner = inner(nodes);
    let mut used: Vec<u128> = nodes.iter().map(|node| node.used).collect();
    let (mut items, tiers) = first_come(jobs, expected);
    let mut order = Vec::with_capacity(jobs.len());
    for count in tiers {
        let later = items.split_off(count);
        let mut merge = Merge {
            nodes,
            depths: &depths,
            inner: &inner,
            level,
            used: &used,
            sequences: items,
            cursors: Vec::new(),
        };
        let taken = merge.tier();
        let taken = &merge.sequences[taken];
        order.extend(taken.iter().map(|item| item.job));
        if !later.is_empty() {
            charge(nodes, &mut used, taken);
        }
        items = later;
    }
    Ok(order)
}

/// A job in a sequence, with all data that merging needs, in one piece of memory.
#[derive(Clone, Copy)]
struct Item {
    submit: i64,
    id: u64,
    expected: u128,
    node: u32,
    /// Its position.
    job: u32,
}

pub(super) fn check<'a>(
    nodes: &[Node],
    mut jobs: impl ExactSizeIterator<Item = &'a Job>,
) -> Result<(), OrderError> {
    let limit = u32::MAX as usize;
    let rows = nodes.len().max(jobs.len());
    if rows > limit {
        return Err(OrderError::TooManyRows { rows, limit });
    }
    for (node, row) in (0..).zip(nodes) {
        let unknown = |parent: &u32| *parent as usize >= nodes.len();
        if let Some(parent) = row.parent.filter(unknown) {
            let nodes = nodes.len();
            return Err(OrderError::UnknownParent {
                node,
                parent,
                nodes,
            });
        }
    }
    let stray = jobs.find(|job| job.node as usize >= nodes.len());
    match stray {
        Some(&Job { id, node, .. }) => Err(OrderError::UnknownNode {
            id,
            node,
            nodes: nodes.len(),
        }),
        None => Ok(()),
    }
}

/// The depth of each node; 1 directly below the root.
pub(crate) fn depths(nodes: &[Node]) -> Result<Vec<u32>, OrderError> {
    let mut depths = vec![0; nodes.len()];
    let mut path = Vec::new();
    for node in 0..nodes.len() {
        let mut above = Some(node as u32);
        while let Some(at) = above.filter(|at| depths[*at as usize] == 0) {
            if path.len() == nodes.len() {
                return Err(OrderError::Cycle { node: node as u32 });
            }
            path.push(at);
            above = nodes[at as usize].parent;
        }
        let mut depth = above.map_or(0, |at| depths[at as usize]);
        for at in path.drain(..).rev() {
            depth += 1;
            depths[at as usize] = depth;
        }
    }
    Ok(depths)
}

/// For each node, true if it has nodes below it.
pub(super) fn inner(nodes: &[Node]) -> Vec<bool> {
    let mut inner = vec![false; nodes.len()];
    for parent in nodes.iter().filter_map(|node| node.parent) {
        inner[parent as usize] = true;
    }
    inner
}

/// Jobs, the highest tier first, then node by node in order of arrival; and the number of jobs in
/// each tier.
fn first_come(jobs: &[Job], expected: impl Fn(&Job) -> u128) -> (Vec<Item>, Vec<usize>) {
    let mut keys: Vec<_> = (0..)
        .zip(jobs)
        .map(|(at, job): (u32, _)| {
            let within = (job.nice, job.submit, job.id);
            (Reverse(job.tier), job.node, within, at)
        })
        .collect();
    keys.sort_unstable();
    let tiers = keys.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).collect();
    let item = |(_, node, (_, submit, id), job): (_, _, (_, _, _), u32)| Item {
        submit,
        id,
        expected: expected(&jobs[job as usize]),
        node,
        job,
    };
    (keys.into_iter().map(item).collect(), tiers)
}

fn charge(nodes: &[Node], used: &mut [u128], taken: &[Item]) {
    for item in taken.iter().filter(|item| item.expected > 0) {
        let mut above = Some(item.node);
        while let Some(node) = above {
            let used = &mut used[node as usize];
            *used = used.saturating_add(item.expected);
            above = nodes[node as usize].parent;
        }
    }
}

/// The merge of the jobs of one tier.
struct Merge<'a> {
    nodes: &'a [Node],
    depths: &'a [u32],
    /// True for nodes that have other nodes below them.
    inner: &'a [bool],
    level: Level,
    used: &'a [u128],
    /// Jobs of all sequences, one sequence after the other.
    sequences: Vec<Item>,
    /// Cursors of the present merge.
    cursors: Vec<Cursor>,
}

/// A sequence that has been merged up to a point.
struct Cursor {
    rest: Range<usize>,
    key: Key,
    /// Use by nodes below that compete too; not yet in the key.
    owed: u128,
}

/// Key of a sequence in a merge.
#[derive(Clone, Copy)]
enum Key {
    /// Before every ratio except 0, with which it is equal.
    Zero,
    /// The ratio of the node.
    Node(Ratio, u32),
}

/// Next job of a sequence: the sort key in the heap.
#[derive(Clone, Copy)]
struct Head {
    rounded: f64,
    submit: i64,
    id: u64,
    cursor: u32,
}

/// A sequence that competes below `parent`.
#[derive(Clone, Copy)]
struct CompetingRun {
    depth: u32,
    parent: u32,
    /// `None`: jobs of the parent itself.
    node: Option<u32>,
    start: usize,
    end: usize,
}

/// Parent of the nodes that compete over the whole tree.
const ALL: u32 = u32::MAX;

impl Merge<'_> {
    /// Merges all; returns the range of the final order in `sequences`.
    fn tier(&mut self) -> Range<usize> {
        let mut waiting = self.first_come_by_node();
        // Deepest first; the sequences of one parent together.
        while let Some(deepest) = waiting.iter().map(|one| one.depth).max() {
            let (mut now, mut next): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|one| one.depth == deepest);
            now.sort_unstable_by_key(|one| (one.parent, one.node));
            for siblings in now.chunk_by(|a, b| a.parent == b.parent) {
                let merged = self.merge(siblings);
                if deepest == 0 {
                    return merged;
                }
                next.push(self.competitor(siblings[0].parent, merged));
            }
            waiting = next;
        }
        0..0
    }

    /// Jobs of each node, in order of arrival.
    fn first_come_by_node(&self) -> Vec<CompetingRun> {
        let mut found = Vec::new();
        let mut start = 0;
        for jobs in self.sequences.chunk_by(|a, b| a.node == b.node) {
            let node = jobs[0].node;
            let range = start..start + jobs.len();
            start = range.end;
            let by_itself = self.competes_over_all(node) || !self.inner[node as usize];
            found.push(if by_itself {
                self.competitor(node, range)
            } else {
                CompetingRun {
                    depth: self.depths[node as usize] + 1,
                    parent: node,
                    node: None,
                    start: range.start,
                    end: range.end,
                }
            });
        }
        found
    }

    /// Returns true if the node's own jobs compete over the whole tree.
    fn competes_over_all(&self, node: u32) -> bool {
        match self.level {
            Level::Leaf => true,
            Level::Depth(level) => self.depths[node as usize] < level.max(1),
        }
    }

    /// `node` with a sequence.
    fn competitor(&self, node: u32, range: Range<usize>) -> CompetingRun {
        let depth = self.depths[node as usize];
        let over_all = match self.level {
            Level::Leaf => true,
            Level::Depth(level) => depth <= level.max(1),
        };
        CompetingRun {
            depth: if over_all { 0 } else { depth },
            parent: match self.nodes[node as usize].parent {
                Some(parent) if !over_all => parent,
                _ => ALL,
            },
            node: Some(node),
            start: range.start,
            end: range.end,
        }
    }

    /// Appends the merge of these sequences and returns its range.
    fn merge(&mut self, siblings: &[CompetingRun]) -> Range<usize> {
        if let [one] = siblings {
            return one.start..one.end;
        }
        self.cursors.clear();
        for one in siblings {
            let ratio = |node| {
                let entitled = self.nodes[node as usize].entitled;
                Key::Node(Ratio::new(self.used[node as usize], entitled), node)
            };
            self.cursors.push(Cursor {
                rest: one.start..one.end,
                key: one.node.map_or(Key::Zero, ratio),
                owed: 0,
            });
        }
        let above = self.above_others(siblings);
        let mut heap: Vec<Head> = (0..siblings.len())
            .map(|cursor| self.head(cursor as u32))
            .collect();
        heapify(&mut heap, |a, b| before(&self.cursors, a, b));
        let start = self.sequences.len();
        while let Some(first) = heap.first_mut() {
            let owed = std::mem::take(&mut self.cursors[first.cursor as usize].owed);
            if owed > 0 {
                // Keys only grow, so an outdated key can only come up too early.
                self.charge(first.cursor, owed);
                *first = self.head(first.cursor);
                sift_down(&mut heap, 0, |a, b| before(&self.cursors, a, b));
                continue;
            }
            let taken = self.sequences[self.cursors[first.cursor as usize].rest.start];
            self.sequences.push(taken);
            if !above.is_empty() {
                self.owe(&above, &taken);
            }
            if self.advance(first.cursor, taken.expected) {
                *first = self.head(first.cursor);
            } else {
                heap.swap_remove(0);
            }
            sift_down(&mut heap, 0, |a, b| before(&self.cursors, a, b));
        }
        start..self.sequences.len()
    }

    /// The next job of a sequence that is not empty.
    fn head(&self, cursor: u32) -> Head {
        let found = &self.cursors[cursor as usize];
        let job = &self.sequences[found.rest.start];
        Head {
            rounded: match &found.key {
                Key::Zero => 0.0,
                Key::Node(ratio, _) => ratio.rounded(),
            },
            submit: job.submit,
            id: job.id,
            cursor,
        }
    }

    /// Competing nodes that have jobs of their own and nodes below them, with their cursors.
    fn above_others(&self, siblings: &[CompetingRun]) -> HashMap<u32, u32> {
        let above = (0..).zip(siblings).filter_map(|(cursor, one)| {
            let node = one.node?;
            let mixed = self.inner[node as usize] && self.competes_over_all(node);
            mixed.then_some((node, cursor))
        });
        above.collect()
    }

    /// Records use by a job for the nodes above its own.
    fn owe(&mut self, above: &HashMap<u32, u32>, taken: &Item) {
        let mut at = self.nodes[taken.node as usize].parent;
        while let Some(node) = at {
            if let Some(&cursor) = above.get(&node) {
                let owed = &mut self.cursors[cursor as usize].owed;
                *owed = owed.saturating_add(taken.expected);
            }
            at = self.nodes[node as usize].parent;
        }
    }

    /// Moves to the next job; returns false at the end of the sequence.
    fn advance(&mut self, cursor: u32, expected: u128) -> bool {
        if expected > 0 {
            self.charge(cursor, expected);
        }
        let rest = &mut self.cursors[cursor as usize].rest;
        rest.start += 1;
        rest.start < rest.end
    }

    fn charge(&mut self, cursor: u32, expected: u128) {
        if let Key::Node(ratio, node) = &mut self.cursors[cursor as usize].key {
            let used = ratio.used().saturating_add(expected);
            *ratio = Ratio::new(used, self.nodes[*node as usize].entitled);
        }
    }
}

#[inline]
fn before(cursors: &[Cursor], a: &Head, b: &Head) -> bool {
    let ratio = |head: &Head| match cursors[head.cursor as usize].key {
        Key::Zero => Ratio::ZERO,
        Key::Node(ratio, _) => ratio,
    };
    clearly(a.rounded, b.rounded)
        .unwrap_or_else(|| ratio(a).cmp(&ratio(b)))
        .then_with(|| (a.submit, a.id).cmp(&(b.submit, b.id)))
        .is_lt()
}
