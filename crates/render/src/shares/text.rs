//! The level as a table, and a proposal: before, after, who moves, what to run.

use std::io::{self, Write};

use super::words::{minutes, score, tres_minutes};
use crate::columns::Columns;
use crate::figures::{arrow, percent};
use fairtree_analysis::shares::{Level, LevelRow, Proposal};
use fairtree_analysis::what_if::Move;

/// At most this many who move up, and down, are shown.
const MOVERS: usize = 5;

/// Writes a level. `width`: columns of the terminal; `None`: as wide as need be.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, level: &Level, width: Option<usize>) -> io::Result<()> {
    heading(out, level)?;
    let mut columns = columns(level.is_entitled());
    for row in &level.rows {
        columns.push([
            indented(level, row),
            given(row),
            row.share_of_level.map_or(String::new(), percent),
            row.share_of_whole.map_or(String::new(), percent),
            row.claim().map_or(String::new(), tres_minutes),
            tres_minutes(row.used),
            ratio(row),
            place(row),
            score(row, level.basis),
        ]);
    }
    let sum = &level.sum;
    if !level.rows.is_empty() {
        let ratio = (sum.claim > 0.0).then(|| format!("{:.4}", sum.used / sum.claim));
        columns.push([
            "together".to_owned(),
            match (sum.raw_shares, sum.minutes) {
                (shares, 0) => shares.to_string(),
                (0, minutes) => format!("{minutes} min"),
                (shares, minutes) => format!("{shares}; {minutes} min"),
            },
            percent(sum.share_of_level),
            percent(sum.share_of_whole),
            tres_minutes(sum.claim),
            tres_minutes(sum.used),
            ratio.unwrap_or_default(),
            String::new(),
            String::new(),
        ]);
    }
    columns.write(out, width)?;
    match minutes(level) {
        said if said.is_empty() => Ok(()),
        said => writeln!(out, "{said}"),
    }
}

/// The account above the level, in a sentence.
fn heading(out: &mut impl Write, level: &Level) -> io::Result<()> {
    let (name, ranking) = (&level.account.name, level.ranking);
    if level.rows.is_empty() {
        return writeln!(out, "{name} has nobody below it (ranking {ranking}).");
    }
    let part = level.account.share_of_whole.map_or(String::new(), percent);
    let word = if level.is_entitled() {
        "entitled to"
    } else {
        "due"
    };
    let claim = level.account.claim().map_or(String::new(), tres_minutes);
    let used = tres_minutes(level.account.used);
    writeln!(
        out,
        "Below {name}: {part} of the whole, {word} {claim} TRES-minutes, used {used} (ranking {ranking}; \
         times in TRES-minutes):"
    )
}

fn columns(entitled: bool) -> Columns {
    let claim = if entitled { "ENTITLED" } else { "DUE" };
    let heading = [
        "NAME", "SHARES", "OF LEVEL", "OF WHOLE", claim, "USED", "RATIO", "PLACE", "SCORE",
    ];
    Columns::new(&heading, 1)
        .words_last()
        .spare(&["RATIO", "PLACE", "OF WHOLE", "DUE", "ENTITLED"])
}

/// Children of an account with `FairShare=parent` are set off.
fn indented(level: &Level, row: &LevelRow) -> String {
    let own = row.parent == level.account.name;
    format!("{}{}", if own { "" } else { "  " }, row.name)
}

/// Shares, minutes, or `parent`.
fn given(row: &LevelRow) -> String {
    match (row.minutes, row.raw_shares) {
        (Some(minutes), _) => format!("{minutes} min"),
        (None, Some(shares)) => shares.to_string(),
        (None, None) => "parent".to_owned(),
    }
}

fn ratio(row: &LevelRow) -> String {
    row.used_ratio
        .map_or(String::new(), |ratio| format!("{ratio:.4}"))
}

fn place(row: &LevelRow) -> String {
    let place = |place| format!("{place} of {}", row.of);
    row.place.map_or(String::new(), place)
}

/// `3 -> 1 of 4`.
fn places(before: Option<&LevelRow>, after: &LevelRow) -> String {
    let own = |row: &LevelRow| row.place.map_or(String::new(), |place| place.to_string());
    let places = arrow(before.or(Some(after)).map(own), Some(own(after)));
    match after.of {
        0 => places,
        of => format!("{places} of {of}"),
    }
}

/// Writes a proposal: each level before and after, who moves, warnings, what to run.
///
/// # Errors
/// Those of `out`.
pub fn write_proposal(
    out: &mut impl Write,
    proposal: &Proposal,
    width: Option<usize>,
) -> io::Result<()> {
    writeln!(out, "If given:")?;
    for change in &proposal.changes {
        writeln!(out, "  - {change}")?;
    }
    for change in &proposal.levels {
        writeln!(out)?;
        let after = &change.after;
        heading(out, after)?;
        let mut columns = columns(after.is_entitled());
        for (old, new) in change.rows() {
            let both = |show: &dyn Fn(&LevelRow) -> String| {
                arrow(old.or(Some(new)).map(show), Some(show(new)))
            };
            columns.push([
                indented(after, new),
                both(&given),
                both(&|row| row.share_of_level.map_or(String::new(), percent)),
                both(&|row| row.share_of_whole.map_or(String::new(), percent)),
                both(&|row| row.claim().map_or(String::new(), tres_minutes)),
                tres_minutes(new.used),
                both(&ratio),
                places(old, new),
                score(new, after.basis),
            ]);
        }
        columns.write(out, width)?;
        match minutes(after) {
            said if said.is_empty() => {}
            said => writeln!(out, "{said}")?,
        }
    }
    writeln!(out)?;
    movers(out, proposal, Move::Up, "Up by most")?;
    movers(out, proposal, Move::Down, "Down by most")?;
    writeln!(out, "To run; nothing was changed:")?;
    let commands = &proposal.commands;
    for line in &commands.lines {
        writeln!(out, "{line}")?;
    }
    if let Some(patch) = &commands.patch {
        let names = patch.lines().find_map(|line| line.strip_prefix("+++ "));
        let file = shell_word(names.unwrap_or_default());
        writeln!(out, "patch {file} <<'END'\n{}END", ended(patch))?;
    }
    for line in &commands.then {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The text as one word of a shell: patch refuses absolute names in the patch itself.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The text with a line break at its end.
fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}

fn movers(out: &mut impl Write, proposal: &Proposal, wanted: Move, title: &str) -> io::Result<()> {
    let all = proposal.moves.iter().filter(|row| row.moves == wanted);
    let all: Vec<_> = all.collect();
    let one = |row: &&&fairtree_analysis::what_if::AssocMove| {
        let side = |side: &Option<fairtree_analysis::what_if::AssocStanding>| {
            side.as_ref()
                .and_then(|side| side.place)
                .map(|place| place.to_string())
        };
        format!(
            "{} {}",
            row.name,
            arrow(side(&row.before), side(&row.after))
        )
    };
    let shown: Vec<String> = all.iter().take(MOVERS).map(|row| one(&row)).collect();
    match all.len() {
        0 => writeln!(out, "{title}: nobody"),
        count if count > MOVERS => {
            writeln!(
                out,
                "{title}: {} and {} more",
                shown.join(", "),
                count - MOVERS
            )
        }
        _ => writeln!(out, "{title}: {}", shown.join(", ")),
    }
}
