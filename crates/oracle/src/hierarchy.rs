//! Associations with shares and usage, and the results of each ranking for them: for callers that
//! have a tree instead of a trace of a plugin.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::classic::{classic, part_of_level, share_of_path};
use crate::conf::{Conf, flag};
use crate::fair_tree::fair_tree;
use crate::faults::{Fault, Faults};
use crate::number::{Fraction, Number, to_f64};
use crate::records::{Assoc, Records, USE_PARENT};

/// A row of a tree.
#[derive(Clone, Debug)]
pub struct Association {
    /// Its id, not 0.
    pub id: u32,
    /// The parent account; `None`: the root, which must be unique.
    pub parent: Option<u32>,
    /// True for a user, false for an account.
    pub is_user: bool,
    /// Shares; `None`: `parent` shares.
    pub shares: Option<u32>,
    /// Raw usage of the association and everything below it.
    pub usage: Fraction,
}

/// The ranking that computes factors from shares and usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// Fair Tree.
    FairTree,
    /// Classic fair share.
    Classic {
        /// `FairShareDampeningFactor`, not 0.
        dampening: u16,
    },
    /// `DEPTH_OBLIVIOUS`.
    DepthOblivious {
        /// `FairShareDampeningFactor`, not 0.
        dampening: u16,
    },
}

/// A level fairshare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// A number.
    Finite(Fraction),
    /// No usage, or `parent` shares: above all numbers.
    Infinite,
}

/// The associations after one computation.
pub struct Hierarchy {
    records: Records,
    /// In Fair Tree only users have a factor, in classic fair share all associations.
    ranking: Ranking,
}

impl Hierarchy {
    /// Computes everything for `rows`, as documented. `stock_root`: the root counts as used up even
    /// without usage, as in stock.
    pub fn new(rows: &[Association], ranking: Ranking, stock_root: bool) -> Hierarchy {
        let mut records = records_of(rows);
        let (flags, dampening) = match ranking {
            Ranking::FairTree => (flag::FAIR_TREE, 1),
            Ranking::Classic { dampening } => (0, dampening),
            Ranking::DepthOblivious { dampening } => (flag::DEPTH_OBLIVIOUS, dampening),
        };
        let users = rows.iter().filter(|row| row.is_user).count();
        let root = rows.iter().find(|row| row.parent.is_none());
        records.conf = Rc::new(Conf {
            root: root.map_or(0, |row| row.id),
            users: u32::try_from(users).unwrap_or(u32::MAX),
            dampening: u32::from(dampening),
            flags,
            ..Conf::default()
        });
        let usage: BTreeMap<u32, &Fraction> = rows.iter().map(|row| (row.id, &row.usage)).collect();
        let usage = |id: u32| {
            usage
                .get(&id)
                .map_or_else(Fraction::default, |u| (*u).clone())
        };
        let faults = match stock_root {
            true => Faults::only(&[Fault::RootAlwaysUsed]),
            false => Faults::none(),
        };
        match ranking {
            Ranking::FairTree => fair_tree(&mut records, &faults, &usage),
            _ => classic(&mut records, &faults, &usage),
        }
        Hierarchy { records, ranking }
    }

    fn assoc(&self, id: u32) -> &Assoc {
        &self.records.assocs[&id]
    }

    /// The nearest account above without `parent` shares; 0 for the root.
    pub fn account(&self, id: u32) -> u32 {
        self.assoc(id).fs_parent
    }

    /// Fair Tree's level fairshare; `None` for the root and for accounts with `parent` shares.
    pub fn level(&self, id: u32) -> Option<Level> {
        let assoc = self.assoc(id);
        if assoc.fs_parent == 0 || (assoc.on_parent() && !assoc.is_user) {
            return None;
        }
        match &assoc.level_fs {
            Number::Finite(value) => Some(Level::Finite(value.clone())),
            _ => Some(Level::Infinite),
        }
    }

    /// The factor, 0 to 1; `None` for accounts in Fair Tree.
    pub fn factor(&self, id: u32) -> Option<f64> {
        let assoc = self.assoc(id);
        let has_one = assoc.is_user || self.ranking != Ranking::FairTree;
        has_one.then(|| to_f64(&assoc.fs_factor))
    }

    /// Normalised shares: within the level in Fair Tree, otherwise within the whole tree.
    pub fn norm_shares(&self, id: u32) -> f64 {
        let share = match self.ranking {
            Ranking::FairTree => self.share_of_level(id),
            _ => share_of_path(&self.records, id),
        };
        to_f64(&share)
    }

    fn share_of_level(&self, id: u32) -> Fraction {
        let assoc = self.assoc(id);
        match assoc.fs_parent {
            0 => Fraction::from_integer(1.into()),
            parent if assoc.on_parent() => self.share_of_level(parent),
            _ => part_of_level(&self.records, assoc),
        }
    }

