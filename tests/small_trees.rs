//! Fair Tree on small trees. Expected ranks: calculated by hand from fair_tree.shtml; stock's ranks
//! come from priority/multifactor of Slurm 22.05.8, and by hand from its rules.

mod common;

use common::trees::*;
use common::{SLURM, Site};
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::Ranking;

/// `CLASSIC_EXAMPLE` under DEPTH_OBLIVIOUS.
const DEPTH_OBLIVIOUS_STOCK: [(&str, u64); 9] = [
    ("B/", 0x3fe2_dbdf_afcb_f6aa),    // 0.589340
    ("user1", 0x3fe2_dbdf_afcb_f6aa), // 0.589340
    ("C/", 0x3fc6_a09e_667f_3bcd),    // 0.176777
    ("user2", 0x3fa0_0000_0000_0000), // 0.031250
    ("user3", 0x3ff0_0000_0000_0000), // 1.000000
    ("E/", 0x3fe7_aae7_eb6a_3b21),    // 0.739613
    ("user4", 0x3fe7_aae7_eb6a_3b21), // 0.739613
    ("F/", 0x3ff0_0000_0000_0000),    // 1.000000
    ("user5", 0x3ff0_0000_0000_0000), // 1.000000
];

#[track_caller]
fn ranks(text: &str, compat: Compat, expected: &[(&str, f64)]) {
    assert_eq!(Site::parse(text).ranks(compat), expected);
}

#[track_caller]
fn documented(text: &str, expected: &[(&str, f64)]) {
    ranks(text, Compat::Documented, expected);
}

#[test]
fn small_tie() {
    // (40/170)/(20/110) = (50/170)/(25/110); 80/170 / (65/110) is less. 3, 3, 1.
    documented(SMALL_TIE, &[("u40", 3.0), ("u50", 3.0), ("u80", 1.0)]);
    // In stock S is an f64 before it is divided by U, and the two differ in their 54th bit.
    ranks(
        SMALL_TIE,
        SLURM,
        &[("u50", 3.0), ("u40", 2.0), ("u80", 1.0)],
    );
}

#[test]
fn small_tie_all() {
    let all = [("a", 4.0), ("b", 4.0), ("c", 4.0), ("d", 4.0)];
    documented(SMALL_TIE_ALL, &all);
}

#[test]
fn numbers_too_close_for_a_mantissa_still_rank_apart() {
    // Usages differ in their 64th bit, in an account that has used five times 2^64: the quotients
    // are above 1, where the distance of adjacent numbers is twice as large as these differences.
    let mut site = Site::parse("most 3\nmore 3\nless 3\nleast 3");
    let used = [u64::MAX, u64::MAX - 1, u64::MAX - 2, u64::MAX - 3].map(Extended::from);
    site.raw_usage[1..].copy_from_slice(&used);
    site.raw_usage[0] = Extended::from(5 * (1_u64 << 60)) * Extended::from(16_u64);
    let results = site.compute(Ranking::FAIR_TREE, Compat::Documented);
    let levels = ["most", "more", "less", "least"].map(|name| results[name].level_fs);
    assert!(levels.windows(2).any(|pair| pair[0] == pair[1]));
    let expected = [("least", 4.0), ("less", 3.0), ("more", 2.0), ("most", 1.0)];
    for order in [[0, 1, 2, 3, 4], [0, 3, 1, 4, 2]] {
        assert_eq!(site.reordered(&order).ranks(Compat::Documented), expected);
    }
}

#[test]
fn small_zero_shares() {
    let all = [("a1", 3.0), ("a2", 3.0), ("b", 3.0)];
    documented(SMALL_ZERO_SHARES, &all);
    let text = SMALL_ZERO_AND_SOME;
    documented(text, &[("greedy", 3.0), ("none", 2.0), ("used", 2.0)]);
}

#[test]
fn tied_accounts_are_merged() {
    let merged = [("b1", 4.0), ("a1", 3.0), ("a2", 2.0), ("b2", 1.0)];
    documented(TIED_ACCOUNTS, &merged);
    // Stock passes "tied" on to b1, which gets the rank of A's last user.
    let stock = [("a1", 4.0), ("a2", 3.0), ("b1", 3.0), ("b2", 1.0)];
    ranks(TIED_ACCOUNTS, SLURM, &stock);
}

