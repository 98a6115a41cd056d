//! Whether printed fair-share factors follow the order of level fairshare, where ranks themselves
//! cannot be known.

use super::agreement::{Difference, Verdict};
use super::ranks::Interval;
use fairtree_model::input::sshare::{Column, Listing};
use fairtree_model::listed::ListedTree;

/// The printed factors at or below a row: their number, the least with its row, the greatest.
#[derive(Clone, Copy)]
struct Spread {
    count: usize,
    least: (f64, usize),
    greatest: (f64, usize),
}

impl Spread {
    const NONE: Spread = Spread {
        count: 0,
        least: (f64::INFINITY, usize::MAX),
        greatest: (f64::NEG_INFINITY, usize::MAX),
    };

    fn with(self, other: Spread) -> Spread {
        Spread {
            count: self.count + other.count,
            least: if other.least.0 < self.least.0 {
                other.least
            } else {
                self.least
            },
            greatest: if other.greatest.0 > self.greatest.0 {
                other.greatest
            } else {
                self.greatest
            },
        }
    }
}

/// Of two rows on one level, all users of the one with the higher level fairshare come first.
///
/// Returns the number of rows in a comparison, and for each row that does not come after a better one
/// the difference. `unranked`: rows left out.
pub(super) fn compare(
    listing: &Listing,
    forest: &ListedTree,
    level_fs: &[Interval],
    unranked: &[usize],
) -> (usize, Vec<Difference>) {
    let tree = &forest.tree;
    let mut spreads = vec![Spread::NONE; tree.len()];
    for &index in tree.parents_first().iter().rev() {
        let at = index.get();
        let ranked = unranked.binary_search(&at).is_err();
        let row = listing.rows.get(at).filter(|_| ranked);
        if let Some(factor) = row.and_then(|row| row.fs_factor) {
            let own = Spread {
                count: 1,
                least: (factor.value, at),
                greatest: (factor.value, at),
            };
            spreads[at] = spreads[at].with(own);
        }
        if let Some(parent) = tree.fs_parent(index).map(|parent| parent.get()) {
            spreads[parent] = spreads[parent].with(spreads[at]);
        }
    }
    // The rows that are, or are below, one of several.
    let mut in_order = vec![false; tree.len()];
    let mut differences = Vec::new();
    for &account in tree.parents_first() {
        for child in tree.fs_children(account) {
            in_order[child.get()] = in_order[account.get()];
        }
        if Some(account) == forest.stand_in {
            continue;
        }
        let children = tree.fs_children(account).iter().map(|child| child.get());
        let mut rows: Vec<usize> = children.filter(|&row| spreads[row].count > 0).collect();
        if rows.len() < 2 {
            continue;
        }
        rows.iter().for_each(|&row| in_order[row] = true);
        rows.sort_by(|&a, &b| level_fs[b].low.total_cmp(&level_fs[a].low));
        // The least factor among the rows that are surely better than a limit.
        let mut least = Vec::with_capacity(rows.len());
        let mut so_far = Spread::NONE;
        for &row in &rows {
            so_far = so_far.with(spreads[row]);
            least.push(so_far.least);
        }
        for &row in &rows {
            let better = rows.partition_point(|&other| level_fs[other].low > level_fs[row].high);
            let Some(&(factor, behind)) = better.checked_sub(1).map(|last| &least[last]) else {
                continue;
            };
            let (printed, user) = spreads[row].greatest;
            if printed >= factor {
                differences.push(Difference {
                    row: user,
                    column: Column::FairShare,
                    printed,
                    computed: None,
                    verdict: Verdict::OutOfOrder { behind },
                });
            }
        }
    }
    let has_factor = |at: usize| {
        let row = listing.rows.get(at);
        row.is_some_and(|row| row.fs_factor.is_some()) && unranked.binary_search(&at).is_err()
    };
    let compared = (0..tree.len()).filter(|&at| in_order[at] && has_factor(at));
    (compared.count(), differences)
}
