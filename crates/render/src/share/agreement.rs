//! The outcome of a comparison, in sentences.

use std::io::{self, Write};

use fairtree_analysis::share::ShareReport;
use fairtree_analysis::share::{Agreement, Charged, Difference, Verdict};
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
    write_charged(out, report, agreement)?;
    write_next(out, report, agreement)?;
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
    for skipped in &agreement.skipped {
        let (rows, column) = (skipped.rows, skipped.column.name());
        write!(out, "; {rows} {column} not compared: {}", skipped.why)?;
    }
    writeln!(out)
}

/// Names the moments of the columns, where they are different.
fn write_charged(
    out: &mut impl Write,
    report: &ShareReport,
    agreement: &Agreement,
) -> io::Result<()> {
    const SHOWN: usize = 3;
    if agreement.charged.is_empty() {
        return Ok(());
    }
    let mut charged: Vec<&Charged> = agreement.charged.iter().collect();
    charged.sort_by(|a, b| b.amount.total_cmp(&a.amount));
    let shown = charged.iter().take(SHOWN).map(|charged| {
        let name = report.rows[charged.account].name();
        format!("{name} by about {:.0}", charged.amount)
    });
    let mut grown = shown.collect::<Vec<_>>().join(", ");
    if let Some(more) = charged.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        grown.push_str(&format!(" and {more} more"));
    }
    writeln!(
        out,
        "RawUsage grew since the last pass, which the other columns are of: {grown}; these are \
         compared with each other"
    )
}

/// The factors of the next pass, where users are not ranked yet.
fn write_next(out: &mut impl Write, report: &ShareReport, agreement: &Agreement) -> io::Result<()> {
    const SHOWN: usize = 10;
    if agreement.next.is_empty() {
        return Ok(());
    }
    let next = agreement.next.iter().take(SHOWN);
    let next =
        next.map(|(row, factor)| format!("{} {}", report.rows[*row].name(), number(*factor)));
    let mut next = next.collect::<Vec<_>>().join(", ");
    let more = agreement.next.len().checked_sub(SHOWN);
    if let Some(more) = more.filter(|more| *more > 0) {
        next.push_str(&format!(" and {more} more users another factor"));
    }
    writeln!(out, "the next pass ranks all users and gives {next}")
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
        Verdict::AboveOne => format!("{row}: {column} is {printed}, above 1"),
        Verdict::Unranked => format!(
            "{row}: {column} is {printed}, which no ranked user has: not ranked yet, as a user added \
             since the last pass (PriorityCalcPeriod)"
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
