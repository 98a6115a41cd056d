//! What the numbers of one row show without any other row: for listings of one's own rows.

use super::agreement::{Agreement, Difference, Verdict};
use super::bounds::{exactly, interval, over};
use super::check::{DERIVED, overlap, printed};
use super::ranks::Interval;
use super::{Figure, ShareReport, ShareRow};
use fairtree::fairshare::{EffectiveUsage, FactorFormula};
use fairtree_model::input::sshare::{Column, Listing, Printed};

/// Compares, in rows whose numbers do not follow from the listing, LevelFS and FairShare with the
/// NormShares and EffectvUsage beside them; and looks for numbers that no row has.
pub(super) fn compare(listing: &Listing, report: &ShareReport, agreement: &mut Agreement) {
    for column in [Column::LevelFs, Column::FairShare] {
        let mut compared = 0;
        for at in unknown(report, column) {
            let (Some(printed), Some((computed, allowed))) = (
                printed(listing, at, column),
                of_own_row(listing, report, column, at),
            ) else {
                continue;
            };
            compared += 1;
            if !overlap(printed, allowed) {
                agreement.differences.push(Difference {
                    row: at,
                    column,
                    printed: printed.value,
                    computed: Some(computed),
                    verdict: Verdict::Differs {
                        low: allowed.low,
                        high: allowed.high,
                    },
                });
            }
        }
        agreement.count(column, compared);
    }
    for column in DERIVED {
        for at in unknown(report, column) {
            let found = printed(listing, at, column)
                .and_then(|printed| impossible(listing, report, (column, at), printed));
            if let Some(found) = found {
                agreement.count(column, 1);
                agreement.differences.push(found);
            }
        }
    }
}

/// The rows below the root whose number of a column does not follow from the listing.
fn unknown(report: &ShareReport, column: Column) -> impl Iterator<Item = usize> + '_ {
    let is_unknown =
        move |row: &ShareRow| !row.root && matches!(row.figure(column), Some(Figure::Printed(_)));
    let rows = report.rows.iter().enumerate();
    rows.filter(move |(_, row)| is_unknown(row))
        .map(|(at, _)| at)
}

/// The value by NormShares and EffectvUsage of the row, and the values that their digits allow.
fn of_own_row(
    listing: &Listing,
    report: &ShareReport,
    column: Column,
    at: usize,
) -> Option<(f64, Interval)> {
    let row = &listing.rows[at];
    let shares = match report.rows[at].norm_shares {
        Figure::Computed(value) => Printed::exactly(value),
        _ => row.norm_shares?,
    };
    let usage = row.effective_usage?;
    if column == Column::LevelFs {
        let value = over(exactly(shares.value), exactly(usage.value));
        return Some((value.low, over(interval(shares), interval(usage))));
    }
    let factor = |shares: f64, usage: f64| match report.ranking.formula() {
        FactorFormula::Rank => None,
        FactorFormula::Power { .. } if shares == 0.0 => Some(0.0),
        FactorFormula::Power { dampening } => {
            Some((-(usage / shares) / f64::from(dampening.max(1))).exp2())
        }
        FactorFormula::Difference => Some((1.0 + shares - usage) / 2.0),
    };
    let allowed = Interval {
        low: factor(shares.low, usage.high)?,
        high: factor(shares.high, usage.low)?,
    };
    Some((factor(shares.value, usage.value)?, allowed))
}

/// A number that no row has: a part or a factor above 1; a part of usage where there is no usage.
fn impossible(
    listing: &Listing,
    report: &ShareReport,
    (column, at): (Column, usize),
    printed: Printed,
) -> Option<Difference> {
    let usage = report.ranking.effective_usage();
    let is_part = match column {
        Column::LevelFs => false,
        Column::EffectvUsage => {
            !matches!(usage, EffectiveUsage::Other | EffectiveUsage::OfSiblings)
        }
        _ => true,
    };
    let row = &listing.rows[at];
    let unused = row.raw_usage == Some(0)
        && column == Column::EffectvUsage
        && usage == EffectiveUsage::OfAbove
        && row.norm_usage.is_none_or(|part| part.low > 0.0);
    let (verdict, computed) = if is_part && printed.low > 1.0 {
        (Verdict::AboveOne, None)
    } else if unused && printed.low > 0.0 {
        let (low, high) = (0.0, 0.0);
        (Verdict::Differs { low, high }, Some(0.0))
    } else {
        return None;
    };
    Some(Difference {
        row: at,
        column,
        printed: printed.value,
        computed,
        verdict,
    })
}
