//! Fair Tree on small trees. Expected ranks: calculated by hand from fair_tree.shtml; those of
//! stock from priority/multifactor of Slurm 22.05.8, and by hand from its rules.

mod common;

use common::trees::*;
use common::{SLURM, Site};
use fairtree::compat::Compat;
use fairtree::fairshare::Algorithm;

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
}

#[test]
fn small_tie_all() {
    let all = [("a", 4.0), ("b", 4.0), ("c", 4.0), ("d", 4.0)];
    documented(SMALL_TIE_ALL, &all);
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
    // Stock hands "tied" to b1, which gets the rank of A's last user.
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
    // Stock's flag ends at E, so z is on its own.
    let stock = [("u", 4.0), ("z", 3.0), ("x", 2.0), ("y", 1.0)];
    ranks(TIE_THROUGH_LEVELS, SLURM, &stock);
    // Without E and z the tie reaches x, two accounts further down.
    let deep: String = TIE_THROUGH_LEVELS
        .lines()
        .filter(|line| !line.contains(['E', 'z']))
        .map(|line| format!("{line}\n"))
        .collect();
    // Then A has used 60, less than u, so give u 60 as well.
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
    let results = site.compute(Algorithm::FairTree, Compat::Documented);
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
fn without_users_or_rows_there_is_nothing_to_rank() {
    assert_eq!(Site::parse("A/ 1 5").ranks(Compat::Documented), []);
    assert_eq!(Site::parse("A/ 1 5").ranks(SLURM), []);
    let empty = fairtree::tree::Tree::default();
    for algorithm in [
        Algorithm::FairTree,
        Algorithm::Classic { dampening: 1 },
        Algorithm::DepthOblivious { dampening: 1 },
    ] {
        for compat in [Compat::Documented, SLURM] {
            assert_eq!(
                fairtree::fairshare::compute(algorithm, compat, &empty, &[]),
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
