//! Two listings of sshare: what was charged, what decayed, who passed whom.
//!
//! Usage decays by the same factor for all and grows by charges, so the smallest ratio of later to
//! earlier usage is an upper bound of the decay factor, and what a row has above that was charged.
//! Siblings change places by their level fairshare alone; what is below them follows.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::assoc::{Key, keys, name};
use super::ranks::Ranks;
use super::{Change, Happened, Kind, Value};
use fairtree::tree::Shares;
use fairtree_model::c_format;
use fairtree_model::input::sshare::{Link, Listing, Printed, RowKind, SshareRow, links};

/// Usage below this, in TRES-seconds, is too coarse to derive a decay factor from it.
const COARSE: u64 = 1000;

/// The differences: who passed whom, level by level, then each association, in the later order.
pub fn shares(before: &Listing, after: &Listing) -> Vec<Change> {
    let (old_keys, new_keys) = (keys(&before.rows), keys(&after.rows));
    let earlier: HashMap<Key<'_>, &SshareRow> =
        old_keys.iter().copied().zip(&before.rows).collect();
    let later: HashMap<Key<'_>, &SshareRow> = new_keys.iter().copied().zip(&after.rows).collect();
    let left = left(&earlier, &later);
    let ranks = Ranks::new(before, after);
    let old: Vec<Option<&SshareRow>> = new_keys
        .iter()
        .map(|key| earlier.get(key).copied())
        .collect();
    let mut changes = passed(&old, after);
    for (at, row) in after.rows.iter().enumerate() {
        match old[at] {
            Some(old) => changes.extend(association(old, row, left, &|| ranks.why(at))),
            None => {
                let new = Change::new(Kind::Association, name(row), "new");
                changes.push(new.happened(Happened::New));
            }
        }
    }
    let gone = old_keys.iter().zip(&before.rows);
    let gone = gone.filter(|(key, _)| !later.contains_key(key));
    let lost =
        |(_, row)| Change::new(Kind::Association, name(row), "gone").happened(Happened::Gone);
    changes.extend(gone.map(lost));
    changes
}

/// An upper bound of the decay factor, 0..=1; `None` where no row gives one.
fn left(
    earlier: &HashMap<Key<'_>, &SshareRow>,
    later: &HashMap<Key<'_>, &SshareRow>,
) -> Option<f64> {
    let ratio = |(key, row): (&Key<'_>, &&SshareRow)| {
        let (old, new) = (row.raw_usage?, later.get(key)?.raw_usage?);
        (old >= COARSE).then_some(new as f64 / old as f64)
    };
    earlier
        .iter()
        .filter_map(ratio)
        .min_by(f64::total_cmp)
        .map(|least| least.min(1.0))
}

/// Siblings next to each other now that stood the other way round before; `old`: each row as it was.
fn passed(old: &[Option<&SshareRow>], after: &Listing) -> Vec<Change> {
    let links = links(after);
    let mut levels: Vec<Vec<usize>> = vec![Vec::new(); after.rows.len()];
    for (at, link) in links.iter().enumerate() {
        if let Some(parent) = link.parent {
            levels[parent].push(at);
        }
    }
    let level_fs = |at: usize| after.rows[at].level_fs.map(|printed| printed.value);
    let mut changes = Vec::new();
    for (parent, level) in levels.iter_mut().enumerate() {
        // New rows have passed no other row, and must not hide those that have.
        level.retain(|&at| level_fs(at).is_some() && old[at].is_some());
        level.sort_by(|&a, &b| number(level_fs(b)).total_cmp(&number(level_fs(a))));
        for pair in level.windows(2) {
            changes.extend(overtaking(old, after, &links, parent, (pair[0], pair[1])));
        }
    }
    changes
}

fn number(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NEG_INFINITY)
}

