//! The notes below a table of shares.

use fairtree_analysis::share::{Gap, ShareReport};
use fairtree_model::input::sshare::Column;

/// Reasons that are written out for each column.
const REASONS: usize = 3;

/// Rows that are written out for each reason.
const ROWS: usize = 3;

/// What could not be computed and what was taken for granted, in sentences: a few reasons for each
/// column for which `wanted` says so.
pub fn notes(report: &ShareReport, wanted: impl Fn(Column) -> bool) -> Vec<String> {
    let mut notes = Vec::new();
    for column in Column::ALL.into_iter().filter(|&column| wanted(column)) {
        let gaps: Vec<&Gap> = report
            .gaps
            .iter()
            .filter(|gap| gap.column == column)
            .collect();
        for gap in gaps.iter().take(REASONS) {
            notes.push(format!(
                "{} of {} is not computed but left as in the input: {}",
                column.name(),
                names(report, &gap.rows),
                gap.why
            ));
        }
        let rest = gaps.get(REASONS..).unwrap_or_default();
        if !rest.is_empty() {
            let rows: usize = rest.iter().map(|gap| gap.rows.len()).sum();
            notes.push(format!(
                "{} of {rows} more rows is not computed, for {} more reasons; --json lists them",
                column.name(),
                rest.len()
            ));
        }
    }
    notes.extend(report.assumptions.iter().cloned());
    notes
}

/// A few rows by name, the rest by number.
fn names(report: &ShareReport, rows: &[usize]) -> String {
    let first: Vec<String> = rows
        .iter()
        .take(ROWS)
        .map(|&row| report.rows[row].name())
        .collect();
    match rows.len().saturating_sub(ROWS) {
        0 => first.join(", "),
        more => format!("{} and {more} more rows", first.join(", ")),
    }
}
