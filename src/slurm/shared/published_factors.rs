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
    /// 0 for accounts under Fair Tree. By id if `by_id`, with [`NO_FACTOR`] in the gaps, so that
    /// pricing one job waits for memory once instead of three times; otherwise by position.
    /// `time_set` with 100,000 jobs, scattered: 1.08 us per job instead of 1.14 (lower quartile).
    factors: Vec<f64>,
    /// True if ids are dense.
    by_id: bool,
    /// Accounts, ascending by position.
    accounts: Vec<AssocIndex>,
    /// Factor ranges of the users below each account.
    ranges: Vec<Range>,
    /// By position: index in `ranges` of a user's account; `NONE` for others.
    places: Vec<u32>,
    /// Indices in `ranges` of an account and its parent, children before parents.
    upwards: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

/// Marks a gap: no association has this factor.
const NO_FACTOR: f64 = f64::NAN;

/// Ids count as dense up to this number of ids per association, plus a constant.
const MOST_IDS: (usize, usize) = (4, 1024);

/// The worst and the best factor of some users.
#[derive(Clone, Copy, Debug)]
struct Range {
    worst: f64,
    best: f64,
}

impl Range {
    /// Range without users.
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
        if !Arc::ptr_eq(&self.tree, tree) {
            self.take_tree(tree);
        }
        self.ranges.clear();
        self.ranges.resize(self.accounts.len(), Range::EMPTY);
        for (position, factor) in factors.enumerate() {
            let slot = self.slot(AssocIndex::new(position));
            self.factors[slot] = factor;
            if let Some(range) = self.ranges.get_mut(self.places[position] as usize) {
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

    fn take_tree(&mut self, tree: &Arc<Tree>) {
        let is_account = |index: &AssocIndex| tree.rows()[index.get()].kind != AssocKind::User;
        self.tree = Arc::clone(tree);
        let ids = tree.rows().iter().map(|row| row.id as usize + 1);
        let ids = ids.max().unwrap_or(0);
        self.by_id = ids <= MOST_IDS.0 * tree.len() + MOST_IDS.1;
        self.factors.clear();
        let slots = if self.by_id { ids } else { tree.len() };
        self.factors.resize(slots, NO_FACTOR);
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

    /// Index of an association's factor.
    fn slot(&self, index: AssocIndex) -> usize {
        match self.by_id {
            true => self.tree.rows()[index.get()].id as usize,
            false => index.get(),
        }
    }

    /// Factor of the association `id` from the last pass; `None` if that pass did not see it.
    pub(in crate::slurm) fn factor_of(&self, id: u32) -> Option<f64> {
        let slot = match self.by_id {
            true => id as usize,
            false => self.tree.index_of(id)?.get(),
        };
        let factor = *self.factors.get(slot)?;
        (!factor.is_nan()).then_some(factor)
    }

    /// Worst and best factor below an association.
    fn range(&self, index: AssocIndex) -> Option<(f64, f64)> {
        if let Some(place) = place_of(&self.accounts, index) {
            return self.ranges[place].known();
        }
        let own = self.factor_of(self.tree.rows()[index.get()].id)?;
        Some((own, own))
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
        let published = published();
        assert!(published.by_id);
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
        assert!(!published.by_id);
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
        assert!(published.by_id);
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
