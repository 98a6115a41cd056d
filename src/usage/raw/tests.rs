use super::*;
use crate::tree::{AssocKind, Shares};
use crate::usage::Decay;
use proptest::prelude::*;

fn row(id: AssocId, parent: Option<AssocId>, kind: AssocKind) -> Assoc {
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

fn at(tree: &Tree, id: AssocId) -> AssocIndex {
    tree.index_of(id).unwrap()
}

fn numbers(usages: &[Extended]) -> Vec<f64> {
    usages.iter().map(|usage| usage.to_f64()).collect()
}

fn usages(numbers: &[f64]) -> Vec<Extended> {
    numbers
        .iter()
        .map(|number| Extended::from_f64(*number).unwrap())
        .collect()
}

fn charged(tree: &Tree) -> RawUsage {
    let mut raw_usage = RawUsage::new(tree);
    for (id, usage) in [(4, 10.0), (5, 20.0), (6, 40.0)] {
        raw_usage.charge(tree, at(tree, id), usage).unwrap();
    }
    raw_usage
}

#[test]
fn a_charge_goes_up_to_the_root() {
    let tree = small();
    let raw_usage = charged(&tree);
    assert_eq!(numbers(raw_usage.own()), [0.0, 0.0, 0.0, 10.0, 20.0, 40.0]);
    assert_eq!(
        numbers(raw_usage.raw()),
        [70.0, 30.0, 40.0, 10.0, 20.0, 40.0]
    );
}

#[test]
fn refused_usage_names_the_association_and_changes_nothing() {
    let tree = small();
    let mut raw_usage = charged(&tree);
    let before = raw_usage.clone();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -1e-300] {
        let error = raw_usage.charge(&tree, at(&tree, 5), value).unwrap_err();
        assert!(error.to_string().starts_with("association 5: "), "{error}");
        assert_eq!(raw_usage, before);
    }
    raw_usage.charge(&tree, at(&tree, 5), 0.0).unwrap();
    assert_eq!(raw_usage, before);
    let negative = usages(&[0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    let error = UsageError::NotANumber { id: 3, value: -1.0 };
    assert_eq!(RawUsage::from_own(&tree, &negative), Err(error.clone()));
    assert_eq!(RawUsage::from_raw(&tree, &negative), Err(error));
    let error = UsageError::Length {
        expected: 6,
        found: 1,
    };
    assert_eq!(RawUsage::from_raw(&tree, &usages(&[1.0])), Err(error));
}

#[test]
fn from_own_and_from_raw() {
    let tree = small();
    let own = [1.0, 2.0, 0.0, 10.0, 20.0, 40.0];
    let raw = [73.0, 32.0, 40.0, 10.0, 20.0, 40.0];
    let raw_usage = RawUsage::from_own(&tree, &usages(&own)).unwrap();
    assert_eq!(numbers(raw_usage.raw()), raw);
    assert_eq!(RawUsage::from_raw(&tree, &usages(&raw)), Ok(raw_usage));
    // sshare cuts fractions off: children may exceed their parent.
    let cut = [72.0, 29.0, 40.0, 10.0, 20.0, 40.0];
    let raw_usage = RawUsage::from_raw(&tree, &usages(&cut)).unwrap();
    assert_eq!(numbers(raw_usage.own()), [3.0, 0.0, 0.0, 10.0, 20.0, 40.0]);
    assert_eq!(numbers(raw_usage.raw()), cut);
}

#[test]
fn removing_leaves_usage_with_the_account() {
    let mut tree = small();
    let mut raw_usage = charged(&tree);
    raw_usage.remove_assoc(&mut tree, 4).unwrap();
    assert_eq!(numbers(raw_usage.own()), [0.0, 10.0, 0.0, 20.0, 40.0]);
    assert_eq!(numbers(raw_usage.raw()), [70.0, 30.0, 40.0, 20.0, 40.0]);
    raw_usage.remove_assoc(&mut tree, 5).unwrap();
    raw_usage.remove_assoc(&mut tree, 2).unwrap();
    assert_eq!(numbers(raw_usage.own()), [30.0, 0.0, 40.0]);
    assert_eq!(numbers(raw_usage.raw()), [70.0, 40.0, 40.0]);
    let before = (tree.len(), raw_usage.clone());
    assert!(raw_usage.remove_assoc(&mut tree, 3).is_err());
    assert!(raw_usage.remove_assoc(&mut tree, 99).is_err());
    assert_eq!((tree.len(), raw_usage), before);
}

#[test]
fn moving_takes_usage_along() {
    let mut tree = small();
    let mut raw_usage = charged(&tree);
    raw_usage.move_assoc(&mut tree, 5, 3).unwrap();
    assert_eq!(
        numbers(raw_usage.raw()),
        [70.0, 10.0, 60.0, 10.0, 20.0, 40.0]
    );
    raw_usage.move_assoc(&mut tree, 3, 2).unwrap();
    assert_eq!(
        numbers(raw_usage.raw()),
        [70.0, 70.0, 60.0, 10.0, 20.0, 40.0]
    );
    let before = raw_usage.clone();
    assert!(raw_usage.move_assoc(&mut tree, 2, 3).is_err());
    assert_eq!(raw_usage, before);
}

#[test]
fn moving_away_leaves_exactly_nothing() {
    let mut tree = small();
    let mut raw_usage = RawUsage::new(&tree);
    for (id, usage) in [(4, 0.1), (6, 1e9 / 3.0)] {
        raw_usage.charge(&tree, at(&tree, id), usage).unwrap();
        raw_usage.decay(0.7);
    }
    raw_usage.move_assoc(&mut tree, 6, 2).unwrap();
    assert!(raw_usage.raw()[at(&tree, 3).get()].is_zero());
}

#[test]
fn adding_starts_without_usage() {
    let mut tree = small();
    let mut raw_usage = charged(&tree);
    let index = raw_usage
        .add_assoc(&mut tree, row(7, Some(3), AssocKind::User))
        .unwrap();
    raw_usage.charge(&tree, index, 5.0).unwrap();
    assert_eq!(
        numbers(raw_usage.raw()),
        [75.0, 30.0, 45.0, 10.0, 20.0, 40.0, 5.0]
    );
    let before = raw_usage.clone();
    assert!(
        raw_usage
            .add_assoc(&mut tree, row(7, Some(3), AssocKind::User))
            .is_err()
    );
    assert_eq!(raw_usage, before);
}

#[test]
fn resets() {
    let tree = small();
    let mut raw_usage = charged(&tree);
    raw_usage.reset_assoc(&tree, at(&tree, 2));
    assert_eq!(numbers(raw_usage.raw()), [40.0, 0.0, 40.0, 0.0, 0.0, 40.0]);
    raw_usage.reset();
    assert_eq!(raw_usage, RawUsage::new(&tree));
}

#[test]
fn decays_by_halves() {
    let tree = small();
    let mut raw_usage = charged(&tree);
    raw_usage.decay(0.5);
    assert_eq!(
        numbers(raw_usage.raw()),
        [35.0, 15.0, 20.0, 5.0, 10.0, 20.0]
    );
    assert_eq!(numbers(raw_usage.own()), [0.0, 0.0, 0.0, 5.0, 10.0, 20.0]);
    raw_usage.decay(0.0);
    assert_eq!(raw_usage, RawUsage::new(&tree));
}

#[test]
#[should_panic(expected = "0..=1")]
fn a_decay_factor_above_one_is_a_broken_invariant() {
    RawUsage::default().decay(1.5);
}

#[test]
fn ten_thousand_levels() {
    let deep = 10_000;
    let rows = (1..=deep).map(|id| row(id, (id > 1).then(|| id - 1), AssocKind::Account));
    let mut tree = Tree::from_rows(rows).unwrap();
    let mut raw_usage = RawUsage::new(&tree);
    raw_usage.charge(&tree, at(&tree, deep), 3.0).unwrap();
    raw_usage.charge(&tree, at(&tree, deep / 2), 4.0).unwrap();
    assert_eq!(raw_usage.raw()[0].to_f64(), 7.0);
    raw_usage.move_assoc(&mut tree, deep, 1).unwrap();
    assert_eq!(raw_usage.raw()[0].to_f64(), 7.0);
    assert_eq!(raw_usage.raw()[1].to_f64(), 4.0);
}

/// Rows of a random tree: each hangs below an earlier one.
fn any_tree() -> impl Strategy<Value = Tree> {
    prop::collection::vec(any::<prop::sample::Index>(), 1..40).prop_map(|parents| {
        let rows = (0..=parents.len()).map(|position| {
            let parent = position
                .checked_sub(1)
                .map(|before| parents[before].index(position) as AssocId + 1);
            row(position as AssocId + 1, parent, AssocKind::Account)
        });
        Tree::from_rows(rows).unwrap()
    })
}

/// Raw usage straight from its definition, in whole numbers.
fn naive(tree: &Tree, own: &[u64], index: AssocIndex) -> u64 {
    let below = (0..tree.len())
        .map(AssocIndex::new)
        .filter(|child| tree.parent(*child) == Some(index));
    own[index.get()] + below.map(|child| naive(tree, own, child)).sum::<u64>()
}

proptest! {
    #[test]
    fn raw_usage_is_own_and_all_below(
        tree in any_tree(),
        charges in prop::collection::vec((any::<prop::sample::Index>(), 0u64..1 << 40), 0..60),
    ) {
        let mut raw_usage = RawUsage::new(&tree);
        let mut own = vec![0; tree.len()];
        for (who, usage) in charges {
            let index = AssocIndex::new(who.index(tree.len()));
            raw_usage.charge(&tree, index, usage as f64).unwrap();
            own[index.get()] += usage;
        }
        for position in 0..tree.len() {
            let index = AssocIndex::new(position);
            prop_assert_eq!(raw_usage.raw()[position], Extended::from(naive(&tree, &own, index)));
            prop_assert_eq!(raw_usage.own()[position], Extended::from(own[position]));
        }
        prop_assert_eq!(&RawUsage::from_own(&tree, raw_usage.own()).unwrap(), &raw_usage);
        prop_assert_eq!(&RawUsage::from_raw(&tree, raw_usage.raw()).unwrap(), &raw_usage);
    }

    #[test]
    fn the_decay_of_a_sum_is_the_sum_of_the_decays(
        first in 0.0f64..1e15,
        second in 0.0f64..1e15,
        secs in 0i64..10_000_000,
    ) {
        let tree = small();
        let factor = Decay::new(604_800, crate::compat::Compat::Documented).factor(secs);
        let charge = |usages: &[(AssocId, f64)]| {
            let mut raw_usage = RawUsage::new(&tree);
            for (id, usage) in usages {
                raw_usage.charge(&tree, at(&tree, *id), *usage).unwrap();
            }
            raw_usage.decay(factor);
            raw_usage.raw()[0]
        };
        let together = charge(&[(4, first), (6, second)]);
        let apart = charge(&[(4, first)]) + charge(&[(6, second)]);
        let difference = (together - apart).to_f64().abs();
        prop_assert!(difference <= 1e-18 * together.to_f64(), "{difference}");
    }
}
