//! The rankings beyond Slurm's, compared with hand calculations and with naive models in exact
//! fractions; and `weighted_walk`, compared with the trees and orders that flux-accounting
//! publishes (`src/fairness/weighted_tree/test/` of flux-framework/flux-accounting, numbers
//! re-keyed).

mod common;
#[path = "oracle/random.rs"]
mod random;

#[path = "policy_rankings/flux.rs"]
mod flux;
#[path = "policy_rankings/naive.rs"]
mod naive;

use std::num::NonZeroU32;

use common::Site;
use fairtree::compat::Compat;
use fairtree::config::{Config, PriorityParameters};
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Entitlement, Ranking, compute, compute_again};
use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use naive::{naive_difference, naive_least_used, naive_of_minutes, naive_weighted_walk};
use proptest::prelude::*;
use random::{order_of, sites};

fn level(depth: u32) -> Ranking {
    Ranking::least_used(NonZeroU32::new(depth).expect("from 1"))
}

fn of_site(site: &Site, ranking: Ranking) -> Vec<AssocFairshare> {
    compute(ranking, Compat::Documented, &site.tree, &site.raw_usage)
}

fn factors(site: &Site, ranking: Ranking) -> Vec<Option<f64>> {
    let results = of_site(site, ranking);
    results.iter().map(|result| result.fs_factor).collect()
}

/// Users and accounts with a factor, with the factor times `places`, best first.
fn places(site: &Site, ranking: Ranking) -> Vec<(&str, f64)> {
    let count = ranking.places(&site.tree) as f64;
    let names = site.names.iter().map(String::as_str);
    let found = names.zip(factors(site, ranking));
    let mut found: Vec<_> = found
        .filter_map(|(name, factor)| Some((name, factor? * count)))
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    found
}

// ---- flux-accounting ----

/// The published orders; the ranks follow from the weights by hand. If users tie, as 1.1 and 1.2 of
/// the second tree do (10000/100 and 1000/10), the published order names them in arbitrary order.
#[test]
fn weighted_walk_has_the_published_orders() {
    let walk = |text: &str| {
        let site = Site::parse(text);
        let found = places(&site, Ranking::WEIGHTED_WALK);
        let words = found
            .iter()
            .map(|(name, rank)| format!("{} {rank:.0}", &name[5..]));
        words.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        walk(flux::NO_TIE),
        "3.1 7, 3.2 6, 2.1 5, 2.2 4, 1.3 3, 1.1 2, 1.2 1"
    );
    assert_eq!(
        walk(flux::TIE),
        "3.1 8, 3.2 7, 1.3 6, 2.3 6, 1.1 4, 1.2 4, 2.1 4, 2.2 4"
    );
    assert_eq!(
        walk(flux::TIE_ALL),
        "1.3 9, 2.3 9, 3.3 9, 1.1 6, 1.2 6, 2.1 6, 2.2 6, 3.1 6, 3.2 6"
    );
    assert_eq!(
        walk(flux::TIE_OF_TWO_KINDS),
        "3.1 6, 3.2 5, 0.1 4, 1.3 3, 1.1 2, 1.2 2"
    );
    assert_eq!(
        walk(flux::ZERO_SHARES),
        "3.1 8, 3.2 7, 2.3 6, 1.3 5, 1.1 4, 1.2 4, 2.1 2, 2.2 2"
    );
    assert_eq!(walk(""), "");
}

// ---- Hand calculation ----

#[test]
fn the_user_that_ties_with_an_account_is_before_it_alone() {
    // 1/2 over 1/2: ann ties with lab, whose users have different ranks.
    let site = Site::parse("ann 1 10\nlab/ 1\n  bob 1 2\n  eve 1 8");
    let walk = places(&site, Ranking::WEIGHTED_WALK);
    assert_eq!(walk, [("ann", 3.0), ("bob", 2.0), ("eve", 1.0)]);
    // In Fair Tree ann shares the rank of lab's best user.
    let fair_tree = places(&site, Ranking::FAIR_TREE);
    assert_eq!(fair_tree, [("ann", 3.0), ("bob", 3.0), ("eve", 1.0)]);
    assert_eq!(places(&site, level(1)), fair_tree);
}