/// The change where `ahead` was behind `behind` before.
fn overtaking(
    rows: &[Option<&SshareRow>],
    after: &Listing,
    links: &[Link],
    parent: usize,
    (ahead, behind): (usize, usize),
) -> Option<Change> {
    let old = |at: usize| rows[at]?.level_fs.map(|p| p.value);
    let new = |at: usize| after.rows[at].level_fs.map(|p| p.value);
    let (old_ahead, old_behind) = (old(ahead)?, old(behind)?);
    let (new_ahead, new_behind) = (new(ahead)?, new(behind)?);
    let before = old_ahead.total_cmp(&old_behind);
    let now = new_ahead.total_cmp(&new_behind);
    if now != Ordering::Greater || before == Ordering::Greater {
        return None;
    }
    let all = |at: usize| match links[at].kind {
        RowKind::Account => format!("all of {}", name(&after.rows[at])),
        RowKind::User => name(&after.rows[at]),
    };
    let verb = match before {
        Ordering::Equal => "left behind",
        _ => "passed",
    };
    let change = Change::new(
        Kind::Order,
        format!("below {}", name(&after.rows[parent])),
        format!(
            "{} {verb} {}: LevelFS {} -> {} against {} -> {}; {} comes before {}",
            name(&after.rows[ahead]),
            name(&after.rows[behind]),
            c_format::f(old_ahead),
            c_format::f(new_ahead),
            c_format::f(old_behind),
            c_format::f(new_behind),
            all(ahead),
            all(behind)
        ),
    );
    let number = Value::Number;
    let change = change.value(
        &name(&after.rows[ahead]),
        number(old_ahead),
        number(new_ahead),
    );
    Some(change.value(
        &name(&after.rows[behind]),
        number(old_behind),
        number(new_behind),
    ))
}

/// The changes at one association.
fn association(
    old: &SshareRow,
    new: &SshareRow,
    left: Option<f64>,
    why: &dyn Fn() -> Option<String>,
) -> Option<Change> {
    let mut parts: Vec<String> = Vec::new();
    let mut change = Change::new(Kind::Association, name(new), "");
    if old.raw_shares != new.raw_shares {
        let (from, to) = (shares_of(old.raw_shares), shares_of(new.raw_shares));
        parts.push(format!("RawShares {from} -> {to}"));
        let value = |text: String| match text.parse() {
            Ok(number) => Value::Whole(number),
            Err(_) => Value::Text(text),
        };
        change = change.value("RawShares", value(from), value(to));
    }
    if let (Some(from), Some(to)) = (old.raw_usage, new.raw_usage) {
        if from != to {
            parts.push(format!(
                "RawUsage {from} -> {to}{}",
                why_usage(from, to, left)
            ));
            let value = |usage| Value::Whole(i64::try_from(usage).unwrap_or(i64::MAX));
            change = change.value("RawUsage", value(from), value(to));
        }
    }
    for (column, from, to) in [
        ("NormShares", old.norm_shares, new.norm_shares),
        ("EffectvUsage", old.effective_usage, new.effective_usage),
        ("LevelFS", old.level_fs, new.level_fs),
    ] {
        let (Some(from), Some(to)) = (from, to) else {
            continue;
        };
        if let Some(part) = moved(column, from, to) {
            parts.push(part);
            change = change.value(column, Value::Number(from.value), Value::Number(to.value));
        }
    }
    if let (Some(from), Some(to)) = (old.fs_factor, new.fs_factor) {
        if let Some(part) = moved("FairShare", from, to) {
            parts.push(match why() {
                Some(why) => format!("{part} ({why})"),
                None => part,
            });
            change = change.value(
                "FairShare",
                Value::Number(from.value),
                Value::Number(to.value),
            );
        }
    }
    change.what = parts.join(", ");
    (!parts.is_empty()).then_some(change)
}

/// Shares as sshare prints them.
fn shares_of(shares: Option<Shares>) -> String {
    match shares {
        Some(Shares::Raw(count)) => count.to_string(),
        Some(Shares::Parent) => "parent".to_owned(),
        None => "none".to_owned(),
    }
}

/// How decay and charges turned `from` into `to`.
fn why_usage(from: u64, to: u64, left: Option<f64>) -> String {
    let Some(left) = left else {
        return String::new();
    };
    let decayed = from as f64 * left;
    // Both numbers are cut to whole ones.
    let charged = to as f64 - decayed;
    match (left < 1.0 && from > 0, charged > 2.0) {
        (true, true) => {
            format!(" (decayed to at most {decayed:.0}, charged at least {charged:.0})")
        }
        (true, false) => " (decayed)".to_owned(),
        (false, true) => format!(" (charged at least {charged:.0})"),
        (false, false) => String::new(),
    }
}

