//! What the last pass found, for those who ask between passes: the price of one job, sshare.
//!
//! An association that no pass has seen is new and unused. Under the documented behaviour its
//! first jobs get what such an association will most likely have after the next pass: without
//! usage it ranks before every used sibling, so the best factor that anyone below its nearest
//! known ancestor has; with zero shares the worst. `priority/multifactor` gives it 0.

use crate::fairshare::AssocFairshare;
use crate::tree::{AssocKind, Shares, Tree};
use std::sync::Arc;

/// Fair share of every association at the last pass.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    tree: Arc<Tree>,
    fairshare: Vec<AssocFairshare>,
    /// Worst and best factor of the users below an account, by position.
    range: Vec<Option<(f64, f64)>>,
}

/// An association with those above it, nearest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ancestor {
    pub(super) id: u32,
    pub(super) shares: Shares,
}

impl Ranking {
    /// `fairshare`: one per association of `tree`.
    pub(super) fn new(tree: Arc<Tree>, fairshare: Vec<AssocFairshare>) -> Ranking {
        let mut range: Vec<Option<(f64, f64)>> = vec![None; tree.len()];
        for &index in tree.parents_first().iter().rev() {
            if tree.rows()[index.get()].kind == AssocKind::User {
                range[index.get()] = fairshare[index.get()].fs_factor.map(|f| (f, f));
            }
            let (Some(below), Some(parent)) = (range[index.get()], tree.parent(index)) else {
                continue;
            };
            let all = &mut range[parent.get()];
            *all = Some(all.map_or(below, |(low, high)| (low.min(below.0), high.max(below.1))));
        }
        Ranking {
            tree,
            fairshare,
            range,
        }
    }

    /// What the last pass found for the association `id`; `None` if it did not see it.
    pub(super) fn of(&self, id: u32) -> Option<&AssocFairshare> {
        let index = self.tree.index_of(id)?;
        self.fairshare.get(index.get())
    }

    /// The fair-share factor of an association: found, or what is most likely.
    ///
    /// `chain`: the association and those above it, nearest first. `None` where nothing is known.
    pub(super) fn factor(&self, chain: &[Ancestor]) -> Option<f64> {
        let first = chain.first()?;
        if let Some(found) = self.of(first.id) {
            return found.fs_factor;
        }
        let unentitled = chain
            .iter()
            .take_while(|assoc| self.tree.index_of(assoc.id).is_none())
            .any(|assoc| assoc.shares == Shares::Raw(0));
        chain
            .iter()
            .filter_map(|assoc| self.tree.index_of(assoc.id))
            .find_map(|index| self.range[index.get()])
            .map(|(worst, best)| if unentitled { worst } else { best })
            // Nobody has a factor: the first user of a site is its best and its worst.
            .or(Some(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extended::Extended;
    use crate::tree::Assoc;

    fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
        Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        }
    }

    fn found(fs_factor: Option<f64>) -> AssocFairshare {
        AssocFairshare {
            norm_shares: 0.0,
            raw_usage: Extended::ZERO,
            norm_usage: Extended::ZERO,
            effective_usage: Extended::ZERO,
            level_fs: None,
            fs_factor,
        }
    }

    /// root(1) with accounts 2 (users 4: 1.0, 5: 0.5) and 3 (user 6: 0.25), and 7 (no user).
    fn ranking() -> Ranking {
        use AssocKind::{Account, User};
        let tree = Tree::from_rows([
            row(1, None, Account),
            row(2, Some(1), Account),
            row(3, Some(1), Account),
            row(4, Some(2), User),
            row(5, Some(2), User),
            row(6, Some(3), User),
            row(7, Some(1), Account),
        ])
        .unwrap();
        let factors = [None, None, None, Some(1.0), Some(0.5), Some(0.25), None];
        Ranking::new(Arc::new(tree), factors.map(found).into())
    }

    fn chain(ids: &[u32], shares: u32) -> Vec<Ancestor> {
        let shares = Shares::Raw(shares);
        ids.iter().map(|&id| Ancestor { id, shares }).collect()
    }

    #[test]
    fn what_was_found_is_told() {
        assert_eq!(ranking().factor(&chain(&[5, 2, 1], 1)), Some(0.5));
        assert_eq!(ranking().of(8), None);
    }

    #[test]
    fn a_new_user_is_as_good_as_the_best_beside_him() {
        assert_eq!(ranking().factor(&chain(&[8, 3, 1], 1)), Some(0.25));
        assert_eq!(ranking().factor(&chain(&[8, 2, 1], 1)), Some(1.0));
        assert_eq!(ranking().factor(&chain(&[8, 2, 1], 0)), Some(0.5));
    }

    #[test]
    fn a_new_account_is_before_the_others() {
        assert_eq!(ranking().factor(&chain(&[9, 8, 1], 1)), Some(1.0));
        // An account without users says nothing, its parent does.
        assert_eq!(ranking().factor(&chain(&[8, 7, 1], 1)), Some(1.0));
    }

    #[test]
    fn before_the_first_pass_the_first_user_is_alone() {
        assert_eq!(Ranking::default().factor(&chain(&[1], 1)), Some(1.0));
        assert_eq!(Ranking::default().factor(&[]), None);
    }
}
