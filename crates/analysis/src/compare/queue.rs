//! Two listings of sprio: which factor moved which job.

use super::assoc::{name as assoc_name, names as assoc_names};
use super::{Change, Happened, Kind, Value, Values};
use crate::prio::{PrioReport, PrioRow};
use fairtree_model::c_format;
use fairtree_model::input::sprio::Factor;
use fairtree_model::input::sshare::{Listing, SshareRow};

/// For each row of `after` the row of `before` of the same job and partition, and whether each row
/// of `before` has one. Of a job with several QOS sprio prints a row for each, the highest priority
/// first: the first belongs to the first.
fn pairs(before: &PrioReport, after: &PrioReport) -> (Vec<Option<u32>>, Vec<bool>) {
    let (old, new) = (sorted(before), sorted(after));
    let mut earlier = vec![None; new.len()];
    let mut kept = vec![false; old.len()];
    let mut at = 0;
    for &(id, partition, row) in &new {
        while old
            .get(at)
            .is_some_and(|old| (old.0, old.1) < (id, partition))
        {
            at += 1;
        }
        if let Some(&(_, _, found)) = old.get(at).filter(|old| (old.0, old.1) == (id, partition)) {
            earlier[row as usize] = Some(found);
            kept[found as usize] = true;
            at += 1;
        }
    }
    (earlier, kept)
}

/// Job and partition of each row, in their order, and the row.
fn sorted(report: &PrioReport) -> Vec<(Option<u32>, Option<&str>, u32)> {
    let mut rows: Vec<_> = ((0..report.rows.len()).zip(0..))
        .map(|(row, at)| {
            let (job_id, partition) = report.rows.head(row);
            (job_id, partition, at)
        })
        .collect();
    rows.sort_unstable();
    rows
}

fn name(row: &PrioRow<'_>) -> String {
    // The line would be that of one of two files.
    let row = PrioRow {
        line: None,
        job_id: row.job_id,
        partition: row.partition,
        ..PrioRow::default()
    };
    row.name()
}

/// The differences: weights, then jobs in the later order, then those that are gone.
///
/// `shares`: the listings of sshare from the same moments, which show why FAIRSHARE moved.
pub fn queue<'a>(
    before: &'a PrioReport,
    after: &'a PrioReport,
    shares: Option<[&'a Listing; 2]>,
) -> impl Iterator<Item = Change> + 'a {
    let shares = shares.map(|shares| shares.map(Users::of));
    let (earlier, kept) = pairs(before, after);
    let here = earlier.into_iter().enumerate();
    let here = here.filter_map(move |(at, old)| match old.map(|old| old as usize) {
        // Most jobs have not moved.
        Some(old) if after.rows.prints_as(at, &before.rows, old) => None,
        Some(old) => job(&before.rows.get(old), &after.rows.get(at), shares.as_ref()),
        None => {
            let row = after.rows.get(at);
            let new = Change::new(Kind::Job, name(&row), "new").happened(Happened::New);
            Some(with_priority(new, None, Some(&row)))
        }
    });
    let lost = (0..kept.len()).filter(move |at| !kept[*at]);
    let lost = lost.map(|at| {
        let row = before.rows.get(at);
        let what = "gone: it started, ended or was held";
        let gone = Change::new(Kind::Job, name(&row), what).happened(Happened::Gone);
        with_priority(gone, Some(&row), None)
    });
    weights(before, after).into_iter().chain(here).chain(lost)
}

/// With the priority on the side where there is one.
fn with_priority(
    mut change: Change,
    before: Option<&PrioRow<'_>>,
    after: Option<&PrioRow<'_>>,
) -> Change {
    let priority = |row: &PrioRow<'_>| row.priority.value().map(|p| Value::Whole(p.trunc() as i64));
    change.values.push(Values {
        name: "PRIORITY".to_owned(),
        before: before.and_then(priority),
        after: after.and_then(priority),
    });
    change
}

fn weights(before: &PrioReport, after: &PrioReport) -> Vec<Change> {
    let changed = |factor: Factor| {
        let (from, to) = (before.weight(factor)?, after.weight(factor)?);
        let said = || Change::new(Kind::Weight, factor.weight_key(), format!("{from} -> {to}"));
        let value = |weight: u32| Value::Whole(i64::from(weight));
        (from != to).then(|| said().value(factor.weight_key(), value(from), value(to)))
    };
    let mut changes: Vec<Change> = Factor::ALL.into_iter().filter_map(changed).collect();
    if let (Some(old), Some(new)) = (&before.weights, &after.weights) {
        if old.tres != new.tres {
            let text = |tres: &Option<String>| tres.clone().unwrap_or_else(|| "none".into());
            let what = format!("{} -> {}", text(&old.tres), text(&new.tres));
            let name = Factor::Tres.weight_key();
            let value = |tres| Value::Text(text(tres));
            let change = Change::new(Kind::Weight, name, what);
            changes.push(change.value(name, value(&old.tres), value(&new.tres)));
        }
    }
    changes
}

/// The users of a listing of sshare, by name.
struct Users<'a>(Vec<(&'a str, &'a SshareRow)>);

