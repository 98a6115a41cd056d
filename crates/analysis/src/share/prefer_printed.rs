//! Numbers of usage that was cut off after the point: computed from whole TRES-seconds they are
//! near what slurmctld has, which knows the fractions.

use super::check::{DERIVED, check_with, printed};
use super::{Figure, ShareReport};
use fairtree::fairshare::EffectiveUsage;
use fairtree_model::input::sshare::{Column, Printed};
use fairtree_model::listed::{Listed, MAX_GROWTH};

/// Puts the printed number in the place of a computed one, wherever usage with these whole parts
/// can have both: then the printed one is what the fractions make of it. A printed number that no
/// such usage can have stays replaced by the computed one.
///
/// What prints alike is left as it was computed, with all its digits. A printed rank becomes the
/// fraction that it was rounded from.
pub(super) fn prefer_printed(listed: &Listed<'_>, report: &mut ShareReport) {
    let listing = listed.listing();
    let classic = report.ranking.effective_usage() == EffectiveUsage::Mixed;
    let max_growth = match classic && report.compat.is_slurm() {
        // Stock's classic pass looks at usage before it charges what ran since the last one.
        true => 1.0,
        false => MAX_GROWTH,
    };
    let apart = check_with(listed, report, max_growth).differences;
    let differs = |row: usize, column: Column| {
        let from = apart.partition_point(|difference| difference.row < row);
        let mut of_row = apart[from..].iter().take_while(|d| d.row == row);
        of_row.any(|difference| difference.column == column)
    };
    let places = report.ranking.places(&listed.tree().tree) as f64;
    let ranked = report.ranking.is_ranked();
    for at in 0..report.rows.len() {
        if report.rows[at].root {
            continue;
        }
        for column in DERIVED {
            let Some(Figure::Computed(value)) = report.rows[at].figure(column) else {
                continue;
            };
            let Some(printed) = printed(listing, at, column).filter(|p| !alike(p, value)) else {
                continue;
            };
            if differs(at, column) {
                continue;
            }
            let value = match column {
                Column::FairShare if ranked => (printed.value * places).round() / places,
                _ => printed.value,
            };
            report.rows[at].set_figure(column, Figure::Computed(value));
        }
    }
}

/// Whether a number prints so.
fn alike(printed: &Printed, value: f64) -> bool {
    printed.value == value || (printed.low < value && value < printed.high)
}
