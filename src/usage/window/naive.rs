//! A ledger that keeps every interval, and the steps that it and a real one take side by side.

use proptest::prelude::*;

use super::*;
use crate::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::{Plan, Total};

pub(super) fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
    Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    }
}

/// root 1 -> accounts 2, 3; account 2 -> users 4, 5; account 3 -> user 6.
pub(super) fn small() -> Tree {
    Tree::from_rows([
        row(1, None, AssocKind::Account),
        row(2, Some(1), AssocKind::Account),
        row(3, Some(1), AssocKind::Account),
        row(4, Some(2), AssocKind::User),
        row(5, Some(2), AssocKind::User),
        row(6, Some(3), AssocKind::User),
    ])
    .unwrap()
}

pub(super) fn at(tree: &Tree, id: u32) -> AssocIndex {
    tree.index_of(id).unwrap()
}

pub(super) fn columns() -> Columns {
    Columns::new(["cpu", "mem"]).unwrap()
}

/// The name of the association `id`; all are accounts here.
pub(super) fn key(id: u32) -> LeafKey {
    LeafKey::new(&format!("a{id}"), "", "").unwrap()
}

pub(super) fn id_of(key: &LeafKey) -> u32 {
    key.account()[1..].parse().unwrap()
}

/// Keeps every interval, per run: leaf, from, to, units per column.
#[derive(Clone, Default)]
pub(super) struct Naive {
    pub(super) charges: Vec<(LedgerRun, u32, i64, i64, Vec<u128>)>,
    /// Runs that can be taken back.
    pub(super) open: Vec<LedgerRun>,
}

impl Naive {
    /// What a leaf used in `[from, to)`, units.
    pub(super) fn exact(&self, leaf: u32, from: i64, to: i64, column: usize) -> u128 {
        let charges = self.charges.iter().filter(|charge| charge.1 == leaf);
        charges
            .map(|(_, _, begin, end, units)| {
                units[column] * (to.min(*end) - from.max(*begin)).max(0) as u128
            })
            .sum()
    }

    /// The same times the resolution with the first bucket in proportion, from the definition.
    pub(super) fn in_proportion(
        &self,
        leaf: u32,
        from: i64,
        to: i64,
        column: usize,
        resolution: i64,
    ) -> u128 {
        let begin = from.div_euclid(resolution) * resolution;
        let first = self.exact(leaf, begin, begin + resolution, column);
        let rest = self.exact(leaf, begin + resolution, to, column);
        rest * resolution as u128 + first * (begin + resolution - from) as u128
    }
}

/// Leaves at or below a node.
pub(super) fn leaves_of(tree: &Tree, node: AssocIndex) -> Vec<u32> {
    let is_below = |mut index: AssocIndex| loop {
        if index == node {
            return true;
        }
        match tree.parent(index) {
            Some(parent) => index = parent,
            None => return false,
        }
    };
    let below = tree.indices().filter(|index| is_below(*index));
    below.map(|index| tree.rows()[index.get()].id).collect()
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Leaf, job, seconds before now, length, CPUs.
    Charge(u32, u32, i64, i64, u64),
    Advance(i64),
    TakeBack(u32),
    Close(u32),
    Length(i64),
    SaveAndLoad,
    Move(u32, u32),
    Remove(u32),
    Plan(Option<i64>),
}

pub(super) fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (4_u32..7, 0_u32..6, 0_i64..60, 0_i64..50, 0_u64..4)
            .prop_map(|(leaf, job, ago, len, cpus)| Step::Charge(leaf, job, ago, len, cpus)),
        4 => (0_i64..25).prop_map(Step::Advance),
        2 => (0_u32..6).prop_map(Step::TakeBack),
        1 => (0_u32..6).prop_map(Step::Close),
        1 => (7_i64..100).prop_map(Step::Length),
        1 => Just(Step::SaveAndLoad),
        1 => (4_u32..7, 2_u32..4).prop_map(|(leaf, to)| Step::Move(leaf, to)),
        1 => (4_u32..7).prop_map(Step::Remove),
        1 => prop::option::of(0_i64..400).prop_map(Step::Plan),
    ]
}

pub(super) const START: i64 = 1_000;
pub(super) const KEEP: i64 = 100;

/// A ledger and a naive one, side by side.
pub(super) struct Pair {
    pub(super) tree: Tree,
    pub(super) ledger: WindowLedger,
    pub(super) naive: Naive,
    pub(super) resolution: i64,
    pub(super) length: i64,
    /// The plan of account 2, and totals as they should be.
    pub(super) since: Option<i64>,
}

