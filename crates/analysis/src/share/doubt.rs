//! Which ranks are certain although usage was cut off after the point.
//!
//! Rows whose intervals of level fairshare overlap may stand in either order, or tie. Rows whose
//! level fairshare is one and the same number for certain (both unused, both without shares) tie,
//! and the rows below such accounts are compared with each other. So do rows of one level with the
//! same shares and the same whole usage of many digits: that usage differs after the point only
//! would be a rare coincidence.

use super::ranks::{Arenas, Interval};
use fairtree_model::listed::ListedTree;

/// Usage from here on has digits enough that equal ones are no coincidence.
const MANY_DIGITS: f64 = 1e4;

/// What is open about the place of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Doubt {
    /// The place depends on what was cut off.
    pub(super) cut: bool,
    /// An account above ties, or may tie, with a sibling. Slurm's own plugin may then give the
    /// factor of the user that comes before these two (docs/parity.md, `empty-first-account`).
    pub(super) below_tie: bool,
}

/// The doubts about each row. `computed` is the level fairshare of whole usage; where that is not
/// among the possible ones, its whole level is in doubt.
pub(super) fn doubts(
    forest: &ListedTree,
    arenas: &Arenas,
    level_fs: &[Interval],
    computed: impl Fn(usize) -> Option<f64>,
) -> Vec<Doubt> {
    let alike = |a: usize, b: usize| {
        let rows = forest.tree.rows();
        forest.fs_parent(a) == forest.fs_parent(b)
            && rows[a].shares == rows[b].shares
            && forest.raw[a] == forest.raw[b]
            && forest.raw[a].to_f64() >= MANY_DIGITS
    };
    let possible = |&row: &usize| {
        let interval = level_fs[row];
        computed(row).is_none_or(|value| interval.low <= value && value <= interval.high)
    };
    let mut doubts = vec![Doubt::default(); forest.row_count()];
    // Rows that compete with each other, and what is open about them.
    let mut open = vec![(arenas.first().to_vec(), Doubt::default())];
    while let Some((mut rows, doubt)) = open.pop() {
        let below_tie = doubt.below_tie;
        let cut = doubt.cut || !rows.iter().all(possible);
        rows.sort_by(|&a, &b| level_fs[a].low.total_cmp(&level_fs[b].low));
        let mut at = 0;
        while at < rows.len() {
            let start = at;
            let mut high = level_fs[rows[at]].high;
            while at < rows.len() && level_fs[rows[at]].low <= high {
                high = high.max(level_fs[rows[at]].high);
                at += 1;
            }
            let tie = &rows[start..at];
            let certain = tie.len() == 1
                || level_fs[tie[0]].low == high
                || tie.iter().all(|&row| alike(row, tie[0]));
            let doubt = Doubt {
                cut: cut || !certain,
                below_tie,
            };
            for &row in tie {
                doubts[row] = doubt;
            }
            let below = tie.iter().flat_map(|&row| arenas.below(forest, row));
            let below: Vec<usize> = below.collect();
            if !below.is_empty() {
                let below_tie = below_tie || tie.len() > 1;
                open.push((below, Doubt { below_tie, ..doubt }));
            }
        }
    }
    for at in 0..doubts.len() {
        if let Some(leaf) = arenas.leaf_of(forest, at) {
            doubts[at] = doubts[leaf];
        }
    }
    doubts
}