impl<'a> Users<'a> {
    fn of(listing: &'a Listing) -> Users<'a> {
        let rows = listing.rows.iter().map(|row| (assoc_names(row).1, row));
        let mut users: Vec<_> = rows.filter(|(user, _)| !user.is_empty()).collect();
        users.sort_by_key(|(user, _)| *user);
        Users(users)
    }

    /// The one association that a job's user and account can be; both may be cut short.
    fn association(&self, job: &PrioRow<'_>) -> Option<&'a SshareRow> {
        let (user, account) = (job.user?, job.account.unwrap_or(""));
        let from = self.0.partition_point(|(known, _)| *known < user);
        let begin = self.0[from..]
            .iter()
            .take_while(|(known, _)| known.starts_with(user));
        let mut found = begin.filter(|(_, row)| assoc_names(row).0.starts_with(account));
        let (_, row) = found.next()?;
        found.next().is_none().then_some(row)
    }
}

/// How the factor behind FAIRSHARE moved.
fn factor_moved(shares: &[Users<'_>; 2], job: &PrioRow<'_>) -> Option<String> {
    let (old, new) = (shares[0].association(job)?, shares[1].association(job)?);
    let (from, to) = (old.fs_factor?.value, new.fs_factor?.value);
    (assoc_names(old) == assoc_names(new) && from != to).then(|| {
        let (from, to) = (c_format::f(from), c_format::f(to));
        format!(" (FairShare of {} {from} -> {to})", assoc_name(new))
    })
}

fn job(old: &PrioRow<'_>, new: &PrioRow<'_>, shares: Option<&[Users<'_>; 2]>) -> Option<Change> {
    let mut parts: Vec<String> = Vec::new();
    let mut values: Vec<Values> = Vec::new();
    for factor in Factor::ALL {
        let points = |row: &PrioRow<'_>| row.points[factor.index()].value();
        if let (Some(from), Some(to)) = (points(old), points(new)) {
            let why = || {
                let shares = shares.filter(|_| factor == Factor::Fairshare);
                shares.and_then(|shares| factor_moved(shares, new))
            };
            let moved = moved(factor.heading(), to - from);
            parts.extend(moved.map(|moved| moved + &why().unwrap_or_default()));
            if (to - from).abs() >= 0.5 {
                values.push(Values {
                    name: factor.heading().to_owned(),
                    before: Some(Value::Number(from)),
                    after: Some(Value::Number(to)),
                });
            }
        }
    }
    // A nice value is subtracted.
    for (column, sign, from, to) in [
        ("SITE", 1, old.site, new.site),
        ("NICE", -1, old.nice, new.nice),
    ] {
        if let (Some(from), Some(to)) = (from, to) {
            parts.extend(moved(column, (sign * (to - from)) as f64));
            if from != to {
                values.push(Values {
                    name: column.to_owned(),
                    before: Some(Value::Whole(from)),
                    after: Some(Value::Whole(to)),
                });
            }
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
    let mut change = with_priority(
        Change::new(Kind::Job, name(new), what),
        Some(old),
        Some(new),
    );
    change.values.append(&mut values);
    Some(change)
}

fn moved(column: &str, by: f64) -> Option<String> {
    (by.abs() >= 0.5).then(|| format!("{column} {by:+.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prio::from_queue;
    use fairtree_model::input::sprio::read;

    fn changes(before: &str, after: &str) -> Vec<String> {
        let report = |rows: &str| {
            let text = format!("JOBID PARTITION PRIORITY SITE AGE FAIRSHARE NICE\n{rows}");
            from_queue(&read("f", text.as_bytes()).unwrap()).remove(0)
        };
        let (before, after) = (report(before), report(after));
        let changes = queue(&before, &after, None);
        changes.map(|change| change.to_string()).collect()
    }

    #[test]
    fn fair_share_is_told_where_the_association_is_known() {
        let report = |row: &str| {
            let text = format!("JOBID PARTITION USER PRIORITY FAIRSHARE\n{row}\n");
            from_queue(&read("f", text.as_bytes()).unwrap()).remove(0)
        };
        let listing = |rows: &str| {
            let text = format!("Account|User|RawShares|RawUsage|FairShare\n{rows}");
            fairtree_model::input::sshare::read("f", text.as_bytes()).unwrap()
        };
        let (before, after) = (
            report("1 main benjamin 1000 1000"),
            report("1 main benjamin 500 500"),
        );
        let told = |rows: [&str; 2]| {
            let [old, new] = rows.map(listing);
            queue(&before, &after, Some([&old, &new]))
                .next()
                .unwrap()
                .to_string()
        };
        let one = [
            "root|||0|\n root|benjamin2|1|0|1.000000\n",
            "root|||9|\n root|benjamin2|1|9|0.500000\n",
        ];
        assert_eq!(
            told(one),
            "job 1 in main: PRIORITY 1000 -> 500 (-500): FAIRSHARE -500 (FairShare of benjamin2@root \
             1.000000 -> 0.500000)"
        );
        let two = one.map(|rows| format!("{rows} root|benjamin3|1|0|1.000000\n"));
        assert_eq!(
            told([&two[0], &two[1]]),
            "job 1 in main: PRIORITY 1000 -> 500 (-500): FAIRSHARE -500"
        );
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
