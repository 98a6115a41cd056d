//! How far a listing tells the order of users under Fair Tree.

use fairtree::tree::AssocIndex;
use fairtree_model::listed::ListedTree;

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
pub(super) fn rank_bounds(forest: &ListedTree, level_fs: &[Interval]) -> Vec<(usize, usize)> {
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
