//! One level: how its members compare, and sorting them, all or some.

use std::cmp::Ordering;

use super::super::exact::Level;
use super::super::fair_tree;
use super::super::stock_tree;
use super::super::usage::{quotient, sound};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// A place on a sorted level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub index: AssocIndex,
    pub is_user: bool,
    /// Equal to the member before it.
    pub ties: bool,
    /// [`Rule::key`] among siblings, where the rule keeps it.
    pub key: f64,
}

impl Slot {
    pub(super) fn new(index: AssocIndex, tree: &Tree) -> Slot {
        Slot {
            index,
            is_user: tree.rows()[index.get()].kind == AssocKind::User,
            ties: false,
            key: 0.0,
        }
    }
}

/// A member of a level while it is sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<K> {
    key: K,
    slot: Slot,
}

/// Whose children share a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// One account's.
    Siblings,
    /// Those of several accounts that tie.
    Merged,
}

/// How members of a level compare.
pub(super) trait Rule {
    /// What decides clear cases.
    type Key: Copy;

    /// What a charge to an account does not change is the order of its other children.
    const KEEPS_ORDER: bool;
    /// Accounts that tie are walked as one.
    const MERGES: bool;

    fn tree(&self) -> &Tree;
    fn raw_usage(&self) -> &[Extended];
    fn key(&self, index: AssocIndex, scope: Scope) -> Self::Key;

    /// The key of a sibling, as kept in its slot if the rule keeps it.
    fn kept(&self, slot: &Slot) -> Self::Key;

    /// The slot with this key, if the rule keeps it.
    fn keep(slot: Slot, key: Self::Key) -> Slot;

    /// The order of two, the greater LF first, where keys alone tell it and fading cannot change
    /// it; equal only where both are infinite, 0 or without LF.
    fn clear(a: Self::Key, b: Self::Key) -> Option<Ordering>;

    /// The order of two, the greater LF first.
    fn compare(&self, a: &Member<Self::Key>, b: &Member<Self::Key>) -> Ordering;

    /// Whether the first member of a level ties with what stands before it, and whether that is
    /// steady.
    fn first(&self, member: &Member<Self::Key>) -> (bool, bool);
}

/// Sorts a level, users before accounts of equal LF, then by position. Returns whether it is
/// steady.
pub(super) fn sort<R: Rule>(
    rule: &R,
    members: &mut Vec<Member<R::Key>>,
    level: &mut [Slot],
    scope: Scope,
) -> bool {
    members.clear();
    members.extend(level.iter().map(|slot| member(rule, *slot, scope)));
    members.sort_unstable_by(|a, b| order(rule, a, b));
    let mut steady = true;
    let mut before: Option<&Member<R::Key>> = None;
    for (member, slot) in members.iter().zip(level) {
        let (ties, is_steady) = match before {
            Some(before) => tie(rule, before, member),
            None => rule.first(member),
        };
        *slot = Slot {
            ties,
            ..member.slot
        };
        steady &= is_steady;
        before = Some(member);
    }
    steady
}

/// What [`reposition`] did: the places in `window` may have changed, and no others.
pub(super) struct Repositioned {
    pub steady: bool,
    pub window: std::ops::Range<usize>,
}

/// Gives the siblings of a sorted level that `moves` names their new places.
pub(super) fn reposition<R: Rule>(
    rule: &R,
    members: &mut Vec<Member<R::Key>>,
    level: &mut [Slot],
    moves: impl Fn(AssocIndex) -> bool,
) -> Repositioned {
    members.clear();
    let Some(first) = level.iter().position(|slot| moves(slot.index)) else {
        return Repositioned {
            steady: true,
            window: level.len()..level.len(),
        };
    };
    let (mut kept, mut last) = (first, first);
    // Whether all that were taken out since the last one kept tied with their neighbours.
    let mut ties = true;
    for at in first..level.len() {
        let slot = level[at];
        ties &= slot.ties;
        if moves(slot.index) {
            members.push(member(rule, slot, Scope::Siblings));
            last = at;
        } else {
            level[kept] = Slot { ties, ..slot };
            kept += 1;
            ties = true;
        }
    }
    members.sort_unstable_by(|a, b| order(rule, a, b));
    // From the last place on, so that every one kept moves once, towards the end.
    let mut end = kept;
    for (earlier, moved) in members.iter().enumerate().rev() {
        let at = level[..end]
            .partition_point(|slot| order(rule, &kept_member(rule, slot), moved) == Ordering::Less);
        level.copy_within(at..end, at + earlier + 1);
        level[at + earlier] = moved.slot;
        last = last.max(at + earlier);
        end = at;
    }
    // `end` is where the first one moved stands; the others follow in their order.
    let mut steady = true;
    let mut at = end;
    for moved in members.iter() {
        while level[at].index != moved.slot.index {
            at += 1;
        }
        steady &= retie(rule, level, at);
        if at + 1 < level.len() {
            steady &= retie(rule, level, at + 1);
        }
    }
    Repositioned {
        steady,
        // The one behind the last may tie with another now.
        window: first.min(end)..(last + 2).min(level.len()),
    }
}

