//! Finding the factors of the users that jobs run under, by id, a million times in a call.

use std::collections::BTreeMap;

use crate::fairshare::AssocFairshare;
use crate::priority::AssocFactors;
use crate::tree::{AssocKind, Tree};

use super::error::{Failure, Status};
use super::tree::{FT_NONE, TreeModel};
use super::view;

/// A table by id may be this many times as long as the tree.
const HOLES: usize = 8;

/// In a table of factors, where there is no user.
const NOBODY: f64 = -1.0;

/// Fair-share factors of the users of a tree, by id: one read of eight bytes tells the factor and
/// whether there is such a user.
#[derive(Clone, Default)]
pub(super) struct UserFactors {
    /// Ends with a hole for ids beyond it; nothing else is in it where ids are so far apart that
    /// it would be mostly holes.
    by_id: Vec<f64>,
}

impl UserFactors {
    /// `rows`: one per association by position. In the memory of `spare`, whatever is in it.
    pub(super) fn new(tree: &Tree, rows: &[AssocFairshare], spare: UserFactors) -> UserFactors {
        let ids = tree.rows().iter().map(|assoc| assoc.id);
        let mut by_id = spare.by_id;
        by_id.clear();
        by_id.resize(table_len(tree, ids), NOBODY);
        if !by_id.is_empty() {
            for (assoc, row) in tree.rows().iter().zip(rows) {
                if assoc.kind == AssocKind::User {
                    by_id[assoc.id as usize] = row.fs_factor.unwrap_or(0.0);
                }
            }
        }
        by_id.push(NOBODY);
        UserFactors { by_id }
    }
}

/// The length of a table with a place for each of `ids`; 0 where those are too far apart.
fn table_len(tree: &Tree, ids: impl Iterator<Item = u32>) -> usize {
    let len = ids.map(|id| id as usize + 1).max();
    let len = len.filter(|len| *len <= tree.len().saturating_mul(HOLES));
    len.unwrap_or(0)
}

/// Priorities of associations, of which most sites give none.
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
    factors: &'a [f64],
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
                factors: &[NOBODY],
                priorities: Priorities::default(),
            });
        };
        let priorities = match given.is_empty() {
            true => Priorities::default(),
            false => Priorities::new(&model.tree, given),
        };
        Ok(Users {
            tree,
            factors: &model.factors()?.users.by_id,
            priorities,
        })
    }

    /// Whether an association has a priority.
    #[inline(always)]
    pub(super) fn have_priorities(&self) -> bool {
        self.priorities.largest != 0
    }

    /// The fair-share factor of user `id`; less than 0, or NaN, where [`Users::find`] has to look
    /// again.
    #[inline(always)]
    pub(super) fn look_up(&self, id: u32) -> f64 {
        self.factors.get(id as usize).copied().unwrap_or(NOBODY)
    }

    /// Lets the processor fetch what will be looked up for user `id`: places far apart in memory
    /// cost more than all that is calculated with them.
    #[inline(always)]
    pub(super) fn prefetch(&self, id: u32) {
        view::prefetch(self.factors.as_ptr().wrapping_add(id as usize));
    }

    /// The factors of user `id`, all 0 for [`FT_NONE`]; `None` where something is wrong with it.
    pub(super) fn find(&self, id: u32) -> Option<AssocFactors> {
        if id == FT_NONE {
            return Some(AssocFactors::default());
        }
        let in_table = self.factors.get(id as usize).copied();
        let fs_factor = match in_table.filter(|factor| *factor >= 0.0) {
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
