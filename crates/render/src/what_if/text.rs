//! The answer as tables: what changes, then who moves.

use std::collections::HashMap;
use std::io::{self, Write};

use super::meanwhile;
use crate::columns::Columns;
use crate::figures::{arrow, percent};
use fairtree_analysis::what_if::{AssocMove, JobMove, JobMoves, Move, Named, WhatIf};
use fairtree_analysis::what_if::{AssocStanding, JobStanding};
use fairtree_model::c_format;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Those that stay, too.
    pub all: bool,
    /// At most this many rows of each table, those that move farthest; `None`: all.
    pub top: Option<usize>,
    /// Columns of the terminal; `None`: tables are as wide as they like.
    pub width: Option<usize>,
}

/// Writes the changes and the tables of accounts, users and jobs.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, what_if: &WhatIf, shown: Shown) -> io::Result<()> {
    writeln!(out, "What if:")?;
    for change in &what_if.changes {
        writeln!(out, "  - {change}")?;
    }
    writeln!(out)?;
    if let Some(passing) = &what_if.meanwhile {
        meanwhile::write(out, what_if, passing, shown)?;
    }
    let named = &what_if.named;
    write_associations(out, "Accounts", &what_if.accounts, named, shown)?;
    writeln!(out)?;
    write_associations(out, "Users", &what_if.users, named, shown)?;
    if let Some(jobs) = &what_if.jobs {
        writeln!(out)?;
        let both = what_if.meanwhile.as_ref().is_some_and(|time| time.both);
        write_jobs(out, jobs, both, named, shown)?;
    }
    Ok(())
}

/// `2 move up, 1 down, 3 stay`.
pub(super) fn summary(moves: impl Iterator<Item = Move>) -> String {
    const WORDS: [(Move, &str); 6] = [
        (Move::Up, "up"),
        (Move::Down, "down"),
        (Move::Stays, "stay"),
        (Move::Moved, "moved"),
        (Move::New, "new"),
        (Move::Gone, "gone"),
    ];
    let mut counts = [0_usize; WORDS.len()];
    for found in moves {
        let at = WORDS.iter().position(|(wanted, _)| *wanted == found);
        counts[at.expect("all moves are in the list")] += 1;
    }
    let said: Vec<String> = WORDS
        .iter()
        .zip(counts)
        .filter(|(_, found)| *found > 0)
        .map(|((_, word), found)| format!("{found} {word}"))
        .collect();
    match said.is_empty() {
        true => "none".to_owned(),
        false => said.join(", "),
    }
}

/// Those of so many rows to show, by position, the farthest moves first where not all fit; how many
/// are left out.
fn chosen<K: Ord>(
    count: usize,
    shown: Shown,
    (differs, named): (impl Fn(usize) -> bool, impl Fn(usize) -> bool),
    places: impl Fn(usize) -> u64,
    order: impl Fn(usize) -> K,
) -> (Vec<usize>, usize) {
    let rows = (0..count).filter(|row| shown.all || named(*row) || differs(*row));
    let mut rows: Vec<usize> = rows.collect();
    let most = shown.top.unwrap_or(usize::MAX);
    let all = rows.len();
    if all > most {
        // Those that were asked about are shown, too, however little they move.
        rows.sort_by_cached_key(|row| std::cmp::Reverse(places(*row)));
        let mut farthest = 0;
        rows.retain(|row| {
            farthest += 1;
            farthest <= most || named(*row)
        });
    }
    rows.sort_by_cached_key(|row| order(*row));
    let left_out = all - rows.len();
    (rows, left_out)
}

/// Returns true if any shown value of an association changes.
fn assoc_differs(row: &AssocMove) -> bool {
    let figures = |side: &Option<AssocStanding>| {
        let side = side.as_ref()?;
        let text = |figure: Option<f64>| figure.map(c_format::f);
        let shares = (side.raw_shares, percent(side.norm_shares));
        Some((
            side.place,
            shares,
            text(side.level_fs),
            text(side.fs_factor),
        ))
    };
    row.moves != Move::Stays || figures(&row.before) != figures(&row.after)
}

