//! Plans: changes of shares that were computed and kept, in memory.

use std::sync::{Arc, Mutex, PoisonError};

use fairtree_analysis::shares::Proposal;
use serde::Serialize;

/// At most this many are kept; the oldest goes.
const MOST: usize = 1000;

/// A plan.
#[derive(Clone, Debug, Serialize)]
pub struct Plan {
    /// `fairtree.plan/1`.
    pub schema: &'static str,
    /// Its number.
    pub id: String,
    /// Who made it.
    pub user: String,
    /// The account whose level changes.
    pub account: String,
    /// When it was made, seconds since 1970.
    pub time: i64,
    /// Moment of the picture that it was made from, seconds since 1970.
    pub made_from: i64,
    /// Shares that change, with those that it was made from.
    pub shares: Vec<Change>,
    /// The effects.
    pub proposal: Proposal,
}

/// Shares of one association before and after.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The association.
    pub name: String,
    /// A number, or `parent`.
    pub before: String,
    /// A number, or `parent`.
    pub after: String,
}

/// The plans, the oldest first.
#[derive(Debug, Default)]
pub struct Plans {
    kept: Mutex<(u64, Arc<Vec<Plan>>)>,
}

impl Plans {
    /// Keeps a plan under the next number, and returns that.
    pub fn keep(&self, plan: Plan) -> String {
        // Each change is one step: a panic elsewhere leaves a whole list.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0 += 1;
        let id = kept.0.to_string();
        let mut plans = Vec::clone(&kept.1);
        if plans.len() >= MOST {
            plans.remove(0);
        }
        plans.push(Plan {
            id: id.clone(),
            ..plan
        });
        kept.1 = Arc::new(plans);
        id
    }

    /// All of them.
    pub fn all(&self) -> Arc<Vec<Plan>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1.clone()
    }
}
