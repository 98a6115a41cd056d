//! Tables and sentences.

use std::io::{self, Write};

use jiff::Timestamp;

use crate::columns::Columns;
use fairtree_analysis::ledger::{Filled, LedgerCheck, Overview};
use fairtree_model::span::Span;

/// Writes which files there are, and which times they cover.
///
/// # Errors
/// Those of `out`.
pub fn write_overview(
    out: &mut impl Write,
    overview: &Overview,
    width: Option<usize>,
) -> io::Result<()> {
    if overview.files.is_empty() {
        writeln!(out, "No ledger files.")?;
    }
    let heading = [
        "FILE",
        "CLUSTER",
        "AS OF",
        "AGE",
        "LEAVES",
        "RUNNING",
        "BILLING TRES s",
        "BYTES",
    ];
    let mut files = Columns::new(&heading, 3).spare(&["BYTES", "RUNNING", "LEAVES"]);
    for file in &overview.files {
        let blank = file.problem.is_some();
        let number = |text: String| if blank { String::new() } else { text };
        let sources = file.sources.iter();
        let names: Vec<&str> = sources.map(|source| source.cluster.as_str()).collect();
        let oldest = file.sources.iter().min_by_key(|source| source.as_of);
        files.push([
            file.file.clone(),
            names.join(","),
            oldest.map_or(String::new(), |source| time(source.as_of)),
            oldest.map_or(String::new(), |source| age(source.age_secs)),
            number(file.leaves.to_string()),
            number(file.running.to_string()),
            number(format!("{:.0}", file.billing_secs)),
            file.bytes.to_string(),
        ]);
    }
    files.write(out, width)?;
    for file in &overview.files {
        if let Some(problem) = &file.problem {
            writeln!(out, "{}: {problem}", file.file)?;
        }
    }
    if !overview.times.is_empty() {
        writeln!(out)?;
    }
    let heading = ["CLUSTER", "FROM", "TO", "LENGTH", "KNOWN FROM"];
    let mut times = Columns::new(&heading, 5);
    for each in &overview.times {
        times.push([
            each.cluster.clone(),
            time(each.from),
            time(each.to),
            age(each.to - each.from),
            each.by.clone().unwrap_or_else(|| "nobody".to_owned()),
        ]);
    }
    times.write(out, width)
}

/// Writes a line on a file that was written.
///
/// # Errors
/// Those of `out`.
pub fn write_filled(out: &mut impl Write, file: &str, filled: &Filled) -> io::Result<()> {
    let covered = filled.history.sources()[0].covered.as_slice();
    let secs: i64 = covered.iter().map(|(from, to)| to - from).sum();
    let spans = match covered {
        [] => "covers no time".to_owned(),
        [(from, to)] => format!("covers {} to {}", time(*from), time(*to)),
        [(from, _), .., (_, to)] => format!(
            "covers {} in {} parts between {} and {}",
            age(secs),
            covered.len(),
            time(*from),
            time(*to)
        ),
    };
    let (runs, running) = (filled.runs, filled.running);
    let leaves = filled.history.leaves().count() as u64;
    let many = |count: u64, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {more}"),
    };
    write!(
        out,
        "{file}: cluster {}: {spans}: {} of {}",
        filled.cluster,
        many(runs, "run", "runs"),
        many(leaves, "leaf", "leaves")
    )?;
    if running > 0 {
        let s = if running == 1 { "s" } else { "" };
        write!(out, ", of which {running} still run{s}")?;
    }
    if filled.not_counted > 0 {
        write!(out, "; {} more do not count", filled.not_counted)?;
    }
    writeln!(out)
}

/// Writes what a check found.
///
/// # Errors
/// Those of `out`.
pub fn write_check(out: &mut impl Write, check: &LedgerCheck) -> io::Result<()> {
    for problem in &check.problems {
        writeln!(out, "{}: {}", problem.file, problem.problem)?;
    }
    for sum in &check.sums {
        let difference = sum.ledger_secs - sum.sacct_secs;
        write!(
            out,
            "{}: cluster {}: {:.0} billing TRES s, by sacct {:.0}",
            sum.file, sum.cluster, sum.ledger_secs, sum.sacct_secs
        )?;
        match &sum.worst {
            None => writeln!(out, ": the same for each account and user")?,
            Some(worst) => writeln!(
                out,
                ": {difference:+.0}; {} differ, most of all {worst}: {:+.0}",
                sum.differ, sum.worst_secs
            )?,
        }
    }
    if check.problems.is_empty() {
        writeln!(out, "Nothing is wrong.")?;
    }
    Ok(())
}

/// `2026-11-21T10:04:14Z`.
fn time(secs: i64) -> String {
    let time = Timestamp::from_second(secs);
    time.map_or(secs.to_string(), |time| time.to_string())
}

/// `1-02:03:04`.
fn age(secs: i64) -> String {
    let sign = if secs < 0 { "-" } else { "" };
    format!("{sign}{}", Span(secs.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ages() {
        assert_eq!(time(1_795_255_454), "2026-11-21T10:04:14Z");
        assert_eq!(age(93_784), "1-02:03:04");
        assert_eq!(age(-5), "-00:00:05");
    }
}