/// Finds out again whether a member ties with the one before. Returns whether that is steady.
fn retie<R: Rule>(rule: &R, level: &mut [Slot], at: usize) -> bool {
    let this = kept_member(rule, &level[at]);
    let (ties, steady) = match at.checked_sub(1) {
        Some(before) => tie(rule, &kept_member(rule, &level[before]), &this),
        None => rule.first(&this),
    };
    level[at].ties = ties;
    steady
}

fn member<R: Rule>(rule: &R, slot: Slot, scope: Scope) -> Member<R::Key> {
    let key = rule.key(slot.index, scope);
    let slot = match scope {
        Scope::Siblings => R::keep(slot, key),
        Scope::Merged => slot,
    };
    Member { key, slot }
}

fn kept_member<R: Rule>(rule: &R, slot: &Slot) -> Member<R::Key> {
    Member {
        key: rule.kept(slot),
        slot: *slot,
    }
}

fn order<R: Rule>(rule: &R, a: &Member<R::Key>, b: &Member<R::Key>) -> Ordering {
    R::clear(a.key, b.key)
        .unwrap_or_else(|| rule.compare(a, b))
        .then_with(|| b.slot.is_user.cmp(&a.slot.is_user))
        .then_with(|| a.slot.index.cmp(&b.slot.index))
}

/// Whether two neighbours tie, and whether fading cannot change that.
fn tie<R: Rule>(rule: &R, a: &Member<R::Key>, b: &Member<R::Key>) -> (bool, bool) {
    match R::clear(a.key, b.key) {
        Some(order) => (order == Ordering::Equal, true),
        None => {
            let ties = rule.compare(a, b) == Ordering::Equal;
            (ties, ties && same_claim(rule, a.slot.index, b.slot.index))
        }
    }
}

/// Siblings with the same shares and usage.
fn same_claim<R: Rule>(rule: &R, a: AssocIndex, b: AssocIndex) -> bool {
    let (tree, raw) = (rule.tree(), rule.raw_usage());
    tree.fs_parent(a) == tree.fs_parent(b)
        && tree.rows()[a.get()].shares == tree.rows()[b.get()].shares
        && raw[a.get()] == raw[b.get()]
}

/// Two positive numbers right to 2^-48 of themselves that differ by more than 2^-44; `None` for
/// NaN, too.
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

/// As Slurm documents it: exact numbers.
pub(super) struct Documented<'a> {
    tree: &'a Tree,
    raw_usage: &'a [Extended],
    /// What fading left of 1 since everything was sorted.
    faded: f64,
}

/// Stands for accounts without LF: they come last and tie among themselves.
const ASIDE: f64 = -1.0;

impl<'a> Documented<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        raw_usage: &'a [Extended],
        faded: Extended,
    ) -> Documented<'a> {
        Documented {
            tree,
            raw_usage,
            faded: faded.to_f64(),
        }
    }

    fn exact(&self, index: AssocIndex) -> Option<Level> {
        fair_tree::level(self.tree, |at| sound(self.raw_usage[at.get()]), index)
    }
}