/// The heading of the part of each: of a time, or of what was used.
pub(super) fn claim(rows: &[AssocMove]) -> &'static str {
    let sides = |row: &AssocMove| [row.before.clone(), row.after.clone()];
    let mut all = rows.iter().flat_map(sides).flatten();
    match all.any(|side| side.entitled.is_some()) {
        true => "ENTITLED",
        false => "DUE",
    }
}

fn write_associations(
    out: &mut impl Write,
    title: &str,
    rows: &[AssocMove],
    named: &Named,
    shown: Shown,
) -> io::Result<()> {
    let moves = rows.iter().map(|row| row.moves);
    writeln!(out, "{title}: {}", summary(moves))?;
    // Accounts level by level, in the order of the tree; all users make one.
    let mut levels: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let next = levels.len();
        levels.entry(row.parent()).or_insert(next);
    }
    let are_accounts = rows.iter().all(|row| !row.is_user);
    let place = |side: &Option<AssocStanding>| {
        let place = side.as_ref().and_then(|side| side.place);
        place.unwrap_or(u64::MAX)
    };
    let order = |at: usize| {
        let row = &rows[at];
        let level = are_accounts.then(|| levels[row.parent()]);
        (level, place(&row.after), place(&row.before))
    };
    let differs = |at: usize| assoc_differs(&rows[at]);
    let is_named = |at: usize| named.assocs.contains(&rows[at].name);
    let places = |at: usize| rows[at].places();
    let (shown_rows, left_out) = chosen(rows.len(), shown, (differs, is_named), places, order);
    let heading = [
        "NAME",
        "BELOW",
        "PLACE",
        "",
        "FAIRSHARE",
        "LEVELFS",
        "SHARES",
        claim(rows),
        "USED",
    ];
    let spare = &["SHARES", "DUE", "ENTITLED", "USED", "LEVELFS", "BELOW"];
    let mut columns = Columns::new(&heading, 2).spare(spare);
    for row in shown_rows.into_iter().map(|at| &rows[at]) {
        let (before, after) = (row.before.as_ref(), row.after.as_ref());
        let both = |figure: &dyn Fn(&AssocStanding) -> String| {
            arrow(before.map(figure), after.map(figure))
        };
        columns.push([
            row.name.clone(),
            below(row),
            assoc_place(before, after),
            sign(row.moves, row.places()),
            both(&|side| side.fs_factor.map_or(String::new(), c_format::f)),
            both(&|side| side.level_fs.map_or(String::new(), c_format::f)),
            both(&|side| shares(side.raw_shares)),
            both(&|side| percent(side.claimed_part())),
            both(&|side| percent(side.effective_usage)),
        ]);
    }
    columns.write(out, shown.width)?;
    write_left_out(out, left_out)
}

/// `3 -> 1 of 6`; nothing where it does not compete.
pub(crate) fn assoc_place(before: Option<&AssocStanding>, after: Option<&AssocStanding>) -> String {
    let own = |side: &AssocStanding| side.place.map_or(String::new(), |place| place.to_string());
    let places = arrow(before.map(own), after.map(own));
    match after.or(before).map_or(0, |side| side.of) {
        0 => places,
        of => format!("{places} of {of}"),
    }
}

/// The accounts above an account before and after; nothing for a user, whose name tells it.
fn below(row: &AssocMove) -> String {
    let parent = |side: &AssocStanding| side.parent.clone();
    match row.is_user {
        true => String::new(),
        false if row.moves == Move::Moved => arrow(
            row.before.as_ref().map(parent),
            row.after.as_ref().map(parent),
        ),
        false => row.parent().to_owned(),
    }
}

/// Raw shares, or `parent`.
pub(super) fn shares(shares: Option<u32>) -> String {
    shares.map_or("parent".to_owned(), |shares| shares.to_string())
}

