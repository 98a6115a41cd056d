//! What a ledger is asked.

use super::ledger::NONE;
use super::slot::{Parts, Slot, secs_since};
use super::span::pieces;
use super::sums::{PlanId, WINDOW};
use super::{Column, Columns, Source, Used, Window, WindowLedger};
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Tree};
use crate::usage::Plan;
use std::collections::BTreeMap;

impl WindowLedger {
    /// What a node and all below it used, by the node's own plan. Panics at a position beyond
    /// the tree.
    pub fn used(&self, index: AssocIndex, column: Column) -> Used {
        match self.sums.plan(index) {
            WINDOW => self.used_in_window(index, column),
            _ => Used {
                numerator: self.sums.total(index, column.get()),
                denominator: 1,
            },
        }
    }

    /// Tells of each of these nodes [`WindowLedger::used`] of every column, in their order (billing, wall time,
    /// TRES), in TRES-seconds.
    pub(crate) fn each_used(
        &self,
        nodes: &[AssocIndex],
        mut each: impl FnMut(AssocIndex, &[Extended]),
    ) {
        let mut columns = vec![Extended::ZERO; self.columns.width()];
        for &node in nodes {
            for (at, number) in columns.iter_mut().enumerate() {
                *number = self.used(node, Column::at(at)).to_extended();
            }
            each(node, &columns);
        }
    }

    /// What a node and all below it used in the window, whatever its plan.
    pub fn used_in_window(&self, index: AssocIndex, column: Column) -> Used {
        let (inside, edge) = self.sums.window(index, column.get());
        Used {
            numerator: weigh(self.window, self.now, inside, edge),
            denominator: self.window.resolution_secs(),
        }
    }

    /// How many seconds of `[from, to)` count by a plan now, for any leaf.
    pub(in crate::usage) fn weigh_secs(&self, from: i64, to: i64, plan: Plan) -> f64 {
        match plan {
            Plan::Total(total) => secs_since(total.since(), from, to.min(self.now)) as f64,
            Plan::Window => {
                let mut parts = Parts::default();
                for piece in pieces(self.window.resolution(), from, to) {
                    parts.count(piece, self.edge);
                }
                let (inside, edge) = (parts.inside_secs as u128, parts.edge_secs as u128);
                let weighed = weigh(self.window, self.now, inside, edge);
                weighed as f64 / f64::from(self.window.resolution_secs())
            }
        }
    }

    /// What accounts used themselves, as users leave it there who are removed: per account with
    /// such use all columns (billing, wall time, TRES in their order), by the account's own plan.
    /// Ascending by position.
    pub fn left_in_accounts(&self, tree: &Tree) -> Vec<(AssocIndex, Vec<Used>)> {
        self.check_size(tree);
        let mut left: BTreeMap<AssocIndex, Vec<Used>> = BTreeMap::new();
        let own = tree.rows().iter().zip(&self.slot_of);
        let own = own.filter(|(row, slot)| row.kind == AssocKind::Account && **slot != NONE);
        let others = self.others.values().flat_map(|other| &other.slots);
        let slots = own.map(|(_, slot)| slot).chain(others);
        for slot in slots.map(|slot| &self.slots[*slot as usize]) {
            let Some(assoc) = slot.assoc else { continue };
            if tree.rows()[assoc.get()].kind != AssocKind::Account {
                continue;
            }
            let used = self.used_in_slot(slot, self.sums.plan(assoc));
            if used.iter().all(|used| used.numerator == 0) {
                continue;
            }
            match left.get_mut(&assoc) {
                None => {
                    left.insert(assoc, used);
                }
                Some(sums) => {
                    for (sum, used) in sums.iter_mut().zip(used) {
                        sum.numerator += used.numerator;
                    }
                }
            }
        }
        left.into_iter().collect()
    }

    /// What one slot holds, all columns.
    fn used_in_slot(&self, slot: &Slot, plan: PlanId) -> Vec<Used> {
        let width = self.columns.width();
        if plan == WINDOW {
            let (inside, edge) = self.sums_of(slot, self.edge);
            let denominator = self.window.resolution_secs();
            let used = |(inside, edge)| Used {
                numerator: weigh(self.window, self.now, inside, edge),
                denominator,
            };
            return inside.into_iter().zip(edge).map(used).collect();
        }
        let totals = slot.leaf.totals.iter().skip(usize::from(plan) * width);
        let used = |numerator| Used {
            numerator,
            denominator: 1,
        };
        totals.take(width).copied().map(used).collect()
    }

    /// The plan of nodes that neither have one nor are below one that has.
    pub fn default_plan(&self) -> Plan {
        self.default_plan
    }

    /// What a slot holds behind the bucket `edge`, and in it.
    pub(super) fn sums_of(&self, slot: &Slot, edge: i64) -> (Vec<u128>, Vec<u128>) {
        let mut inside = vec![0; self.columns.width()];
        let mut at_edge = inside.clone();
        slot.leaf.buckets.sum(edge + 1, i64::MAX, &mut inside);
        slot.leaf.buckets.sum(edge, edge + 1, &mut at_edge);
        (inside, at_edge)
    }

    /// Length and resolution.
    pub fn window(&self) -> Window {
        self.window
    }

    /// What is counted.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The moment up to which the window goes, seconds since 1970.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Dates since which totals are kept, ascending; seconds since 1970.
    pub fn dates(&self) -> &[i64] {
        &self.dates
    }

    /// The cluster that is charged here.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

/// What is inside the window, in units times the resolution.
fn weigh(window: Window, now: i64, inside: u128, edge: u128) -> u128 {
    let resolution = window.resolution();
    let rest = resolution - (now - window.length()).rem_euclid(resolution);
    inside * resolution as u128 + edge * rest as u128
}