#[test]
fn stock_depends_on_the_order_of_tied_accounts() {
    let site = Site::parse(TIED_ACCOUNTS).reordered(&[0, 4, 5, 6, 1, 2, 3]);
    let stock = [("b1", 4.0), ("a1", 3.0), ("b2", 3.0), ("a2", 1.0)];
    assert_eq!(site.ranks(SLURM), stock);
    let merged = [("b1", 4.0), ("a1", 3.0), ("a2", 2.0), ("b2", 1.0)];
    assert_eq!(site.ranks(Compat::Documented), merged);
}

#[test]
fn users_of_unused_accounts_are_equal() {
    let equal = [("ta1", 4.0), ("tb1", 4.0), ("ta0", 2.0), ("tb0", 2.0)];
    documented(UNUSED_ACCOUNTS, &equal);
    let stock = [("ta1", 4.0), ("ta0", 3.0), ("tb1", 3.0), ("tb0", 1.0)];
    ranks(UNUSED_ACCOUNTS, SLURM, &stock);
}

#[test]
fn an_empty_account_does_not_lift_the_next() {
    documented(EMPTY_ACCOUNT_FIRST, &[("U", 2.0), ("b", 1.0)]);
    ranks(EMPTY_ACCOUNT_FIRST, SLURM, &[("U", 2.0), ("b", 2.0)]);
}

#[test]
fn a_user_tied_with_an_account_ranks_as_its_best_user() {
    let expected = [("a1", 3.0), ("u", 3.0), ("a2", 1.0)];
    documented(USER_TIED_WITH_ACCOUNT, &expected);
    ranks(USER_TIED_WITH_ACCOUNT, SLURM, &expected);
}

#[test]
fn a_tie_finds_the_best_user_however_deep() {
    // Below A: E (5/10)/(10/100) = 5, z (4/10)/(30/100) = 1.33, A1 (1/10)/(60/100) = 0.17.
    // E has no users, so z is the best of A.
    let expected = [("u", 4.0), ("z", 4.0), ("x", 2.0), ("y", 1.0)];
    documented(TIE_THROUGH_LEVELS, &expected);
    // Stock's flag ends at E, so z does not tie.
    let stock = [("u", 4.0), ("z", 3.0), ("x", 2.0), ("y", 1.0)];
    ranks(TIE_THROUGH_LEVELS, SLURM, &stock);
    // Without E and z the tie reaches x, two accounts further down.
    let deep: String = TIE_THROUGH_LEVELS
        .lines()
        .filter(|line| !line.contains(['E', 'z']))
        .map(|line| format!("{line}\n"))
        .collect();
    // Then A has used 60, less than u, so set u to 60, too.
    let deep = deep.replace("u 1 100", "u 1 60");
    let expected = [("u", 3.0), ("x", 3.0), ("y", 1.0)];
    documented(&deep, &expected);
    ranks(&deep, SLURM, &expected);
}

#[test]
fn accounts_tie_across_their_former_parents() {
    // A (1/3)/(100/300) = 1 = B (2/3)/(200/300). Below them A1, a, B1, b all have
    // (1/2)/(1/2) = 1: one group. Users a and b share the rank of the best among the merged
    // children of A1 and B1: p (1/2)/(10/50) = 2.5; s (3/4)/(40/100) = 1.875;
    // q (1/2)/(40/50) = 0.625; r (1/4)/(60/100) = 0.417.
    let expected = [
        ("a", 6.0),
        ("b", 6.0),
        ("p", 6.0),
        ("s", 3.0),
        ("q", 2.0),
        ("r", 1.0),
    ];
    documented(TIED_ACROSS_PARENTS, &expected);
}

