//! Compares every output with the oracle (`crates/oracle`): a second computation in exact
//! fractions, written from fair_tree.shtml and classic_fair_share.shtml, recursive and without
//! rounding.

mod common;
mod oracle {
    pub mod random;
}

use common::{SLURM, Site};
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Ranking, compute};
use fairtree::tree::{AssocKind, Shares};
use fairtree_oracle::number::{Fraction, dyadic};
use fairtree_oracle::{Association, Hierarchy, Level, Ranking as ExactRanking};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use oracle::random::{order_of, sites};
use proptest::prelude::*;

const DOCUMENTED: Compat = Compat::Documented;

/// The exact value of a number.
fn exact(number: Extended) -> Fraction {
    let (mantissa, exponent) = number.to_parts().expect("finite");
    let mantissa = BigInt::from(mantissa);
    let signed = if number.is_negative() {
        -mantissa
    } else {
        mantissa
    };
    dyadic(signed, i64::from(exponent))
}

/// The oracle's results for the site.
fn exactly(site: &Site, ranking: ExactRanking, compat: Compat) -> Hierarchy {
    let rows = site.tree.rows().iter().zip(&site.raw_usage);
    let rows: Vec<Association> = rows
        .map(|(row, usage)| Association {
            id: row.id,
            parent: row.parent,
            is_user: row.kind == AssocKind::User,
            shares: match row.shares {
                Shares::Raw(count) => Some(count),
                Shares::Parent => None,
            },
            usage: exact(*usage),
        })
        .collect();
    Hierarchy::new(&rows, ranking, compat.is_slurm())
}

/// Usage of the root over that of the root.
fn of_root(site: &Site) -> Fraction {
    if exact(site.raw_usage[0]).is_zero() {
        Fraction::zero()
    } else {
        Fraction::one()
    }
}

/// Returns true for `FairShare=parent` right below the root: stock shows a number that it does not
/// use.
fn is_parent_below_root(site: &Site, oracle: &Hierarchy, at: usize) -> bool {
    let [row, root] = [at, 0].map(|at| site.tree.rows()[at]);
    row.shares == Shares::Parent && oracle.account(row.id) == root.id
}

fn float(value: &Fraction) -> f64 {
    value.to_f64().expect("finite")
}

fn fair_tree(site: &Site) -> Vec<AssocFairshare> {
    compute(Ranking::FAIR_TREE, DOCUMENTED, &site.tree, &site.raw_usage)
}

/// Asserts that `got` is `expected` rounded to 64 bits.
fn assert_rounded(got: Extended, expected: &Fraction, what: &str) {
    let error = exact(got) - expected;
    let unit = expected * Fraction::from_float(2_f64.powi(-64)).expect("finite");
    assert!(
        error <= unit.clone() && -error <= unit,
        "{what}: {got}, exactly {expected}"
    );
}

/// Asserts that `got` is within a few roundings of `expected`.
fn assert_close(got: f64, expected: f64, what: &str) {
    let tolerance = 1e-12 * expected.abs();
    assert!(
        (got - expected).abs() <= tolerance,
        "{what}: {got}, expected {expected}"
    );
}

