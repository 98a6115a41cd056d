//! The next job of each machine, kept as jobs come and go and use changes.
//!
//! A *stand* is a node at a machine where it, or one below it, has a waiting job. Below each stand
//! is a heap of the stands of its children, by ratio and then the age of the job that each would
//! give out next; the stands of the nodes that compete over the whole tree are in one heap per
//! machine. A change follows one path up, so it costs O(log n) for each level.
//!
//! Jobs of a node that has others below it come before those, as users with `FairShare=parent`
//! do in Fair Tree; see [`crate::order::interleaved`].

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::competitors::{NONE, QueueCompetitor};
use crate::order::{Entitled, Ratio, clearly};

/// A job in the line of its node: nice, submit time, id, position.
pub(super) type InLine = (i64, i64, u64, u32);

/// A node and what counts against it.
#[derive(Clone, Debug)]
struct ContestNode {
    parent: u32,
    over_all: bool,
    entitled: Entitled,
    used: u128,
    /// Its stands, with the machine of each.
    stands: Vec<(u32, u32)>,
}

#[derive(Clone, Debug)]
struct Stand {
    node: u32,
    machine: u32,
    /// [`NONE`]: that of the machine.
    above: u32,
    /// Its place in the heap of `above`; [`NONE`]: not yet there.
    place: u32,
    own: BTreeSet<InLine>,
    below: Vec<Entry>,
    /// The job that it would give out next.
    job: u32,
}

/// A stand in a heap, with what most comparisons need.
#[derive(Clone, Copy, Debug)]
struct Entry {
    rounded: f64,
    submit: i64,
    id: u64,
    stand: u32,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Contest {
    nodes: Vec<ContestNode>,
    stands: Vec<Stand>,
    free: Vec<u32>,
    /// One heap per machine.
    tops: Vec<Vec<Entry>>,
}

impl Contest {
    pub fn new(competitors: &[QueueCompetitor]) -> Contest {
        let node = |one: &QueueCompetitor| ContestNode {
            parent: one.parent,
            over_all: one.over_all,
            entitled: one.entitled,
            used: 0,
            stands: Vec::new(),
        };
        Contest {
            nodes: competitors.iter().map(node).collect(),
            ..Contest::default()
        }
    }

    pub fn add_machine(&mut self) {
        self.tops.push(Vec::new());
    }

    /// The position of the next job.
    pub fn first(&self, machine: u32) -> Option<u32> {
        let entry = self.tops[machine as usize].first()?;
        Some(self.stands[entry.stand as usize].job)
    }

    pub fn used(&self, node: u32) -> u128 {
        self.nodes[node as usize].used
    }

    /// The most use of a node and those above it.
    pub fn most_used(&self, node: u32) -> u128 {
        let (mut at, mut most) = (node, 0);
        while at != NONE {
            most = most.max(self.used(at));
            at = self.nodes[at as usize].parent;
        }
        most
    }

    /// A job begins to wait.
    pub fn add(&mut self, node: u32, machine: u32, job: InLine) {
        let mut at = self.stand(node, machine);
        self.stands[at as usize].own.insert(job);
        while at != NONE {
            if self.stands[at as usize].place == NONE {
                self.join(at);
            }
            self.update(at);
            at = self.stands[at as usize].above;
        }
    }

    /// A job waits no more.
    pub fn remove(&mut self, node: u32, machine: u32, job: InLine) {
        let mut at = self.stand(node, machine);
        let removed = self.stands[at as usize].own.remove(&job);
        debug_assert!(removed, "it waits there");
        while at != NONE {
            let above = self.stands[at as usize].above;
            self.update(at);
            at = above;
        }
    }

    /// As [`Contest::remove`], then [`Contest::charge`], at the cost of one of them.
    pub fn remove_and_charge(
        &mut self,
        node: u32,
        machine: u32,
        job: InLine,
        by: impl Fn(u32) -> i128,
    ) {
        let at = self.stand(node, machine);
        let removed = self.stands[at as usize].own.remove(&job);
        debug_assert!(removed, "it waits there");
        self.charge(node, by);
    }

    /// The use of nodes on the path of `node` changes, each by what `by` tells for it.
    pub fn charge(&mut self, node: u32, by: impl Fn(u32) -> i128) {
        let mut at = node;
        while at != NONE {
            let used = &mut self.nodes[at as usize].used;
            *used = used
                .checked_add_signed(by(at))
                .expect("no less than nothing is used");
            // From the last on, as one without jobs goes, and those behind it move up.
            for nth in (0..self.nodes[at as usize].stands.len()).rev() {
                let (_, stand) = self.nodes[at as usize].stands[nth];
                self.update(stand);
            }
            at = self.nodes[at as usize].parent;
        }
    }

