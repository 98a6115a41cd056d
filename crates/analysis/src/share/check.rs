//! Whether the printed numbers of a listing are those that the engine computes.
//!
//! RawUsage is printed cut off after the point, so a printed quotient need not be that of the
//! printed numbers: it must lie among the quotients that usage with these whole parts can have.
//! The root is not compared: it has no siblings, and what sshare shows there depends on when
//! slurmctld started.

use super::agreement::{Agreement, Difference, Verdict};
use super::bounds::Bounds;
use super::doubt::doubts;
use super::ranks::{Arenas, Interval, rank_bounds};
use super::{Figure, ShareReport, order};
use fairtree::compat::{Compat, Release};
use fairtree::fairshare::Ranking;
use fairtree_model::input::sshare::{Column, Listing, Printed, RowKind, links};
use fairtree_model::input::{InputError, Problem};
use fairtree_model::listed::ListedTree;

/// The columns that can be compared.
pub(super) const DERIVED: [Column; 5] = [
    Column::NormShares,
    Column::NormUsage,
    Column::EffectvUsage,
    Column::LevelFs,
    Column::FairShare,
];

/// Compares what a listing prints with what was recomputed from it.
///
/// # Errors
/// As [`super::from_listing`].
pub fn check(listing: &Listing, report: &ShareReport) -> Result<Agreement, InputError> {
    let forest = forest(listing)?;
    let bounds = Bounds::new(listing, report, &forest);
    let mut agreement = Agreement {
        charged: bounds.charged().to_vec(),
        ..Agreement::default()
    };
    // Under rankings of our own slurmctld's number is the part of the level still.
    let own = !report.ranking.is_in_stock();
    let on_level = own.then(|| forest.compute(Ranking::FAIR_TREE, Compat::Documented));
    let on_level = |at: usize| Some(on_level.as_ref()?[at].norm_shares);
    for column in DERIVED {
        let factors_by_rank = column == Column::FairShare && report.ranking.is_ranked();
        if factors_by_rank {
            compare_ranks(listing, report, &forest, &bounds, &mut agreement);
        } else {
            compare(listing, report, &bounds, column, &on_level, &mut agreement);
        }
    }
    agreement
        .differences
        .sort_by_key(|difference| difference.row);
    Ok(agreement)
}

/// The rows of a listing as one tree.
pub(super) fn forest(listing: &Listing) -> Result<ListedTree, InputError> {
    ListedTree::new(listing, &links(listing))
        .map_err(|error| InputError::new(&listing.file, Problem::Structure(error.to_string())))
}

/// The printed number of a column.
pub(super) fn printed(listing: &Listing, row: usize, column: Column) -> Option<Printed> {
    let row = &listing.rows[row];
    match column {
        Column::NormShares => row.norm_shares,
        Column::NormUsage => row.norm_usage,
        Column::EffectvUsage => row.effective_usage,
        Column::LevelFs => row.level_fs,
        Column::FairShare => row.fs_factor,
        _ => None,
    }
}

fn compare(
    listing: &Listing,
    report: &ShareReport,
    bounds: &Bounds,
    column: Column,
    on_level: &dyn Fn(usize) -> Option<f64>,
    agreement: &mut Agreement,
) {
    let mut compared = 0;
    for (at, row) in report.rows.iter().enumerate() {
        let (Some(Figure::Computed(value)), Some(printed), Some(allowed), false) = (
            row.figure(column),
            printed(listing, at, column),
            bounds.of(column, at),
            row.root,
        ) else {
            continue;
        };
        compared += 1;
        let other = on_level(at).filter(|_| column == Column::NormShares);
        let is_other = other.is_some_and(|part| printed.low <= part && part <= printed.high);
        if !overlap(printed, allowed) && !is_other {
            agreement.differences.push(Difference {
                row: at,
                column,
                printed: printed.value,
                computed: Some(value),
                verdict: Verdict::Differs {
                    low: allowed.low,
                    high: allowed.high,
                },
            });
        }
    }
    if compared > 0 {
        agreement.compared.push((column, compared));
    }
}

/// Whether a printed number can be one of the interval.
fn overlap(printed: Printed, allowed: Interval) -> bool {
    let noise = 1e-12;
    printed.low <= allowed.high * (1.0 + noise) && printed.high >= allowed.low * (1.0 - noise)
}

/// FairShare of a ranking that gives ranks: a rank, or where ranks are not known, an order.
fn compare_ranks(
    listing: &Listing,
    report: &ShareReport,
    forest: &ListedTree,
    bounds: &Bounds,
    agreement: &mut Agreement,
) {
    let ranked = report
        .rows
        .iter()
        .any(|row| row.kind == RowKind::User && matches!(row.fs_factor, Figure::Computed(_)));
    let arenas = Arenas::new(forest, report.ranking);
    if !ranked {
        // Between levels there is an order only where those next to the root come first.
        if !arenas.begin_below_root(forest) {
            return;
        }
        let (ordered, differences) = order::compare(listing, forest, bounds.level_fs());
        agreement.ordered = ordered;
        agreement.differences.extend(differences);
        return;
    }
    let stock_compat = match report.compat {
        Compat::Documented => Compat::Slurm(Release::V24_11_5),
        slurm @ Compat::Slurm(_) => slurm,
    };
    let fair_tree = report.ranking == Ranking::FAIR_TREE;
    let stock = fair_tree.then(|| forest.compute(Ranking::FAIR_TREE, stock_compat));
    let stock_is = |row: usize, is: &dyn Fn(f64) -> bool| {
        let factor = stock.as_ref().and_then(|stock| stock[row].fs_factor);
        factor.is_some_and(is)
    };
    let ranks = rank_bounds(forest, &arenas, bounds.level_fs());
    let computed = |row: usize| report.rows[row].level_fs.value();
    let doubts = doubts(forest, &arenas, bounds.level_fs(), computed);
    // Whose factor a row below a tie gets is as open as the places of all before it.
    let inherits = report.compat.is_slurm() && doubts.iter().any(|doubt| doubt.cut);
    let places = arenas.places() as f64;
    let mut compared = 0;
    for (at, row) in report.rows.iter().enumerate() {
        let (Figure::Computed(value), Some(printed)) = (row.fs_factor, listing.rows[at].fs_factor)
        else {
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
        let verdict = if !doubts[at].cut && stock_is(at, &is) {
            Verdict::StockTie
        } else if printed.low <= best && printed.high >= worst {
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
    agreement.compared.push((Column::FairShare, compared));
}
