//! The outcome of a comparison, in sentences.

use std::io::{self, Write};

use fairtree_analysis::prio::{Agreement, Difference, PrioReport, Verdict};

/// Writes one line per difference and a summary.
///
/// # Errors
/// Those of `out`.
pub fn write_agreement(
    out: &mut impl Write,
    reports: &[PrioReport],
    agreement: &Agreement,
) -> io::Result<()> {
    for difference in &agreement.differences {
        writeln!(out, "{}", sentence(reports, difference))?;
    }
    write!(
        out,
        "compared {} PRIORITY: {} differences",
        agreement.compared,
        agreement.differences.len()
    )?;
    if agreement.set_by_hand > 0 {
        let by_hand = agreement.set_by_hand;
        write!(out, "; {by_hand} set by an administrator, without factors")?;
    }
    if agreement.skipped > 0 {
        let skipped = agreement.skipped;
        write!(out, "; {skipped} without the columns to compare")?;
    }
    writeln!(out)
}

fn sentence(reports: &[PrioReport], difference: &Difference) -> String {
    let row = reports[difference.listing].rows.get(difference.row).name();
    let (printed, sum) = (difference.printed, difference.sum);
    match &difference.verdict {
        Verdict::DiffersOrHidden {
            low,
            high,
            hidden,
            missing,
        } => {
            let explained = match (hidden.contains(&"NICE"), *missing < 0.0) {
                (true, true) => format!("a nice value of {:.0} would explain it", -missing),
                (true, false) => format!("a nice value of {:.0} would explain it", -missing),
                (false, _) => format!("a site factor of {missing:.0} would explain it"),
            };
            format!(
                "{row}: PRIORITY is {printed:.0}, its factors add up to {sum:.0} ({low:.0} to \
                 {high:.0}); {} is not among the columns: {explained}",
                hidden.join(" and ")
            )
        }
        Verdict::Differs { low, high } => format!(
            "{row}: PRIORITY is {printed:.0}, its factors add up to {sum:.0} ({low:.0} to {high:.0})"
        ),
        Verdict::Agrees | Verdict::SetByHand => format!("{row}: PRIORITY is {printed:.0}"),
    }
}
