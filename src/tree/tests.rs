//! Expected values: by hand, from sacctmgr(1) and from Slurm's source as each test says.

use super::*;
use crate::compat::{Compat, Release};

const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

fn account(id: AssocId, parent: AssocId, shares: u32) -> Assoc {
    Assoc {
        id,
        parent: (parent != 0).then_some(parent),
        kind: AssocKind::Account,
        shares: Shares::Raw(shares),
    }
}

fn user(id: AssocId, parent: AssocId, shares: u32) -> Assoc {
    Assoc {
        kind: AssocKind::User,
        ..account(id, parent, shares)
    }
}

fn on_parent(row: Assoc) -> Assoc {
    Assoc {
        shares: Shares::Parent,
        ..row
    }
}

fn tree(rows: &[Assoc]) -> Tree {
    Tree::from_rows(rows.iter().copied()).expect("a tree")
}

fn refused(rows: &[Assoc]) -> TreeError {
    Tree::from_rows(rows.iter().copied()).expect_err("not a tree")
}

fn ids(tree: &Tree, list: &[AssocIndex]) -> Vec<AssocId> {
    list.iter().map(|at| tree.rows()[at.get()].id).collect()
}

/// A "parent" account (2) with a user, a "parent" account below it (4), and an account with shares
/// of its own (6).
fn standing_aside() -> Tree {
    tree(&[
        user(5, 4, 7),
        on_parent(account(4, 2, 0)),
        on_parent(account(2, 1, 0)),
        account(1, 0, 1),
        on_parent(user(3, 2, 0)),
        account(6, 4, 3),
        user(7, 6, 2),
    ])
}

/// Id, id of the `fs_parent`, ids of the `fs_children`, level shares.
type Facts = (AssocId, Option<AssocId>, Vec<AssocId>, Option<u64>);

/// All data of a layout, to compare an edited tree with a new one.
fn facts(tree: &Tree) -> Vec<Facts> {
    tree.indices()
        .map(|at| {
            let fs_parent = tree.fs_parent(at).map(|p| tree.rows()[p.get()].id);
            (
                tree.rows()[at.get()].id,
                fs_parent,
                ids(tree, tree.fs_children(at)),
                tree.level_shares(at),
            )
        })
        .collect()
}

fn assert_as_fresh(edited: &Tree) {
    let fresh = tree(edited.rows());
    assert_eq!(facts(edited), facts(&fresh));
    assert_eq!(edited.parents, fresh.parents);
    assert_eq!(edited.child_counts, fresh.child_counts);
    assert_eq!(edited.positions, fresh.positions);
    assert_eq!(edited.root, fresh.root);
    assert_eq!(edited.user_count(), fresh.user_count());
}

#[test]
fn empty() {
    let tree = tree(&[]);
    assert!(tree.is_empty());
    assert_eq!(tree.parents_first(), []);
    assert_eq!(tree.user_count(), 0);
    assert_eq!(tree.root(), None);
    assert_eq!(tree.index_of(1), None);
}

#[test]
fn rows_in_any_order() {
    let tree = standing_aside();
    let order = ids(&tree, tree.parents_first());
    let place = |id| order.iter().position(|o| *o == id).expect("present");
    for row in tree.rows() {
        assert!(row.parent.is_none_or(|p| place(p) < place(row.id)));
    }
    assert_eq!(tree.user_count(), 3);
}

#[test]
fn children_of_an_account_that_stands_aside_go_to_the_nearest_that_does_not() {
    let tree = standing_aside();
    let root = tree.index_of(1).expect("root");
    assert_eq!(ids(&tree, tree.fs_children(root)), [5, 4, 2, 3, 6]);
    assert!(
        tree.fs_children(tree.index_of(2).expect("there"))
            .is_empty()
    );
    assert_eq!(tree.level_shares(root), None);
    assert_eq!(
        tree.level_shares(tree.index_of(5).expect("there")),
        Some(10)
    );
    assert_eq!(tree.level_shares(tree.index_of(7).expect("there")), Some(2));
}