impl Pair {
    pub(super) fn new(resolution: i64, length: i64) -> Pair {
        let tree = small();
        let window = Window::new(length as u64, resolution as u64).unwrap();
        let ledger =
            WindowLedger::new(&tree, window, KEEP as u64, columns(), "hpc", START).unwrap();
        Pair {
            tree,
            ledger,
            naive: Naive::default(),
            resolution,
            length,
            since: None,
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
        let now = self.ledger.now();
        match *step {
            Step::Charge(leaf, job, ago, len, cpus) => {
                let Some(index) = self.tree.index_of(leaf) else {
                    return;
                };
                // One leaf per job, so that most charges are taken.
                let run = LedgerRun {
                    job: job * 10 + leaf,
                    run: 1,
                };
                let (from, to) = (now - ago, now - ago + len);
                let rate = columns()
                    .rate(cpus as f64 / 8.0, 0.5, &[(0, cpus)])
                    .unwrap();
                let mut charges = self.naive.charges.iter();
                let is_open = self.naive.open.contains(&run);
                let overlaps = is_open
                    && charges.any(|(other, _, begin, end, _)| {
                        *other == run && from.max(*begin) < to.min(*end)
                    });
                // Moved to a parent, the run stays with what was charged.
                let mut charges = self.naive.charges.iter();
                let elsewhere =
                    is_open && charges.any(|(other, at, ..)| *other == run && *at != leaf);
                let charged = self.ledger.charge(&self.tree, index, run, from, to, &rate);
                let allowed = to <= now && !elsewhere && !overlaps;
                assert_eq!(charged.is_ok(), allowed, "{charged:?}");
                if allowed && from < to {
                    let units = rate.units.to_vec();
                    self.naive.charges.push((run, leaf, from, to, units));
                    if !is_open {
                        self.naive.open.push(run);
                    }
                }
            }
            Step::Advance(secs) => {
                let moved = self.ledger.advance(&self.tree, now + secs).unwrap();
                assert_eq!(moved, secs > 0);
            }
            Step::TakeBack(job) => {
                for leaf in 4..7 {
                    let run = LedgerRun {
                        job: job * 10 + leaf,
                        run: 1,
                    };
                    let is_open = self.naive.open.contains(&run);
                    assert_eq!(self.ledger.take_back(&self.tree, run), is_open);
                    if is_open {
                        self.naive.open.retain(|each| *each != run);
                        self.naive.charges.retain(|charge| charge.0 != run);
                    }
                }
            }
            Step::Close(job) => {
                for leaf in 4..7 {
                    let run = LedgerRun {
                        job: job * 10 + leaf,
                        run: 1,
                    };
                    let is_open = self.naive.open.contains(&run);
                    assert_eq!(self.ledger.close(run), is_open);
                    self.naive.open.retain(|each| *each != run);
                    // A later run of the job is another one.
                    for charge in &mut self.naive.charges {
                        if charge.0 == run {
                            charge.0.run = 0;
                        }
                    }
                }
            }
            Step::Length(length) => {
                let length = length.max(self.resolution);
                self.ledger.set_length(&self.tree, length as u64).unwrap();
                self.length = length;
            }
            Step::SaveAndLoad => self.save_and_load(),
            Step::Move(leaf, parent) => {
                if self.tree.index_of(leaf).is_some() {
                    let (ledger, tree) = (&mut self.ledger, &mut self.tree);
                    edit(ledger, tree, |tree| tree.move_to(leaf, parent)).unwrap();
                }
            }
            Step::Remove(leaf) => {
                let Some(index) = self.tree.index_of(leaf) else {
                    return;
                };
                let parent = self.tree.rows()[self.tree.parent(index).unwrap().get()].id;
                let (ledger, tree) = (&mut self.ledger, &mut self.tree);
                edit(ledger, tree, |tree| tree.remove(leaf)).unwrap();
                for charge in &mut self.naive.charges {
                    if charge.1 == leaf {
                        charge.1 = parent;
                    }
                }
            }
            Step::Plan(since) => {
                // Dates on buckets, so that totals are exact.
                let since = since.map(|since| (START + since) / self.resolution * self.resolution);
                let total = |since| Plan::Total(Total::new(since).unwrap());
                let plans = since.map(|since| (2, total(since)));
                // What is too old was dropped: only dates that are kept are known exactly.
                let kept = now - KEEP + self.resolution;
                if since.is_none_or(|since| since >= kept) {
                    let set = self.ledger.set_plans(&self.tree, Plan::Window, plans);
                    set.unwrap();
                    self.since = since;
                }
            }
        }
    }

    pub(super) fn save_and_load(&mut self) {
        let tree = &self.tree;
        let name = |index: AssocIndex| key(tree.rows()[index.get()].id);
        let saved = self.ledger.save(name).unwrap();
        let history = UsageHistory::load(&saved).unwrap();
        assert_eq!(history.save(), saved);
        assert!(history == self.ledger.to_history(name).unwrap());
        let (window, now) = (self.ledger.window(), self.ledger.now());
        let mut ledger =
            WindowLedger::new(tree, window, KEEP as u64, columns(), "hpc", now).unwrap();
        let placed = ledger.restore(tree, history, |key| tree.index_of(id_of(key)));
        assert_eq!(placed.unwrap().unplaced, []);
        let plan = self
            .since
            .map(|since| (2, Plan::Total(Total::new(since).unwrap())));
        ledger.set_plans(tree, Plan::Window, plan).unwrap();
        assert_eq!(ledger.save(name).unwrap(), saved);
        self.ledger = ledger;
    }

    pub(super) fn check(&self) {
        let now = self.ledger.now();
        for node in self.tree.indices() {
            for (at, column) in [
                Column::Billing,
                Column::Wall,
                Column::Tres(0),
                Column::Tres(1),
            ]
            .into_iter()
            .enumerate()
            {
                let leaves = leaves_of(&self.tree, node);
                let sum = |of: &dyn Fn(u32) -> u128| leaves.iter().map(|leaf| of(*leaf)).sum();
                let from = now - self.length;
                let expected: u128 = sum(&|leaf| {
                    self.naive
                        .in_proportion(leaf, from, now, at, self.resolution)
                });
                let used = self.ledger.used_in_window(node, column);
                assert_eq!(used.numerator, expected);
                assert_eq!(i64::from(used.denominator), self.resolution);
                // The error is at most what the bucket at the edge holds.
                let exact: u128 = sum(&|leaf| self.naive.exact(leaf, from, now, at));
                let begin = from.div_euclid(self.resolution) * self.resolution;
                let held: u128 =
                    sum(&|leaf| self.naive.exact(leaf, begin, begin + self.resolution, at));
                let error = used.numerator.abs_diff(exact * self.resolution as u128);
                assert!(error <= held * self.resolution as u128);
                if from == begin {
                    assert_eq!(error, 0);
                }
                let id = self.tree.rows()[node.get()].id;
                let below_2 = leaves_of(&self.tree, self.tree.index_of(2).unwrap()).contains(&id);
                match self.since.filter(|_| below_2) {
                    Some(since) => {
                        let expected: u128 = sum(&|leaf| self.naive.exact(leaf, since, now, at));
                        let used = self.ledger.used(node, column);
                        assert_eq!((used.numerator, used.denominator), (expected, 1));
                    }
                    None => assert_eq!(self.ledger.used(node, column), used),
                }
            }
        }
    }
}

/// Edits a tree, which the ledger follows.
pub(super) fn edit<R>(
    ledger: &mut WindowLedger,
    tree: &mut Tree,
    change: impl FnOnce(&mut Tree) -> R,
) -> R {
    let before = tree.clone();
    let result = change(tree);
    ledger.follow_tree(&before, tree);
    result
}

/// A history of some charges and an open run.
pub(super) fn sample(resolution_secs: u64) -> UsageHistory {
    let mut history =
        UsageHistory::new("hpc", resolution_secs, columns(), &[90_000], 1_000_000).unwrap();
    history.cover(0, 900_000).unwrap();
    let rate = columns().rate(2.5, 1.0, &[(0, 2), (1, 4096)]).unwrap();
    history
        .charge(&key(4), None, 10_000, 100_000, &rate)
        .unwrap();
    let run = LedgerRun {
        job: 7,
        run: 500_000,
    };
    let rate = columns().rate(1.0 / 3.0, 0.5, &[(0, 1)]).unwrap();
    history
        .charge(&key(5), Some(run), 500_000, 503_000, &rate)
        .unwrap();
    history
        .charge(&key(5), Some(run), 510_000, 511_000, &rate)
        .unwrap();
    history
}
