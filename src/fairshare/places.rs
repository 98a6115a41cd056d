//! Places of leaves, from a walk over levels on which nodes compete.
//!
//! A *leaf* is the lowest node that competes: a user, or an account whose users all have
//! `FairShare=parent`; their jobs are one queue, and they have the account's factor. Leaves are
//! found level by level, the best first. Of N leaves, the first has the factor 1, the k-th the
//! factor `(N - k + 1) / N`. Leaves that tie share the best of their factors, and the other ones
//! are not used. Accounts that tie are visited as one: their children compete on one level.

use std::cmp::Ordering;

use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// Role of an association in a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The lowest node that competes.
    Leaf,
    /// An account with nodes below it; also one without users.
    Inner,
    /// A user that has the factor of this account, which is a leaf.
    Follows(AssocIndex),
    /// An account with `FairShare=parent`: its children compete on the level above.
    Aside,
}

/// The role of each association, by position.
pub(super) fn roles(tree: &Tree) -> Vec<Role> {
    let mut roles = vec![Role::Inner; tree.len()];
    for &index in tree.parents_first() {
        let row = &tree.rows()[index.get()];
        let parent = tree.fs_parent(index);
        roles[index.get()] = match (row.kind, row.shares, parent) {
            (AssocKind::Account, _, None) => Role::Inner,
            (AssocKind::Account, Shares::Parent, Some(_)) => Role::Aside,
            (AssocKind::Account, Shares::Raw(_), Some(_)) => {
                let children = tree.fs_children(index).iter();
                let mut children = children.map(|child| &tree.rows()[child.get()]);
                let has_users = children.clone().any(|child| child.kind == AssocKind::User);
                let own = |shares| matches!(shares, Shares::Raw(_));
                if has_users && !children.any(|child| own(child.shares)) {
                    Role::Leaf
                } else {
                    Role::Inner
                }
            }
            (AssocKind::User, _, Some(parent)) if roles[parent.get()] == Role::Leaf => {
                Role::Follows(parent)
            }
            (AssocKind::User, _, _) => Role::Leaf,
        };
    }
    roles
}

/// Number of leaves; factors are multiples of 1 over this number.
pub(super) fn count(roles: &[Role]) -> usize {
    roles.iter().filter(|role| **role == Role::Leaf).count()
}

/// NodeRatio of a node, lower is better: a class, and within a class the ratio of use to
/// entitlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeRatio {
    /// Without use.
    Unused,
    /// The rounded ratio.
    Ratio(Extended),
    /// Entitled to nothing: after all others. The number orders these among themselves.
    NothingDue(u8),
}

impl NodeRatio {
    const fn class(self) -> u16 {
        match self {
            NodeRatio::Unused => 0,
            NodeRatio::Ratio(_) => 1,
            NodeRatio::NothingDue(class) => 2 + class as u16,
        }
    }

    /// The order of ratios with a relative error of at most `margin`, the better one less; `exact`
    /// decides close ones.
    pub(super) fn order(
        self,
        other: NodeRatio,
        margin: Extended,
        exact: impl FnOnce() -> Ordering,
    ) -> Ordering {
        let (NodeRatio::Ratio(a), NodeRatio::Ratio(b)) = (self, other) else {
            return self.class().cmp(&other.class());
        };
        let odd = |ratio: Extended| ratio.is_zero() || ratio.is_infinite();
        if odd(a) || odd(b) || (a - b).abs() <= a.max(b) * margin {
            exact()
        } else {
            a.cmp(&b)
        }
    }
}

/// Bound of the relative error of a rounded ratio: a few operations for each level, and a few more.
pub(super) fn margin(depth: usize) -> Extended {
    let steps = Extended::from(depth as u64 + 8);
    // Each rounds with a relative error of at most 2^-63, and there are at most two per level.
    steps / Extended::from(1_u64 << 60)
}

