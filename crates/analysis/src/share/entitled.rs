//! What associations are entitled to, beside what they used.

use super::Figure;
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Entitlement, Ranking, compute, compute_entitled};
use fairtree::tree::{AssocIndex, Tree};

/// Fair share, where associations may have minutes instead of shares.
pub(crate) fn computed(
    ranking: Ranking,
    compat: Compat,
    entitlement: &Entitlement,
    tree: &Tree,
    raw: &[Extended],
) -> Vec<AssocFairshare> {
    match compat {
        Compat::Documented => compute_entitled(ranking, entitlement, tree, raw),
        Compat::Slurm(_) => compute(ranking, compat, tree, raw),
    }
}

/// Per association, by position, what it is entitled to and what it used over that; `None`: the
/// ranking does not compare them.
///
/// By shares it is entitled to its part of all that was used, so that a ratio above 1 is more than
/// its part.
pub(super) fn figures(
    ranking: Ranking,
    entitlement: &Entitlement,
    tree: &Tree,
    raw: &[Extended],
) -> Option<Vec<(Figure, Figure)>> {
    let root = tree.root().filter(|_| ranking.columns().entitled)?;
    let by_shares = *entitlement == Entitlement::SHARES;
    let total = raw[root.get()];
    let each = |(at, due): (usize, Extended)| {
        let due = if by_shares { due * total } else { due };
        let used = raw[at];
        let ratio = match (used.is_zero(), due.is_zero()) {
            (_, true) => Figure::Blank,
            (true, false) => Figure::Computed(0.0),
            (false, false) => Figure::Computed((used / due).to_f64()),
        };
        match AssocIndex::new(at) == root {
            // All there is: nothing competes with it.
            true => (Figure::Blank, Figure::Blank),
            false => (Figure::Computed(due.to_f64()), ratio),
        }
    };
    let due = entitlement.of_all(tree);
    Some(due.into_iter().enumerate().map(each).collect())
}
