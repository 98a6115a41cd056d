//! The ledger against one that keeps every interval.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::{Plan, Total};

fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
    Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    }
}

/// root 1 -> accounts 2, 3; account 2 -> users 4, 5; account 3 -> user 6.
fn small() -> Tree {
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

fn at(tree: &Tree, id: u32) -> AssocIndex {
    tree.index_of(id).unwrap()
}

fn columns() -> Columns {
    Columns::new(["cpu", "mem"]).unwrap()
}

/// The name of the association `id`; all are accounts here.
fn key(id: u32) -> LeafKey {
    LeafKey::new(&format!("a{id}"), "", "").unwrap()
}

fn id_of(key: &LeafKey) -> u32 {
    key.account()[1..].parse().unwrap()
}

/// Keeps every interval, per run: leaf, from, to, units per column.
#[derive(Clone, Default)]
struct Naive {
    charges: Vec<(RunId, u32, i64, i64, Vec<u128>)>,
    /// Runs that can be taken back.
    open: Vec<RunId>,
    /// Runs that the clock charges, with their leaves, up to when it has, and units per second.
    clocked: Vec<(RunId, u32, i64, Vec<u128>)>,
}

impl Naive {
    /// What a leaf used in `[from, to)`, units.
    fn exact(&self, leaf: u32, from: i64, to: i64, column: usize) -> u128 {
        let charges = self.charges.iter().filter(|charge| charge.1 == leaf);
        charges
            .map(|(_, _, begin, end, units)| {
                units[column] * (to.min(*end) - from.max(*begin)).max(0) as u128
            })
            .sum()
    }

    /// The same times the resolution with the first bucket in proportion, from the definition.
    fn in_proportion(&self, leaf: u32, from: i64, to: i64, column: usize, resolution: i64) -> u128 {
        let begin = from.div_euclid(resolution) * resolution;
        let first = self.exact(leaf, begin, begin + resolution, column);
        let rest = self.exact(leaf, begin + resolution, to, column);
        rest * resolution as u128 + first * (begin + resolution - from) as u128
    }
}

/// Leaves at or below a node.
fn leaves_of(tree: &Tree, node: AssocIndex) -> Vec<u32> {
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
enum Step {
    /// Leaf, job, seconds before now, length, CPUs.
    Charge(u32, u32, i64, i64, u64),
    Advance(i64),
    /// Charges a leaf's job up to now, and lets the clock charge it from then on.
    ClockIn(u32, u32, u64),
    MoveClock,
    ClockOut(u32),
    TakeBack(u32),
    Close(u32),
    Length(i64),
    SaveAndLoad,
    Move(u32, u32),
    Remove(u32),
    Plan(Option<i64>),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (4_u32..7, 0_u32..6, 0_i64..60, 0_i64..50, 0_u64..4)
            .prop_map(|(leaf, job, ago, len, cpus)| Step::Charge(leaf, job, ago, len, cpus)),
        4 => (0_i64..25).prop_map(Step::Advance),
        4 => (4_u32..7, 0_u32..6, 0_u64..4)
            .prop_map(|(leaf, job, cpus)| Step::ClockIn(leaf, job, cpus)),
        4 => Just(Step::MoveClock),
        1 => (0_u32..6).prop_map(Step::ClockOut),
        2 => (0_u32..6).prop_map(Step::TakeBack),
        1 => (0_u32..6).prop_map(Step::Close),
        1 => (7_i64..100).prop_map(Step::Length),
        1 => Just(Step::SaveAndLoad),
        1 => (4_u32..7, 2_u32..4).prop_map(|(leaf, to)| Step::Move(leaf, to)),
        1 => (4_u32..7).prop_map(Step::Remove),
        1 => prop::option::of(0_i64..400).prop_map(Step::Plan),
    ]
}

const START: i64 = 1_000;
const KEEP: i64 = 100;

/// A ledger and a naive one, side by side.
struct Pair {
    tree: Tree,
    ledger: WindowLedger,
    naive: Naive,
    resolution: i64,
    length: i64,
    /// The plan of account 2, and totals as they should be.
    since: Option<i64>,
}

impl Pair {
    fn new(resolution: i64, length: i64) -> Pair {
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

    fn step(&mut self, step: &Step) {
        self.take_step(step);
        self.forget_clocked();
    }

    fn take_step(&mut self, step: &Step) {
        let now = self.ledger.now();
        match *step {
            Step::Charge(leaf, job, ago, len, cpus) => {
                let Some(index) = self.tree.index_of(leaf) else {
                    return;
                };
                // One leaf per job, so that most charges are taken.
                let run = RunId {
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
            Step::ClockIn(leaf, job, cpus) => {
                self.move_clock();
                let run = RunId {
                    job: job * 10 + leaf,
                    run: 1,
                };
                let until = self.ledger.charged_until(run).unwrap_or(now - 3);
                self.step(&Step::Charge(leaf, job, now - until, now - until, cpus));
                let Some(index) = self.tree.index_of(leaf) else {
                    return;
                };
                let rate = columns()
                    .rate(cpus as f64 / 8.0, 0.5, &[(0, cpus)])
                    .unwrap();
                let charge = self.naive.charges.last();
                let is_charged =
                    charge.is_some_and(|charge| charge.0 == run && until < now && charge.3 == now);
                let is_dated = self.ledger.dates().last().is_some_and(|since| *since > now);
                let is_in = self.ledger.clock_in(&self.tree, index, run, &rate);
                assert!(is_in || !is_charged || is_dated);
                let is_new = self.naive.clocked.iter().all(|each| each.0 != run);
                if is_in && is_new {
                    let units = rate.units.to_vec();
                    self.naive.clocked.push((run, leaf, now, units));
                }
            }
            Step::MoveClock => self.move_clock(),
            Step::ClockOut(job) => {
                for leaf in 4..7 {
                    let run = RunId {
                        job: job * 10 + leaf,
                        run: 1,
                    };
                    self.ledger.clock_out(&self.tree, run);
                }
            }
            Step::TakeBack(job) => {
                for leaf in 4..7 {
                    let run = RunId {
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
                    let run = RunId {
                        job: job * 10 + leaf,
                        run: 1,
                    };
                    let is_open = self.naive.open.contains(&run);
                    self.ledger.clock_out(&self.tree, run);
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
                    let moved = self.ledger.move_assoc(&mut self.tree, leaf, parent);
                    moved.unwrap();
                }
            }
            Step::Remove(leaf) => {
                let Some(index) = self.tree.index_of(leaf) else {
                    return;
                };
                let parent = self.tree.rows()[self.tree.parent(index).unwrap().get()].id;
                self.ledger.remove_assoc(&mut self.tree, leaf).unwrap();
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

    fn move_clock(&mut self) {
        self.ledger.move_clock();
        let now = self.ledger.now();
        for (run, leaf, until, units) in &mut self.naive.clocked {
            let charge = (*run, *leaf, *until, now, units.clone());
            self.naive.charges.push(charge);
            *until = now;
        }
    }

    /// Runs that were clocked out by what a step did.
    fn forget_clocked(&mut self) {
        let runs = &self.ledger.runs;
        self.naive
            .clocked
            .retain(|(run, ..)| runs.get(run).is_some_and(|run| run.is_clocked));
    }

    fn save_and_load(&mut self) {
        let tree = &self.tree;
        let name = |index: AssocIndex| key(tree.rows()[index.get()].id);
        let saved = self.ledger.save(name).unwrap();
        let history = History::load(&saved).unwrap();
        // Without what the clock charges it is written in another way.
        let bytes = history.save();
        assert!(bytes == saved || !self.naive.clocked.is_empty());
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
        assert_eq!(ledger.save(name).unwrap(), bytes);
        self.ledger = ledger;
    }

    fn check(&self) {
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
                let below_2 = leaves_of(&self.tree, at_id(&self.tree, 2)).contains(&id);
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

    fn check_shorter(&self, length: i64) {
        let now = self.ledger.now();
        let within = self
            .ledger
            .used_within(&self.tree, length as u64, Column::Wall);
        for (node, used) in self.tree.indices().zip(within.unwrap()) {
            let leaves = leaves_of(&self.tree, node);
            let of = |leaf: &u32| {
                self.naive
                    .in_proportion(*leaf, now - length, now, 1, self.resolution)
            };
            assert_eq!(used.numerator, leaves.iter().map(of).sum::<u128>());
        }
    }
}

fn at_id(tree: &Tree, id: u32) -> AssocIndex {
    at(tree, id)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    // Any length, shift, take-back and resolution; tree edits, plans and files in between.
    #[test]
    fn a_ledger_equals_one_that_keeps_every_interval(
        resolution in 1_i64..12,
        length in 12_i64..100,
        shorter in 12_i64..100,
        steps in prop::collection::vec(any_step(), 1..50)
    ) {
        let mut pair = Pair::new(resolution, length);
        for step in &steps {
            pair.step(step);
            pair.check();
        }
        pair.check_shorter(shorter);
        // Recomputed it is the same, to the last bit.
        let mut rebuilt = pair.ledger.clone();
        rebuilt.rebuild(&pair.tree);
        for node in pair.tree.indices() {
            let column = Column::Billing;
            prop_assert_eq!(rebuilt.used(node, column), pair.ledger.used(node, column));
        }
        // Taking everything back leaves nothing.
        let runs: Vec<RunId> = pair.ledger.open_runs().collect();
        for run in runs {
            pair.ledger.take_back(&pair.tree, run);
            pair.naive.charges.retain(|charge| charge.0 != run);
        }
        pair.check();
    }

    // What was taken back leaves the ledger as if it had never been charged.
    #[test]
    fn taking_back_restores_the_file(
        resolution in 1_i64..12,
        before in prop::collection::vec(any_step(), 0..20),
        charges in prop::collection::vec((4_u32..7, 0_i64..90, 1_i64..90, 1_u64..5), 1..6)
    ) {
        let mut pair = Pair::new(resolution, 50);
        for step in &before {
            pair.step(step);
        }
        let tree = &pair.tree;
        let name = |index: AssocIndex| key(tree.rows()[index.get()].id);
        let bytes = pair.ledger.save(name).unwrap();
        let now = pair.ledger.now();
        let mut runs = Vec::new();
        for (job, (leaf, ago, len, cpus)) in charges.into_iter().enumerate() {
            let Some(index) = tree.index_of(leaf) else { continue };
            let run = RunId { job: 100 + job as u32, run: 0 };
            let rate = columns().rate(1.0 / 3.0, 1.0, &[(1, cpus)]).unwrap();
            let from = now - ago;
            pair.ledger.charge(tree, index, run, from, now.min(from + len), &rate).unwrap();
            runs.push(run);
        }
        for run in runs {
            pair.ledger.take_back(tree, run);
        }
        prop_assert_eq!(pair.ledger.save(name).unwrap(), bytes);
    }

    // Histories of three clusters, one of them in two parts, in any order.
    #[test]
    fn merges_do_not_depend_on_their_order(
        charges in prop::collection::vec(
            (0_usize..4, 4_u32..7, 0_u32..4, 0_i64..90, 1_i64..60, 1_u64..4, any::<bool>()), 0..30
        ),
        order in Just([0_usize, 1, 2, 3]).prop_shuffle()
    ) {
        let names = ["one", "two", "three", "one"];
        let tres = [["cpu", "mem"], ["mem", "disk"], ["cpu", "gres/gpu"], ["cpu", "mem"]];
        let mut parts: Vec<History> = names.iter().zip(tres).enumerate().map(|(at, (name, tres))| {
            let columns = Columns::new(tres).unwrap();
            let mut history = History::new(name, 7, columns, &[40], 1_000).unwrap();
            // The two parts of "one" cover different times.
            let from = if at == 3 { 200 } else { 0 };
            history.cover(from, from + 200).unwrap();
            history
        }).collect();
        let mut naive = [Naive::default(), Naive::default()];
        for (part, leaf, job, from, len, cpus, open) in charges {
            let from = if part == 3 { from + 200 } else { from };
            let history = &mut parts[part];
            let rate = history.columns().rate(cpus as f64, 1.0, &[(0, cpus)]).unwrap();
            let run = open.then_some(RunId { job: job * 10 + leaf, run: part as i64 });
            if history.charge(&key(leaf), run, from, from + len, &rate).is_ok() {
                let run = RunId { job: 0, run: 0 };
                let units = rate.units.to_vec();
                naive[0].charges.push((run, leaf, from, from + len, units));
            }
        }
        let merge = |order: &[usize]| {
            let mut merged = parts[order[0]].clone();
            for part in &order[1..] {
                merged.merge(&parts[*part]).unwrap();
            }
            merged
        };
        let merged = merge(&[0, 1, 2, 3]);
        prop_assert_eq!(merge(&order).save(), merged.save());
        let mut pairs = parts[order[0]].clone();
        let mut others = parts[order[2]].clone();
        pairs.merge(&parts[order[1]]).unwrap();
        others.merge(&parts[order[3]]).unwrap();
        pairs.merge(&others).unwrap();
        prop_assert_eq!(pairs.save(), merged.save());
        prop_assert_eq!(merged.columns().tres().len(), 4);
        for leaf in 4..7 {
            let used = merged.used(&key(leaf), 0, 400, Column::Billing).unwrap();
            prop_assert_eq!(used.numerator, 7 * naive[0].exact(leaf, 0, 400, 0));
            let used = merged.used_since(&key(leaf), 40, Column::Billing).unwrap();
            prop_assert_eq!(used.numerator, naive[0].exact(leaf, 40, 400, 0));
        }
        // Twice is refused, and nothing is changed.
        let mut twice = merged.clone();
        let refused = twice.merge(&parts[order[0]]);
        let is_covered_twice = matches!(refused, Err(WindowError::CoveredTwice { .. }));
        prop_assert!(is_covered_twice);
        prop_assert_eq!(twice.save(), merged.save());
    }
}

/// A history of some charges and an open run.
fn sample() -> History {
    let mut history = History::new("hpc", 3600, columns(), &[90_000], 1_000_000).unwrap();
    history.cover(0, 900_000).unwrap();
    let rate = columns().rate(2.5, 1.0, &[(0, 2), (1, 4096)]).unwrap();
    history
        .charge(&key(4), None, 10_000, 100_000, &rate)
        .unwrap();
    let run = RunId {
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

#[test]
fn every_damage_is_noticed_and_placed() {
    let bytes = sample().save();
    assert_eq!(History::load(&bytes).unwrap().save(), bytes);
    for len in 0..bytes.len() {
        assert!(History::load(&bytes[..len]).is_err(), "cut at {len}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(History::load(&flipped).is_err(), "bit {bit}");
    }
    let error = History::load(&bytes[..4]).unwrap_err().to_string();
    assert_eq!(error, "byte 0: bad magic number: no ledger");
    let mut later = bytes.clone();
    later[8] = 3;
    let error = History::load(&later).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 8: format 3; this version reads 1 to 2"
    );
}

#[test]
fn contents_are_checked_behind_a_right_checksum() {
    let bytes = sample().save();
    let end = bytes.len() - 4;
    let mut loaded = 0;
    for at in 12..end {
        for byte in [
            0,
            1,
            bytes[at].wrapping_add(1),
            bytes[at] ^ 0x80,
            0x7f,
            0xff,
        ] {
            let mut wrong = bytes.clone();
            wrong[at] = byte;
            let checksum = crc32fast::hash(&wrong[..end]);
            wrong[end..].copy_from_slice(&checksum.to_le_bytes());
            match History::load(&wrong) {
                // Another history, as written; all in it can be used.
                Ok(mut history) => {
                    loaded += 1;
                    assert_eq!(history.save(), wrong);
                    let runs: Vec<RunId> = history.runs.iter().map(|((_, run), _)| *run).collect();
                    for run in runs {
                        assert!(history.take_back(run));
                    }
                }
                Err(WindowError::Damaged { offset, .. }) => assert!((12..=end).contains(&offset)),
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(loaded > 0);
}

proptest! {
    // Whatever bytes come: an error or a history, and no panic.
    #[test]
    fn any_bytes_are_read_without_panic(
        content in prop::collection::vec(prop_oneof![4 => 0_u8..4, 1 => any::<u8>()], 0..120)
    ) {
        let mut bytes = b"FTLEDGER\x01\0\0\0".to_vec();
        bytes.extend(&content);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        if let Ok(history) = History::load(&bytes) {
            prop_assert_eq!(history.save(), bytes);
        }
    }
}

fn message(result: Result<(), WindowError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let tree = small();
    let window = Window::new(100, 10).unwrap();
    let mut ledger = WindowLedger::new(&tree, window, 100, columns(), "hpc", START).unwrap();
    let run = RunId { job: 7, run: 900 };
    let user = at(&tree, 4);
    let rate = columns().rate(1.0, 1.0, &[]).unwrap();
    ledger.charge(&tree, user, run, 900, 950, &rate).unwrap();
    let name = |index: AssocIndex| key(tree.rows()[index.get()].id);
    let before = ledger.save(name).unwrap();
    let mut charge =
        |index, from, to, rate: &Rate| message(ledger.charge(&tree, index, run, from, to, rate));
    assert_eq!(
        charge(user, 990, 980, &rate),
        "association 4, job 7 run 900: the interval from 990 to 980 is reversed; allowed is an \
         end not before the beginning"
    );
    assert_eq!(
        charge(user, 940, 960, &rate),
        "job 7 run 900: the interval from 940 to 960 overlaps with 900 to 950, which is charged; \
         allowed is each second once"
    );
    assert_eq!(
        charge(user, 960, 1001, &rate),
        "association 4, job 7 run 900: charged up to 1001, but the ledger stands at 1000; \
         allowed is up to that"
    );
    assert_eq!(
        charge(user, -5, 1, &rate),
        "beginning: -5 s since 1970; allowed are 0 to 253402300799 s"
    );
    assert_eq!(
        charge(at(&tree, 5), 960, 970, &rate),
        "job 7 run 900: charged to association 5, but before to another; allowed is one \
         association per run"
    );
    assert_eq!(
        charge(AssocIndex::new(6), 960, 970, &rate),
        "association at position 6, but the tree has 6"
    );
    let other = Columns::default().rate(1.0, 1.0, &[]).unwrap();
    assert_eq!(
        charge(user, 960, 970, &other),
        "a rate of 0 TRES was charged to a ledger of 2"
    );
    let large = columns().rate(1.0, 1e19, &[(0, u64::MAX)]).unwrap();
    assert!(charge(user, 960, 970, &large).contains("usage beyond 1.29"));
    assert_eq!(ledger.save(name).unwrap(), before);
    assert_eq!(
        message(ledger.cover(0, 1001)),
        "source hpc: charged up to 1001, but the ledger stands at 1000; allowed is up to that"
    );
    assert_eq!(
        message(ledger.set_length(&tree, 101)),
        "window: 101 s, but the ledger keeps 100 s; allowed is up to that"
    );
    assert_eq!(
        message(ledger.set_length(&tree, 9)),
        "window: 9 s; allowed are 10 s (the resolution) to 3153600000 s"
    );
    assert_eq!(
        message(ledger.coarsen(&tree, 25)),
        "resolution: the ledger has buckets of 10 s, and 25 s is no multiple of that"
    );
    assert_eq!(
        message(Window::new(100, 0).map(|_| ())),
        "resolution: 0 s; allowed are 1 to 86400 s (1 day)"
    );
    assert_eq!(
        message(window.entitled(0.0).map(|_| ())),
        "capacity: 0 billing TRES; allowed is a number above 0"
    );
    assert!(window.entitled(f64::NAN).is_err());
    assert_eq!(window.entitled(64.0), Ok(6400.0));
    assert_eq!(
        message(LeafKey::new("", "u", "").map(|_| ()))
            .split(':')
            .next(),
        Some("name \"\\0u\\0\"")
    );
    assert!(Total::new(-1).is_err());
    assert_eq!(ledger.save(name).unwrap(), before);
}

#[test]
fn other_sources_come_and_go_without_a_trace() {
    let tree = small();
    let window = Window::new(100, 10).unwrap();
    let mut ledger = WindowLedger::new(&tree, window, 100, columns(), "hpc", START).unwrap();
    let rate = columns().rate(1.0, 1.0, &[]).unwrap();
    let run = RunId { job: 7, run: 0 };
    ledger
        .charge(&tree, at(&tree, 4), run, 950, 1000, &rate)
        .unwrap();
    ledger.cover(900, 1000).unwrap();
    let place = |key: &LeafKey| tree.index_of(id_of(key));
    let name = |index: AssocIndex| key(tree.rows()[index.get()].id);
    let saved = ledger.save(name).unwrap();
    let root = at(&tree, 1);
    let used = |ledger: &WindowLedger| ledger.used(root, Column::Wall).to_f64();
    let history = |source: &str, leaf: u32, secs: i64| {
        let mut history = History::new(source, 5, columns(), &[], 1000).unwrap();
        history
            .charge(&key(leaf), None, 900, 900 + secs, &rate)
            .unwrap();
        history.cover(900, 1000).unwrap();
        history
    };
    assert_eq!(ledger.take_changed(), Changed::All);
    let placed = ledger
        .set_other(&tree, "two", history("two", 6, 30), place)
        .unwrap();
    assert_eq!((placed.placed, used(&ledger)), (1, 80.0));
    assert_eq!(ledger.take_changed(), Changed::Some(vec![at(&tree, 6)]));
    // A newer file takes the place of the older; what it names but the tree has not is told.
    ledger
        .set_other(&tree, "two", history("two", 5, 40), place)
        .unwrap();
    assert_eq!(used(&ledger), 90.0);
    assert_eq!(
        ledger.take_changed(),
        Changed::Some(vec![at(&tree, 5), at(&tree, 6)])
    );
    let placed = ledger
        .set_other(&tree, "three", history("three", 9, 40), place)
        .unwrap();
    assert_eq!(
        placed,
        Placed {
            placed: 0,
            unplaced: vec![key(9)]
        }
    );
    // What the ledger saw itself is refused from others.
    let refused = ledger
        .set_other(&tree, "fill", history("hpc", 5, 40), place)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "source \"hpc\": 900 to 1000 is covered twice; allowed is each second once"
    );
    assert_eq!(used(&ledger), 90.0);
    assert_eq!(ledger.save(name).unwrap(), saved);
    ledger.advance(&tree, 1025).unwrap();
    assert_eq!(used(&ledger), 50.0 + 15.0);
    assert!(ledger.remove_other(&tree, "two"));
    assert!(!ledger.remove_other(&tree, "two"));
    assert_eq!(used(&ledger), 50.0);
    ledger.advance(&tree, 1055).unwrap();
    assert_eq!(used(&ledger), 45.0);
    let mut foreign = History::new("two", 10, columns(), &[], 1000).unwrap();
    foreign.cover(0, 10).unwrap();
    let refused = ledger
        .restore(&tree, foreign, place)
        .unwrap_err()
        .to_string();
    assert_eq!(refused, "sources [\"two\"]; allowed is \"hpc\" alone");
}

#[test]
fn use_without_an_association_is_kept_and_placed_later() {
    let mut tree = small();
    let mut history = History::new("hpc", 10, columns(), &[900], 1000).unwrap();
    let rate = columns().rate(1.0, 1.0, &[]).unwrap();
    let run = RunId { job: 7, run: 0 };
    history
        .charge(&key(9), Some(run), 950, 1000, &rate)
        .unwrap();
    history.charge(&key(4), None, 950, 1000, &rate).unwrap();
    let bytes = history.save();
    let window = Window::new(100, 10).unwrap();
    let mut ledger = WindowLedger::new(&tree, window, 1000, columns(), "hpc", START).unwrap();
    let place = |tree: &Tree, key: &LeafKey| tree.index_of(id_of(key));
    let placed = ledger
        .restore(&tree, history, |key| place(&tree, key))
        .unwrap();
    assert_eq!(
        placed,
        Placed {
            placed: 1,
            unplaced: vec![key(9)]
        }
    );
    let name = |tree: &Tree, index: AssocIndex| key(tree.rows()[index.get()].id);
    assert_eq!(ledger.save(|index| name(&tree, index)).unwrap(), bytes);
    let root = at(&tree, 1);
    assert_eq!(ledger.used(root, Column::Wall).to_f64(), 50.0);
    ledger
        .add_assoc(&mut tree, row(9, Some(3), AssocKind::User))
        .unwrap();
    assert_eq!(ledger.used(root, Column::Wall).to_f64(), 50.0);
    let placed = ledger.place_again(&tree, |key| place(&tree, key));
    assert_eq!(
        placed,
        Placed {
            placed: 1,
            unplaced: vec![]
        }
    );
    assert_eq!(ledger.used(root, Column::Wall).to_f64(), 100.0);
    assert_eq!(ledger.save(|index| name(&tree, index)).unwrap(), bytes);
    assert!(ledger.take_back(&tree, run));
    assert_eq!(ledger.used(at(&tree, 3), Column::Wall).to_f64(), 0.0);
    ledger.reset_assoc(&tree, at(&tree, 2));
    assert_eq!(ledger.used(root, Column::Wall).to_f64(), 0.0);
}

#[test]
fn longer_buckets_are_exact() {
    let mut fine = sample();
    let run = RunId {
        job: 7,
        run: 500_000,
    };
    let mut coarse = History::new("hpc", 86_400, columns(), &[90_000], 1_000_000).unwrap();
    coarse.cover(0, 900_000).unwrap();
    let rate = columns().rate(2.5, 1.0, &[(0, 2), (1, 4096)]).unwrap();
    coarse
        .charge(&key(4), None, 10_000, 100_000, &rate)
        .unwrap();
    assert!(fine.coarsen(5400).is_err());
    fine.coarsen(86_400).unwrap();
    assert!(fine.take_back(run));
    assert_eq!(fine.save(), coarse.save());
}

#[test]
fn plans_stand_side_by_side() {
    let mut tree = small();
    let window = Window::new(100, 10).unwrap();
    let mut ledger = WindowLedger::new(&tree, window, 100, columns(), "hpc", START).unwrap();
    let flex = Plan::Total(Total::new(500).unwrap());
    ledger
        .set_plans(&tree, Plan::Window, [(2, flex), (5, Plan::Window)])
        .unwrap();
    let rate = columns().rate(1.0, 1.0, &[]).unwrap();
    for (job, leaf) in [(1, 4), (2, 5), (3, 6)] {
        let run = RunId { job, run: 0 };
        ledger
            .charge(&tree, at(&tree, leaf), run, 400, 600, &rate)
            .unwrap();
        ledger
            .charge(&tree, at(&tree, leaf), run, 900, 1000, &rate)
            .unwrap();
    }
    let used = |ledger: &WindowLedger, tree: &Tree| {
        [1, 2, 3, 4, 5, 6].map(|id| ledger.used(at(tree, id), Column::Billing).to_f64())
    };
    assert_eq!(
        used(&ledger, &tree),
        [300.0, 400.0, 100.0, 200.0, 100.0, 100.0]
    );
    ledger.advance(&tree, 1050).unwrap();
    assert_eq!(
        used(&ledger, &tree),
        [150.0, 400.0, 50.0, 200.0, 50.0, 50.0]
    );
    ledger.move_assoc(&mut tree, 6, 2).unwrap();
    assert_eq!(
        used(&ledger, &tree),
        [150.0, 600.0, 0.0, 200.0, 50.0, 200.0]
    );
    let index = ledger
        .add_assoc(&mut tree, row(7, Some(2), AssocKind::User))
        .unwrap();
    let run = RunId { job: 4, run: 0 };
    ledger.charge(&tree, index, run, 1000, 1010, &rate).unwrap();
    assert_eq!(
        ledger.used(index, Column::Billing),
        Used {
            numerator: 10 * 1_000_000_000,
            denominator: 1
        }
    );
    assert!(!ledger.forget_date(&tree, 500));
    // Another model for a while: the totals are there afterwards.
    ledger.set_plans(&tree, Plan::Window, []).unwrap();
    ledger.advance(&tree, 5000).unwrap();
    ledger.set_plans(&tree, Plan::Window, [(2, flex)]).unwrap();
    assert_eq!(used(&ledger, &tree)[1], 610.0);
    ledger.set_plans(&tree, Plan::Window, []).unwrap();
    assert!(ledger.forget_date(&tree, 500));
    assert_eq!(ledger.dates(), []);
    let many = (0..65).map(|at| (at, Plan::Total(Total::new(i64::from(at)).unwrap())));
    let refused = ledger.set_plans(&tree, Plan::Window, many).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "totals since 65 dates; allowed are up to 64"
    );
}

#[test]
fn a_clock_that_steps_back_moves_nothing() {
    let tree = small();
    let window = Window::new(100, 10).unwrap();
    let mut ledger = WindowLedger::new(&tree, window, 100, columns(), "hpc", START).unwrap();
    assert_eq!(ledger.advance(&tree, 900), Ok(false));
    assert_eq!(ledger.now(), START);
    assert!(ledger.advance(&tree, -1).is_err());
    assert_eq!(ledger.advance(&tree, 1001), Ok(true));
    ledger.take_changed();
    assert_eq!(ledger.take_changed(), Changed::Some(vec![]));
}

#[test]
fn memory_goes_with_activity() {
    let tree = small();
    let window = Window::new(28 * 86_400, 3600).unwrap();
    let mut ledger =
        WindowLedger::new(&tree, window, 28 * 86_400, columns(), "hpc", 1_800_000_000).unwrap();
    let rate = columns().rate(1.0, 1.0, &[(0, 4)]).unwrap();
    let mut most = 0;
    let mut sizes = BTreeMap::new();
    // Three years of hourly use that differs from hour to hour.
    for hour in 0..3 * 365 * 24_i64 {
        let now = 1_800_000_000 + hour * 3600;
        ledger.advance(&tree, now).unwrap();
        let run = RunId { job: 1, run: now };
        let from = now - 600 - hour % 50;
        ledger
            .charge(&tree, at(&tree, 4), run, from, now, &rate)
            .unwrap();
        ledger.close(run);
        most = most.max(ledger.memory());
        sizes.insert(hour, ledger.memory());
    }
    // 28 days and an eighth, at most 20 bytes an hour, a little more while it is changed.
    assert!(most < 40_000, "{most}");
    // Idle, it is forgotten.
    ledger
        .advance(&tree, 1_800_000_000 + 4 * 365 * 86_400)
        .unwrap();
    assert!(ledger.memory() < 4_000, "{}", ledger.memory());
}
