//! The outcome of a comparison with what sprio printed, in sentences.

use std::io::{self, Write};

use fairtree_analysis::prio::{Compared, PrioReport};

/// Writes one line per difference and a summary.
///
/// # Errors
/// Those of `out`.
pub fn write_compared(
    out: &mut impl Write,
    report: &PrioReport,
    compared: &Compared,
) -> io::Result<()> {
    for apart in &compared.apart {
        let row = report.rows.get(apart.row).name();
        let (printed, computed) = (apart.printed, apart.computed);
        match apart.column {
            "PRIORITY" | "NICE" | "TRES" => writeln!(
                out,
                "{row}: {} is {printed:.0}, computed {computed:.3}",
                apart.column
            )?,
            column => writeln!(
                out,
                "{row}: {column} is {printed:.7}, computed {computed:.7}"
            )?,
        }
    }
    write!(
        out,
        "compared {} numbers of {} rows: {} differences",
        compared.numbers,
        compared.rows,
        compared.apart.len()
    )?;
    if compared.stale > 0 {
        let stale = compared.stale;
        write!(
            out,
            "; {stale} FAIRSHARE of the last pass, since when usage has moved ranks"
        )?;
    }
    if compared.repriced > 0 {
        write!(
            out,
            "; {} AGE of jobs priced since the last pass",
            compared.repriced
        )?;
    }
    writeln!(out)
}
