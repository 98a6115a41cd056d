//! Associations and their usage in the simplest form: a list that is searched each time.

use fairtree::capi::{FT_NONE, FT_SHARES_MAX, FT_SHARES_PARENT};
use fairtree_oracle::number::{Fraction, dyadic};

/// Allowed number of halvings: usage is kept in whole numbers of 2^-32.
pub const HALVES: u32 = 32;

/// An association.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: u32,
    pub parent: u32,
    pub user: bool,
    pub shares: u32,
    /// Its own usage, in units of 2^-HALVES.
    own: u64,
}

/// All associations, in the order of the library's positions.
#[derive(Debug, Default)]
pub struct Model {
    rows: Vec<Row>,
    halved: u32,
    now: i64,
}

impl Model {
    fn at(&self, id: u32) -> Option<usize> {
        self.rows.iter().position(|row| row.id == id)
    }

    pub fn has(&self, id: u32) -> bool {
        self.at(id).is_some()
    }

    pub fn add(&mut self, id: u32, parent: u32, user: bool, shares: u32) -> bool {
        let above = self.at(parent).map(|at| &self.rows[at]);
        let place = match parent {
            FT_NONE => self.rows.is_empty() && !user,
            _ => above.is_some_and(|above| !above.user),
        };
        let allowed = !self.has(id) && place && shares <= FT_SHARES_PARENT;
        if allowed {
            self.rows.push(Row {
                id,
                parent,
                user,
                shares,
                own: 0,
            });
        }
        allowed
    }

    pub fn set_shares(&mut self, id: u32, shares: u32) -> bool {
        const { assert!(FT_SHARES_MAX + 1 == FT_SHARES_PARENT) };
        let at = self.at(id).filter(|_| shares <= FT_SHARES_PARENT);
        if let Some(at) = at {
            self.rows[at].shares = shares;
        }
        at.is_some()
    }

    /// Returns true if `above` is `id` or one of its ancestors.
    fn is_over(&self, above: u32, id: u32) -> bool {
        let mut next = Some(id);
        while let Some(id) = next {
            if id == above {
                return true;
            }
            next = self
                .at(id)
                .map(|at| self.rows[at].parent)
                .filter(|id| *id != FT_NONE);
        }
        false
    }

    pub fn move_below(&mut self, id: u32, parent: u32) -> bool {
        let (Some(at), Some(above)) = (self.at(id), self.at(parent)) else {
            return false;
        };
        let is_root = self.rows[at].parent == FT_NONE;
        let allowed = !is_root && !self.rows[above].user && !self.is_over(id, parent);
        if allowed {
            self.rows[at].parent = parent;
        }
        allowed
    }

    /// Removes an association; the parent account keeps its usage.
    pub fn remove(&mut self, id: u32) -> bool {
        let Some(at) = self.at(id) else {
            return false;
        };
        let has_children = self.rows.iter().any(|row| row.parent == id);
        if has_children {
            return false;
        }
        let gone = self.rows.remove(at);
        if let Some(above) = self.at(gone.parent) {
            self.rows[above].own += gone.own;
        }
        true
    }

    pub fn charge(&mut self, ids: &[u32], amount: u64) -> bool {
        let known = ids.iter().all(|id| self.has(*id));
        for id in ids.iter().filter(|_| known) {
            let at = self.at(*id).expect("known");
            self.rows[at].own += amount << HALVES;
        }
        known
    }

    pub fn halve(&mut self, count: u32, now: i64) {
        self.halved += count;
        self.now = now;
        for row in &mut self.rows {
            row.own >>= count;
        }
    }

    pub fn reset(&mut self, id: Option<u32>) -> bool {
        let Some(id) = id else {
            self.rows.iter_mut().for_each(|row| row.own = 0);
            return true;
        };
        let below: Vec<bool> = self
            .rows
            .iter()
            .map(|row| self.is_over(id, row.id))
            .collect();
        for (row, below) in self.rows.iter_mut().zip(below) {
            row.own *= u64::from(!below);
        }
        self.has(id)
    }

    pub fn load(&mut self, amounts: &[u64; 4]) {
        for (at, row) in self.rows.iter_mut().enumerate() {
            row.own = amounts[at % 4] << HALVES;
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn users(&self) -> usize {
        self.rows.iter().filter(|row| row.user).count()
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn now(&self) -> i64 {
        self.now
    }

    pub fn halved(&self) -> u32 {
        self.halved
    }

    /// Returns true if sums fit a 64-bit mantissa, as the library's sums must.
    pub fn exact(&self) -> bool {
        let all: u128 = self.rows.iter().map(|row| u128::from(row.own)).sum();
        all < 1 << 62
    }

    pub fn own(&self) -> Vec<f64> {
        self.rows.iter().map(|row| number(row.own)).collect()
    }

    fn sums(&self) -> impl Iterator<Item = u64> {
        let sum = |above: &Row| {
            let below = self
                .rows
                .iter()
                .filter(|row| self.is_over(above.id, row.id));
            below.map(|row| row.own).sum()
        };
        self.rows.iter().map(sum)
    }

    pub fn raw(&self) -> Vec<f64> {
        self.sums().map(number).collect()
    }

    pub fn raw_exactly(&self) -> Vec<Fraction> {
        self.sums()
            .map(|sum| dyadic(sum.into(), -i64::from(HALVES)))
            .collect()
    }
}

fn number(units: u64) -> f64 {
    units as f64 / (1_u64 << HALVES) as f64
}