    /// Usage over that of the root; not computed for the root itself.
    pub fn norm_usage(&self, id: u32) -> Fraction {
        finite(&self.assoc(id).usage_norm)
    }

    /// Effective usage; not computed for the root.
    pub fn effective_usage(&self, id: u32) -> Fraction {
        finite(&self.assoc(id).usage_efctv)
    }
}

/// Returns a number as a fraction; numbers computed from usage are never infinite.
fn finite(number: &Number) -> Fraction {
    match number {
        Number::Finite(value) => value.clone(),
        _ => Fraction::default(),
    }
}

/// Rows as slurmctld has them: accounts with `parent` shares do not compete, and their children are
/// on the level above.
fn records_of(rows: &[Association]) -> Records {
    let by_id: BTreeMap<u32, &Association> = rows.iter().map(|row| (row.id, row)).collect();
    let aside = |row: &Association| row.parent.is_some() && !row.is_user && row.shares.is_none();
    let account = |row: &Association| {
        let mut above = row.parent.and_then(|id| by_id.get(&id));
        while let Some(passed) = above.filter(|row| aside(row)) {
            above = passed.parent.and_then(|id| by_id.get(&id));
        }
        above.map_or(0, |row| row.id)
    };
    let mut assocs: BTreeMap<u32, Assoc> = BTreeMap::new();
    for row in rows {
        let mut assoc = Assoc::bare(row.id, row.is_user, account(row));
        assoc.shares_raw = row.shares.unwrap_or(USE_PARENT);
        assocs.insert(row.id, assoc);
    }
    for row in rows.iter().filter(|row| !aside(row)) {
        if let Some(above) = assocs.get_mut(&account(row)) {
            above.children.push(row.id);
        }
    }
    Records {
        assocs: assocs
            .into_iter()
            .map(|(id, assoc)| (id, Rc::new(assoc)))
            .collect(),
        ..Records::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::whole;

    fn row(id: u32, parent: u32, is_user: bool, shares: Option<u32>, usage: u32) -> Association {
        Association {
            id,
            parent: (parent != 0).then_some(parent),
            is_user,
            shares,
            usage: whole(usage),
        }
    }

    /// Computed by hand: a (1 of 2 shares, 6 of 8 used) with u (3 of 4 shares, 2 of 6) and v (1,
    /// 4); b (1, 2) with only w.
    fn rows() -> Vec<Association> {
        vec![
            row(1, 0, false, Some(1), 8),
            row(2, 1, false, Some(1), 6),
            row(3, 2, true, Some(3), 2),
            row(4, 2, true, Some(1), 4),
            row(5, 1, false, Some(1), 2),
            row(6, 5, true, Some(1), 2),
        ]
    }

    fn ratio(top: i64, bottom: i64) -> Fraction {
        Fraction::new(top.into(), bottom.into())
    }

    #[test]
    fn fair_tree_by_hand() {
        let tree = Hierarchy::new(&rows(), Ranking::FairTree, false);
        assert_eq!(tree.level(2), Some(Level::Finite(ratio(2, 3))));
        assert_eq!(tree.level(5), Some(Level::Finite(ratio(2, 1))));
        assert_eq!(tree.level(3), Some(Level::Finite(ratio(9, 4))));
        assert_eq!(
            [6, 3, 4].map(|id| tree.factor(id)),
            [1.0, 2.0 / 3.0, 1.0 / 3.0].map(Some)
        );
        assert_eq!([1, 2].map(|id| tree.factor(id)), [None, None]);
        assert_eq!(tree.norm_shares(3), 0.75);
    }

    #[test]
    fn classic_by_hand() {
        let tree = Hierarchy::new(&rows(), Ranking::Classic { dampening: 1 }, false);
        assert_eq!(tree.norm_shares(3), 0.375);
        // UE = UA + (UE of the parent - UA) * shares: 2/8 + (6/8 - 2/8) * 3/4.
        assert_eq!(tree.effective_usage(3), ratio(5, 8));
        let expected = (-(0.625_f64 / 0.375)).exp2();
        assert!((tree.factor(3).unwrap() - expected).abs() < 1e-15);
    }

    #[test]
    fn children_of_accounts_that_stand_aside_are_on_the_level_above() {
        let mut rows = rows();
        rows[1].shares = None;
        let tree = Hierarchy::new(&rows, Ranking::FairTree, false);
        assert_eq!((tree.account(3), tree.account(2)), (1, 1));
        assert_eq!(tree.level(2), None);
        assert_eq!(tree.norm_shares(3), 0.6);
    }
}
