//! Compares a kept ranking with one from scratch. Expected values: `fairshare::compute`, which
//! other tests compare with an oracle in exact fractions and with recorded results of the stock
//! plugin.

mod common;

use common::random::Random;
use common::{SLURM, Site};
use fairtree::compat::Compat;
use fairtree::engine::publish_changed;
use fairtree::extended::Extended;
use fairtree::fairshare::{LevelRanks, Ranking, compute};
use fairtree::priority::{AssocFactors, JobTables};
use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use fairtree::usage::Ledger;

/// A tree with many ties, zeros and `parent` shares.
fn tree(random: &mut Random, len: u64) -> Tree {
    let mut tree = Tree::default();
    let mut accounts = vec![1];
    for id in 1..=len as u32 {
        let kind = if id == 1 || random.below(3) == 0 {
            AssocKind::Account
        } else {
            AssocKind::User
        };
        // Few accounts make wide levels, recent ones deep trees.
        let reach = 1 + random.below(accounts.len() as u64) as usize;
        let parent = accounts[accounts.len() - reach];
        tree.add(Assoc {
            id,
            parent: (id > 1).then_some(parent),
            kind,
            shares: shares(random),
        })
        .expect("a sound row");
        if kind == AssocKind::Account && id > 1 {
            accounts.push(id);
        }
    }
    tree
}

fn shares(random: &mut Random) -> Shares {
    match random.below(12) {
        0 => Shares::Parent,
        1 => Shares::Raw(0),
        _ => Shares::Raw(1 + random.below(4) as u32),
    }
}

fn position(random: &mut Random, tree: &Tree) -> AssocIndex {
    AssocIndex::new(random.below(tree.len() as u64) as usize)
}

/// Whole numbers that give equal ratios, with varying frequency.
fn amount(random: &mut Random) -> f64 {
    let few = (1 + random.below(4)) as f64;
    match random.below(8) {
        0 => 0.0,
        1 => few * 1e-200,
        2 => few * 1e200,
        3 => few / 3.0,
        _ => few * 12.0,
    }
}

fn factor(random: &mut Random) -> f64 {
    match random.below(16) {
        0..=3 => 1.0,
        4 => 0.5,
        5 => 1e-300,
        6 => 0.0,
        7 => 5e-324,
        8 => 1.0 - f64::EPSILON,
        _ => (1 + random.below(1 << 20)) as f64 / f64::from((1 << 20) + 1),
    }
}

/// Asserts that the ranking equals that of `compute`, and that it reports exactly the changes.
fn check(
    ranking: &LevelRanks,
    tree: &Tree,
    raw: &[Extended],
    compat: Compat,
    before: &[Option<f64>],
) {
    let found = compute(Ranking::FAIR_TREE, compat, tree, raw);
    let mut changed = Vec::new();
    for (index, found) in tree.indices().zip(&found) {
        assert_eq!(
            ranking.fs_factor(index),
            found.fs_factor,
            "{index:?} of {tree:?}"
        );
        let before = before.get(index.get()).copied().flatten();
        if found.fs_factor != before {
            changed.push(index);
        }
    }
    let mut told = ranking.changed().to_vec();
    told.sort();
    assert_eq!(told, changed);
}

fn factors(ranking: &LevelRanks, tree: &Tree) -> Vec<Option<f64>> {
    tree.indices()
        .map(|index| ranking.fs_factor(index))
        .collect()
}

/// Runs a tree through decay and charges, `rounds` times.
fn follow(seed: u64, len: u64, rounds: u64, compat: Compat) {
    let mut random = Random::new(seed);
    let tree = tree(&mut random, len);
    let mut ledger = Ledger::new(&tree);
    for _ in 0..random.below(2 * len) {
        let at = position(&mut random, &tree);
        ledger
            .charge(&tree, at, amount(&mut random))
            .expect("a number");
    }
    let mut ranking = LevelRanks::new(compat, &tree, ledger.raw());
    check(&ranking, &tree, ledger.raw(), compat, &[]);
    let mut published = JobTables {
        assocs: vec![AssocFactors::default(); tree.len()],
        ..JobTables::default()
    };
    publish_changed(&ranking, &mut published);
    for _ in 0..rounds {
        let before = factors(&ranking, &tree);
        let factor = factor(&mut random);
        ledger.decay(factor);
        let charged: Vec<AssocIndex> = (0..random.below(4))
            .map(|_| position(&mut random, &tree))
            .collect();
        for at in &charged {
            ledger
                .charge(&tree, *at, amount(&mut random))
                .expect("a number");
        }
        ranking.update(&tree, ledger.raw(), factor, &charged);
        check(&ranking, &tree, ledger.raw(), compat, &before);
        publish_changed(&ranking, &mut published);
        for (index, assoc) in tree.indices().zip(&published.assocs) {
            assert_eq!(assoc.fs_factor, ranking.fs_factor(index).unwrap_or(0.0));
        }
    }
}

#[test]
fn small_trees_through_many_passes() {
    for compat in [Compat::Documented, SLURM] {
        for seed in 0..400 {
            follow(seed, 2 + seed % 40, 30, compat);
        }
    }
}

