//! The ledger against one that keeps every interval.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::naive::*;
use super::*;
use crate::tree::{AssocIndex, AssocKind, Tree};
use crate::usage::{Plan, Total};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    // Any length, shift, take-back and resolution; tree edits, plans and files in between.
    #[test]
    fn a_ledger_equals_one_that_keeps_every_interval(
        resolution in 1_i64..12,
        length in 12_i64..100,
        steps in prop::collection::vec(any_step(), 1..50)
    ) {
        let mut pair = Pair::new(resolution, length);
        for step in &steps {
            pair.step(step);
            pair.check();
        }
        // Recomputed it is the same, to the last bit.
        let mut rebuilt = pair.ledger.clone();
        rebuilt.rebuild(&pair.tree);
        for node in pair.tree.indices() {
            let column = Column::Billing;
            prop_assert_eq!(rebuilt.used(node, column), pair.ledger.used(node, column));
        }
        // Taking everything back leaves nothing.
        let runs: Vec<LedgerRun> = pair.ledger.open_runs().collect();
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
            let run = LedgerRun { job: 100 + job as u32, run: 0 };
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
}

fn message(result: Result<(), WindowError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let tree = small();
    let window = Window::new(100, 10).unwrap();
    let mut ledger = WindowLedger::new(&tree, window, 100, columns(), "hpc", START).unwrap();
    let run = LedgerRun { job: 7, run: 900 };
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
        "resolution: the ledger has buckets of 10 s, and 25 s is not a multiple of that"
    );
    assert_eq!(
        message(Window::new(100, 0).map(|_| ())),
        "resolution: 0 s; allowed are 1 to 86400 s (1 day)"
    );
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
    let run = LedgerRun { job: 7, run: 0 };
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
        let mut history = UsageHistory::new(source, 5, columns(), &[], 1000).unwrap();
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
    let mut foreign = UsageHistory::new("two", 10, columns(), &[], 1000).unwrap();
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
    let mut history = UsageHistory::new("hpc", 10, columns(), &[900], 1000).unwrap();
    let rate = columns().rate(1.0, 1.0, &[]).unwrap();
    let run = LedgerRun { job: 7, run: 0 };
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
    edit(&mut ledger, &mut tree, |tree| {
        tree.add(row(9, Some(3), AssocKind::User))
    })
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
    let mut fine = sample(3600);
    assert!(fine.coarsen(5400).is_err());
    fine.coarsen(86_400).unwrap();
    assert_eq!(fine.save(), sample(86_400).save());
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
        let run = LedgerRun { job, run: 0 };
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
    edit(&mut ledger, &mut tree, |tree| tree.move_to(6, 2)).unwrap();
    assert_eq!(
        used(&ledger, &tree),
        [150.0, 600.0, 0.0, 200.0, 50.0, 200.0]
    );
    let added = edit(&mut ledger, &mut tree, |tree| {
        tree.add(row(7, Some(2), AssocKind::User))
    });
    let index = added.unwrap();
    let run = LedgerRun { job: 4, run: 0 };
    ledger.charge(&tree, index, run, 1000, 1010, &rate).unwrap();
    assert_eq!(
        ledger.used(index, Column::Billing),
        Used {
            numerator: 10 * 1_000_000_000,
            denominator: 1
        }
    );
    // Another model for a while: the totals are there afterwards.
    ledger.set_plans(&tree, Plan::Window, []).unwrap();
    ledger.advance(&tree, 5000).unwrap();
    ledger.set_plans(&tree, Plan::Window, [(2, flex)]).unwrap();
    assert_eq!(used(&ledger, &tree)[1], 610.0);
    ledger.set_plans(&tree, Plan::Window, []).unwrap();
    assert_eq!(ledger.dates(), [500]);
    let many = (0..64).map(|at| (at, Plan::Total(Total::new(i64::from(at)).unwrap())));
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

/// Bytes of what leaves hold, about.
fn memory(ledger: &WindowLedger) -> usize {
    let leaves = ledger.slots.iter().map(|slot| &slot.leaf);
    let held = leaves.map(|leaf| leaf.buckets.size() + leaf.totals.len() * 16);
    held.sum::<usize>() + ledger.slots.len() * size_of::<super::slot::Slot>()
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
        let run = LedgerRun { job: 1, run: now };
        let from = now - 600 - hour % 50;
        ledger
            .charge(&tree, at(&tree, 4), run, from, now, &rate)
            .unwrap();
        ledger.close(run);
        most = most.max(memory(&ledger));
        sizes.insert(hour, memory(&ledger));
    }
    // 28 days and an eighth, at most 20 bytes an hour, a little more while it is changed.
    assert!(most < 40_000, "{most}");
    // Idle, it is forgotten.
    ledger
        .advance(&tree, 1_800_000_000 + 4 * 365 * 86_400)
        .unwrap();
    assert!(memory(&ledger) < 4_000, "{}", memory(&ledger));
}
