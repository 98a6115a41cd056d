//! Fair-share factors of the last pass, for pricing one job between passes, and for sshare.
//!
//! An association that no pass has seen is new and unused. Under the documented behaviour its first
//! jobs get the factor that such an association will most likely have after the next pass. Without
//! usage it ranks before every used sibling, so this is the best factor of any user below its
//! nearest known ancestor; with zero shares, the worst. `priority/multifactor` gives it 0.

use crate::tree::{AssocIndex, AssocKind, Shares, Tree};
use std::sync::Arc;

/// Fair-share factors of the last pass. Memory is kept from pass to pass.
#[derive(Debug, Default)]
pub(in crate::slurm) struct PublishedFactors {
    tree: Arc<Tree>,
    /// By position; 0 for accounts under Fair Tree.
    factors: Vec<f64>,
}

/// An association in a chain of ancestors, nearest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::slurm) struct Ancestor {
    pub(in crate::slurm) id: u32,
    pub(in crate::slurm) shares: Shares,
}

impl PublishedFactors {
    /// Stores the factors of a pass: one per association of `tree`, by position.
    pub(in crate::slurm) fn publish(
        &mut self,
        tree: &Arc<Tree>,
        factors: impl Iterator<Item = f64>,
    ) {
        self.tree = Arc::clone(tree);
        self.factors.clear();
        self.factors.extend(factors);
    }

    /// Factor of the association `id` from the last pass; `None` if that pass did not see it.
    pub(in crate::slurm) fn factor_of(&self, id: u32) -> Option<f64> {
        let index = self.tree.index_of(id)?;
        self.factors.get(index.get()).copied()
    }

    /// Worst and best factor of a user, or of the users below an account.
    fn range(&self, index: AssocIndex) -> Option<(f64, f64)> {
        let is_below = self.tree.is_below(index);
        let mut range: Option<(f64, f64)> = None;
        for at in self.tree.indices() {
            if is_below[at.get()] && self.tree.rows()[at.get()].kind == AssocKind::User {
                let factor = self.factors[at.get()];
                let (worst, best) = range.unwrap_or((factor, factor));
                range = Some((worst.min(factor), best.max(factor)));
            }
        }
        range
    }

    /// The fair-share factor of an association: from the last pass, or the most likely one.
    ///
    /// `chain`: the association and those above it, nearest first. `None` if nothing is known.
    pub(in crate::slurm) fn factor_or_estimate(&self, chain: &[Ancestor]) -> Option<f64> {
        let first = chain.first()?;
        if let Some(factor) = self.factor_of(first.id) {
            return Some(factor);
        }
        let unentitled = chain
            .iter()
            .take_while(|assoc| self.tree.index_of(assoc.id).is_none())
            .any(|assoc| assoc.shares == Shares::Raw(0));
        chain
            .iter()
            .filter_map(|assoc| self.tree.index_of(assoc.id))
            .find_map(|index| self.range(index))
            .map(|(worst, best)| if unentitled { worst } else { best })
            // No user has a factor: the first user of a site has both the best and the worst
            // factor.
            .or(Some(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Assoc;

    fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
        Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        }
    }

    /// root(1) with accounts 2 (users 4: 1.0, 5: 0.5) and 3 (user 6: 0.25), and 7 (no user).
    fn published() -> PublishedFactors {
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
        let mut published = PublishedFactors::default();
        let factors = [0.0, 0.0, 0.0, 1.0, 0.5, 0.25, 0.0];
        published.publish(&Arc::new(tree), factors.into_iter());
        published
    }

    fn chain(ids: &[u32], shares: u32) -> Vec<Ancestor> {
        let shares = Shares::Raw(shares);
        ids.iter().map(|&id| Ancestor { id, shares }).collect()
    }

    #[test]
    fn a_known_factor_is_returned() {
        let published = published();
        assert_eq!(
            published.factor_or_estimate(&chain(&[5, 2, 1], 1)),
            Some(0.5)
        );
        assert_eq!([0, 8].map(|id| published.factor_of(id)), [None; 2]);
    }

    #[test]
    fn ids_that_lie_far_apart_are_found_as_well() {
        use AssocKind::{Account, User};
        let far = u32::MAX - 1;
        let rows = [
            row(1, None, Account),
            row(far, Some(1), User),
            row(9, Some(1), User),
        ];
        let tree = Arc::new(Tree::from_rows(rows).unwrap());
        let mut published = PublishedFactors::default();
        published.publish(&tree, [0.0, 0.5, 1.0].into_iter());
        assert_eq!(
            [far, 9, 1, 2].map(|id| published.factor_of(id)),
            [Some(0.5), Some(1.0), Some(0.0), None]
        );
        assert_eq!(
            published.factor_or_estimate(&chain(&[7, far], 0)),
            Some(0.5)
        );
        // The same tree again, then a different one.
        published.publish(&tree, [0.0, 0.25, 1.0].into_iter());
        assert_eq!(published.factor_of(far), Some(0.25));
        let rows = [row(1, None, Account), row(9, Some(1), User)];
        let tree = Arc::new(Tree::from_rows(rows).unwrap());
        published.publish(&tree, [0.0, 0.75].into_iter());
        assert_eq!(
            [far, 9].map(|id| published.factor_of(id)),
            [None, Some(0.75)]
        );
    }

    #[test]
    fn a_new_user_is_as_good_as_the_best_beside_him() {
        assert_eq!(
            published().factor_or_estimate(&chain(&[8, 3, 1], 1)),
            Some(0.25)
        );
        assert_eq!(
            published().factor_or_estimate(&chain(&[8, 2, 1], 1)),
            Some(1.0)
        );
        assert_eq!(
            published().factor_or_estimate(&chain(&[8, 2, 1], 0)),
            Some(0.5)
        );
    }

    #[test]
    fn a_new_account_is_before_the_others() {
        assert_eq!(
            published().factor_or_estimate(&chain(&[9, 8, 1], 1)),
            Some(1.0)
        );
        // An account without users gives no information; its parent does.
        assert_eq!(
            published().factor_or_estimate(&chain(&[8, 7, 1], 1)),
            Some(1.0)
        );
    }

    #[test]
    fn before_the_first_pass_the_first_user_is_alone() {
        assert_eq!(
            PublishedFactors::default().factor_or_estimate(&chain(&[1], 1)),
            Some(1.0)
        );
        assert_eq!(PublishedFactors::default().factor_or_estimate(&[]), None);
    }
}
