//! Comparison of members of a level: keys for the clear cases, and two rules for the others.

use std::cmp::Ordering;

use super::super::exact::Level;
use super::super::fair_tree;
use super::super::stock_tree;
use super::super::usage::sound;
use super::slot::Member;
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// Parents of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// One account.
    Siblings,
    /// Several accounts that tie.
    Merged,
}

/// Comparison of members of a level.
pub(super) trait Rule {
    /// True if LF is rounded, so that a charge to an account may change the order or the ties of
    /// children that were not charged.
    const ROUNDS: bool;
    /// True if accounts that tie are walked as one.
    const MERGES: bool;

    fn tree(&self) -> &Tree;
    fn raw_usage(&self) -> &[Extended];

    /// Key that decides clear cases: relative error below 2^-48; infinite or 0 only if LF is; NaN
    /// if usage is not within 2^±400.
    ///
    /// Merged: LF. Siblings: LF without the common terms, so that a charge to the account does not
    /// change it, and with usage before decay, so that decay does not change it: shares / usage *
    /// decayed.
    fn key(&self, index: AssocIndex, scope: Scope) -> f64;

    /// The order of two members, the greater LF first.
    fn compare(&self, a: &Member, b: &Member) -> Ordering;

    /// Returns true if the first member of a level ties with its predecessor in the walk, and true
    /// if that is steady.
    fn first(&self, member: &Member) -> (bool, bool);
}

/// The order of two members, the greater LF first, if their keys decide it, and neither decay nor a
/// charge to their account can change it; equal only if both are infinite, both are 0, or both have
/// no LF.
pub(super) fn clear(a: f64, b: f64) -> Option<Ordering> {
    if a == b && (a <= 0.0 || a == f64::INFINITY) {
        return Some(Ordering::Equal);
    }
    if a <= 0.0 || b <= 0.0 {
        return b.partial_cmp(&a);
    }
    far_apart(a, b)
}

/// Order of two positive numbers that differ by more than 2^-44; `None` also for NaN.
fn far_apart(a: f64, b: f64) -> Option<Ordering> {
    const APART: f64 = 1.0 + 1.0 / (1_u64 << 44) as f64;
    if a > b * APART {
        Some(Ordering::Less)
    } else if b > a * APART {
        Some(Ordering::Greater)
    } else {
        None
    }
}

/// Key of accounts without LF: they come last and tie among themselves.
const ASIDE: f64 = -1.0;

/// The numbers from which keys are computed.
pub(super) struct Numbers<'a> {
    tree: &'a Tree,
    raw_usage: &'a [Extended],
    /// Product of the decay factors since everything was sorted.
    decayed: f64,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(tree: &'a Tree, raw_usage: &'a [Extended], decayed: Extended) -> Numbers<'a> {
        Numbers {
            tree,
            raw_usage,
            decayed: decayed.to_f64(),
        }
    }

    fn usage(&self, index: AssocIndex) -> Extended {
        sound(self.raw_usage[index.get()])
    }

    fn key(&self, index: AssocIndex, scope: Scope) -> f64 {
        let row = &self.tree.rows()[index.get()];
        let shares = match (row.shares, row.kind) {
            (Shares::Parent, AssocKind::User) => return f64::INFINITY,
            (Shares::Parent, AssocKind::Account) => return ASIDE,
            (Shares::Raw(0), _) => return 0.0,
            (Shares::Raw(shares), _) => f64::from(shares),
        };
        let Some(parent) = self.tree.fs_parent(index) else {
            return ASIDE;
        };
        let (used, total) = (self.usage(index), self.usage(parent));
        if used.is_zero() || total.is_zero() {
            return f64::INFINITY;
        }
        match scope {
            Scope::Siblings => shares / within_range(used) * self.decayed,
            Scope::Merged => {
                let level_shares = self.tree.level_shares(index).unwrap_or(0) as f64;
                (shares / level_shares) * (within_range(total) / within_range(used))
            }
        }
    }
}

/// As an `f64`; NaN outside 2^±400.
fn within_range(usage: Extended) -> f64 {
    match usage.to_parts() {
        Some((_, exponent)) if (exponent + 63).abs() <= 400 => usage.to_f64(),
        _ => f64::NAN,
    }
}

/// The rule in Slurm's documentation: exact numbers.
pub(super) struct Documented<'a>(pub Numbers<'a>);

impl Documented<'_> {
    fn exact(&self, index: AssocIndex) -> Option<Level> {
        fair_tree::level(self.0.tree, |at| self.0.usage(at), index)
    }
}

impl Rule for Documented<'_> {
    const ROUNDS: bool = false;
    const MERGES: bool = true;

    fn tree(&self) -> &Tree {
        self.0.tree
    }

    fn raw_usage(&self) -> &[Extended] {
        self.0.raw_usage
    }

    fn key(&self, index: AssocIndex, scope: Scope) -> f64 {
        self.0.key(index, scope)
    }

    fn compare(&self, a: &Member, b: &Member) -> Ordering {
        self.exact(b.slot.index).cmp(&self.exact(a.slot.index))
    }

    fn first(&self, _: &Member) -> (bool, bool) {
        (false, true)
    }
}

/// The rule of the stock plugin: see [`super::super::stock_tree`].
pub(super) struct Stock<'a>(pub Numbers<'a>, pub Compat);

impl Stock<'_> {
    /// Returns true if its usage, or its parent's, is negative.
    fn is_below_zero(&self, index: AssocIndex) -> bool {
        let parent = self.0.tree.fs_parent(index).unwrap_or(index);
        let raw = self.0.raw_usage;
        raw[index.get()].is_negative() || raw[parent.get()].is_negative()
    }

    /// Rounded LF.
    fn level_fs(&self, index: AssocIndex) -> Extended {
        let raw = self.0.raw_usage;
        let (used, above) = match self.0.tree.fs_parent(index) {
            Some(parent) => (raw[index.get()], raw[parent.get()]),
            None => (Extended::ONE, Extended::ONE),
        };
        stock_tree::level(
            self.0.tree,
            index,
            self.0.tree.share_of_level(index, self.1),
            used,
            above,
        )
        .unwrap_or(stock_tree::NO_VAL)
    }
}

impl Rule for Stock<'_> {
    const ROUNDS: bool = true;
    const MERGES: bool = false;

    fn tree(&self) -> &Tree {
        self.0.tree
    }

    fn raw_usage(&self) -> &[Extended] {
        self.0.raw_usage
    }

    fn key(&self, index: AssocIndex, scope: Scope) -> f64 {
        let tree = self.0.tree;
        let row = &tree.rows()[index.get()];
        match (row.shares, row.kind) {
            // These have an LF like others, but no charge changes it: never clear.
            (Shares::Parent, AssocKind::Account) => f64::NAN,
            // The sum of shares on a level may wrap to 0, and then no member has any shares.
            (Shares::Raw(_), _) if tree.share_of_level(index, self.1) == 0.0 => 0.0,
            // Negative usage does not count as 0 here; too rare for a fast path.
            _ if self.is_below_zero(index) => f64::NAN,
            _ => self.0.key(index, scope),
        }
    }

    fn compare(&self, a: &Member, b: &Member) -> Ordering {
        self.level_fs(b.slot.index)
            .cmp(&self.level_fs(a.slot.index))
    }

    fn first(&self, member: &Member) -> (bool, bool) {
        let (level_fs, no_val) = (self.level_fs(member.slot.index), stock_tree::NO_VAL);
        let steady = far_apart(level_fs.to_f64(), no_val.to_f64()).is_some();
        (level_fs == no_val, steady && !member.key.is_nan())
    }
}
