//! Lookup of the factors of the users of jobs, by id, a million times in a call.

use std::collections::BTreeMap;

use crate::fairshare::AssocFairshare;
use crate::priority::AssocFactors;
use crate::tree::{AssocKind, Tree};

use super::error::{Failure, Status};
use super::tree::{FT_NONE, TreeModel};

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
    /// What ranks are divided by.
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

    /// False where a factor is no rank over the number of users, to the last bit.
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

    fn by_id(&self) -> ById<'_> {
        match self.ranks.is_empty() {
            true => ById::Factors(&self.factors),
            false => ById::Ranks(&self.ranks, self.users),
        }
    }
}

impl ById<'_> {
    fn get(&self, id: u32) -> Option<f64> {
        match self {
            ById::Ranks(ranks, users) => Some(f64::from(*ranks.get(id as usize)?) / users),
            ById::Factors(factors) => factors.get(id as usize).copied(),
        }
    }
}

/// The length of a table with a place for each of `ids`; 0 where those are too far apart.
fn table_len(tree: &Tree, ids: impl Iterator<Item = u32>) -> usize {
    let len = ids.map(|id| id as usize + 1).max();
    let len = len.filter(|len| *len <= tree.len().saturating_mul(HOLES));
    len.unwrap_or(0)
}

/// Priorities of associations; most sites set none.
#[derive(Default)]
struct Priorities<'a> {
    given: Option<&'a BTreeMap<u32, u32>>,
    /// The same by id, or empty.
    by_id: Vec<u32>,
    largest: u32,
}

impl<'a> Priorities<'a> {
    fn new(tree: &Tree, given: &'a BTreeMap<u32, u32>) -> Priorities<'a> {
        let in_tree = given.iter().filter(|(id, _)| tree.index_of(**id).is_some());
        let largest = in_tree.map(|(_, priority)| *priority).max().unwrap_or(0);
        let mut by_id = vec![0; table_len(tree, given.keys().last().copied().into_iter())];
        if !by_id.is_empty() {
            for (id, priority) in given {
                by_id[*id as usize] = *priority;
            }
        }
        Priorities {
            given: Some(given),
            by_id,
            largest,
        }
    }

    fn of(&self, id: u32) -> u32 {
        let Some(given) = self.given else { return 0 };
        if self.by_id.is_empty() {
            return given.get(&id).copied().unwrap_or(0);
        }
        self.by_id.get(id as usize).copied().unwrap_or(0)
    }
}

/// What the jobs of one call are priced with.
pub(super) struct Users<'a> {
    tree: Option<&'a TreeModel>,
    by_id: ById<'a>,
    priorities: Priorities<'a>,
}

impl<'a> Users<'a> {
    /// The users of `tree` with the priorities that were given to associations.
    pub(super) fn new(
        tree: Option<&'a TreeModel>,
        given: &'a BTreeMap<u32, u32>,
    ) -> Result<Users<'a>, Failure> {
        let Some(model) = tree else {
            return Ok(Users {
                tree,
                by_id: ById::Factors(&[NO_USER]),
                priorities: Priorities::default(),
            });
        };
        let priorities = match given.is_empty() {
            true => Priorities::default(),
            false => Priorities::new(&model.tree, given),
        };
        Ok(Users {
            tree,
            by_id: model.factors()?.users.by_id(),
            priorities,
        })
    }

    /// The users of `model`, whether or not factors are known: those that are not are 0.
    pub(super) fn before_a_pass(model: &'a TreeModel, given: &'a BTreeMap<u32, u32>) -> Users<'a> {
        Users::new(Some(model), given).unwrap_or(Users {
            tree: Some(model),
            by_id: ById::Factors(&[NO_USER]),
            priorities: Priorities::default(),
        })
    }

    /// Whether an association has a priority.
    #[inline(always)]
    pub(super) fn have_priorities(&self) -> bool {
        self.priorities.largest != 0
    }

    /// The table of factors; for an entry below 0, or NaN, call [`Users::find`].
    #[inline(always)]
    pub(super) fn by_id(&self) -> ById<'a> {
        self.by_id
    }

    /// The factors of user `id`, all 0 for [`FT_NONE`]; `None` where something is wrong with it.
    pub(super) fn find(&self, id: u32) -> Option<AssocFactors> {
        if id == FT_NONE {
            return Some(AssocFactors::default());
        }
        let fs_factor = match self.by_id.get(id).filter(|factor| *factor >= 0.0) {
            Some(factor) => factor,
            None => self.search(id).ok().filter(|factor| *factor >= 0.0)?,
        };
        Some(self.with_priority(id, fs_factor))
    }

    fn with_priority(&self, id: u32, fs_factor: f64) -> AssocFactors {
        let none = AssocFactors {
            fs_factor,
            ..AssocFactors::default()
        };
        if !self.have_priorities() {
            return none;
        }
        let priority = self.priorities.of(id);
        AssocFactors {
            priority,
            norm_priority: f64::from(priority) / f64::from(self.priorities.largest),
            ..none
        }
    }

    /// The factor of user `id` where it is not in the table.
    fn search(&self, id: u32) -> Result<f64, (Status, String)> {
        let unknown = (
            Status::FT_ERR_UNKNOWN_ID,
            format!("association {id} is not in the tree"),
        );
        let model = self.tree.ok_or_else(|| unknown.clone())?;
        let index = model.tree.index_of(id).ok_or(unknown)?;
        if model.tree.rows()[index.get()].kind != AssocKind::User {
            return Err((
                Status::FT_ERR_NOT_A_USER,
                format!("association {id} is an account"),
            ));
        }
        let row = model.factors.as_ref().map(|found| found.rows[index.get()]);
        Ok(row.and_then(|row| row.fs_factor).unwrap_or(0.0))
    }

    /// What is wrong with `id`, of which [`Users::find`] knows nothing.
    pub(super) fn complaint(&self, id: u32, argument: &str) -> Failure {
        let (status, reason) = match self.search(id) {
            Err(found) => found,
            Ok(factor) => (
                Status::FT_ERR_RANGE,
                format!("association {id} has a fair-share factor of {factor}"),
            ),
        };
        Failure::new(status, format!("{argument}: {reason}"))
    }
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