/// Inconsistent usage, as a host may give it: unused accounts above users with usage.
#[test]
fn usage_that_does_not_add_up() {
    for compat in [Compat::Documented, SLURM] {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let tree = tree(&mut random, 2 + seed % 30);
            let mut usage = |_| Extended::from(random.below(4));
            let mut raw: Vec<Extended> = (0..tree.len()).map(&mut usage).collect();
            let mut ranking = LevelRanks::new(compat, &tree, &raw);
            for round in 0..100 {
                let at = AssocIndex::new(round % tree.len());
                let mut next = Some(at);
                while let Some(above) = next {
                    raw[above.get()] = usage(0);
                    next = tree.parent(above);
                }
                let before = factors(&ranking, &tree);
                ranking.update(&tree, &raw, 1.0, &[at]);
                check(&ranking, &tree, &raw, compat, &before);
            }
        }
    }
}

#[test]
fn usage_that_decays_to_zero_ties() {
    let site = Site::parse("a 1 100\nb 1 200\nA/ 1\n  c 1 300");
    for compat in [Compat::Documented, SLURM] {
        let mut raw = site.raw_usage.clone();
        let mut ranking = LevelRanks::new(compat, &site.tree, &raw);
        let least = Extended::from_f64(1e-300).expect("a number");
        for _ in 0..20 {
            raw.iter_mut().for_each(|usage| *usage *= least);
            let before = factors(&ranking, &site.tree);
            ranking.update(&site.tree, &raw, 1e-300, &[]);
            check(&ranking, &site.tree, &raw, compat, &before);
        }
        assert!(raw.iter().all(|usage| usage.is_zero()));
        assert_eq!(ranking.rank_of(AssocIndex::new(2)), Some(3));
    }
}

/// In Slurm a level begins as if after a member whose LF is 4294967294. The LF of `x` is 1 / (1 /
/// 4294967294); decay changes its usage and that of its account to numbers with a different
/// quotient.
#[test]
fn a_chance_tie_does_not_last() {
    let mut site = Site::parse("z 1000 1\nA/ 1\n  x 1 1\n  y 0");
    site.raw_usage[2] = Extended::from(4_294_967_294_u32);
    site.raw_usage[0] = Extended::from(4_294_967_295_u32);
    let mut raw = site.raw_usage.clone();
    let mut ranking = LevelRanks::new(SLURM, &site.tree, &raw);
    assert_eq!(ranking.rank_of(AssocIndex::new(3)), Some(3), "as z");
    let factor = Extended::from_f64(0.9).expect("a number");
    for _ in 0..10 {
        raw.iter_mut().for_each(|usage| *usage *= factor);
        let before = factors(&ranking, &site.tree);
        ranking.update(&site.tree, &raw, 0.9, &[]);
        check(&ranking, &site.tree, &raw, SLURM, &before);
    }
    assert_eq!(ranking.rank_of(AssocIndex::new(3)), Some(2), "no longer");
}

/// Slurm adds the shares of a level in 32 bits; these sum up to 0, so all have LF 0.
#[test]
fn shares_that_wrap_to_nothing() {
    let site = Site::parse("a 2147483646 9\nb 2147483646\nA/ 4\n  c 1 300\n  d 2 5");
    let mut raw = site.raw_usage.clone();
    let mut ranking = LevelRanks::new(SLURM, &site.tree, &raw);
    check(&ranking, &site.tree, &raw, SLURM, &[]);
    for at in [0, 1] {
        raw[at] += Extended::from(7_u32);
    }
    let before = factors(&ranking, &site.tree);
    ranking.update(&site.tree, &raw, 1.0, &[AssocIndex::new(1)]);
    check(&ranking, &site.tree, &raw, SLURM, &before);
}

#[test]
fn an_edit_of_the_tree_ranks_anew() {
    let mut site = Site::parse("a 1 100\nb 1 200\nA/ 1\n  c 1 300");
    let mut ranking = LevelRanks::new(Compat::Documented, &site.tree, &site.raw_usage);
    let id = site.tree.rows()[2].id;
    site.tree
        .set_shares(id, Shares::Raw(1000))
        .expect("b is there");
    ranking.update(&site.tree, &site.raw_usage, 1.0, &[]);
    check(
        &ranking,
        &site.tree,
        &site.raw_usage,
        Compat::Documented,
        &[],
    );
    assert_eq!(ranking.fs_factor(AssocIndex::new(2)), Some(1.0));
    let no_users = LevelRanks::new(Compat::Documented, &Tree::default(), &[]);
    assert!(no_users.changed().is_empty());
}

#[test]
fn nothing_charged_changes_nothing() {
    let mut random = Random::new(1);
    let tree = tree(&mut random, 500);
    let mut ledger = Ledger::new(&tree);
    for at in tree.indices() {
        ledger
            .charge(&tree, at, amount(&mut random))
            .expect("a number");
    }
    let mut ranking = LevelRanks::new(Compat::Documented, &tree, ledger.raw());
    ranking.update(&tree, ledger.raw(), 1.0, &[]);
    assert!(ranking.changed().is_empty());
}

#[test]
fn larger_trees_through_some_passes() {
    for compat in [Compat::Documented, SLURM] {
        for seed in 0..12 {
            follow(seed, 700, 12, compat);
        }
    }
}
