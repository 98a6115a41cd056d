//! The order of users under Fair Tree: whether a listing tells it, and how far.

use super::forest::Forest;
use super::level::{Levels, name};
use fairtree::tree::AssocIndex;
use fairtree_model::input::sshare::{Column, Link, Listing, RowKind};

/// Why the rank of every user cannot be known from the rows; `None` where it can.
pub(super) fn why_not(
    listing: &Listing,
    links: &[Link],
    forest: &Forest,
    levels: &Levels,
) -> Option<String> {
    const RANKS: &str = "ranks count all users of the cluster";
    for column in [Column::RawShares, Column::RawUsage] {
        if !listing.has(column) {
            return Some(format!("{} is not among the columns", column.name()));
        }
    }
    if forest.root.is_none() {
        return Some(format!("{RANKS}, and the root is not listed"));
    }
    if forest.stand_in.is_some() {
        return Some(format!(
            "{RANKS}, and accounts are not listed that rows belong to"
        ));
    }
    let blank = listing.rows.iter().find(|row| row.raw_usage.is_none());
    if let Some(row) = blank {
        return Some(format!("{RANKS}, and RawUsage of {} is blank", name(row)));
    }
    if let Some(why) = levels.first() {
        return Some(format!("{RANKS}, but {why}"));
    }
    if let Some(accounts) = unlisted(listing, links) {
        return Some(format!(
            "{RANKS}, and those of {accounts} are not listed: run sshare with -a"
        ));
    }
    let users = forest.tree.user_count();
    foreign_rank(listing, users).map(|row| {
        format!(
            "{RANKS}, and FairShare {} is no rank among the {users} users listed",
            listing.rows[row].fs_factor.map_or(0.0, |p| p.value)
        )
    })
}

/// The accounts that used something but have no rows below them, in words.
fn unlisted(listing: &Listing, links: &[Link]) -> Option<String> {
    let mut has_rows = vec![false; links.len()];
    for link in links {
        if let Some(parent) = link.parent {
            has_rows[parent] = true;
        }
    }
    let mut bare = (0..links.len()).filter(|&at| {
        links[at].kind == RowKind::Account
            && !has_rows[at]
            && listing.rows[at].raw_usage.is_some_and(|usage| usage > 0)
    });
    let first = name(&listing.rows[bare.next()?]);
    Some(match bare.count() {
        0 => first,
        more => format!("{first} and {more} more accounts"),
    })
}

/// A row whose printed FairShare is not `k / users`; or, when all are but the best is not among
/// them, the row with the largest.
fn foreign_rank(listing: &Listing, users: usize) -> Option<usize> {
    let total = users as f64;
    let mut best: Option<(usize, f64)> = None;
    for (at, row) in listing.rows.iter().enumerate() {
        let Some(printed) = row.fs_factor else {
            continue;
        };
        let rank = (printed.value * total).round();
        if rank / total < printed.low || rank / total > printed.high {
            return Some(at);
        }
        if best.is_none_or(|(_, high)| printed.high > high) {
            best = Some((at, printed.high));
        }
    }
    best.filter(|&(_, high)| high < 1.0).map(|(at, _)| at)
}

/// A closed interval of numbers from 0 up; the upper end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Interval {
    /// All numbers from 0 up.
    pub const ANY: Interval = Interval {
        low: 0.0,
        high: f64::INFINITY,
    };

    /// What both allow; where they contradict each other, the first.
    pub fn meet(self, other: Interval) -> Interval {
        let met = Interval {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        };
        if met.low <= met.high { met } else { self }
    }
}

/// The best and the worst rank (`users` is the best of all) that each user may have, by row, when
/// the level fairshare of each row lies in its interval.
///
/// Ahead of a user are all users in siblings, of it and of the accounts above it, with a higher
/// level fairshare. Ties are left open.
pub(super) fn rank_bounds(forest: &Forest, level_fs: &[Interval]) -> Vec<(usize, usize)> {
    let tree = &forest.tree;
    let mut users = vec![0usize; tree.len()];
    for &index in tree.parents_first().iter().rev() {
        let at = index.get();
        if tree.rows()[at].kind == fairtree::tree::AssocKind::User {
            users[at] = 1;
        }
        if let Some(parent) = tree.fs_parent(index) {
            users[parent.get()] += users[at];
        }
    }
    let total = tree.root().map_or(0, |root| users[root.get()]);
    // Users surely ahead, users possibly ahead.
    let mut ahead = vec![(0usize, 0usize); tree.len()];
    for &account in tree.parents_first() {
        let children = tree.fs_children(account);
        let sure = Ahead::new(children, &users, |row| level_fs[row].low);
        let possible = Ahead::new(children, &users, |row| level_fs[row].high);
        for &child in children {
            let (at, own) = (child.get(), level_fs[child.get()]);
            let above = ahead[account.get()];
            ahead[at] = (
                above.0 + sure.beyond(own.high, false),
                above.1 + possible.beyond(own.low, true) - users[at],
            );
        }
    }
    let rank = |&(sure, possible): &(usize, usize)| (total.saturating_sub(possible), total - sure);
    ahead.iter().map(rank).collect()
}

/// Users of a level's rows, summed from the highest key down.
struct Ahead {
    keys: Vec<f64>,
    sums: Vec<usize>,
}

impl Ahead {
    fn new(children: &[AssocIndex], users: &[usize], key: impl Fn(usize) -> f64) -> Ahead {
        let mut rows: Vec<(f64, usize)> = children
            .iter()
            .map(|child| (key(child.get()), users[child.get()]))
            .collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sum = 0;
        let sums = rows.iter().map(|&(_, users)| {
            sum += users;
            sum
        });
        Ahead {
            sums: sums.collect(),
            keys: rows.iter().map(|row| row.0).collect(),
        }
    }

    /// Users of rows whose key is above `limit`, or equal to it with `or_equal`.
    fn beyond(&self, limit: f64, or_equal: bool) -> usize {
        let count = self
            .keys
            .partition_point(|&key| key > limit || or_equal && key == limit);
        count.checked_sub(1).map_or(0, |last| self.sums[last])
    }
}