#[test]
fn difference_by_hand() {
    // A: S 3/5, U 10/40. a1: S 1/5, U 0. a2: S 2/5, U 1/4. B: S 2/5, U 3/4.
    let site = Site::parse("A/ 3\n  a1 1 0\n  a2 2 10\nB/ 2\n  b parent 30\nz 0");
    let found = factors(&site, Ranking::DIFFERENCE);
    let expected = [
        (1.0 + 1.0 - 1.0) / 2.0,
        (1.0 + 0.6 - 0.25) / 2.0,
        (1.0 + 0.2) / 2.0,
        (1.0 + 0.4 - 0.25) / 2.0,
        (1.0 + 0.4 - 0.75) / 2.0,
        (1.0 + 0.4 - 0.75) / 2.0,
        0.5,
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found.unwrap() - expected).abs() < 1e-15);
    }
    let no_shares = Site::parse("a 0 5\nb 1 0");
    let found = factors(&no_shares, Ranking::DIFFERENCE);
    assert_eq!(found[1..], [Some(f64::MIN_POSITIVE), Some(1.0)]);
    let unused = Site::parse("a 1\nb 3");
    assert_eq!(
        factors(&unused, Ranking::DIFFERENCE)[1..],
        [Some(0.625), Some(0.875)]
    );
}

/// Seven projects in two hubs: the worked example of a site that gives shares to hubs, groups and
/// projects. Jobs of a project are one queue.
const HUBS: &str = "
A/ 3
  A1/ 1
    X/ 1
      x parent 30
    Y/ 2
      y parent 10
  A2/ 2
    Z/ 1
      z parent 100
B/ 2
  B1/ 1
    L/ 1
      l parent 60
    M/ 1
      m parent 50
  B2/ 3
    N/ 1
      n parent 70
    O/ 1
      o parent 80
";

#[test]
fn groups_compete_over_the_whole_tree() {
    // Entitlements: A1 3/5 1/3 = 0.2, A2 0.4, B1 2/5 1/4 = 0.1, B2 0.3. Usage: 40, 100, 110, 150 of
    // 400. Ratios: A1 200, A2 250, B2 500, B1 1100. In A1: X 30 of 1/3, Y 10 of 2/3.
    let mut site = Site::parse(HUBS);
    let order = |site: &Site, ranking| -> String {
        let found = places(site, ranking);
        let accounts = found.iter().filter(|(name, _)| name.ends_with('/'));
        accounts
            .map(|(name, _)| name.trim_end_matches('/'))
            .collect()
    };
    assert_eq!(order(&site, level(2)), "YXZNOML");
    assert_eq!(level(2).places(&site.tree), 7);
    let results = of_site(&site, level(2));
    let of = |name: &str| {
        let at = site.names.iter().position(|known| known == name).unwrap();
        &results[at]
    };
    for (name, due) in [("A/", 0.6), ("A1/", 0.2), ("A2/", 0.4), ("B2/", 0.3)] {
        assert!((of(name).norm_shares - due).abs() < 1e-15, "{name}");
    }
    assert_eq!(of("y").fs_factor, of("Y/").fs_factor);
    assert_eq!(of("Y/").fs_factor, Some(1.0));
    // Hubs first: A used 140 of 0.6, B 260 of 0.4.
    assert_eq!(order(&site, level(1)), "YXZNOML");
    // All projects at once. Entitlements: X 1/15, Y 2/15, Z 2/5, L, M 1/20, N, O 3/20.
    assert_eq!(order(&site, Ranking::LEAST_USED_LEAF), "YZXNOML");
    // Y ran a long job: it and its ancestors used 300 more. A1 has 340 of 0.2 (1700), A2 250, so
    // the next is Z; then N, which is the least used project of B2.
    for name in ["y", "Y/", "A1/", "A/", "root"] {
        let at = site.names.iter().position(|known| known == name).unwrap();
        site.raw_usage[at] += Extended::from(300_u64);
    }
    assert_eq!(order(&site, level(2)), "ZNOMLXY");
}

