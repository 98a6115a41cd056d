//! Lookup of the factors of the users of jobs, by id, a million times in a call.

use std::collections::BTreeMap;

use crate::priority::AssocFactors;
use crate::tree::{AssocKind, Tree};

use super::error::{Failure, Status};
use super::tree::{FT_NONE, TreeModel};

/// Priorities of associations; most sites set none.
#[derive(Default)]
struct Priorities<'a> {
    given: Option<&'a BTreeMap<u32, u32>>,
    largest: u32,
}

impl<'a> Priorities<'a> {
    fn new(tree: &Tree, given: &'a BTreeMap<u32, u32>) -> Priorities<'a> {
        let in_tree = given.iter().filter(|(id, _)| tree.index_of(**id).is_some());
        let largest = in_tree.map(|(_, priority)| *priority).max().unwrap_or(0);
        Priorities {
            given: Some(given),
            largest,
        }
    }

    fn of(&self, id: u32) -> u32 {
        let given = self.given.and_then(|given| given.get(&id));
        given.copied().unwrap_or(0)
    }
}

/// Users that the jobs of one call are priced with.
pub(super) struct Users<'a> {
    tree: Option<&'a TreeModel>,
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
                priorities: Priorities::default(),
            });
        };
        let priorities = match given.is_empty() {
            true => Priorities::default(),
            false => Priorities::new(model.tree(), given),
        };
        model.factors()?;
        Ok(Users { tree, priorities })
    }

    /// The users of `model`, whether or not factors are known: those that are not are 0.
    pub(super) fn before_a_pass(model: &'a TreeModel, given: &'a BTreeMap<u32, u32>) -> Users<'a> {
        Users::new(Some(model), given).unwrap_or(Users {
            tree: Some(model),
            priorities: Priorities::default(),
        })
    }

    /// The factors of user `id`, all 0 for [`FT_NONE`]; `None` where something is wrong with it.
    pub(super) fn find(&self, id: u32) -> Option<AssocFactors> {
        if id == FT_NONE {
            return Some(AssocFactors::default());
        }
        let fs_factor = self.search(id).ok().filter(|factor| *factor >= 0.0)?;
        Some(self.with_priority(id, fs_factor))
    }

    fn with_priority(&self, id: u32, fs_factor: f64) -> AssocFactors {
        let none = AssocFactors {
            fs_factor,
            ..AssocFactors::default()
        };
        if self.priorities.largest == 0 {
            return none;
        }
        let priority = self.priorities.of(id);
        AssocFactors {
            priority,
            norm_priority: f64::from(priority) / f64::from(self.priorities.largest),
            ..none
        }
    }

    /// The factor of user `id`.
    fn search(&self, id: u32) -> Result<f64, (Status, String)> {
        let unknown = (
            Status::FT_ERR_UNKNOWN_ID,
            format!("association {id} is not in the tree"),
        );
        let model = self.tree.ok_or_else(|| unknown.clone())?;
        let index = model.tree().index_of(id).ok_or(unknown)?;
        if model.tree().rows()[index.get()].kind != AssocKind::User {
            return Err((
                Status::FT_ERR_NOT_A_USER,
                format!("association {id} is an account"),
            ));
        }
        let row = model.factors.as_ref().map(|found| found.rows[index.get()]);
        Ok(row.and_then(|row| row.fs_factor).unwrap_or(0.0))
    }

    /// The error for an `id` that [`Users::find`] does not find.
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