#[test]
fn each_fault_is_named() {
    let root = account(1, 0, 1);
    let (id, parent) = (2, 9);
    assert_eq!(
        refused(&[root, user(1, 1, 1)]),
        TreeError::DuplicateId { id: 1 }
    );
    assert_eq!(
        refused(&[root, user(2, 9, 1)]),
        TreeError::UnknownParent { id, parent }
    );
    assert_eq!(
        refused(&[root, user(2, 1, 1), user(3, 2, 1)]),
        TreeError::ParentIsUser { id: 3, parent: 2 }
    );
    assert_eq!(
        refused(&[root, account(2, 0, 1)]),
        TreeError::TwoRoots { root: 1, id }
    );
    assert_eq!(refused(&[user(2, 0, 1)]), TreeError::RootIsUser { id });
    assert_eq!(refused(&[account(2, 2, 1)]), TreeError::NoRoot);
    let shares = 0x7fff_ffff;
    assert_eq!(
        refused(&[root, user(2, 1, shares)]),
        TreeError::SharesOutOfRange { id, shares }
    );
    let largest = Shares::MAX_RAW;
    assert!(Tree::from_rows([root, user(2, 1, largest)]).is_ok());
}

#[test]
fn a_cycle_is_named_by_its_first_row() {
    let root = account(1, 0, 1);
    assert_eq!(
        refused(&[root, account(2, 2, 1)]),
        TreeError::Cycle { id: 2 }
    );
    // 3 is below the cycle 5 -> 4 -> 6 -> 5 and not on it.
    let rows = [
        root,
        account(3, 5, 1),
        account(4, 6, 1),
        account(5, 4, 1),
        account(6, 5, 1),
    ];
    assert_eq!(refused(&rows), TreeError::Cycle { id: 4 });
}

#[test]
fn messages_name_the_association_and_the_limit() {
    let shares = u32::MAX;
    assert_eq!(
        TreeError::SharesOutOfRange { id: 7, shares }.to_string(),
        "association 7: 4294967295 shares, but at most 2147483646 are allowed"
    );
    assert_eq!(
        TreeError::UnknownParent { id: 7, parent: 8 }.to_string(),
        "association 7: its parent 8 is not in the tree"
    );
}

#[test]
fn adding_row_by_row_builds_the_same_tree() {
    let mut tree = Tree::default();
    let rows = [
        account(1, 0, 1),
        on_parent(account(2, 1, 0)),
        user(3, 2, 5),
        user(4, 1, 6),
    ];
    for row in rows {
        tree.add(row).expect("fits");
        assert_as_fresh(&tree);
    }
    let before = tree.clone();
    assert_eq!(
        tree.add(user(4, 1, 1)),
        Err(TreeError::DuplicateId { id: 4 })
    );
    assert_eq!(
        tree.add(user(5, 4, 1)),
        Err(TreeError::ParentIsUser { id: 5, parent: 4 })
    );
    assert_eq!(
        tree.add(account(5, 0, 1)),
        Err(TreeError::TwoRoots { root: 1, id: 5 })
    );
    assert_eq!(
        tree.add(account(5, 5, 1)),
        Err(TreeError::UnknownParent { id: 5, parent: 5 })
    );
    assert_eq!(tree, before);
    assert_as_fresh(&tree);
}

#[test]
fn shares_can_change_in_every_way() {
    let mut tree = standing_aside();
    for id in [1, 2, 3, 4, 5, 6] {
        for shares in [
            Shares::Raw(9),
            Shares::Parent,
            Shares::Parent,
            Shares::Raw(0),
        ] {
            tree.set_shares(id, shares).expect("fits");
            assert_as_fresh(&tree);
        }
    }
    assert_eq!(
        tree.set_shares(99, Shares::Raw(1)),
        Err(TreeError::UnknownId { id: 99 })
    );
    let shares = u32::MAX;
    assert_eq!(
        tree.set_shares(5, Shares::Raw(shares)),
        Err(TreeError::SharesOutOfRange { id: 5, shares })
    );
}

#[test]
fn moving() {
    let mut tree = standing_aside();
    tree.move_to(6, 1).expect("fits");
    assert_as_fresh(&tree);
    tree.move_to(4, 6).expect("fits");
    assert_as_fresh(&tree);
    assert_eq!(tree.move_to(1, 2), Err(TreeError::RootMoved { id: 1 }));
    assert_eq!(
        tree.move_to(6, 4),
        Err(TreeError::BelowItself { id: 6, parent: 4 })
    );
    assert_eq!(
        tree.move_to(6, 6),
        Err(TreeError::BelowItself { id: 6, parent: 6 })
    );
    assert_eq!(
        tree.move_to(6, 7),
        Err(TreeError::ParentIsUser { id: 6, parent: 7 })
    );
    assert_eq!(
        tree.move_to(6, 99),
        Err(TreeError::UnknownParent { id: 6, parent: 99 })
    );
    assert_eq!(tree.move_to(99, 1), Err(TreeError::UnknownId { id: 99 }));
    assert_as_fresh(&tree);
}