    /// The stand of a node at a machine; a new one, if need be.
    fn stand(&mut self, node: u32, machine: u32) -> u32 {
        let stands = &self.nodes[node as usize].stands;
        if let Some((_, stand)) = stands.iter().find(|stand| stand.0 == machine) {
            return *stand;
        }
        let new = Stand {
            node,
            machine,
            above: NONE,
            place: NONE,
            own: BTreeSet::new(),
            below: Vec::new(),
            job: NONE,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.stands[at as usize] = new;
                at
            }
            None => {
                self.stands.push(new);
                self.stands.len() as u32 - 1
            }
        };
        self.nodes[node as usize].stands.push((machine, at));
        at
    }

    /// A new stand finds the one above it and the end of its heap.
    fn join(&mut self, at: u32) {
        let Stand { node, machine, .. } = self.stands[at as usize];
        let ContestNode {
            parent, over_all, ..
        } = self.nodes[node as usize];
        let above = if over_all {
            NONE
        } else {
            self.stand(parent, machine)
        };
        let entry = Entry {
            rounded: 0.0,
            submit: 0,
            id: 0,
            stand: at,
        };
        let heap = self.heap(above, machine);
        let place = heap.len() as u32;
        heap.push(entry);
        let stand = &mut self.stands[at as usize];
        stand.place = place;
        stand.above = above;
    }

    /// The job that a stand gives out next: submit time, id and position.
    fn head(&self, at: u32) -> Option<(i64, u64, u32)> {
        let stand = &self.stands[at as usize];
        let own = stand.own.first().map(|own| (own.1, own.2, own.3));
        let Some(below) = stand.below.first() else {
            return own;
        };
        match own {
            Some(own) if below.rounded > 0.0 || (own.0, own.1) < (below.submit, below.id) => {
                Some(own)
            }
            _ => Some((
                below.submit,
                below.id,
                self.stands[below.stand as usize].job,
            )),
        }
    }

    /// Puts a stand where its ratio and its next job belong, or away when it has none.
    fn update(&mut self, at: u32) {
        let Stand {
            node,
            machine,
            above,
            place,
            ..
        } = self.stands[at as usize];
        let mut heap = std::mem::take(self.heap(above, machine));
        match self.head(at) {
            Some((submit, id, job)) => {
                heap[place as usize] = Entry {
                    rounded: self.ratio(at).rounded(),
                    submit,
                    id,
                    stand: at,
                };
                self.stands[at as usize].job = job;
                self.sift(&mut heap, place as usize);
            }
            None => {
                let last = heap.pop().expect("it stands there");
                if (place as usize) < heap.len() {
                    heap[place as usize] = last;
                    self.sift(&mut heap, place as usize);
                }
                let stands = &mut self.nodes[node as usize].stands;
                stands.retain(|stand| stand.1 != at);
                self.free.push(at);
            }
        }
        *self.heap(above, machine) = heap;
    }

    fn heap(&mut self, above: u32, machine: u32) -> &mut Vec<Entry> {
        match above {
            NONE => &mut self.tops[machine as usize],
            _ => &mut self.stands[above as usize].below,
        }
    }

    fn ratio(&self, stand: u32) -> Ratio {
        let node = &self.nodes[self.stands[stand as usize].node as usize];
        Ratio::new(node.used, node.entitled)
    }

    fn before(&self, a: &Entry, b: &Entry) -> bool {
        clearly(a.rounded, b.rounded)
            .unwrap_or_else(|| self.ratio(a.stand).cmp(&self.ratio(b.stand)))
            .then_with(|| (a.submit, a.id).cmp(&(b.submit, b.id)))
            == Ordering::Less
    }

    /// Moves the entry at `at` up or down to where it belongs.
    fn sift(&mut self, heap: &mut [Entry], mut at: usize) {
        let entry = heap[at];
        while at > 0 && self.before(&entry, &heap[(at - 1) / 2]) {
            let parent = (at - 1) / 2;
            heap[at] = heap[parent];
            self.stands[heap[at].stand as usize].place = at as u32;
            at = parent;
        }
        loop {
            let left = 2 * at + 1;
            if left >= heap.len() {
                break;
            }
            let right = left + 1;
            let down = right < heap.len() && self.before(&heap[right], &heap[left]);
            let child = if down { right } else { left };
            if !self.before(&heap[child], &entry) {
                break;
            }
            heap[at] = heap[child];
            self.stands[heap[at].stand as usize].place = at as u32;
            at = child;
        }
        heap[at] = entry;
        self.stands[entry.stand as usize].place = at as u32;
    }
}
