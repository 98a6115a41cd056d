//! FairShare of a ranking that gives ranks: a rank, or where ranks are not known, an order.

use super::agreement::{Agreement, Difference, Verdict};
use super::at_pass::AtPass;
use super::bounds::Bounds;
use super::doubt::doubts;
use super::ranks::{Arenas, rank_bounds};
use super::{Figure, ShareReport, order};
use fairtree::fairshare::Ranking;
use fairtree_model::input::sshare::{Column, Listing, RowKind};
use fairtree_model::listed::{Listed, ListedTree};

/// The largest value that prints as 0 with six decimals: below the rank 1 of two million users.
const NO_RANK: f64 = 1e-6;

/// Compares the printed factors with ranks, or where ranks are not known, with the order of level
/// fairshare.
pub(super) fn compare_ranks(
    (listed, report): (&Listed<'_>, &ShareReport),
    bounds: &Bounds,
    pass: &AtPass,
    agreement: &mut Agreement,
) {
    let (listing, forest) = (listed.listing(), listed.tree());
    let unranked = unranked(listing, report);
    let difference = |row: usize| Difference {
        row,
        column: Column::FairShare,
        printed: 0.0,
        computed: None,
        verdict: Verdict::Unranked,
    };
    agreement.count(Column::FairShare, unranked.len());
    agreement
        .differences
        .extend(unranked.iter().copied().map(difference));
    let arenas = Arenas::new(forest, report.ranking);
    if !unranked.is_empty() {
        let next = next_pass(listed, report);
        let arenas = arenas.without(forest, &unranked);
        if let Some(next) = next.filter(|_| are_ranks(listing, &unranked, arenas.places())) {
            among_ranked(listing, report, forest, (bounds, &arenas), agreement);
            agreement.next = next;
            return;
        }
        compare_order(listing, forest, (bounds, &arenas), &unranked, agreement);
        return;
    }
    let ranked = report
        .rows
        .iter()
        .any(|row| row.kind == RowKind::User && matches!(row.fs_factor, Figure::Computed(_)));
    match ranked {
        true => compare_with_ranks(
            (listing, report),
            forest,
            (bounds, &arenas),
            pass,
            agreement,
        ),
        false => compare_order(listing, forest, (bounds, &arenas), &[], agreement),
    }
}

/// The users whose printed factor is 0, ascending.
fn unranked(listing: &Listing, report: &ShareReport) -> Vec<usize> {
    let is_unranked = |&at: &usize| {
        let factor = listing.rows[at].fs_factor;
        report.rows[at].kind == RowKind::User
            && factor.is_some_and(|factor| factor.value == 0.0 && factor.high < NO_RANK)
    };
    (0..listing.rows.len()).filter(is_unranked).collect()
}

/// The factors of the next pass that are not those printed, the highest first; `None`: not all
/// users are listed.
fn next_pass(listed: &Listed<'_>, report: &ShareReport) -> Option<Vec<(usize, f64)>> {
    if report.ranking != Ranking::FAIR_TREE || !listed.has_all_users() {
        return None;
    }
    let next = listed.tree().compute(report.ranking, report.compat);
    let mut changed = Vec::new();
    for (at, row) in listed.listing().rows.iter().enumerate() {
        let Some(printed) = row.fs_factor else {
            continue;
        };
        if !listed.has_fs_factor(at) {
            return None;
        }
        let factor = next[at].fs_factor.unwrap_or(0.0);
        if factor < printed.low || factor > printed.high {
            changed.push((at, factor));
        }
    }
    changed.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(changed)
}

/// Returns true if all factors, except those of `unranked`, are ranks among `places` users, the best
/// among them.
fn are_ranks(listing: &Listing, unranked: &[usize], places: usize) -> bool {
    let rows = listing.rows.iter().enumerate();
    let ranked = rows.filter(|(at, _)| unranked.binary_search(at).is_err());
    let factors: Vec<_> = ranked.filter_map(|(_, row)| row.fs_factor).collect();
    let total = places as f64;
    let is_rank = factors.iter().all(|printed| {
        let rank = (printed.value * total).round() / total;
        printed.low <= rank && rank <= printed.high
    });
    places == 0 || is_rank && factors.iter().any(|printed| printed.high >= 1.0)
}

/// Compares the users that have a rank with each other.
fn among_ranked(
    listing: &Listing,
    report: &ShareReport,
    forest: &ListedTree,
    (bounds, arenas): (&Bounds, &Arenas),
    agreement: &mut Agreement,
) {
    let ranks = rank_bounds(forest, arenas, bounds.level_fs());
    let places = arenas.places() as f64;
    let mut compared = 0;
    for (at, row) in listing.rows.iter().enumerate() {
        let Some(printed) = row.fs_factor.filter(|printed| printed.value > 0.0) else {
            continue;
        };
        if report.rows[at].kind != RowKind::User {
            continue;
        }
        compared += 1;
        let (low, high) = (ranks[at].0 as f64 / places, ranks[at].1 as f64 / places);
        if printed.low > high || printed.high < low {
            agreement.differences.push(Difference {
                row: at,
                column: Column::FairShare,
                printed: printed.value,
                computed: Some(high),
                verdict: Verdict::Differs { low, high },
            });
        }
    }
    agreement.count(Column::FairShare, compared);
}

fn compare_order(
    listing: &Listing,
    forest: &ListedTree,
    (bounds, arenas): (&Bounds, &Arenas),
    unranked: &[usize],
    agreement: &mut Agreement,
) {
    // Between levels there is an order only where those next to the root come first.
    if !arenas.begin_below_root(forest) {
        return;
    }
    let (ordered, differences) = order::compare(listing, forest, bounds.level_fs(), unranked);
    agreement.ordered = ordered;
    agreement.differences.extend(differences);
}

fn compare_with_ranks(
    (listing, report): (&Listing, &ShareReport),
    forest: &ListedTree,
    (bounds, arenas): (&Bounds, &Arenas),
    pass: &AtPass,
    agreement: &mut Agreement,
) {
    let ranks = rank_bounds(forest, arenas, bounds.level_fs());
    let computed = |row: usize| pass.level_fs(report, row);
    let doubts = doubts(forest, arenas, bounds.level_fs(), computed);
    // Whose factor a row below a tie gets is as open as the places of all before it.
    let inherits = report.compat.is_slurm() && doubts.iter().any(|doubt| doubt.cut);
    let places = arenas.places() as f64;
    // Made where it is needed.
    let mut by_columns: Option<Vec<(usize, usize)>> = None;
    let mut compared = 0;
    for (at, row) in report.rows.iter().enumerate() {
        let (Figure::Computed(_), Some(value), Some(printed)) = (
            row.fs_factor,
            pass.fs_factor(report, at),
            listing.rows[at].fs_factor,
        ) else {
            continue;
        };
        compared += 1;
        let is = |factor: f64| printed.low <= factor && factor <= printed.high;
        let (worst, mut best) = (ranks[at].0 as f64 / places, ranks[at].1 as f64 / places);
        if inherits && doubts[at].below_tie {
            best = 1.0;
        }
        if is(value) {
            continue;
        }
        let mut fits_columns = || {
            let by_columns = by_columns.get_or_insert_with(|| {
                rank_bounds(forest, arenas, &bounds.level_fs_of_columns(listing))
            });
            let (worst, best) = by_columns[at];
            printed.low <= best as f64 / places && printed.high >= worst as f64 / places
        };
        let verdict = if !doubts[at].cut && pass.stock_factor(at).is_some_and(is) {
            Verdict::StockTie
        } else if printed.low <= best && printed.high >= worst || fits_columns() {
            continue;
        } else {
            Verdict::Differs {
                low: worst,
                high: best,
            }
        };
        agreement.differences.push(Difference {
            row: at,
            column: Column::FairShare,
            printed: printed.value,
            computed: Some(value),
            verdict,
        });
    }
    agreement.count(Column::FairShare, compared);
}
