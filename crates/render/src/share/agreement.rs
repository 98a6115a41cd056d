//! The outcome of a comparison, in sentences.

use std::io::{self, Write};

use fairtree_analysis::share::ShareReport;
use fairtree_analysis::share::{Agreement, Difference, Verdict};
use fairtree_model::c_format;

/// Writes one line per difference and a summary.
///
/// # Errors
/// Those of `out`.
pub fn write_agreement(
    out: &mut impl Write,
    report: &ShareReport,
    agreement: &Agreement,
) -> io::Result<()> {
    for difference in &agreement.differences {
        writeln!(out, "{}", sentence(report, difference))?;
    }
    for charged in &agreement.charged {
        writeln!(
            out,
            "{}: RawUsage grew by about {:.0} since the pass that EffectvUsage and LevelFS of its \
             rows are of",
            report.rows[charged.account].name(),
            charged.amount
        )?;
    }
    let mut parts: Vec<String> = agreement
        .compared
        .iter()
        .map(|(column, count)| format!("{count} {}", column.name()))
        .collect();
    if agreement.ordered > 0 {
        parts.push(format!("the order of {} FairShare", agreement.ordered));
    }
    let compared = if parts.is_empty() {
        "nothing that could be compared".to_owned()
    } else {
        parts.join(", ")
    };
    let ties = |difference: &&Difference| difference.verdict == Verdict::StockTie;
    let ties = agreement.differences.iter().filter(ties).count();
    write!(
        out,
        "compared {compared}: {} differences",
        agreement.differences.len()
    )?;
    if ties > 0 {
        write!(
            out,
            ", {ties} of them ties that Slurm ranks against its documentation"
        )?;
    }
    writeln!(out)
}

fn sentence(report: &ShareReport, difference: &Difference) -> String {
    let row = report.rows[difference.row].name();
    let column = difference.column.name();
    let printed = number(difference.printed);
    match &difference.verdict {
        Verdict::Differs { low, high } => format!(
            "{row}: {column} is {printed}, computed {}; the printed shares and usage allow {} to {}",
            difference.computed.map_or_else(|| "none".into(), number),
            number(*low),
            number(*high)
        ),
        Verdict::StockTie => format!(
            "{row}: {column} is {printed}, computed {}: a tie that Slurm ranks against its \
             documentation",
            difference.computed.map_or_else(|| "none".into(), number),
        ),
        Verdict::OutOfOrder { behind } => format!(
            "{row}: {column} is {printed}, not below that of {}, whose side has the higher LevelFS",
            report.rows[*behind].name()
        ),
    }
}

/// Six decimals, or an exponent where they would say nothing.
fn number(value: f64) -> String {
    if value != 0.0 && value.is_finite() && !(1e-3..1e9).contains(&value.abs()) {
        c_format::e(value, 6)
    } else {
        c_format::f(value)
    }
}
