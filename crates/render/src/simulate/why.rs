//! Causes of a job's wait: a table, and one object of the schema `fairtree.why/1`.

use std::io::{self, Write};

use fairtree_analysis::simulate::Span;
use jiff::Timestamp;
use serde::Serialize;

use crate::columns::Columns;
use crate::json;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const WHY_SCHEMA: &str = "fairtree.why/1";

/// The wait of a job.
#[derive(Serialize)]
pub struct Wait<'a> {
    /// The log.
    pub source: &'a str,
    /// Number of the job.
    pub job: &'a str,
    /// Its wait, seconds.
    pub wait_seconds: f64,
    /// The spans that add up to it.
    pub spans: &'a [Span],
}

/// Writes one JSON object and a line break, as `docs/simulate.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn why_to_json(out: &mut impl Write, wait: &Wait<'_>) -> io::Result<()> {
    json::write_document(out, WHY_SCHEMA, wait)
}

/// Writes a table of the spans.
///
/// # Errors
/// Those of `out`.
pub fn write_why(out: &mut impl Write, wait: &Wait<'_>, width: Option<usize>) -> io::Result<()> {
    writeln!(out, "job {} waited {:.1} s", wait.job, wait.wait_seconds)?;
    if wait.spans.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut columns = Columns::new(&["FROM", "SECONDS", "CAUSE", "OF"], 1);
    for span in wait.spans {
        let from = Timestamp::from_second(span.from as i64).unwrap_or_default();
        columns.push([
            from.to_string(),
            format!("{:.1}", span.seconds),
            span.cause.to_owned(),
            span.of.clone(),
        ]);
    }
    columns.write(out, width)
}