pub(super) fn write_left_out(out: &mut impl Write, left_out: usize) -> io::Result<()> {
    match left_out {
        0 => Ok(()),
        _ => writeln!(
            out,
            "  and {left_out} more that move less far (--top 0 shows all)"
        ),
    }
}

fn write_jobs(
    out: &mut impl Write,
    jobs: &JobMoves,
    both_simulated: bool,
    named: &Named,
    shown: Shown,
) -> io::Result<()> {
    writeln!(out, "Jobs: {}", summary(jobs.iter().map(|job| job.moves)))?;
    let figures = |side: &Option<JobStanding>| side.as_ref().map(|s| (s.place, s.priority));
    let differs = |at: usize| {
        let job = jobs.get(at);
        figures(&job.before) != figures(&job.after)
    };
    let is_named = |at: usize| named.jobs.contains(&jobs.get(at).job_id);
    let place = |side: &Option<JobStanding>| side.as_ref().and_then(|s| s.place);
    let last = u64::MAX;
    let order = |at: usize| {
        let job = jobs.get(at);
        let (before, after) = (place(&job.before), place(&job.after));
        (job.partition, after.unwrap_or(last), before.unwrap_or(last))
    };
    let places = |at: usize| jobs.get(at).places();
    let (rows, left_out) = chosen(jobs.len(), shown, (differs, is_named), places, order);
    let heading = [
        "JOBID",
        "PARTITION",
        "USER",
        "ACCOUNT",
        "QOS",
        "PLACE",
        "",
        "PRIORITY",
        "BY",
    ];
    let mut columns = Columns::new(&heading, 5).spare(&["BY", "QOS", "ACCOUNT", "PARTITION"]);
    for job in rows.into_iter().map(|at| jobs.get(at)) {
        let (before, after) = (job.before.as_ref(), job.after.as_ref());
        let both =
            |figure: &dyn Fn(&JobStanding) -> String| arrow(before.map(figure), after.map(figure));
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        columns.push([
            job.job_id.to_string(),
            text(job.partition),
            job.user.to_owned(),
            text(job.account),
            text(job.qos),
            queue_place(&job, both_simulated),
            sign(job.moves, job.places()),
            match before {
                None if both_simulated => {
                    after.map_or(String::new(), |side| side.priority.to_string())
                }
                _ => both(&|side| side.priority.to_string()),
            },
            difference(before, after),
        ]);
    }
    columns.write(out, shown.width)?;
    write_left_out(out, left_out)
}

/// `3 -> 1 of 6`, `held -> 2 of 6`, `held`. `both`: time was simulated on both sides, and a job that waits only after
/// the changes has started without them.
pub(super) fn queue_place(job: &JobMove<'_>, both: bool) -> String {
    let (before, after) = (job.before.as_ref(), job.after.as_ref());
    let held = |side: &JobStanding| match (side.place, side.priority) {
        (Some(place), _) => place.to_string(),
        (None, 0) => "held".to_owned(),
        (None, _) => "no place".to_owned(),
    };
    let started = both.then(|| "started".to_owned());
    let places = arrow(before.map(held).or(started), after.map(held));
    match after.or(before).map_or(0, |side| side.of) {
        0 => places,
        of => format!("{places} of {of}"),
    }
}

/// By how many points the priority changes.
fn difference(before: Option<&JobStanding>, after: Option<&JobStanding>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before.priority != after.priority => {
            format!(
                "{:+}",
                i64::from(after.priority) - i64::from(before.priority)
            )
        }
        _ => String::new(),
    }
}

/// `up 2`, `down 1`.
fn sign(moves: Move, places: u64) -> String {
    match moves {
        Move::Up => format!("up {places}"),
        Move::Down => format!("down {places}"),
        Move::Moved => "moved".to_owned(),
        Move::New => "new".to_owned(),
        Move::Gone => "gone".to_owned(),
        Move::Stays => String::new(),
    }
}