fn moved(column: &str, from: Printed, to: Printed) -> Option<String> {
    let same = from.value.total_cmp(&to.value).is_eq();
    (!same).then(|| {
        format!(
            "{column} {} -> {}",
            c_format::f(from.value),
            c_format::f(to.value)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_model::input::sshare::read;

    fn changes(before: &str, after: &str) -> Vec<String> {
        let head = "Account|User|RawShares|RawUsage|LevelFS|FairShare\n";
        let read = |rows: &str| read("f", format!("{head}{rows}").as_bytes()).unwrap();
        let changes = shares(&read(before), &read(after));
        changes.iter().map(Change::to_string).collect()
    }

    const BEFORE: &str = "root|||300000||\n root|a|1|100000|1.500000|1.000000\n \
                          root|b|1|200000|0.750000|0.500000\n";

    // By hand: usage halves, and a is charged 150000 besides: 50000 + 150000 = 200000 of 300000,
    // LevelFS (1/2)/(2/3) = 0.75; b keeps 100000 of 300000: (1/2)/(1/3) = 1.5.
    #[test]
    fn decay_charges_and_changes_of_order_are_reported() {
        let after = "root|||300000||\n root|a|1|200000|0.750000|0.500000\n \
                     root|b|1|100000|1.500000|1.000000\n";
        assert_eq!(
            changes(BEFORE, after),
            [
                "below root: b@root passed a@root: LevelFS 0.750000 -> 1.500000 against 1.500000 -> \
                 0.750000; b@root comes before a@root",
                "a@root: RawUsage 100000 -> 200000 (decayed to at most 50000, charged at least 150000), LevelFS \
                 1.500000 -> 0.750000, FairShare 1.000000 -> 0.500000 (behind b@root)",
                "b@root: RawUsage 200000 -> 100000 (decayed), LevelFS 0.750000 -> 1.500000, FairShare \
                 0.500000 -> 1.000000 (no longer behind a@root)",
            ]
        );
        assert_eq!(changes(BEFORE, BEFORE), [""; 0]);
    }

    // A user with an association per partition, printed without the column `Partition`.
    #[test]
    fn associations_that_look_alike_are_told_apart_by_their_order() {
        let before =
            "root|||30||\n root|a|1|10|3.000000|1.000000\n root|a|1|20|1.500000|0.500000\n";
        assert_eq!(changes(before, before), [""; 0]);
        let after = before.replace("|20|1.500000|", "|21|1.428571|");
        assert_eq!(
            changes(before, &after),
            ["a@root: RawUsage 20 -> 21, LevelFS 1.500000 -> 1.428571"]
        );
    }

    // What stock prints of two unused accounts with equal shares, and what Slurm documents.
    #[test]
    fn a_tie_that_is_ranked_in_another_way_is_told() {
        let stock = include_str!("../../../../tests/sites/tie.sshare");
        let documented = stock.replace(
            "b1|1|1.000000|0|0.000000|0.750000",
            "b1|1|1.000000|0|0.000000|1.000000",
        );
        let documented = documented.replace(
            "b2|0|0.000000|0|0.000000|0.250000",
            "b2|0|0.000000|0|0.000000|0.500000",
        );
        let documented = documented.replace(
            "a2|0|0.000000|0|0.000000|0.750000",
            "a2|0|0.000000|0|0.000000|0.500000",
        );
        let read = |text: &str| read("f", text.as_bytes()).unwrap();
        let shown = |before: &str, after: &str| -> Vec<String> {
            let changes = shares(&read(before), &read(after));
            changes.iter().map(Change::to_string).collect()
        };
        assert_eq!(
            shown(stock, &documented),
            [
                "a2@ta: FairShare 0.750000 -> 0.500000 (a tie that was ranked against Slurm's documentation)",
                "b1@tb: FairShare 0.750000 -> 1.000000 (a tie that was ranked against Slurm's documentation)",
                "b2@tb: FairShare 0.250000 -> 0.500000 (a tie that was ranked against Slurm's documentation)",
            ]
        );
        assert_eq!(
            shown(&documented, stock)[1],
            "b1@tb: FairShare 1.000000 -> 0.750000 (a tie, ranked against Slurm's documentation)"
        );
    }

    #[test]
    fn users_that_come_change_the_others() {
        let after = format!("{BEFORE} root|c|1|0|inf|1.000000\n")
            .replace("|1.500000|1.000000", "|1.500000|0.666667")
            .replace("|0.750000|0.500000", "|0.750000|0.333333");
        assert_eq!(
            changes(BEFORE, &after),
            [
                "a@root: FairShare 1.000000 -> 0.666667 (behind c@root; 3 users instead of 2)",
                "b@root: FairShare 0.500000 -> 0.333333 (behind c@root; 3 users instead of 2)",
                "c@root: new",
            ]
        );
    }

    #[test]
    fn shares_and_rows_that_come_and_go() {
        let after =
            "root|||300000||\n root|a|2|100000|1.500000|1.000000\n root|c|parent|0||1.000000\n";
        assert_eq!(
            changes(BEFORE, after),
            ["a@root: RawShares 1 -> 2", "c@root: new", "b@root: gone"]
        );
    }
}