/// Like [`assert_close`] for `2^-x`, which has `x` times the roundings of `x`.
fn assert_power_close(got: f64, expected: f64, what: &str) {
    let roundings = 1.0 - expected.max(f64::MIN_POSITIVE).log2();
    let tolerance = 1e-12 * expected.abs() * roundings;
    assert!(
        (got - expected).abs() <= tolerance,
        "{what}: {got}, expected {expected}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn fair_tree_agrees_with_exact_fractions(site in sites()) {
        let oracle = exactly(&site, ExactRanking::FairTree, DOCUMENTED);
        for (at, result) in fair_tree(&site).iter().enumerate() {
            let (name, id) = (&site.names[at], site.tree.rows()[at].id);
            prop_assert_eq!(result.fs_factor, oracle.factor(id), "{}", name);
            assert_close(result.norm_shares, oracle.norm_shares(id), name);
            let [norm, effective] = match at {
                0 => [of_root(&site), of_root(&site)],
                _ => [oracle.norm_usage(id), oracle.effective_usage(id)],
            };
            assert_rounded(result.norm_usage, &norm, name);
            assert_rounded(result.effective_usage, &effective, name);
            match (oracle.level(id), result.level_fs) {
                (None, None) => {}
                (Some(Level::Finite(value)), Some(got)) => assert_rounded(got, &value, name),
                (Some(Level::Infinite), Some(got)) => prop_assert!(got.is_infinite()),
                (expected, got) => prop_assert!(false, "{}: {:?} {:?}", name, got, expected),
            }
        }
    }

    #[test]
    fn classic_agrees_with_exact_fractions(site in sites(), dampening in 1_u16..5) {
        for compat in [DOCUMENTED, SLURM] {
            let oracle = exactly(&site, ExactRanking::Classic { dampening }, compat);
            let ranking = Ranking::classic(dampening);
            let results = compute(ranking, compat, &site.tree, &site.raw_usage);
            for (at, result) in results.iter().enumerate() {
                let (name, id) = (&site.names[at], site.tree.rows()[at].id);
                let shown_apart = compat.is_slurm() && is_parent_below_root(&site, &oracle, at);
                if at > 0 && !shown_apart {
                    let expected = float(&oracle.effective_usage(id));
                    assert_close(result.effective_usage.to_f64(), expected, name);
                }
                assert_close(result.norm_shares, oracle.norm_shares(id), name);
                let factor = oracle.factor(id).expect("for all");
                assert_power_close(result.fs_factor.expect("for all"), factor, name);
            }
        }
    }

    #[test]
    fn depth_oblivious_agrees_with_its_formula(site in sites(), dampening in 1_u16..5) {
        for compat in [DOCUMENTED, SLURM] {
            let oracle = exactly(&site, ExactRanking::DepthOblivious { dampening }, compat);
            let ranking = Ranking::depth_oblivious(dampening);
            let results = compute(ranking, compat, &site.tree, &site.raw_usage);
            for (at, result) in results.iter().enumerate().skip(1) {
                let (name, id) = (&site.names[at], site.tree.rows()[at].id);
                if !(compat.is_slurm() && is_parent_below_root(&site, &oracle, at)) {
                    let expected = float(&oracle.effective_usage(id));
                    assert_close(result.effective_usage.to_f64(), expected, name);
                }
                let factor = oracle.factor(id).expect("for all");
                assert_power_close(result.fs_factor.expect("for all"), factor, name);
            }
        }
    }

    #[test]
    fn row_order_does_not_matter(site in sites(), seed in any::<u64>()) {
        let order = order_of(site.tree.len(), seed);
        let shuffled = site.reordered(&order);
        for ranking in [
            Ranking::FAIR_TREE,
            Ranking::classic(1),
            Ranking::depth_oblivious(2),
        ] {
            let results = compute(ranking, DOCUMENTED, &site.tree, &site.raw_usage);
            let again = compute(ranking, DOCUMENTED, &shuffled.tree, &shuffled.raw_usage);
            for (new, old) in order.iter().enumerate() {
                prop_assert_eq!(&again[new], &results[*old]);
            }
        }
    }

    #[test]
    fn scaling_a_level_by_a_power_of_two_changes_nothing(
        site in sites(),
        level in any::<prop::sample::Index>(),
        power in 1_u32..20,
    ) {
        let level = level.get(&site.tree.indices().collect::<Vec<_>>()).to_owned();
        let mut scaled = site.tree.clone();
        for child in site.tree.fs_children(level) {
            let row = site.tree.rows()[child.get()];
            if let Shares::Raw(count) = row.shares {
                scaled.set_shares(row.id, Shares::Raw(count << power)).expect("in range");
            }
        }
        let again = compute(Ranking::FAIR_TREE, DOCUMENTED, &scaled, &site.raw_usage);
        prop_assert_eq!(again, fair_tree(&site));
    }

    #[test]
    fn factors_lie_above_0_and_up_to_1(site in sites()) {
        for (row, result) in site.tree.rows().iter().zip(fair_tree(&site)) {
            match row.kind {
                AssocKind::User => {
                    let factor = result.fs_factor.expect("users have one");
                    prop_assert!(factor > 0.0 && factor <= 1.0);
                }
                AssocKind::Account => prop_assert_eq!(result.fs_factor, None),
            }
        }
    }

    #[test]
    fn a_higher_account_puts_all_its_users_first(site in sites()) {
        let results = fair_tree(&site);
        let users_below = |top| {
            let mut list = vec![top];
            let mut factors = Vec::new();
            while let Some(at) = list.pop() {
                list.extend_from_slice(site.tree.fs_children(at));
                factors.extend(results[at.get()].fs_factor);
            }
            factors
        };
        for parent in site.tree.indices() {
            let children = site.tree.fs_children(parent);
            for (a, b) in children.iter().flat_map(|a| children.iter().map(move |b| (*a, *b))) {
                if results[a.get()].level_fs > results[b.get()].level_fs {
                    let worst = users_below(a).into_iter().fold(2.0, f64::min);
                    let best = users_below(b).into_iter().fold(0.0, f64::max);
                    if results[b.get()].level_fs.is_some() {
                        prop_assert!(worst > best);
                    }
                }
            }
        }
    }

    #[test]
    fn only_ties_tell_documented_from_slurm(site in sites()) {
        // If no two exact level fairshares are equal, no rule about ties applies; and if stock's
        // rounding keeps them different and in order, both modes must agree.
        let oracle = exactly(&site, ExactRanking::FairTree, DOCUMENTED);
        let stock = compute(Ranking::FAIR_TREE, SLURM, &site.tree, &site.raw_usage);
        let mut levels: Vec<_> = (1..site.tree.len())
            .filter_map(|at| Some((oracle.level(site.tree.rows()[at].id)?, stock[at].level_fs?)))
            .collect();
        levels.sort();
        let told_apart = levels.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1);
        if told_apart {
            for (ours, theirs) in fair_tree(&site).iter().zip(stock) {
                prop_assert_eq!(ours.fs_factor, theirs.fs_factor);
            }
        }
    }
}
