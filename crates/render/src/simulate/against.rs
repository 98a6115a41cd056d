//! Two policies over the same history: tables, CSV, and one object of the schema `fairtree.against/1`.

use std::io::{self, Write};

use fairtree_analysis::simulate::{Against, By, Difference, Differences};
use fairtree_model::span::Span;
use serde::Serialize;

use super::text::Shown;
use crate::columns::Columns;
use crate::figures::{arrow, percent};
use crate::json;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const AGAINST_SCHEMA: &str = "fairtree.against/1";

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    #[serde(flatten)]
    against: &'a Against,
}

/// Writes one JSON object and a line break, as `docs/simulate.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn against_to_json(out: &mut impl Write, source: &str, against: &Against) -> io::Result<()> {
    json::write_document(out, AGAINST_SCHEMA, &Content { source, against })
}

/// Writes a heading and a line for each measure: of all jobs, of each account, of each user.
///
/// # Errors
/// Those of `out`.
pub fn against_to_csv(out: &mut impl Write, against: &Against) -> io::Result<()> {
    let mut rows = ::csv::Writer::from_writer(out);
    rows.write_record([
        "of",
        "name",
        "jobs",
        "jobs_after",
        "measure",
        "before",
        "after",
        "difference",
        "band_low",
        "band_high",
        "verdict",
    ])?;
    let accounts = against.accounts.iter().map(|group| ("account", group));
    let users = against.users.iter().map(|group| ("user", group));
    let groups = std::iter::once(("all", &against.all));
    for (of, group) in groups.chain(accounts).chain(users) {
        for one in &group.measures {
            rows.write_record([
                of,
                &group.name,
                &group.jobs.to_string(),
                &group.jobs_after.to_string(),
                one.measure,
                &one.before.to_string(),
                &one.after.to_string(),
                &one.difference.to_string(),
                &one.band[0].to_string(),
                &one.band[1].to_string(),
                one.verdict,
            ])?;
        }
    }
    rows.flush()
}

/// Writes the figures of all jobs, then a table of waits and owed core-hours by account, by user, or
/// what `shown` names; by account where it names nothing.
///
/// # Errors
/// Those of `out`.
pub fn write_against(
    out: &mut impl Write,
    source: &str,
    against: &Against,
    shown: &Shown,
) -> io::Result<()> {
    if !against.complete {
        writeln!(out, "PARTIAL: stopped before the end")?;
    }
    let [before, after] = against.processors;
    let machine = match before == after {
        true => format!("{before} processors"),
        false => format!("{before} -> {after} processors"),
    };
    let phases = match against.phases {
        1 => "1 phase".to_owned(),
        count => format!("{count} phases"),
    };
    writeln!(
        out,
        "{source}: {} on {machine}, {} jobs in {phases} from seed {}",
        against.scheduler,
        jobs(&against.all),
        against.seed
    )?;
    for change in &against.changes {
        writeln!(out, "  changed: {change}")?;
    }
    writeln!(out)?;
    let heading = ["MEASURE", "BEFORE", "AFTER", "DIFFERENCE", "90% BAND", "SO"];
    let mut columns = Columns::new(&heading, 1).words_last();
    for one in &against.all.measures {
        columns.push([
            word(one.measure).to_owned(),
            value(one, one.before),
            value(one, one.after),
            signed(one, one.difference),
            band_cell(one, against),
            match one.verdict {
                "none" => "no difference".to_owned(),
                verdict => verdict.to_owned(),
            },
        ]);
    }
    columns.write(out, shown.width)?;
    if against.all.jobs != against.all.jobs_after {
        writeln!(out, "  (each side has the figures of its own jobs)")?;
    }
    let by = match &shown.by[..] {
        [] => &[By::Account][..],
        by => by,
    };
    for by in by {
        let (heading, groups) = match by {
            By::Account => ("ACCOUNT", &against.accounts),
            By::User => ("USER", &against.users),
            By::Partition | By::Qos | By::Size => continue,
        };
        writeln!(out)?;
        table(out, heading, groups, against, shown)?;
    }
    Ok(())
}

