//! How far a listing tells the order of leaves.

use fairtree::compat::Compat;
use fairtree::fairshare::Ranking;
use fairtree::order::Level;
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

/// Who competes with whom, and how many leaves are below each.
///
/// Under Fair Tree the children of each account compete with each other. Under rankings with a level
/// all nodes of that level compete over the whole tree, and below it the children of each.
pub(super) struct Arenas {
    /// Those that compete first, by row.
    first: Vec<usize>,
    /// By row: it competes.
    competes: Vec<bool>,
    /// By row: the leaves at it and below it.
    leaves: Vec<usize>,
    /// By row: it is one of those.
    is_leaf: Vec<bool>,
    /// Number of ranks.
    places: usize,
}

impl Arenas {
    pub(super) fn new(forest: &ListedTree, ranking: Ranking) -> Arenas {
        let tree = &forest.tree;
        let ranked = forest.compute(ranking, Compat::Documented);
        let competes: Vec<bool> = ranked.iter().map(|row| row.level_fs.is_some()).collect();
        // An account may be a leaf; its users, who take its factor, do not compete.
        let is_leaf = |at: usize| competes[at] && ranked[at].fs_factor.is_some();
        let is_leaf: Vec<bool> = (0..tree.len()).map(is_leaf).collect();
        let mut leaves: Vec<usize> = is_leaf.iter().map(|leaf| usize::from(*leaf)).collect();
        for &index in tree.parents_first().iter().rev() {
            if let Some(parent) = tree.fs_parent(index).filter(|_| competes[index.get()]) {
                leaves[parent.get()] += leaves[index.get()];
            }
        }
        let mut arenas = Arenas {
            first: Vec::new(),
            competes,
            leaves,
            is_leaf,
            places: ranking.places(tree),
        };
        let wanted = match ranking.level() {
            None => 1,
            Some(Level::Depth(depth)) => depth.max(1),
            Some(Level::Leaf) => u32::MAX,
        };
        let mut open: Vec<(usize, u32)> = tree
            .root()
            .map(|root| (root.get(), 0))
            .into_iter()
            .collect();
        while let Some((at, depth)) = open.pop() {
            if depth == wanted || arenas.is_leaf[at] {
                arenas.first.push(at);
            } else {
                let below = arenas.below(forest, at);
                open.extend(below.map(|child| (child, depth + 1)));
            }
        }
        arenas
    }

    /// The same without some leaves, which have no rank yet.
    pub(super) fn without(mut self, forest: &ListedTree, rows: &[usize]) -> Arenas {
        for &row in rows.iter().filter(|&&row| self.is_leaf[row]) {
            let mut at = Some(row);
            while let Some(above) = at {
                self.leaves[above] -= 1;
                let parent = forest.tree.fs_parent(AssocIndex::new(above));
                at = parent.map(AssocIndex::get).filter(|_| self.competes[above]);
            }
            self.places -= 1;
        }
        for &row in rows {
            self.competes[row] = false;
        }
        let competes = &self.competes;
        self.first.retain(|row| competes[*row]);
        self
    }

    /// Those that compete first.
    pub(super) fn first(&self) -> &[usize] {
        &self.first
    }

    /// The children of a row, which compete with each other.
    pub(super) fn below<'a>(
        &'a self,
        forest: &'a ListedTree,
        row: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let children = if self.is_leaf[row] {
            &[][..]
        } else {
            forest.tree.fs_children(AssocIndex::new(row))
        };
        let children = children.iter().map(|child| child.get());
        children.filter(|child| self.competes[*child])
    }

    /// The account that a user takes the factor of.
    pub(super) fn leaf_of(&self, forest: &ListedTree, row: usize) -> Option<usize> {
        let above = forest.tree.fs_parent(AssocIndex::new(row))?.get();
        (!self.competes[row] && self.is_leaf[above]).then_some(above)
    }

    /// Number of ranks.
    pub(super) const fn places(&self) -> usize {
        self.places
    }

    /// Whether the children of the root are those that compete first.
    pub(super) fn begin_below_root(&self, forest: &ListedTree) -> bool {
        let root = forest.tree.root();
        let is_child = |at: &usize| forest.tree.fs_parent(AssocIndex::new(*at)) == root;
        self.first.iter().all(is_child)
    }
}

/// The best and the worst rank (the number of places is the best of all) that each leaf may have, by
/// row, when the level fairshare of each row lies in its interval.
///
/// Ahead of a leaf are all leaves of its competitors, and of those of the accounts above it, with a higher
/// level fairshare. Ties are left open.
pub(super) fn rank_bounds(
    forest: &ListedTree,
    arenas: &Arenas,
    level_fs: &[Interval],
) -> Vec<(usize, usize)> {
    let total = arenas.places();
    // Leaves surely ahead, leaves possibly ahead.
    let mut ahead = vec![(0usize, 0usize); forest.tree.len()];
    let mut open = vec![((0, 0), arenas.first().to_vec())];
    while let Some((above, rows)) = open.pop() {
        let sure = Ahead::new(&rows, &arenas.leaves, |row| level_fs[row].low);
        let possible = Ahead::new(&rows, &arenas.leaves, |row| level_fs[row].high);
        for &at in &rows {
            let own = level_fs[at];
            ahead[at] = (
                above.0 + sure.beyond(own.high, false),
                above.1 + possible.beyond(own.low, true) - arenas.leaves[at],
            );
            let below: Vec<usize> = arenas.below(forest, at).collect();
            if !below.is_empty() {
                open.push((ahead[at], below));
            }
        }
    }
    for at in 0..ahead.len() {
        if let Some(leaf) = arenas.leaf_of(forest, at) {
            ahead[at] = ahead[leaf];
        }
    }
    let rank = |&(sure, possible): &(usize, usize)| {
        let worst = total.saturating_sub(possible);
        (worst, total.saturating_sub(sure))
    };
    ahead.iter().map(rank).collect()
}

/// Leaves of rows that compete, summed from the highest key down.
struct Ahead {
    keys: Vec<f64>,
    sums: Vec<usize>,
}

impl Ahead {
    fn new(rows: &[usize], leaves: &[usize], key: impl Fn(usize) -> f64) -> Ahead {
        let rows = rows.iter();
        let mut rows: Vec<(f64, usize)> = rows.map(|&row| (key(row), leaves[row])).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut sum = 0;
        let sums = rows.iter().map(|&(_, leaves)| {
            sum += leaves;
            sum
        });
        Ahead {
            sums: sums.collect(),
            keys: rows.iter().map(|row| row.0).collect(),
        }
    }

    /// Leaves of rows whose key is above `limit`, or equal to it with `or_equal`.
    fn beyond(&self, limit: f64, or_equal: bool) -> usize {
        let count = self
            .keys
            .partition_point(|&key| key > limit || or_equal && key == limit);
        count.checked_sub(1).map_or(0, |last| self.sums[last])
    }
}
