//! The plan of a backfill cycle: which nodes no job is planned for, slot by slot.
//!
//! A plan takes whole nodes. Starts and ends of plans are cut down to multiples of `bf_resolution`
//! on the wall clock.

use super::node_set::NodeSet;

/// A stretch of time with the nodes that no plan takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Seconds since 1970.
    pub from: i64,
    /// Seconds since 1970.
    pub to: i64,
    /// Nodes without plan.
    pub free: NodeSet,
}

/// The slots of a cycle.
#[derive(Clone, Debug)]
pub struct Plan {
    slots: Vec<Slot>,
    /// Slots that were made so far, also those that were joined again.
    made: usize,
    resolution: i64,
    /// All plans: job, start, end, nodes.
    taken: Vec<(usize, i64, i64, NodeSet)>,
}

/// The nodes for a start at a moment.
pub struct Offered {
    /// Those that no plan takes from the start to the end.
    pub free: NodeSet,
    /// The next moment to try at; `None`: none is better.
    pub later: Option<i64>,
}

impl Plan {
    /// A cycle that begins at `now`; plans begin within `window` seconds. `free`: the nodes that
    /// are up.
    pub fn new(now: i64, window: i64, resolution: i64, free: NodeSet) -> Plan {
        let down = |time: i64| time / resolution * resolution;
        Plan {
            slots: vec![Slot {
                from: down(now),
                to: down(now + window),
                free,
            }],
            made: 1,
            resolution,
            taken: Vec::new(),
        }
    }

    /// Slots that were made so far.
    pub fn made(&self) -> usize {
        self.made
    }

    /// The end of the window, seconds since 1970.
    pub fn window_end(&self) -> i64 {
        self.slots.last().map_or(0, |slot| slot.to)
    }

    /// The part of `nodes` without plan from `start` to `end`.
    pub fn offered(&self, nodes: &NodeSet, start: i64, end: i64) -> Offered {
        let mut free = nodes.clone();
        let mut later = None;
        for (at, slot) in self.slots.iter().enumerate() {
            let next = self.slots.get(at + 1);
            if let (Some(next), true, None) = (next, slot.to > start, later) {
                let mut after = nodes.clone();
                after.keep(&next.free);
                let mut now = free.clone();
                now.keep(&slot.free);
                if !after.is_subset(&now) {
                    later = Some(slot.to);
                }
            }
            if slot.to <= start {
                continue;
            }
            if slot.from > end {
                break;
            }
            free.keep(&slot.free);
        }
        Offered { free, later }
    }

    /// Returns true if a plan takes one of `nodes` between two moments, cut to the resolution.
    pub fn overlaps(&self, nodes: &NodeSet, start: i64, end: i64) -> bool {
        let (start, end) = (self.down(start), self.down(end));
        let mut slots = self.slots.iter();
        slots.any(|slot| slot.to > start && slot.from < end && !nodes.is_subset(&slot.free))
    }

    fn down(&self, time: i64) -> i64 {
        time / self.resolution * self.resolution
    }

    /// Takes `nodes` from `start` to `end` for a job.
    pub fn take(&mut self, job: usize, nodes: &NodeSet, start: i64, end: i64) {
        self.taken.push((job, start, end, nodes.clone()));
        let start = self.down(start).max(self.slots[0].from);
        let end = self.down(end).max(start + self.resolution);
        let (mut before, mut placed) = (0, None);
        for at in 0..self.slots.len() {
            if self.slots[at].to > start {
                self.split(at, start);
                placed = Some(at);
                break;
            }
            if self.slots[at].to == start {
                placed = Some(at);
                break;
            }
            before = at;
        }
        let Some(placed) = placed else { return };
        let mut last = None;
        let mut at = placed + 1;
        while at < self.slots.len() {
            if end < self.slots[at].to {
                self.split(at, end);
            }
            self.slots[at].free.take(nodes);
            if self.slots[at].to == end {
                last = Some(at + 1);
                break;
            }
            at += 1;
        }
        // One pair of equal neighbours is joined.
        let last = last.unwrap_or(self.slots.len()).min(self.slots.len());
        for at in before..last {
            let Some(next) = self.slots.get(at + 1) else {
                break;
            };
            if self.slots[at].free == next.free {
                self.slots[at].to = next.to;
                self.slots.remove(at + 1);
                break;
            }
        }
    }

    /// Splits a slot at a moment; the part after it follows.
    fn split(&mut self, at: usize, moment: i64) {
        let mut after = self.slots[at].clone();
        after.from = moment;
        self.slots[at].to = moment;
        self.slots.insert(at + 1, after);
        self.made += 1;
    }

    /// The first job whose plan takes one of `nodes` between two moments.
    pub fn taker(&self, nodes: &NodeSet, start: i64, end: i64) -> Option<usize> {
        let mut taken = self.taken.iter();
        let found = taken.find(|(_, from, to, own)| *from < end && *to > start && own.meets(nodes));
        found.map(|(job, ..)| *job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand.
    #[test]
    fn plans_take_nodes_in_slots() {
        let all = NodeSet::all(3);
        let mut plan = Plan::new(65, 600, 60, all.clone());
        assert_eq!((plan.slots[0].from, plan.window_end()), (60, 660));
        plan.take(7, &NodeSet::of(3, [0]), 130, 250);
        let bounds: Vec<(i64, i64)> = plan.slots.iter().map(|slot| (slot.from, slot.to)).collect();
        assert_eq!(bounds, [(60, 120), (120, 240), (240, 660)]);
        let offered = plan.offered(&all, 65, 200);
        assert_eq!(offered.free, NodeSet::of(3, [1, 2]));
        // After 60 to 120 come fewer nodes, but these are tried from the end of the plan on.
        assert_eq!(offered.later, Some(240));
        assert!(plan.overlaps(&NodeSet::of(3, [0]), 239, 300));
        assert!(!plan.overlaps(&NodeSet::of(3, [0]), 240, 300));
        assert_eq!(plan.taker(&NodeSet::of(3, [0]), 100, 140), Some(7));
        // The next plan follows on the same node: equal neighbours become one slot.
        plan.take(8, &NodeSet::of(3, [0]), 240, 300);
        assert_eq!(plan.slots.len(), 3);
        assert_eq!((plan.slots[1].from, plan.slots[1].to), (120, 300));
    }
}
