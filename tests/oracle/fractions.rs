//! The documented algorithms in exact fractions, recursively, straight from the text.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

use super::super::common::Site;
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::tree::{AssocKind, Shares};

pub type Fraction = BigRational;

/// A level fairshare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Finite(Fraction),
    Infinite,
}

/// The number, exactly.
pub fn exact(number: Extended) -> Fraction {
    let (mantissa, exponent) = number.to_parts().expect("finite");
    let mantissa = Fraction::from_integer(BigInt::from(mantissa));
    let power = Fraction::from_integer(BigInt::one() << exponent.unsigned_abs());
    let magnitude = if exponent < 0 {
        mantissa / power
    } else {
        mantissa * power
    };
    if number.is_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// Rows know their direct parents; everything else is looked up again each time.
pub struct Oracle {
    parents: Vec<Option<usize>>,
    kinds: Vec<AssocKind>,
    shares: Vec<Shares>,
    usage: Vec<Fraction>,
}

impl Oracle {
    pub fn new(site: &Site) -> Oracle {
        let rows = site.tree.rows();
        let find = |id| rows.iter().position(|row| row.id == id);
        Oracle {
            parents: rows.iter().map(|row| row.parent.and_then(find)).collect(),
            kinds: rows.iter().map(|row| row.kind).collect(),
            shares: rows.iter().map(|row| row.shares).collect(),
            usage: site.raw_usage.iter().map(|usage| exact(*usage)).collect(),
        }
    }

    fn stands_aside(&self, at: usize) -> bool {
        self.parents[at].is_some()
            && self.kinds[at] == AssocKind::Account
            && self.shares[at] == Shares::Parent
    }

    /// The nearest ancestor that does not stand aside.
    fn real_parent(&self, at: usize) -> Option<usize> {
        let parent = self.parents[at]?;
        if self.stands_aside(parent) {
            self.real_parent(parent)
        } else {
            Some(parent)
        }
    }

    /// Children of an account: those of accounts that stand aside in their place.
    fn children(&self, account: usize) -> Vec<usize> {
        let direct = (0..self.parents.len()).filter(|at| self.parents[*at] == Some(account));
        direct
            .flat_map(|child| {
                if self.stands_aside(child) {
                    self.children(child)
                } else {
                    vec![child]
                }
            })
            .collect()
    }

    fn count(&self, at: usize) -> u64 {
        match self.shares[at] {
            Shares::Raw(count) => u64::from(count),
            Shares::Parent => 0,
        }
    }

    /// S = own shares / shares of self and siblings; `None` for a level without shares.
    fn own_share(&self, at: usize) -> Option<Fraction> {
        let parent = self.real_parent(at)?;
        let level: u64 = self.children(parent).iter().map(|c| self.count(*c)).sum();
        (level > 0).then(|| Fraction::new(BigInt::from(self.count(at)), BigInt::from(level)))
    }

    /// U = own usage / usage of the account.
    pub fn usage_of_level(&self, at: usize) -> Fraction {
        match self.real_parent(at) {
            Some(parent) => ratio(&self.usage[at], &self.usage[parent]),
            None => self.norm_usage(at),
        }
    }

    /// Usage over that of the root.
    pub fn norm_usage(&self, at: usize) -> Fraction {
        let root = (0..self.parents.len()).find(|at| self.parents[*at].is_none());
        let share = ratio(&self.usage[at], &self.usage[root.expect("a root")]);
        share.min(Fraction::one())
    }

    /// LF = S / U.
    pub fn level(&self, at: usize) -> Option<Level> {
        self.real_parent(at)?;
        if self.shares[at] == Shares::Parent {
            return (!self.stands_aside(at)).then_some(Level::Infinite);
        }
        let usage = self.usage_of_level(at);
        Some(match self.own_share(at) {
            Some(share) if !share.is_zero() => {
                if usage.is_zero() {
                    Level::Infinite
                } else {
                    Level::Finite(share / usage)
                }
            }
            _ => Level::Finite(Fraction::zero()),
        })
    }

    /// Users below `level`, best first; those that tie are in one class.
    ///
    /// "Sibling users with the same Level Fairshare receive the same rank"; accounts with the
    /// same one "have their children lists merged before descending"; a user like an account
    /// "will receive the same rank as its highest ranked user".
    fn classes(&self, level: &[usize]) -> Vec<Vec<usize>> {
        let mut values: Vec<Level> = level.iter().filter_map(|at| self.level(*at)).collect();
        values.sort();
        values.dedup();
        let mut classes = Vec::new();
        for value in values.into_iter().rev() {
            let equal = level
                .iter()
                .filter(|at| self.level(**at).as_ref() == Some(&value));
            let (users, accounts): (Vec<usize>, Vec<usize>) =
                equal.partition(|at| self.kinds[**at] == AssocKind::User);
            let merged: Vec<usize> = accounts.iter().flat_map(|a| self.children(*a)).collect();
            let mut below = if merged.is_empty() {
                Vec::new()
            } else {
                self.classes(&merged)
            };
            if !users.is_empty() {
                match below.first_mut() {
                    Some(best) => best.extend(users),
                    None => below.push(users),
                }
            }
            classes.extend(below);
        }
        classes
    }

    pub fn fair_tree_factors(&self) -> Vec<Option<f64>> {
        let users = self.kinds.iter().filter(|k| **k == AssocKind::User).count();
        let mut factors = vec![None; self.parents.len()];
        let mut rank = users;
        for class in self.classes(&self.children(0)) {
            for user in &class {
                factors[*user] = Some(rank as f64 / users as f64);
            }
            rank -= class.len();
        }
        factors
    }

    /// Normalised shares under Fair Tree.
    pub fn share_of_level(&self, at: usize) -> f64 {
        match (self.real_parent(at), self.shares[at]) {
            (None, _) => 1.0,
            (Some(parent), Shares::Parent) => self.share_of_level(parent),
            _ => self
                .own_share(at)
                .map_or(0.0, |s| s.to_f64().expect("finite")),
        }
    }

    fn share_of_path_exact(&self, at: usize) -> Fraction {
        match (self.real_parent(at), self.shares[at]) {
            (None, _) => Fraction::one(),
            (Some(parent), Shares::Parent) => self.share_of_path_exact(parent),
            (Some(parent), _) => {
                let own = self.own_share(at).unwrap_or_else(Fraction::zero);
                own * self.share_of_path_exact(parent)
            }
        }
    }

    /// Normalised shares under the classic algorithm.
    pub fn share_of_path(&self, at: usize) -> f64 {
        self.share_of_path_exact(at).to_f64().expect("finite")
    }

    /// `FairShare=parent` right below the root, where stock shows one number and uses another.
    pub fn is_parent_below_root(&self, at: usize) -> bool {
        self.shares[at] == Shares::Parent && self.real_parent(at) == Some(0)
    }

    /// Stock says that the root's effective usage is 1, used or not.
    fn root_usage(&self, compat: Compat) -> Fraction {
        if compat.is_slurm() {
            Fraction::one()
        } else {
            self.norm_usage(0)
        }
    }

    /// UE = UA + (UE of the parent - UA) * shares / shares of all siblings; below the root UA;
    /// for `parent` the parent's.
    fn classic_usage_exact(&self, at: usize, compat: Compat) -> Fraction {
        let own = self.norm_usage(at);
        let Some(parent) = self.real_parent(at) else {
            return self.root_usage(compat);
        };
        let above = self.classic_usage_exact(parent, compat);
        match (self.shares[at], self.own_share(at)) {
            (Shares::Parent, _) => above,
            _ if parent == 0 => own,
            (_, None) => above,
            (_, Some(share)) => own.clone() + (above - own) * share,
        }
    }

    pub fn classic_usage(&self, at: usize, compat: Compat) -> f64 {
        float(&self.classic_usage_exact(at, compat))
    }

    /// F = 2^(-(UE / S) / dampening).
    pub fn classic_factor(&self, at: usize, dampening: u16, compat: Compat) -> f64 {
        let shares = self.share_of_path_exact(at);
        if shares.is_zero() {
            return 0.0;
        }
        let exponent = self.classic_usage_exact(at, compat) / shares;
        (-float(&exponent) / f64::from(dampening)).exp2()
    }

    /// UE = Rp * Rl^k * S of `priority_multifactor.c`; below the root UA; for `parent` the
    /// parent's.
    pub fn depth_oblivious_usage(&self, at: usize, compat: Compat) -> f64 {
        let Some(parent) = self.real_parent(at) else {
            return float(&self.root_usage(compat));
        };
        let above = self.depth_oblivious_usage(parent, compat);
        if self.shares[at] == Shares::Parent {
            return above;
        }
        let (shares, above_shares) = (self.share_of_path(at), self.share_of_path(parent));
        let own = float(&self.norm_usage(at));
        if parent == 0 || [shares, above_shares, above, own].contains(&0.0) {
            return own;
        }
        let children = self.children_with_shares(parent);
        let level: Fraction = children.iter().map(|c| self.norm_usage(*c)).sum();
        // Whether the ratio is above or below 1 must not depend on rounding.
        let local = self.norm_usage(at) * self.share_of_path_exact(parent)
            / self.share_of_path_exact(at)
            / level;
        let (up, down) = (above / above_shares, float(&local));
        let opposed = (up - 1.0) * (down - 1.0) < 0.0 && (up - 1.0).abs() > 1e-15;
        let power = if opposed {
            1.0 / (1.0 + (5.0 * up.ln()).powi(2))
        } else {
            1.0
        };
        up * down.powf(power) * shares
    }

    /// The level of `account`, without `parent`.
    fn children_with_shares(&self, account: usize) -> Vec<usize> {
        let mut children = self.children(account);
        children.retain(|at| self.shares[*at] != Shares::Parent);
        children
    }

    pub fn depth_oblivious_factor(&self, at: usize, dampening: u16, compat: Compat) -> f64 {
        let shares = self.share_of_path(at);
        if shares == 0.0 {
            return 0.0;
        }
        let exponent = self.depth_oblivious_usage(at, compat) / shares;
        (-exponent / f64::from(dampening)).exp2()
    }
}

fn float(value: &Fraction) -> f64 {
    value.to_f64().expect("finite")
}

fn ratio(part: &Fraction, whole: &Fraction) -> Fraction {
    if whole.is_zero() {
        Fraction::zero()
    } else {
        part / whole
    }
}
