//! Two listings of sprio: which factor moved which job.

use std::collections::HashMap;

use super::Change;
use crate::input::sprio::Factor;
use crate::report::prio::{PrioReport, PrioRow};

type Key<'a> = (Option<u32>, Option<&'a str>);

fn key(row: &PrioRow) -> Key<'_> {
    (row.job_id, row.partition.as_deref())
}

fn name(row: &PrioRow) -> String {
    // The line would be that of one of two files.
    let row = PrioRow {
        line: None,
        job_id: row.job_id,
        partition: row.partition.clone(),
        ..PrioRow::default()
    };
    row.name()
}

/// The differences: weights, then jobs in the later order, then those that are gone.
pub fn queue(before: &PrioReport, after: &PrioReport) -> Vec<Change> {
    let mut changes = weights(before, after);
    let earlier: HashMap<Key<'_>, &PrioRow> = before.rows.iter().map(|r| (key(r), r)).collect();
    let later: HashMap<Key<'_>, &PrioRow> = after.rows.iter().map(|r| (key(r), r)).collect();
    for row in &after.rows {
        match earlier.get(&key(row)) {
            Some(old) => changes.extend(job(old, row)),
            None => changes.push(Change::new(name(row), "new")),
        }
    }
    let gone = before
        .rows
        .iter()
        .filter(|row| !later.contains_key(&key(row)));
    changes.extend(gone.map(|row| Change::new(name(row), "gone: it started, ended or was held")));
    changes
}

fn weights(before: &PrioReport, after: &PrioReport) -> Vec<Change> {
    let changed = |factor: Factor| {
        let (from, to) = (before.weight(factor)?, after.weight(factor)?);
        (from != to).then(|| Change::new(factor.weight_name(), format!("{from} -> {to}")))
    };
    let mut changes: Vec<Change> = Factor::ALL.into_iter().filter_map(changed).collect();
    if let (Some(old), Some(new)) = (&before.weights, &after.weights) {
        if old.tres != new.tres {
            let text = |tres: &Option<String>| tres.clone().unwrap_or_else(|| "none".into());
            let what = format!("{} -> {}", text(&old.tres), text(&new.tres));
            changes.push(Change::new(Factor::Tres.weight_name(), what));
        }
    }
    changes
}

fn job(old: &PrioRow, new: &PrioRow) -> Option<Change> {
    let mut parts: Vec<String> = Vec::new();
    for factor in Factor::ALL {
        let points = |row: &PrioRow| row.points[factor.index()].value();
        if let (Some(from), Some(to)) = (points(old), points(new)) {
            parts.extend(moved(factor.name(), to - from));
        }
    }
    for (column, from, to) in [("SITE", old.site, new.site), ("NICE", new.nice, old.nice)] {
        // A nice value is subtracted.
        if let (Some(from), Some(to)) = (from, to) {
            parts.extend(moved(column, (to - from) as f64));
        }
    }
    if old.set_by_hand != new.set_by_hand {
        parts = vec![match new.set_by_hand {
            true => "set by an administrator".to_owned(),
            false => "computed again".to_owned(),
        }];
    }
    let (from, to) = (old.priority.value()?.trunc(), new.priority.value()?.trunc());
    let what = match (from == to, parts.is_empty()) {
        (true, true) => return None,
        (true, false) => format!("PRIORITY {to:.0} stays: {}", parts.join(", ")),
        (false, true) => format!("PRIORITY {from:.0} -> {to:.0}: by less than a point per factor"),
        (false, false) => {
            format!(
                "PRIORITY {from:.0} -> {to:.0} ({:+.0}): {}",
                to - from,
                parts.join(", ")
            )
        }
    };
    Some(Change::new(name(new), what))
}

fn moved(column: &str, by: f64) -> Option<String> {
    (by.abs() >= 0.5).then(|| format!("{column} {by:+.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::sprio::read;
    use crate::report::prio::from_queue;

    fn changes(before: &str, after: &str) -> Vec<String> {
        let report = |rows: &str| {
            let text = format!("JOBID PARTITION PRIORITY SITE AGE FAIRSHARE NICE\n{rows}");
            from_queue(&read("f", text.as_bytes()).unwrap()).remove(0)
        };
        let changes = queue(&report(before), &report(after));
        changes.iter().map(Change::to_string).collect()
    }

    #[test]
    fn the_factors_that_moved_a_job_are_told() {
        assert_eq!(
            changes(
                "1 main 1100 0 100 1000 0\n2 main 500 0 0 500 0\n3 main 5 0 5 0 0\n4 main 9 0 9 0 0\n",
                "1 main 567 0 117 500 50\n2 main 4242 0 0 0 0\n3 main 5 0 5 0 0\n5 main 1 0 1 0 0\n"
            ),
            [
                "job 1 in main: PRIORITY 1100 -> 567 (-533): AGE +17, FAIRSHARE -500, NICE -50",
                "job 2 in main: PRIORITY 500 -> 4242 (+3742): set by an administrator",
                "job 5 in main: new",
                "job 4 in main: gone: it started, ended or was held",
            ]
        );
    }
}