#[test]
fn a_leaf_above_the_level_competes_with_its_nodes() {
    // solo: 10 of 1/3. a: 20 of 1/3; b: 5 of 1/3.
    let site = Site::parse("solo 1 10\nH/ 2\n  a 1 20\n  b 1 5");
    let found = places(&site, level(2));
    assert_eq!(found, [("b", 3.0), ("solo", 2.0), ("a", 1.0)]);
    // Hubs: solo 30, H 37.5.
    let found = places(&site, level(1));
    assert_eq!(found, [("solo", 3.0), ("b", 2.0), ("a", 1.0)]);
    assert_eq!(
        places(&site, level(9)),
        places(&site, Ranking::LEAST_USED_LEAF)
    );
}

#[test]
fn who_is_entitled_to_nothing_is_last_and_the_unused_first() {
    let site = Site::parse("a 0 5\nb 0 9\nc 0 0\nd 1 1000\ne 1 0");
    let found = places(&site, level(1));
    let expected = [("e", 5.0), ("d", 4.0), ("c", 3.0), ("a", 2.0), ("b", 2.0)];
    assert_eq!(found, expected);
}

#[test]
fn minutes_instead_of_shares() {
    // One used 6 of its 400 minutes, the other 120 of its 10,000: 1.5 % and 1.2 %.
    let site = Site::parse("i1/ 1\n  u1 parent 360\ni2/ 1\n  u2 parent 7200");
    let order = |entitlement: &Entitlement| {
        let ranking = Ranking::LEAST_USED_LEAF;
        let found = compute_again(
            (ranking, entitlement),
            Compat::Documented,
            &site.tree,
            &site.raw_usage,
            Vec::new(),
        );
        [1, 3].map(|at| found[at].fs_factor.unwrap())
    };
    assert_eq!(order(&Entitlement::SHARES), [1.0, 0.5]);
    let minutes = Entitlement::new(0);
    let minutes = minutes.with_minutes(AssocIndex::new(1), 400);
    let minutes = minutes.with_minutes(AssocIndex::new(3), 10_000);
    assert_eq!(order(&minutes), [0.5, 1.0]);
    // 360 / 24,000 = 7200 / 480,000: a tie.
    let tied = minutes.with_minutes(AssocIndex::new(3), 8_000);
    assert_eq!(order(&tied), [1.0, 1.0]);
    // With shares of a window: i1 is entitled to 24,000, i2, alone with shares, to 1,000,000.
    let mixed = Entitlement::new(1_000_000).with_minutes(AssocIndex::new(1), 400);
    assert_eq!(order(&mixed), [0.5, 1.0]);
    let entitled = mixed.of_all(&site.tree);
    assert_eq!(entitled[1], Extended::from(24_000_u64));
    assert_eq!(entitled[2], Extended::from(24_000_u64));
    assert_eq!(entitled[3], Extended::from(1_000_000_u64));
    // The root has what its children have together, so that their parts add up to 1.
    assert_eq!(entitled[0], Extended::from(1_024_000_u64));
    // Without a whole, shares give no entitlement.
    let alone = Entitlement::new(0).with_minutes(AssocIndex::new(1), 400);
    assert_eq!(alone.of_all(&site.tree)[0], Extended::from(24_000_u64));
    assert_eq!(order(&alone), [1.0, 0.5]);
}