impl Rule for Documented<'_> {
    /// Right to 2^-48 of itself, NaN where usage is not within 2^±400. Merged: LF. Siblings: LF
    /// without what they have in common, so that no charge to the account changes it, and with
    /// usage as it was before it faded, so that fading does not, either: shares / usage * faded.
    type Key = f64;

    const KEEPS_ORDER: bool = true;
    const MERGES: bool = true;

    fn tree(&self) -> &Tree {
        self.tree
    }

    fn raw_usage(&self) -> &[Extended] {
        self.raw_usage
    }

    fn kept(&self, slot: &Slot) -> f64 {
        slot.key
    }

    fn keep(slot: Slot, key: f64) -> Slot {
        Slot { key, ..slot }
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
        let used = sound(self.raw_usage[index.get()]);
        let total = sound(self.raw_usage[parent.get()]);
        if used.is_zero() || total.is_zero() {
            return f64::INFINITY;
        }
        if scope == Scope::Siblings {
            return shares / within_range(used) * self.faded;
        }
        let level_shares = self.tree.level_shares(index).unwrap_or(0) as f64;
        (shares / level_shares) * (within_range(total) / within_range(used))
    }

    fn clear(a: f64, b: f64) -> Option<Ordering> {
        // What is 0, infinite or aside is exactly that.
        if a == b && (a <= 0.0 || a == f64::INFINITY) {
            return Some(Ordering::Equal);
        }
        if a <= 0.0 || b <= 0.0 {
            return b.partial_cmp(&a);
        }
        far_apart(a, b)
    }

    fn compare(&self, a: &Member<f64>, b: &Member<f64>) -> Ordering {
        self.exact(b.slot.index).cmp(&self.exact(a.slot.index))
    }

    fn first(&self, _: &Member<f64>) -> (bool, bool) {
        (false, true)
    }
}

/// As an `f64`, NaN outside 2^±400.
fn within_range(usage: Extended) -> f64 {
    match usage.to_parts() {
        Some((_, exponent)) if (exponent + 63).abs() <= 400 => usage.to_f64(),
        _ => f64::NAN,
    }
}

/// As the stock plugin computes it: see [`super::super::stock_tree`].
pub(super) struct Stock<'a> {
    tree: &'a Tree,
    raw_usage: &'a [Extended],
    compat: Compat,
}

impl<'a> Stock<'a> {
    pub(super) fn new(tree: &'a Tree, raw_usage: &'a [Extended], compat: Compat) -> Stock<'a> {
        Stock {
            tree,
            raw_usage,
            compat,
        }
    }
}

impl Rule for Stock<'_> {
    /// LF as rounded, and as an `f64`, NaN where usage is not within 2^±400.
    type Key = (Extended, f64);

    const KEEPS_ORDER: bool = false;
    const MERGES: bool = false;

    fn tree(&self) -> &Tree {
        self.tree
    }

    fn raw_usage(&self) -> &[Extended] {
        self.raw_usage
    }

    fn kept(&self, slot: &Slot) -> (Extended, f64) {
        self.key(slot.index, Scope::Siblings)
    }

    fn keep(slot: Slot, _: (Extended, f64)) -> Slot {
        slot
    }

    fn key(&self, index: AssocIndex, _: Scope) -> (Extended, f64) {
        let usage = |at: AssocIndex| sound(self.raw_usage[at.get()]);
        let parent = self.tree.fs_parent(index).unwrap_or(index);
        let (used, total) = (usage(index), usage(parent));
        let level_fs = stock_tree::level(self.tree, self.compat, index, quotient(used, total))
            .unwrap_or(stock_tree::NO_VAL);
        let in_range = within_range(used) + within_range(total);
        // NaN stays NaN.
        (level_fs, level_fs.to_f64() + 0.0 * in_range)
    }

    fn clear(a: (Extended, f64), b: (Extended, f64)) -> Option<Ordering> {
        let fixed = |n: Extended| n.is_zero() || n.is_infinite();
        if (fixed(a.0) || fixed(b.0)) && !a.1.is_nan() && !b.1.is_nan() {
            return Some(b.0.cmp(&a.0));
        }
        far_apart(a.1, b.1)
    }

    fn compare(&self, a: &Member<Self::Key>, b: &Member<Self::Key>) -> Ordering {
        b.key.0.cmp(&a.key.0)
    }

    fn first(&self, member: &Member<Self::Key>) -> (bool, bool) {
        let no_val = (stock_tree::NO_VAL, stock_tree::NO_VAL.to_f64());
        let steady = Self::clear(no_val, member.key).is_some();
        (member.key.0 == stock_tree::NO_VAL, steady)
    }
}