/// The number of levels.
pub(super) fn depth(tree: &Tree) -> usize {
    let mut depths = vec![0; tree.len()];
    for &index in tree.parents_first() {
        if let Some(parent) = tree.fs_parent(index) {
            depths[index.get()] = depths[parent.get()] + 1;
        }
    }
    depths.into_iter().max().unwrap_or(0)
}

/// The children of a node that compete.
pub(super) fn competing<'a>(
    tree: &'a Tree,
    roles: &'a [Role],
    index: AssocIndex,
) -> impl Iterator<Item = AssocIndex> + 'a {
    let children = tree.fs_children(index).iter().copied();
    children.filter(|child| matches!(roles[child.get()], Role::Leaf | Role::Inner))
}

/// A contest of all leaves of a tree.
pub(super) struct Contest<'a, C> {
    pub(super) tree: &'a Tree,
    pub(super) roles: &'a [Role],
    /// The order of two nodes, the better one less; equal nodes tie.
    pub(super) order: C,
    /// True if a leaf that ties with accounts has the factor of the best leaf below them; false if
    /// it has a place before them.
    pub(super) shares_ties: bool,
}

/// A level, partly visited.
struct Frame {
    /// Its members are `members[start..end]`; `end` is the end of the frame above it.
    start: usize,
    next: usize,
    end: usize,
    /// Leaves tied with the accounts of this level wait for their best leaf, but not longer.
    owns_tie: bool,
}

impl<C: Fn(AssocIndex, AssocIndex) -> Ordering> Contest<'_, C> {
    /// Factors by position; `first`: the nodes of the first level. `None` for accounts that are not
    /// leaves.
    pub(super) fn factors(&self, first: Vec<AssocIndex>) -> Vec<Option<f64>> {
        let mut factors = vec![None; self.tree.len()];
        let leaves = count(self.roles);
        let mut next_rank = leaves;
        let mut tied_rank: Option<usize> = None;
        let mut members = first;
        let mut frames = Vec::new();
        self.descend(&mut members, &mut frames, 0, false);
        while let Some(frame) = frames.last_mut() {
            if frame.next == frame.end {
                members.truncate(frame.start);
                if frame.owns_tie {
                    tied_rank = None;
                }
                frames.pop();
                continue;
            }
            let begin = frame.next;
            let tied = members[begin..frame.end].iter();
            let tied = tied.take_while(|at| (self.order)(members[begin], **at).is_eq());
            let end = begin + tied.count();
            frame.next = end;
            let in_group = members[begin..end]
                .iter()
                .take_while(|at| self.is_leaf(**at));
            let leaves_here = in_group.count();
            let mut rank = None;
            if leaves_here > 0 {
                let shared = tied_rank.take().unwrap_or(next_rank);
                for at in &members[begin..begin + leaves_here] {
                    factors[at.get()] = Some(shared as f64 / leaves as f64);
                }
                next_rank -= leaves_here;
                rank = Some(shared).filter(|_| self.shares_ties);
            }
            let start = members.len();
            for at in begin + leaves_here..end {
                let account = members[at];
                members.extend(competing(self.tree, self.roles, account));
            }
            if members.len() > start {
                if rank.is_some() {
                    tied_rank = rank;
                }
                self.descend(&mut members, &mut frames, start, rank.is_some());
            }
        }
        for (at, role) in self.roles.iter().enumerate() {
            if let Role::Follows(account) = role {
                factors[at] = factors[account.get()];
            }
        }
        factors
    }

    fn is_leaf(&self, index: AssocIndex) -> bool {
        self.roles[index.get()] == Role::Leaf
    }

    /// Sorts the members from `start` on, leaves first among equals, and makes them the next level
    /// to visit.
    fn descend(
        &self,
        members: &mut [AssocIndex],
        frames: &mut Vec<Frame>,
        start: usize,
        owns_tie: bool,
    ) {
        members[start..].sort_unstable_by(|a, b| {
            let order = (self.order)(*a, *b);
            order.then_with(|| self.is_leaf(*b).cmp(&self.is_leaf(*a)))
        });
        let end = members.len();
        frames.push(Frame {
            start,
            next: start,
            end,
            owns_tie,
        });
    }
}