#[test]
fn removing_down_to_nothing() {
    let mut tree = standing_aside();
    assert_eq!(
        tree.remove(4),
        Err(TreeError::HasChildren { id: 4, children: 2 })
    );
    assert_eq!(tree.remove(99), Err(TreeError::UnknownId { id: 99 }));
    for id in [5, 7, 6, 4, 3, 2] {
        let index = tree.index_of(id);
        assert_eq!(tree.remove(id).ok(), index);
        assert_as_fresh(&tree);
    }
    tree.remove(1).expect("the last");
    assert!(tree.is_empty());
    tree.add(account(8, 0, 1)).expect("a new root");
    assert_as_fresh(&tree);
}

#[test]
fn a_chain_of_ten_thousand_levels() {
    // Last row first, so that every parent comes after its child.
    let rows: Vec<Assoc> = (1..=10_000)
        .rev()
        .map(|id| account(id, id - 1, 1))
        .collect();
    let mut tree = tree(&rows);
    assert_eq!(tree.parents_first().len(), 10_000);
    assert_eq!(tree.norm_shares_on_path(SLURM), vec![1.0; 10_000]);
    assert_eq!(
        tree.move_to(2, 10_000),
        Err(TreeError::BelowItself {
            id: 2,
            parent: 10_000
        })
    );
    for id in 2..=10_000 {
        tree.set_shares(id, Shares::Parent).expect("fits");
    }
    assert_eq!(
        tree.fs_children(tree.index_of(1).expect("root")).len(),
        9_999
    );
}

#[test]
fn shares_on_the_level() {
    // By hand: 1 of 4 and 3 of 4 below the root; 2 of 2; "parent" as its account.
    let tree = tree(&[
        account(1, 0, 1),
        account(2, 1, 1),
        account(3, 1, 3),
        user(4, 2, 2),
        on_parent(user(5, 3, 0)),
        on_parent(user(6, 1, 0)),
        account(7, 3, 0),
        user(8, 7, 0),
    ]);
    assert_eq!(
        tree.norm_shares_on_level(Compat::Documented),
        [1.0, 0.25, 0.75, 1.0, 0.75, 1.0, 0.0, 0.0]
    );
    // assoc_mgr: level_shares of the root stays NO_VAL, and root has one share.
    let quirk = 1.0 / 4_294_967_294.0;
    assert_eq!(
        tree.norm_shares_on_level(SLURM),
        [quirk, 0.25, 0.75, 1.0, 0.75, quirk, 0.0, 0.0]
    );
    for compat in [Compat::Documented, SLURM] {
        assert_eq!(
            tree.norm_shares_on_path(compat),
            [1.0, 0.25, 0.75, 0.25, 0.75, 1.0, 0.0, 0.0]
        );
    }
}

#[test]
fn level_shares_wrap_as_in_slurm_only() {
    let most = Shares::MAX_RAW;
    let tree = tree(&[
        account(1, 0, 1),
        user(2, 1, most),
        user(3, 1, most),
        user(4, 1, 5),
    ]);
    // 2 * (2^31 - 2) + 5 = 2^32 + 1.
    assert_eq!(tree.norm_shares_on_level(SLURM)[3], 5.0);
    assert_eq!(
        tree.norm_shares_on_level(Compat::Documented)[3],
        5.0 / 4_294_967_297.0
    );
}

#[test]
fn products_are_rounded_in_slurms_order() {
    // 1/3 of 1/7 of 1/5: Slurm multiplies from the user upwards.
    let tree = tree(&[
        account(1, 0, 1),
        account(2, 1, 1),
        user(3, 1, 4),
        account(4, 2, 1),
        user(5, 2, 6),
        user(6, 4, 1),
        user(7, 4, 2),
    ]);
    let (a, b, c) = (1.0 / 5.0, 1.0 / 7.0, 1.0 / 3.0);
    assert_eq!(tree.norm_shares_on_path(SLURM)[5], c * b * a);
    // 1/105, rounded once.
    assert_eq!(tree.norm_shares_on_path(Compat::Documented)[5], 1.0 / 105.0);
}
