//! Whether the printed numbers of a listing are those that the engine computes.
//!
//! RawUsage is printed cut off after the point, so a printed quotient need not be that of the
//! printed numbers: it must lie among the quotients that usage with these whole parts can have.
//! The root is not compared: it has no siblings, and what sshare shows there depends on when
//! slurmctld started.

use super::agreement::{Agreement, Difference, Skipped, Verdict};
use super::at_pass::AtPass;
use super::bounds::{self, Bounds};
use super::rank_check::compare_ranks;
use super::ranks::Interval;
use super::{Figure, ShareReport, own_row};
use fairtree::compat::Compat;
use fairtree::fairshare::Ranking;
use fairtree_model::input::sshare::{Column, Listing, Printed};
use fairtree_model::listed::Listed;

/// The columns that can be compared.
pub(super) const DERIVED: [Column; 5] = [
    Column::NormShares,
    Column::NormUsage,
    Column::EffectvUsage,
    Column::LevelFs,
    Column::FairShare,
];

/// Compares what a listing prints with what was recomputed from it.
pub fn check(listed: &Listed<'_>, report: &ShareReport) -> Agreement {
    check_with(listed, report, 1.0)
}

/// The same, where at most the part `max_growth` of all usage may have come since the last pass.
pub(super) fn check_with(listed: &Listed<'_>, report: &ShareReport, max_growth: f64) -> Agreement {
    let (listing, forest) = (listed.listing(), listed.tree());
    let bounds = Bounds::new(listing, report, forest, max_growth);
    let mut agreement = Agreement {
        charged: bounds.charged().to_vec(),
        ..Agreement::default()
    };
    let pass = AtPass::new(listing, report, forest, &bounds);
    // Under rankings of our own slurmctld's number is the part of the level still.
    let own = !report.ranking.is_in_stock();
    let on_level = own.then(|| forest.compute(Ranking::FAIR_TREE, Compat::Documented));
    let on_level = |at: usize| Some(on_level.as_ref()?[at].norm_shares);
    for column in DERIVED {
        let factors_by_rank = column == Column::FairShare && report.ranking.is_ranked();
        if factors_by_rank {
            compare_ranks((listed, report), &bounds, &pass, &mut agreement);
        } else {
            compare(listing, report, &bounds, column, &on_level, &mut agreement);
        }
    }
    own_row::compare(listing, report, &mut agreement);
    agreement
        .differences
        .sort_by_key(|difference| difference.row);
    agreement
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
    let (mut compared, mut skipped) = (0, 0);
    for (at, row) in report.rows.iter().enumerate() {
        let (Some(Figure::Computed(value)), Some(printed), false) =
            (row.figure(column), printed(listing, at, column), row.root)
        else {
            continue;
        };
        let Some(allowed) = bounds.of(column, at) else {
            skipped += 1;
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
    agreement.count(column, compared);
    if skipped > 0 {
        agreement.skipped.push(Skipped {
            column,
            rows: skipped,
            why: bounds::why_none(report),
        });
    }
}

/// Whether a printed number can be one of the interval.
pub(super) fn overlap(printed: Printed, allowed: Interval) -> bool {
    let noise = 1e-12;
    printed.low <= allowed.high * (1.0 + noise) && printed.high >= allowed.low * (1.0 - noise)
}
