//! Trees with the depth and width that the engine promises. Expected values: by hand.

mod common;

use common::SLURM;
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{Ranking, compute};
use fairtree::tree::{Assoc, AssocKind, Shares, Tree};

const RANKINGS: [Ranking; 3] = [
    Ranking::FAIR_TREE,
    Ranking::classic(1),
    Ranking::depth_oblivious(1),
];

fn row(id: u32, parent: u32, kind: AssocKind) -> Assoc {
    Assoc {
        id,
        parent: (parent != 0).then_some(parent),
        kind,
        shares: Shares::Raw(1),
    }
}

/// Each of `levels` levels has an account and a user, the last one only a user; children come
/// before their parents. Account `n` has the id `2n + 1`, the user next to it `2n`.
fn chain(levels: u32) -> Tree {
    let mut rows = Vec::new();
    for level in (1..=levels).rev() {
        let parent = 2 * level - 1;
        if level < levels {
            rows.push(row(2 * level + 1, parent, AssocKind::Account));
        }
        rows.push(row(2 * level, parent, AssocKind::User));
    }
    rows.push(row(1, 0, AssocKind::Account));
    Tree::from_rows(rows).expect("a tree")
}

#[test]
fn ten_thousand_levels() {
    const LEVELS: u32 = 10_000;
    let tree = chain(LEVELS);
    // Each user has used 1: on every level the user, with 1 of n + 1, ranks above the account next
    // to it, with n of n + 1.
    let usage: Vec<Extended> = tree
        .rows()
        .iter()
        .map(|row| match row.kind {
            AssocKind::User => Extended::ONE,
            AssocKind::Account => Extended::from(LEVELS - (row.id - 1) / 2),
        })
        .collect();
    for compat in [Compat::Documented, SLURM] {
        for ranking in RANKINGS {
            let results = compute(ranking, compat, &tree, &usage);
            assert_eq!(results.len(), tree.len());
        }
        let results = compute(Ranking::FAIR_TREE, compat, &tree, &usage);
        for (row, result) in tree.rows().iter().zip(results) {
            if row.kind == AssocKind::User {
                // The last account has a single user, like the user next to it: these two tie.
                let rank = (LEVELS + 1 - row.id / 2).max(2);
                let expected = f64::from(rank) / f64::from(LEVELS);
                assert_eq!(result.fs_factor, Some(expected), "{}", row.id);
            }
        }
    }
}

#[test]
fn a_tie_reaches_down_ten_thousand_levels() {
    const LEVELS: u32 = 10_000;
    let tree = chain(LEVELS);
    // Without usage the user ties with the account on each level, so all tie.
    let usage = vec![Extended::ZERO; tree.len()];
    for compat in [Compat::Documented, SLURM] {
        let results = compute(Ranking::FAIR_TREE, compat, &tree, &usage);
        let factors: Vec<f64> = results
            .iter()
            .filter_map(|result| result.fs_factor)
            .collect();
        assert_eq!(factors, vec![1.0; LEVELS as usize]);
    }
}

#[test]
fn a_million_associations() {
    const ACCOUNTS: u32 = 10_000;
    const ROWS: u32 = 1_000_000;
    // Users come first; each account has 99 users; user n used n.
    let accounts = (2..=ACCOUNTS).map(|id| row(id, 1, AssocKind::Account));
    let users = (ACCOUNTS + 1..=ROWS).map(|id| row(id, id % ACCOUNTS + 1, AssocKind::User));
    let root = row(1, 0, AssocKind::Account);
    let tree = Tree::from_rows(users.chain(accounts).chain([root])).expect("a tree");
    let mut usage: Vec<Extended> = tree
        .rows()
        .iter()
        .map(|row| match row.kind {
            AssocKind::User => Extended::from(row.id),
            AssocKind::Account => Extended::ZERO,
        })
        .collect();
    for index in tree.parents_first().iter().rev() {
        if let Some(parent) = tree.parent(*index) {
            let used = usage[index.get()];
            usage[parent.get()] += used;
        }
    }
    let results = compute(Ranking::FAIR_TREE, Compat::Documented, &tree, &usage);
    let factor = |id| results[tree.index_of(id).expect("there").get()].fs_factor;
    let users = f64::from(ROWS - ACCOUNTS);
    // The root's own users and the accounts are one level with equal shares, ordered by usage: 99
    // users that used up to a million each, then accounts that used about 50 million each; the
    // account of users 10001, 20001, ... used least.
    assert_eq!(factor(ACCOUNTS * 2), Some(1.0));
    assert_eq!(factor(ROWS), Some((users - 98.0) / users));
    assert_eq!(factor(ACCOUNTS + 1), Some((users - 99.0) / users));
    assert_eq!(factor(ROWS - 1), Some(1.0 / users));
}