// By hand: of 100 minutes i1 has 80, the others divide 20 by their shares, 1 and 3; of the 15 of i3
// one below has 6, the other 9.
#[test]
fn siblings_of_minutes_divide_the_rest() {
    let site = Site::parse(
        "up/ 1\n  i1/ 5\n    u1 parent 0\n  i2/ 1\n    u2 parent 0\n  i3/ 3\n    i4/ 1\n      u4 parent 0\n    \
         i5/ 1\n      u5 parent 0",
    );
    let at = |name: &str| {
        let name = site
            .names
            .iter()
            .position(|known| known.trim_end_matches('/') == name);
        AssocIndex::new(name.expect("a name of the site"))
    };
    let entitlement = Entitlement::new(0).with_minutes(at("up"), 100);
    let entitlement = entitlement
        .with_minutes(at("i1"), 80)
        .with_minutes(at("i4"), 6);
    let entitled = entitlement.of_all(&site.tree);
    let minutes = |name: &str| entitled[at(name).get()].to_f64() / 60.0;
    assert_eq!(
        ["up", "i1", "u1", "i2", "i3"].map(minutes),
        [100.0, 80.0, 80.0, 5.0, 15.0]
    );
    assert_eq!(["i4", "i5", "u5"].map(minutes), [6.0, 9.0, 9.0]);
    assert_eq!(entitlement.total(&site.tree), Extended::from(6_000_u64));
    assert_eq!(entitlement.excess(&site.tree), None);
    // 21 of the 20 that are left: nothing is left for i3.
    let excess = entitlement.with_minutes(at("i2"), 21);
    assert_eq!(excess.of_all(&site.tree)[at("i5").get()], Extended::ZERO);
    let found = excess.excess(&site.tree).expect("101 of 100 minutes");
    assert_eq!(
        (found.parent, found.minutes, found.given),
        (at("up"), 100.0, 101)
    );
}

// By hand: of 100 minutes i1 was given 80 and i2 70; i1 is entitled to 100 x 80 / 150, i2 to 100 x 70 /
// 150, i3 with shares to nothing. Use of 8 and 7 is a tie. Below i1, 90 of its 80 divide its 53.3.
#[test]
fn children_that_exceed_their_parent_divide_its_minutes() {
    let site = Site::parse(
        "up/ 100\n  i1/ 80\n    j1/ 60\n      u1 parent 6\n    j2/ 30\n      u2 parent 2\n  i2/ 70\n    \
         u3 parent 7\n  i3/ 0\n    u4 parent 0",
    );
    let at = |name: &str| {
        let mut names = site.names.iter();
        let found = names.position(|known| known.trim_end_matches('/') == name);
        AssocIndex::new(found.expect("a name of the site"))
    };
    let parameters = "usage=window:28-0,ranking=least_used:2,minutes=shares";
    let config = Config {
        parameters: PriorityParameters::parse(parameters, None).unwrap(),
        ..Config::default()
    };
    let entitlement = Entitlement::of_policy(&config, &site.tree, [], 0);
    let entitled = entitlement.of_all(&site.tree);
    let minutes = |name: &str| (entitled[at(name).get()].to_f64() / 6.0).round() / 10.0;
    assert_eq!(
        ["up", "i1", "i2", "i3"].map(minutes),
        [100.0, 53.3, 46.7, 0.0]
    );
    assert_eq!(["j1", "j2", "u1"].map(minutes), [35.6, 17.8, 35.6]);
    let found: Vec<(AssocIndex, u64)> = (entitlement.excesses(&site.tree).iter())
        .map(|excess| (excess.parent, excess.given))
        .collect();
    assert_eq!(found, [(at("up"), 150), (at("i1"), 90)]);
    let budget = entitlement.budget(&site.tree, at("up"), 6_000.0).unwrap();
    assert_eq!((budget.minutes, budget.given), (Some(100.0), 150));
    assert_eq!(config.check_minutes(&site.tree, |_| None), Ok(()));

    // i1 and i2 tie exactly: i2, a leaf, has the factor of the best one in i1.
    let (tree, raw) = (&site.tree, &site.raw_usage);
    let ranking = (config.ranking(), &entitlement);
    let ranked = compute_again(ranking, Compat::Documented, tree, raw, Vec::new());
    let factor = |name: &str| ranked[at(name).get()].fs_factor.unwrap();
    assert_eq!(factor("u3"), factor("u2"));
    assert!(factor("u4") < factor("u1") && factor("u1") < factor("u2"));
}

