//! Fair Tree as computed by the stock plugin of a Slurm release on x86-64, including its faults.
//!
//! Known and reproduced: `fair_tree.c` is the same in these points in 22.05, 24.11 and 26.05.
//! * `U = usage / parent's usage` and `LF = S / U` are each rounded to a 64-bit mantissa, after
//!   `S` was rounded to an `f64`; equal ratios may give unequal results.
//! * A level is sorted stably, users before accounts of equal LF; so the order of rows decides
//!   among equals.
//! * Accounts of equal LF are not merged. The second one only passes a flag "tied" to the first
//!   member of its own level, which then shares the rank of the user that was ranked last.
//! * An account with `FairShare=parent` has the LF 4294967294 and is ranked, without children.
//!   The member before the first one of a level also counts as having that LF.
//!
//! The walk itself has no recursion and does not read outside its lists.

use super::usage::quotient;
use super::{AssocFairshare, Usage};
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// `NO_VAL`: the LF of accounts that have none.
pub(super) const NO_VAL: Extended = Extended::from_u64(0xffff_fffe);

/// Fair-share factors, by position, in the memory of `spare`.
pub(super) fn compute(
    tree: &Tree,
    norm_shares: Vec<f64>,
    usage: &Usage<'_>,
    spare: Vec<AssocFairshare>,
) -> Vec<AssocFairshare> {
    let mut results = usage.results(spare, norm_shares);
    for index in tree.indices() {
        let result = &mut results[index.get()];
        let Some(parent) = tree.fs_parent(index) else {
            // Set once, when the plugin starts.
            result.effective_usage = Extended::ONE;
            continue;
        };
        result.effective_usage = usage.ratio(index, parent);
        let shares = result.norm_shares;
        result.level_fs = level(tree, index, shares, usage.raw(index), usage.raw(parent));
    }
    if let Some(root) = tree.root() {
        rank(tree, root, &mut results);
    }
    results
}

/// LF of an association below the root, from its raw usage and its parent's; `None` for accounts
/// with `FairShare=parent`.
///
/// If the parent's usage is negative, a usage of 0 gives a negative zero: LF is -infinity.
pub(super) fn level(
    tree: &Tree,
    index: AssocIndex,
    norm_shares: f64,
    raw_usage: Extended,
    parent_usage: Extended,
) -> Option<Extended> {
    let row = &tree.rows()[index.get()];
    match (row.shares, row.kind) {
        (Shares::Parent, AssocKind::User) => Some(Extended::INFINITY),
        (Shares::Parent, AssocKind::Account) => None,
        (Shares::Raw(_), _) if norm_shares == 0.0 => Some(Extended::ZERO),
        (Shares::Raw(_), _) => match Extended::from_f64(norm_shares) {
            Some(_) if raw_usage.is_zero() && parent_usage.is_negative() => {
                Some(-Extended::INFINITY)
            }
            Some(shares) => Some(shares / quotient(raw_usage, parent_usage)),
            None => Some(Extended::ZERO),
        },
    }
}

#[derive(Clone, Copy)]
struct Member {
    level_fs: Extended,
    index: AssocIndex,
    is_user: bool,
}

/// A sorted level, partly visited.
struct Frame {
    start: usize,
    next: usize,
    end: usize,
    /// True if the account of this level was tied.
    account_tied: bool,
    /// LF of the member before `next`.
    previous: Extended,
}

fn rank(tree: &Tree, root: AssocIndex, results: &mut [AssocFairshare]) {
    let user_count = tree.user_count();
    let mut rank = user_count;
    let mut rank_without_ties = user_count;
    let mut members = Vec::new();
    let mut frames = Vec::new();
    frames.push(descend(tree, results, &mut members, root, false));
    while let Some(frame) = frames.last_mut() {
        if frame.next == frame.end {
            members.truncate(frame.start);
            frames.pop();
            continue;
        }
        let member: Member = members[frame.next];
        let tied = if frame.next == frame.start && frame.account_tied {
            true
        } else {
            frame.previous == member.level_fs
        };
        frame.previous = member.level_fs;
        frame.next += 1;
        if member.is_user {
            if !tied {
                rank = rank_without_ties;
            }
            results[member.index.get()].fs_factor = Some(rank as f64 / user_count as f64);
            rank_without_ties -= 1;
        } else {
            frames.push(descend(tree, results, &mut members, member.index, tied));
        }
    }
}

/// Appends the level of `account` to `members`, sorted.
fn descend(
    tree: &Tree,
    results: &[AssocFairshare],
    members: &mut Vec<Member>,
    account: AssocIndex,
    account_tied: bool,
) -> Frame {
    let start = members.len();
    members.extend(tree.fs_children(account).iter().map(|&index| Member {
        level_fs: results[index.get()].level_fs.unwrap_or(NO_VAL),
        index,
        is_user: tree.rows()[index.get()].kind == AssocKind::User,
    }));
    // Stable, as the merge sort in glibc's qsort.
    members[start..].sort_by(|a, b| {
        b.level_fs
            .cmp(&a.level_fs)
            .then_with(|| b.is_user.cmp(&a.is_user))
    });
    Frame {
        start,
        next: start,
        end: members.len(),
        account_tied,
        previous: NO_VAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Compat, Release};
    use crate::fairshare::{Ranking, compute};
    use crate::tree::Assoc;

    #[test]
    fn nothing_below_less_than_nothing_is_minus_infinity() {
        // Slurm 22.05.8: `sacctmgr modify ... set RawUsage=0` left a rounding error below zero at
        // the root; its unused children then had level fairshare -infinity.
        let row = |id, parent, kind| Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        };
        let tree = Tree::from_rows([
            row(1, None, AssocKind::Account),
            row(2, Some(1), AssocKind::Account),
            row(3, Some(1), AssocKind::User),
        ])
        .unwrap();
        let tiny = Extended::ONE / Extended::from(1_u64 << 62);
        let raw = [-tiny, Extended::ZERO, Extended::ZERO];
        let compat = Compat::Slurm(Release::V22_05_8);
        let stock = compute(Ranking::FAIR_TREE, compat, &tree, &raw);
        assert_eq!(stock[2].level_fs, Some(-Extended::INFINITY));
        let documented = compute(Ranking::FAIR_TREE, Compat::Documented, &tree, &raw);
        assert_eq!(documented[2].level_fs, Some(Extended::INFINITY));
    }
}