fn table(
    out: &mut impl Write,
    heading: &'static str,
    groups: &[Differences],
    against: &Against,
    shown: &Shown,
) -> io::Result<()> {
    let heading = [
        heading,
        "JOBS",
        "MEAN WAIT",
        "DIFFERENCE",
        "90% BAND",
        "OWED core-h",
        "DIFFERENCE",
        "90% BAND",
    ];
    let mut columns = Columns::new(&heading, 1).spare(&["90% BAND"]);
    let kept = match shown.top {
        0 => groups.len(),
        top => top.min(groups.len()),
    };
    let mut rows: Vec<&Differences> = groups.iter().collect();
    rows.sort_by_key(|group| std::cmp::Reverse(group.jobs));
    for group in &rows[..kept] {
        let cells = |measure: &str| {
            let found = group.measures.iter().find(|one| one.measure == measure);
            let Some(one) = found else {
                return [String::new(), String::new(), String::new()];
            };
            let difference = match one.verdict {
                "none" => "none".to_owned(),
                _ => signed(one, one.difference),
            };
            [value(one, one.before), difference, band_cell(one, against)]
        };
        let [wait, by, within] = cells("mean_wait_seconds");
        let [owed, owed_by, owed_within] = cells("owed_core_hours");
        let name = match group.name.as_str() {
            "" => "(none)".to_owned(),
            name => name.to_owned(),
        };
        columns.push([
            name,
            jobs(group),
            wait,
            by,
            within,
            owed,
            owed_by,
            owed_within,
        ]);
    }
    columns.write(out, shown.width)?;
    if kept < rows.len() {
        writeln!(out, "  ({} more; --top 0 has all)", rows.len() - kept)?;
    }
    Ok(())
}

fn word(measure: &str) -> &str {
    match measure {
        "mean_wait_seconds" => "mean wait",
        "median_wait_seconds" => "median wait",
        "p95_wait_seconds" => "95% wait up to",
        "p95_bounded_slowdown" => "95% slowdown up to",
        "owed_core_hours" => "owed core-hours",
        "unfairly_delayed" => "unfairly delayed",
        other => other,
    }
}

/// A value of a measure, not below 0.
fn value(one: &Difference, value: f64) -> String {
    match one.measure {
        "utilisation" | "unfairly_delayed" => percent(value),
        "owed_core_hours" if value < 9.95 => format!("{value:.1}"),
        "owed_core_hours" => format!("{value:.0}"),
        "p95_bounded_slowdown" => format!("{value:.2}"),
        _ => Span(value.round().max(0.0) as u64).to_string(),
    }
}

/// A difference, with its sign.
fn signed(one: &Difference, by: f64) -> String {
    let text = value(one, by.abs());
    let sign = match by < 0.0 && text != value(one, 0.0) {
        true => '-',
        false => '+',
    };
    format!("{sign}{text}")
}

/// Jobs before, and after where they are others.
fn jobs(group: &Differences) -> String {
    arrow(
        Some(group.jobs.to_string()),
        Some(group.jobs_after.to_string()),
    )
}

/// The band; empty of a single run, which shows none.
fn band_cell(one: &Difference, against: &Against) -> String {
    match against.phases {
        0 | 1 => String::new(),
        _ => band(one),
    }
}

fn band(one: &Difference) -> String {
    let [low, high] = one.band;
    format!("{} to {}", signed(one, low), signed(one, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand.
    #[test]
    fn differences_have_signs_and_units() {
        let one = |measure: &'static str| Difference {
            measure,
            before: 0.0,
            after: 0.0,
            difference: 0.0,
            band: [-61.4, 3600.0],
            verdict: "none",
        };
        assert_eq!(band(&one("mean_wait_seconds")), "-00:01:01 to +01:00:00");
        assert_eq!(band(&one("owed_core_hours")), "-61 to +3600");
        assert_eq!(signed(&one("utilisation"), -0.0123), "-1.23%");
        assert_eq!(signed(&one("utilisation"), -0.000_01), "+0.00%");
    }
}