#[test]
fn fractions_beyond_every_range_are_still_compared() {
    // A chain of accounts, each with 1 of 2^31 shares: the fraction is below 2^-20,000.
    let row = |id, parent, kind, shares| Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(shares),
    };
    let mut rows = vec![row(1, None, AssocKind::Account, 1)];
    for depth in 0..700 {
        let (id, parent) = (2 + 2 * depth, if depth == 0 { 1 } else { 2 * depth });
        rows.push(row(id, Some(parent), AssocKind::Account, 1));
        rows.push(row(id + 1, Some(parent), AssocKind::User, 0x7fff_0000));
    }
    let last = 2 + 2 * 699;
    rows.push(row(2000, Some(last), AssocKind::User, 2));
    rows.push(row(2001, Some(last), AssocKind::User, 3));
    rows.push(row(2002, Some(last), AssocKind::User, 0));
    let names = (0..rows.len()).map(|at| at.to_string()).collect();
    let mut own = vec![0.0; rows.len()];
    let users = rows.len() - 3;
    (own[users], own[users + 1]) = (4.0, 6.0);
    let site = Site::new(names, rows, &own);
    let count = Ranking::LEAST_USED_LEAF.places(&site.tree) as f64;
    let tied = factors(&site, Ranking::LEAST_USED_LEAF);
    assert_eq!(tied[users], Some(3.0 / count));
    assert_eq!(tied[users + 1], Some(3.0 / count));
    assert_eq!(tied[users + 2], Some(1.0 / count));
}

/// The same site, with shares for all associations.
fn with_shares(site: &Site) -> Site {
    let rows = site.tree.rows().iter().map(|row| Assoc {
        shares: match row.shares {
            Shares::Raw(0) | Shares::Parent => Shares::Raw(1),
            raw @ Shares::Raw(_) => raw,
        },
        ..*row
    });
    let tree = Tree::from_rows(rows).expect("the same tree");
    Site {
        names: site.names.clone(),
        tree,
        raw_usage: site.raw_usage.clone(),
    }
}

