//! Fair-share factors of the last pass, for the price of one job between passes, and for sshare.
//!
//! An association that no pass has seen is new and unused. Under the documented behaviour its
//! first jobs get what such an association will most likely have after the next pass: without
//! usage it ranks before every used sibling, so the best factor that any user below its nearest
//! known ancestor has; with zero shares the worst. `priority/multifactor` gives it 0.

use crate::tree::{AssocIndex, AssocKind, Shares, Tree};
use std::sync::Arc;

/// Fair-share factors of the last pass. Memory is kept from pass to pass.
#[derive(Debug, Default)]
pub(in crate::slurm) struct PublishedFactors {
    tree: Arc<Tree>,
    /// By position; 0 for accounts under Fair Tree.
    factors: Vec<f64>,
    /// Accounts, ascending by position.
    accounts: Vec<AssocIndex>,
    /// Of the users below each account.
    ranges: Vec<Range>,
    /// By position: where in `ranges` a user's account is; `NONE` for others.
    places: Vec<u32>,
    /// Where in `ranges` an account is and its parent, children before parents.
    upwards: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

/// The worst and the best factor of some users.
#[derive(Clone, Copy, Debug)]
struct Range {
    worst: f64,
    best: f64,
}

impl Range {
    /// Of no users.
    const EMPTY: Range = Range {
        worst: f64::INFINITY,
        best: f64::NEG_INFINITY,
    };

    fn widen(&mut self, by: Range) {
        self.worst = self.worst.min(by.worst);
        self.best = self.best.max(by.best);
    }

    fn known(self) -> Option<(f64, f64)> {
        (self.worst <= self.best).then_some((self.worst, self.best))
    }
}

/// An association with those above it, nearest first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::slurm) struct Ancestor {
    pub(in crate::slurm) id: u32,
    pub(in crate::slurm) shares: Shares,
}

impl PublishedFactors {
    /// Takes the factors of a pass: one per association of `tree`, by position.
    pub(in crate::slurm) fn publish(
        &mut self,
        tree: &Arc<Tree>,
        factors: impl Iterator<Item = f64>,
    ) {
        if !Arc::ptr_eq(&self.tree, tree) {
            self.take_tree(tree);
        }
        self.factors.clear();
        self.factors.extend(factors);
        self.find_ranges();
    }

    fn take_tree(&mut self, tree: &Arc<Tree>) {
        let is_account = |index: &AssocIndex| tree.rows()[index.get()].kind != AssocKind::User;
        self.tree = Arc::clone(tree);
        self.accounts.clear();
        self.accounts.extend(tree.indices().filter(is_account));
        let accounts = &self.accounts;
        let place = |index| place_of(accounts, index).map_or(NONE, |place| place as u32);
        let above = |index| tree.parent(index).map_or(NONE, place);
        self.places.clear();
        let places = tree.indices();
        let places = places.map(|index| {
            if is_account(&index) {
                NONE
            } else {
                above(index)
            }
        });
        self.places.extend(places);
        self.upwards.clear();
        let upwards = tree.parents_first().iter().rev();
        let upwards = upwards.filter(|index| is_account(index));
        self.upwards
            .extend(upwards.map(|&index| (place(index), above(index))));
    }

    fn find_ranges(&mut self) {
        self.ranges.clear();
        self.ranges.resize(self.accounts.len(), Range::EMPTY);
        for (&place, &factor) in self.places.iter().zip(&self.factors) {
            if let Some(range) = self.ranges.get_mut(place as usize) {
                range.widen(Range {
                    worst: factor,
                    best: factor,
                });
            }
        }
        for &(place, above) in &self.upwards {
            let range = self.ranges[place as usize];
            if let Some(above) = self.ranges.get_mut(above as usize) {
                above.widen(range);
            }
        }
    }

    /// The factor that the last pass found for the association `id`; `None` if it did not see it.
    pub(in crate::slurm) fn factor_of(&self, id: u32) -> Option<f64> {
        let index = self.tree.index_of(id)?;
        self.factors.get(index.get()).copied()
    }

    /// Worst and best factor below an association.
    fn range(&self, index: AssocIndex) -> Option<(f64, f64)> {
        if let Some(place) = place_of(&self.accounts, index) {
            return self.ranges[place].known();
        }
        let own = *self.factors.get(index.get())?;
        Some((own, own))
    }

    /// The fair-share factor of an association: found, or what is most likely.
    ///
    /// `chain`: the association and those above it, nearest first. `None` where nothing is known.
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
            // No user has a factor: the first user of a site is its best and its worst.
            .or(Some(1.0))
    }
}

fn place_of(accounts: &[AssocIndex], index: AssocIndex) -> Option<usize> {
    accounts.binary_search(&index).ok()
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
        assert_eq!(
            published().factor_or_estimate(&chain(&[5, 2, 1], 1)),
            Some(0.5)
        );
        assert_eq!(published().factor_of(8), None);
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
        // An account without users says nothing, its parent does.
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