#[test]
fn parents_stand_aside() {
    // The root's level is a1 3, B 1, c 1, and a2 (parent: infinite). Usage 30, 10, 0 of 100:
    // a1 0.6/0.3 = 2, B 0.2/0.1 = 2, c infinite. B: b1 (parent) infinite, b2 1/(1/10).
    let expected = [
        ("a2", 5.0),
        ("c", 5.0),
        ("a1", 3.0),
        ("b1", 3.0),
        ("b2", 1.0),
    ];
    documented(PARENTS, &expected);
    let site = Site::parse(PARENTS);
    let results = site.compute(Ranking::FAIR_TREE, Compat::Documented);
    assert_eq!(results["A/"].level_fs, None);
    assert_eq!(results["A/"].fs_factor, None);
    assert_eq!(results["root"].level_fs, None);
    assert_eq!(results["b2"].level_fs.map(|l| l.to_f64()), Some(10.0));
    assert_eq!(results["b2"].norm_shares, 1.0);
    assert_eq!(results["b1"].norm_shares, 0.2);
    assert_eq!(results["a2"].norm_shares, 1.0);
    assert_eq!(results["a2"].effective_usage.to_f64(), 0.6);
}

#[test]
fn the_classic_example_of_the_documentation() {
    // classic_fair_share.shtml, "Example": name, effective usage, factor, as printed there.
    let expected = [
        ("user1", 0.3875, 0.408_479),
        ("user2", 0.275, 0.022_097),
        ("user3", 0.15, 0.125),
        ("user4", 0.25, 0.5),
        ("user5", 0.1458, 0.749_154),
    ];
    let site = Site::parse(CLASSIC_EXAMPLE);
    for compat in [Compat::Documented, SLURM] {
        let results = site.compute(Ranking::classic(1), compat);
        for (name, effective_usage, factor) in expected {
            let result = results[name];
            let usage = result.effective_usage.to_f64();
            assert!(
                (usage - effective_usage).abs() < 0.000_05,
                "{name}: {usage}"
            );
            let got = result.fs_factor.expect("for all");
            assert!((got - factor).abs() < 0.000_000_5, "{name}: {got}");
        }
        assert_eq!(results["root"].fs_factor, Some(0.5));
        assert_eq!(results["user1"].level_fs, None);
    }
    for (dampening, factor) in [(1, 0.125), (3, 0.5)] {
        let ranking = Ranking::classic(dampening);
        let results = site.compute(ranking, Compat::Documented);
        assert_eq!(results["user3"].fs_factor, Some(factor), "{dampening}");
    }
}

#[test]
fn unused_is_1_and_its_own_share_is_one_half() {
    for ranking in [Ranking::classic(1), Ranking::depth_oblivious(1)] {
        for compat in [Compat::Documented, SLURM] {
            let site = Site::parse("a 1 10\nb 1 20\nc 1 10\nd 1 0\ne 0 9");
            let results = site.compute(ranking, compat);
            assert_eq!(results["d"].fs_factor, Some(1.0));
            assert_eq!(results["e"].fs_factor, Some(0.0));
            let site = Site::parse("a 1 10\nb 3 30");
            let results = site.compute(ranking, compat);
            assert_eq!(results["a"].fs_factor, Some(0.5));
            assert_eq!(results["b"].fs_factor, Some(0.5));
        }
    }
}

#[test]
fn depth_oblivious_as_stock() {
    // Recorded from the stock functions of Slurm 22.05.8 and 24.11.5 on x86-64, to the last bit.
    let site = Site::parse(CLASSIC_EXAMPLE);
    let results = site.compute(Ranking::depth_oblivious(1), SLURM);
    for (name, factor) in DEPTH_OBLIVIOUS_STOCK {
        assert_eq!(
            results[name].fs_factor,
            Some(f64::from_bits(factor)),
            "{name}"
        );
    }
}

#[test]
fn without_users_or_rows_there_is_nothing_to_rank() {
    assert_eq!(Site::parse("A/ 1 5").ranks(Compat::Documented), []);
    assert_eq!(Site::parse("A/ 1 5").ranks(SLURM), []);
    let empty = fairtree::tree::Tree::default();
    for ranking in [
        Ranking::FAIR_TREE,
        Ranking::classic(1),
        Ranking::depth_oblivious(1),
    ] {
        for compat in [Compat::Documented, SLURM] {
            assert_eq!(
                fairtree::fairshare::compute(ranking, compat, &empty, &[]),
                []
            );
        }
    }
}

#[test]
fn a_lone_user_is_first() {
    documented("u 0 1000", &[("u", 1.0)]);
    ranks("u 0 1000", SLURM, &[("u", 1.0)]);
}