const NEW: [Ranking; 3] = [
    Ranking::DIFFERENCE,
    Ranking::WEIGHTED_WALK,
    Ranking::LEAST_USED_LEAF,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn least_used_agrees_with_a_naive_model(site in sites(), depth in 1_u32..5) {
        let found = factors(&site, level(depth));
        prop_assert_eq!(found, naive_least_used(&site, Some(depth), &[], 1));
        let found = factors(&site, Ranking::LEAST_USED_LEAF);
        prop_assert_eq!(found, naive_least_used(&site, None, &[], 1));
    }

    #[test]
    fn minutes_agree_with_a_naive_model(
        site in sites(),
        depth in 1_u32..4,
        whole in 0_u64..1000,
        minutes in prop::collection::vec((any::<prop::sample::Index>(), 0_u64..4), 0..6),
    ) {
        let rows = site.tree.len();
        let minutes = minutes.iter().map(|(at, minutes)| (at.index(rows), *minutes));
        // Rows that compete; the root does not.
        let competes = |at: usize| {
            let row = &site.tree.rows()[at];
            at > 0 && row.shares != Shares::Parent
        };
        let minutes: Vec<_> = minutes.filter(|(at, _)| competes(*at)).collect();
        let mut entitlement = Entitlement::new(whole);
        for (at, minutes) in &minutes {
            entitlement = entitlement.with_minutes(AssocIndex::new(*at), *minutes);
        }
        let (tree, raw) = (&site.tree, &site.raw_usage);
        for (ranking, level) in [(level(depth), Some(depth)), (Ranking::LEAST_USED_LEAF, None)] {
            let found = compute_again((ranking, &entitlement), Compat::Documented, tree, raw, Vec::new());
            let found: Vec<_> = found.iter().map(|row| row.fs_factor).collect();
            prop_assert_eq!(found, naive_least_used(&site, level, &minutes, whole));
        }
    }

    /// Shares as minutes, where children mostly exceed their parents.
    #[test]
    fn shares_as_minutes_agree_with_a_naive_model(site in sites(), depth in 1_u32..4) {
        let rows = site.tree.rows().iter().enumerate().skip(1);
        let accounts = rows.filter(|(_, row)| row.kind == AssocKind::Account);
        let minutes = accounts.filter_map(|(at, row)| Some((at, row.shares.raw()?.into())));
        let minutes: Vec<(usize, u64)> = minutes.collect();
        let parameters = "ranking=least_used:leaf,minutes=shares";
        let config = Config {
            parameters: PriorityParameters::parse(parameters, None).unwrap(),
            ..Config::default()
        };
        let entitlement = Entitlement::of_policy(&config, &site.tree, [], 0);
        for (ranking, level) in [(level(depth), Some(depth)), (Ranking::LEAST_USED_LEAF, None)] {
            let (tree, raw) = (&site.tree, &site.raw_usage);
            let found = compute_again((ranking, &entitlement), Compat::Documented, tree, raw, Vec::new());
            let found: Vec<_> = found.iter().map(|row| row.fs_factor).collect();
            prop_assert_eq!(found, naive_of_minutes(&site, level, (&minutes, true), 0));
        }
    }

    #[test]
    fn weighted_walk_agrees_with_a_naive_model(site in sites()) {
        let found = factors(&site, Ranking::WEIGHTED_WALK);
        prop_assert_eq!(found, naive_weighted_walk(&site));
    }

    #[test]
    fn difference_agrees_with_exact_fractions(site in sites()) {
        let found: Vec<f64> = factors(&site, Ranking::DIFFERENCE).into_iter().flatten().collect();
        prop_assert_eq!(found, naive_difference(&site));
    }

    #[test]
    fn least_used_1_orders_as_fair_tree(site in sites()) {
        let site = with_shares(&site);
        prop_assert_eq!(factors(&site, level(1)), factors(&site, Ranking::FAIR_TREE));
    }

    #[test]
    fn every_leaf_has_a_factor_and_the_order_of_rows_does_not_matter(
        site in sites(),
        seed in any::<u64>(),
        depth in 1_u32..4,
    ) {
        let order = order_of(site.tree.len(), seed);
        let other = site.reordered(&order);
        for ranking in NEW.into_iter().chain([level(depth)]) {
            let found = of_site(&site, ranking);
            let again = of_site(&other, ranking);
            for (at, was) in order.iter().enumerate() {
                prop_assert_eq!(&again[at], &found[*was], "{}", ranking);
            }
            for (row, found) in site.tree.rows().iter().zip(&found) {
                let factor = found.fs_factor;
                let within = |factor: f64| factor > 0.0 && factor <= 1.0;
                prop_assert!(factor.is_none_or(within), "{}", ranking);
                prop_assert!(row.kind == AssocKind::Account || factor.is_some());
            }
        }
    }
}

#[test]
fn names_print_as_they_are_read() {
    for text in [
        "difference",
        "weighted_walk",
        "least_used:2",
        "least_used:leaf",
    ] {
        let ranking = Ranking::parse(text).unwrap();
        assert_eq!(ranking.to_string(), text);
        assert!(!ranking.is_in_stock());
        assert_eq!(ranking.flag(), None);
    }
    for text in [
        "least_used",
        "least_used:0",
        "least_used:+1",
        "least_used:",
        "difference:1",
    ] {
        let error = Ranking::parse(text).unwrap_err();
        assert!(
            error.allowed.contains("least_used:LEVEL"),
            "{text}: {}",
            error.allowed
        );
    }
}
