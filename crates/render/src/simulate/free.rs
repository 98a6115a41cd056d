//! Waits of a run on its own beside the real ones: a table, and one object of the schema
//! `fairtree.free/1`.

use std::io::{self, Write};

use fairtree_analysis::simulate::{FreeRuns, Waits};
use serde::Serialize;

use crate::columns::Columns;
use crate::json;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const FREE_SCHEMA: &str = "fairtree.free/1";

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    #[serde(flatten)]
    runs: &'a FreeRuns,
    assumptions: &'a [String],
}

/// Writes one JSON object and a line break, as `docs/simulate.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn free_to_json(
    out: &mut impl Write,
    source: &str,
    runs: &FreeRuns,
    assumptions: &[String],
) -> io::Result<()> {
    let content = Content {
        source,
        runs,
        assumptions,
    };
    json::write_document(out, FREE_SCHEMA, &content)
}

/// Writes a table of mean waits by user, and the assumptions.
///
/// # Errors
/// Those of `out`.
pub fn write_free(
    out: &mut impl Write,
    source: &str,
    runs: &FreeRuns,
    assumptions: &[String],
    width: Option<usize>,
) -> io::Result<()> {
    if !runs.complete {
        writeln!(out, "PARTIAL: stopped before the end")?;
    }
    let all = &runs.all;
    writeln!(
        out,
        "{source}: {} jobs on their own in {} phases from seed {}",
        all.jobs, runs.phases, runs.seed
    )?;
    let real = runs
        .real_backfilled
        .map_or(String::new(), |count| format!(", really {count}"));
    writeln!(out, "  started by backfill {:.0}{real}", runs.backfilled)?;
    writeln!(out)?;
    let heading = ["USER", "JOBS", "MEAN WAIT", "SPREAD", "FROM", "TO", "REAL"];
    let mut columns = Columns::new(&heading, 1).spare(&["FROM", "TO"]);
    let row = |waits: &Waits, name: &str| {
        let secs = |secs: f64| format!("{secs:.0} s");
        let [least, most] = waits.mean_wait_range_seconds;
        [
            name.to_owned(),
            waits.jobs.to_string(),
            secs(waits.mean_wait_seconds),
            secs(waits.mean_wait_spread_seconds),
            secs(least),
            secs(most),
            secs(waits.real_mean_wait_seconds),
        ]
    };
    for waits in &runs.users {
        columns.push(row(waits, &waits.user));
    }
    columns.push(row(all, "(all)"));
    columns.write(out, width)?;
    for note in assumptions {
        writeln!(out, "  assumed: {note}")?;
    }
    Ok(())
}
