//! One level: its places, and how it is sorted, in full or in part.

use std::cmp::Ordering;

use super::rule::{Rule, Scope, clear};
use super::slot::{Member, Slot};
use crate::tree::AssocIndex;

/// The touched children of an account, each with its parent, the account. Empty if every level is
/// sorted from scratch.
#[derive(Clone, Copy)]
pub(super) struct Touched<'a> {
    pub account: AssocIndex,
    pub children: &'a [(AssocIndex, AssocIndex)],
}

impl<'a> Touched<'a> {
    /// Children of `account` in the ordered `pairs` of a parent and a child.
    pub(super) fn below(account: AssocIndex, pairs: &'a [(AssocIndex, AssocIndex)]) -> Touched<'a> {
        let first = pairs.partition_point(|(parent, _)| *parent < account);
        let from = &pairs[first..];
        let count = from.partition_point(|(parent, _)| *parent == account);
        Touched {
            account,
            children: &from[..count],
        }
    }
}

/// Sorts a level by LF, users before accounts of equal LF, then by position. Returns true if the
/// level is steady.
pub(super) fn sort<R: Rule>(
    rule: &R,
    members: &mut Vec<Member>,
    level: &mut [Slot],
    scope: Scope,
) -> bool {
    members.clear();
    members.extend(level.iter().map(|slot| member(rule, *slot, scope)));
    members.sort_unstable_by(|a, b| order(rule, a, b));
    let mut steady = true;
    let mut before: Option<&Member> = None;
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

/// Result of [`reposition`]: only the places in `window` may have changed.
pub(super) struct Repositioned {
    pub steady: bool,
    pub window: std::ops::Range<usize>,
}

/// Moves the siblings in `moves` to their new places on a sorted level.
pub(super) fn reposition<R: Rule>(
    rule: &R,
    members: &mut Vec<Member>,
    level: &mut [Slot],
    moves: impl Fn(AssocIndex) -> bool,
) -> Repositioned {
    members.clear();
    let Some(first) = level.iter().position(|slot| moves(slot.index)) else {
        return Repositioned {
            steady: level.is_empty() || retie(rule, level, 0),
            window: level.len()..level.len(),
        };
    };
    let (mut kept, mut last) = (first, first);
    // True if all members removed since the last retained one tied with their neighbours.
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
    // From the last place backwards, so that every retained member moves once, towards the end.
    let mut end = kept;
    for (earlier, moved) in members.iter().enumerate().rev() {
        let at = level[..end]
            .partition_point(|slot| order(rule, &kept_member(slot), moved) == Ordering::Less);
        level.copy_within(at..end, at + earlier + 1);
        level[at + earlier] = moved.slot;
        last = last.max(at + earlier);
        end = at;
    }
    let mut steady = retie(rule, level, 0);
    // `end` is the place of the first moved member; the others follow in their order.
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
        // The tie of the member after the last one may change.
        window: first.min(end)..(last + 2).min(level.len()),
    }
}

/// Recomputes the tie of a member with the one before. Returns true if the result is steady.
fn retie<R: Rule>(rule: &R, level: &mut [Slot], at: usize) -> bool {
    let this = kept_member(&level[at]);
    let (ties, steady) = match at.checked_sub(1) {
        Some(before) => tie(rule, &kept_member(&level[before]), &this),
        None => rule.first(&this),
    };
    level[at].ties = ties;
    steady
}

fn member<R: Rule>(rule: &R, slot: Slot, scope: Scope) -> Member {
    let key = rule.key(slot.index, scope);
    let slot = match scope {
        Scope::Siblings => Slot { key, ..slot },
        Scope::Merged => slot,
    };
    Member { key, slot }
}

fn kept_member(slot: &Slot) -> Member {
    Member {
        key: slot.key,
        slot: *slot,
    }
}

fn order<R: Rule>(rule: &R, a: &Member, b: &Member) -> Ordering {
    clear(a.key, b.key)
        .unwrap_or_else(|| rule.compare(a, b))
        .then_with(|| b.slot.is_user.cmp(&a.slot.is_user))
        .then_with(|| a.slot.index.cmp(&b.slot.index))
}

/// Returns true if two neighbours tie, and true if decay cannot change that.
fn tie<R: Rule>(rule: &R, a: &Member, b: &Member) -> (bool, bool) {
    match clear(a.key, b.key) {
        Some(order) => (order == Ordering::Equal, true),
        None => {
            let ties = rule.compare(a, b) == Ordering::Equal;
            (ties, ties && same_claim(rule, a.slot.index, b.slot.index))
        }
    }
}

/// Returns true for siblings with the same shares and usage.
fn same_claim<R: Rule>(rule: &R, a: AssocIndex, b: AssocIndex) -> bool {
    let (tree, raw) = (rule.tree(), rule.raw_usage());
    tree.fs_parent(a) == tree.fs_parent(b)
        && tree.rows()[a.get()].shares == tree.rows()[b.get()].shares
        && raw[a.get()] == raw[b.get()]
}
