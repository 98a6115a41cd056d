//! Fair-share factors of users, by id.

use crate::fairshare::AssocFairshare;
use crate::tree::{AssocKind, Tree};

/// A table by id may be this many times as long as the tree.
const HOLES: usize = 8;

/// In a table of factors: no user.
pub(super) const NO_USER: f64 = -1.0;

/// The same in a table of ranks.
const NO_RANK: i32 = -1;

/// Fair-share factors of the users of a tree, by id: one read gives the factor and whether there is
/// such a user.
///
/// Jobs come in any order, so most of these reads miss the caches; a smaller table has fewer misses.
/// Fair Tree's factors are ranks over the number of users: then the table has the ranks, which are
/// half as long.
#[derive(Clone, Default)]
pub(super) struct UserFactors {
    /// One of them is empty. The last entry of the other is a hole, for ids beyond the table; it is
    /// the only entry when ids are so sparse that the table would be mostly holes.
    ranks: Vec<i32>,
    factors: Vec<f64>,
    /// Divisor of ranks.
    users: f64,
}

/// A table of [`UserFactors`].
#[derive(Clone, Copy)]
pub(super) enum ById<'a> {
    /// Factors once they are divided by the second, the number of users.
    Ranks(&'a [i32], f64),
    Factors(&'a [f64]),
}

impl UserFactors {
    /// `rows`: one per association by position. In the memory of `spare`, whatever is in it.
    pub(super) fn new(tree: &Tree, rows: &[AssocFairshare], spare: UserFactors) -> UserFactors {
        let ids = tree.rows().iter().map(|assoc| assoc.id);
        let len = table_len(tree, ids);
        let factors = || {
            let users = tree.rows().iter().zip(rows);
            let users = users.filter(|(assoc, _)| assoc.kind == AssocKind::User);
            users.map(|(assoc, row)| (assoc.id, row.fs_factor.unwrap_or(0.0)))
        };
        let mut made = UserFactors {
            users: factors().count() as f64,
            ..spare
        };
        made.factors.clear();
        if made.fill_ranks(len, factors()) {
            return made;
        }
        made.ranks = Vec::new();
        made.factors.resize(len + 1, NO_USER);
        if len > 0 {
            factors().for_each(|(id, factor)| made.factors[id as usize] = factor);
        }
        made
    }

    /// Returns false if a factor is not a rank over the number of users, to the last bit.
    fn fill_ranks(&mut self, len: usize, factors: impl Iterator<Item = (u32, f64)>) -> bool {
        self.ranks.clear();
        self.ranks.resize(len + 1, NO_RANK);
        for (id, factor) in factors.take_while(|_| len > 0) {
            // Cut to what an i32 holds, and NaN is 0: neither is this factor again.
            let rank = (factor * self.users).round() as i32;
            if (f64::from(rank) / self.users).to_bits() != factor.to_bits() {
                return false;
            }
            self.ranks[id as usize] = rank;
        }
        true
    }

    /// The table that is not empty.
    pub(super) fn by_id(&self) -> ById<'_> {
        match self.ranks.is_empty() {
            true => ById::Factors(&self.factors),
            false => ById::Ranks(&self.ranks, self.users),
        }
    }
}

impl ById<'_> {
    /// The entry of an id; below 0: no user. `None`: beyond the table.
    pub(super) fn get(&self, id: u32) -> Option<f64> {
        match self {
            ById::Ranks(ranks, users) => Some(f64::from(*ranks.get(id as usize)?) / users),
            ById::Factors(factors) => factors.get(id as usize).copied(),
        }
    }
}

/// The length of a table with a place for each of `ids`; 0 where those are too far apart.
pub(super) fn table_len(tree: &Tree, ids: impl Iterator<Item = u32>) -> usize {
    let len = ids.map(|id| id as usize + 1).max();
    let len = len.filter(|len| *len <= tree.len().saturating_mul(HOLES));
    len.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(len: usize, users: f64, factors: &[(u32, f64)]) -> Option<UserFactors> {
        let mut made = UserFactors {
            users,
            ..UserFactors::default()
        };
        let filled = made.fill_ranks(len, factors.iter().copied());
        filled.then_some(made)
    }

    #[test]
    fn ranks_give_the_factors_that_they_are_made_of() {
        let factors = [(2, 1.0), (3, 1.0 / 3.0), (5, 2.0 / 3.0), (6, 0.0)];
        let table = table(7, 3.0, &factors).unwrap();
        for (id, factor) in factors {
            assert_eq!(table.by_id().get(id), Some(factor));
        }
        for hole in [0, 1, 4, 7] {
            assert!(table.by_id().get(hole).unwrap() < 0.0, "{hole}");
        }
        assert_eq!(table.by_id().get(8), None);
    }

    #[test]
    fn factors_that_are_no_ranks_are_kept_as_they_are() {
        let near = f64::from_bits((1.0_f64 / 3.0).to_bits() + 1);
        for factor in [near, 0.5, 1e300, -0.0, f64::NAN, f64::INFINITY] {
            assert!(
                table(3, 3.0, &[(2, 1.0), (1, factor)]).is_none(),
                "{factor}"
            );
        }
    }
}
