//! The amounts to pay: a table and JSON.

use std::io::{self, Write};

use jiff::Timestamp;
use serde::Serialize;

use crate::columns::Columns;
use crate::json;
use fairtree_analysis::bill::{Bills, Doubt, Doubtful};

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.bill/1";

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    #[serde(flatten)]
    bills: &'a Bills,
}

/// Writes one JSON object and a line break, as `docs/bill.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, source: &str, bills: &Bills) -> io::Result<()> {
    json::write_document(out, SCHEMA, &Content { source, bills })
}

/// Writes a table that fits into `width` columns of a terminal as far as it can.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, bills: &Bills, width: Option<usize>) -> io::Result<()> {
    let heading = [
        "ACCOUNT",
        "PARTITION",
        "RUNS",
        "RUN s",
        "BILLING TRES s",
        "EXECUTED us",
        "AMOUNT",
    ];
    let mut columns = Columns::new(&heading, 2).spare(&["BILLING TRES s"]);
    for bill in &bills.bills {
        columns.push([
            bill.account.clone(),
            bill.partition.clone(),
            bill.runs.to_string(),
            bill.run_secs.to_string(),
            bill.billing_secs.to_string(),
            match bill.executed_us {
                0 => String::new(),
                executed => executed.to_string(),
            },
            bill.amount.to_string(),
        ]);
    }
    columns.write(out, width)?;
    if bills.doubtful.is_empty() {
        return writeln!(out, "In all: {}", bills.total);
    }
    writeln!(out, "In all, as far as it is certain: {}", bills.total)?;
    writeln!(out, "Not billed, as the record cannot be:")?;
    for run in &bills.doubtful {
        writeln!(out, "  {}", doubtful(run))?;
    }
    Ok(())
}

/// A run that is not billed, in a sentence.
fn doubtful(run: &Doubtful) -> String {
    let Doubtful {
        job,
        account,
        partition,
        run_secs,
        state,
        ..
    } = run;
    let micros = run.executed_us.unwrap_or(0);
    let time = |secs| Timestamp::from_second(secs).map_or(String::new(), |time| time.to_string());
    let why = match run.why {
        Doubt::State => format!("{state:?} is no state of a job"),
        Doubt::Twice => "the listing has the same record before it".to_owned(),
        Doubt::Backwards => format!("it started after that, {}", time(run.start)),
        Doubt::Elapsed => format!(
            "it ran for {run_secs} s, more than from its start, {}, to its end; times are read as UTC: \
             TZ=UTC sacct",
            time(run.start)
        ),
        Doubt::Longer => {
            format!("executed_us={micros} is more than the {run_secs} s that it ran allow")
        }
        Doubt::Several => "AdminComment has several different executed_us".to_owned(),
        Doubt::Unreadable => "executed_us in AdminComment is no whole number".to_owned(),
        Doubt::LeftOver => format!("executed_us={micros} is that of an earlier run of the job"),
    };
    let end = time(run.end);
    format!("job {job} of {account} in {partition}, ended {end}: {why}")
}

/// The runs that were not billed, in sentences.
pub fn notes(bills: &Bills) -> Vec<String> {
    let runs = |count: u64| format!("{count} run{}", if count == 1 { "" } else { "s" });
    let mut notes = Vec::new();
    for (state, count) in &bills.left_out {
        notes.push(format!("not billed: {} that ended {state}", runs(*count)));
    }
    for (count, why) in [
        (bills.not_ended, "that had not ended"),
        (bills.outside, "that ended outside of the period"),
        (bills.without_price, "in partitions without a price"),
        (bills.unreadable, "whose records cannot be read"),
        (bills.never_ran, "of jobs that never ran"),
        (bills.brief, "of less than a second, which cost nothing"),
        (
            bills.unmeasured,
            "without executed_us=MICROSECONDS in the column AdminComment",
        ),
    ] {
        if count > 0 {
            notes.push(format!("not billed: {} {why}", runs(count)));
        }
    }
    notes
}
