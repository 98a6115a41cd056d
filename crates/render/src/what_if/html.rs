//! The answer as a page of its own: before on the left, after on the right, a line between the two
//! places of each account, user and job. No script, nothing from elsewhere.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::text::{assoc_place, queue_place, shares, summary};
use crate::figures::{arrow, percent};
use crate::page_policy::page_policy;
use fairtree_analysis::what_if::{
    AssocMove, JobMove, JobMoves, JobStanding, Move, Standing, WhatIf,
};
use fairtree_model::c_format;

/// At most this many of one kind are drawn: those that move farthest.
const DRAWN: usize = 60;

/// Height of a row in the drawing.
const ROW: usize = 22;

/// Writes the page.
///
/// # Errors
/// Those of `out`.
pub fn to_html(out: &mut impl Write, what_if: &WhatIf) -> io::Result<()> {
    let source = escaped(&what_if.source);
    let policy = page_policy(STYLE, None);
    write!(
        out,
        "{HEAD}<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<title>What if: {source}</title>\n<style>{STYLE}</style>\n"
    )?;
    writeln!(
        out,
        "</head>\n<body>\n<h1>What if</h1>\n<p class=\"source\">{source}</p>\n<ul>"
    )?;
    for change in &what_if.changes {
        writeln!(out, "<li>{}</li>", escaped(change))?;
    }
    writeln!(
        out,
        "</ul>\n<p class=\"key\"><span class=\"up\">moves up</span> <span class=\"down\">moves down</span> <span class=\"stays\">stays</span></p>"
    )?;
    let mut levels: BTreeMap<&str, Vec<Drawn>> = BTreeMap::new();
    for row in &what_if.accounts {
        levels
            .entry(row.parent())
            .or_default()
            .push(association(row));
    }
    section(
        out,
        "Accounts",
        &what_if
            .accounts
            .iter()
            .map(|row| row.moves)
            .collect::<Vec<_>>(),
    )?;
    for (parent, rows) in levels {
        let title = format!("below {parent}, by level fairshare");
        slopes(out, &title, rows)?;
    }
    associations(out, &what_if.accounts)?;
    section(
        out,
        "Users",
        &what_if
            .users
            .iter()
            .map(|row| row.moves)
            .collect::<Vec<_>>(),
    )?;
    slopes(
        out,
        "by fair-share factor",
        what_if.users.iter().map(association).collect(),
    )?;
    associations(out, &what_if.users)?;
    if let Some(jobs) = &what_if.jobs {
        section(
            out,
            "Jobs",
            &jobs.iter().map(|job| job.moves).collect::<Vec<_>>(),
        )?;
        let mut partitions: BTreeMap<&str, Vec<Drawn>> = BTreeMap::new();
        for job in jobs.iter() {
            let partition = job.partition.unwrap_or("no partition");
            partitions.entry(partition).or_default().push(queued(&job));
        }
        for (partition, rows) in partitions {
            slopes(out, &format!("in {partition}, by priority"), rows)?;
        }
        queue(out, jobs)?;
    }
    if !what_if.assumptions.is_empty() {
        writeln!(out, "<h2>Taken for granted</h2>\n<ul>")?;
        for assumption in &what_if.assumptions {
            writeln!(out, "<li>{}</li>", escaped(assumption))?;
        }
        writeln!(out, "</ul>")?;
    }
    writeln!(out, "</body>\n</html>")
}

/// One line of a drawing.
struct Drawn {
    name: String,
    moves: Move,
    /// Place and figure on both sides.
    sides: [Option<(u64, String)>; 2],
    places: u64,
}

fn association(row: &AssocMove) -> Drawn {
    let side = |side: Option<&Standing>| {
        let side = side?;
        let figure = side
            .fs_factor
            .or(side.level_fs)
            .map_or(String::new(), c_format::f);
        Some((side.place?, figure))
    };
    // On its new level a moved account has no place before.
    let before = row.before.as_ref().filter(|_| row.moves != Move::Moved);
    Drawn {
        name: row.name.clone(),
        moves: row.moves,
        sides: [side(before), side(row.after.as_ref())],
        places: row.places(),
    }
}

fn queued(job: &JobMove<'_>) -> Drawn {
    let side = |side: &Option<JobStanding>| {
        let side = side.as_ref()?;
        Some((side.place?, side.priority.to_string()))
    };
    let qos = job.qos.map_or(String::new(), |qos| format!(" ({qos})"));
    Drawn {
        name: format!("{} {}{qos}", job.job_id, job.user),
        moves: job.moves,
        sides: [side(&job.before), side(&job.after)],
        places: job.places(),
    }
}

fn section(out: &mut impl Write, title: &str, moves: &[Move]) -> io::Result<()> {
    writeln!(
        out,
        "<h2>{title}</h2>\n<p>{}</p>",
        summary(moves.iter().copied())
    )
}

/// The drawing: each side in its own order, equals next to each other.
fn slopes(out: &mut impl Write, title: &str, mut rows: Vec<Drawn>) -> io::Result<()> {
    let left_out = rows.len().saturating_sub(DRAWN);
    if left_out > 0 {
        rows.sort_by_key(|row| std::cmp::Reverse(row.places));
        rows.truncate(DRAWN);
    }
    let slots = [0, 1].map(|side| slots(&rows, side));
    let most = slots
        .iter()
        .flatten()
        .flatten()
        .max()
        .map_or(0, |slot| slot + 1);
    if most == 0 {
        return Ok(());
    }
    let height = most * ROW + 12;
    writeln!(out, "<figure><figcaption>{}</figcaption>", escaped(title))?;
    writeln!(out, "<svg viewBox=\"0 0 900 {height}\" role=\"img\">")?;
    for (at, row) in rows.iter().enumerate() {
        let y = |side: usize| slots[side][at].map(|slot| slot * ROW + 18);
        let name = escaped(&row.name);
        writeln!(
            out,
            "<g class=\"{}\"><title>{name}: {}</title>",
            class(row.moves),
            told(row)
        )?;
        if let (Some(from), Some(to)) = (y(0), y(1)) {
            writeln!(
                out,
                "<line x1=\"360\" y1=\"{}\" x2=\"540\" y2=\"{}\"/>",
                from - 4,
                to - 4
            )?;
        }
        for (side, x, anchor) in [(0, 352, "end"), (1, 548, "start")] {
            if let (Some(y), Some((place, figure))) = (y(side), &row.sides[side]) {
                let text = match side {
                    0 => format!("{name}  {figure}  {place}"),
                    _ => format!("{place}  {name}  {figure}"),
                };
                writeln!(
                    out,
                    "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"
                )?;
            }
        }
        writeln!(out, "</g>")?;
    }
    writeln!(out, "</svg>")?;
    if left_out > 0 {
        writeln!(
            out,
            "<p>and {left_out} more that move less far; all are in the table</p>"
        )?;
    }
    writeln!(out, "</figure>")
}

/// The place of each row on one side, from 0.
fn slots(rows: &[Drawn], side: usize) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..rows.len())
        .filter(|at| rows[*at].sides[side].is_some())
        .collect();
    order.sort_by_key(|at| rows[*at].sides[side].as_ref().map(|(place, _)| *place));
    let mut slots = vec![None; rows.len()];
    for (slot, at) in order.into_iter().enumerate() {
        slots[at] = Some(slot);
    }
    slots
}

fn told(row: &Drawn) -> String {
    let side = |side: usize| {
        row.sides[side]
            .as_ref()
            .map(|(place, figure)| format!("{place} ({figure})"))
    };
    escaped(&arrow(side(0), side(1)))
}

fn class(moves: Move) -> &'static str {
    match moves {
        Move::Up | Move::New | Move::Moved => "up",
        Move::Down | Move::Gone => "down",
        Move::Stays => "stays",
    }
}

fn associations(out: &mut impl Write, rows: &[AssocMove]) -> io::Result<()> {
    let head = "<tr><th>Name<th>Place<th>FairShare<th>LevelFS<th>Shares<th>Due<th>Used</tr>";
    writeln!(
        out,
        "<details><summary>All {} in numbers</summary>\n<table>\n{head}",
        rows.len()
    )?;
    for row in rows {
        let (before, after) = (row.before.as_ref(), row.after.as_ref());
        let both = |figure: &dyn Fn(&Standing) -> String| {
            escaped(&arrow(before.map(figure), after.map(figure)))
        };
        writeln!(
            out,
            "<tr class=\"{}\"><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            class(row.moves),
            escaped(&row.name),
            escaped(&assoc_place(before, after)),
            both(&|side| side.fs_factor.map_or(String::new(), c_format::f)),
            both(&|side| side.level_fs.map_or(String::new(), c_format::f)),
            both(&|side| shares(side.raw_shares)),
            both(&|side| percent(side.norm_shares)),
            both(&|side| percent(side.effective_usage)),
        )?;
    }
    writeln!(out, "</table>\n</details>")
}

fn queue(out: &mut impl Write, jobs: &JobMoves) -> io::Result<()> {
    let head = "<tr><th>Job<th>Partition<th>User<th>Account<th>QOS<th>Place<th>Priority</tr>";
    writeln!(
        out,
        "<details><summary>All {} in numbers</summary>\n<table>\n{head}",
        jobs.len()
    )?;
    for job in jobs.iter() {
        let (before, after) = (job.before.as_ref(), job.after.as_ref());
        let both = |figure: &dyn Fn(&JobStanding) -> String| {
            escaped(&arrow(before.map(figure), after.map(figure)))
        };
        let text = |text: Option<&str>| escaped(text.unwrap_or(""));
        writeln!(
            out,
            "<tr class=\"{}\"><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}</tr>",
            class(job.moves),
            job.job_id,
            text(job.partition),
            escaped(job.user),
            text(job.account),
            text(job.qos),
            escaped(&queue_place(&job)),
            both(&|side| side.priority.to_string()),
        )?;
    }
    writeln!(out, "</table>\n</details>")
}

/// Text fit for HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(char),
        }
    }
    out
}

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

/// Blue and orange differ for all eyes.
const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --rule: #ddd; --up: #0072b2; --down: #c04a00; --stays: #888; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --paper: #161616; --rule: #3a3a3a; --up: #56b4e9; --down: #f0903c; --stays: #8a8a8a; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { border-top: 1px solid var(--rule); padding-top: 1rem; margin-top: 2rem; }
.source { color: var(--stays); margin-top: 0; }
.key span { margin-right: 1rem; font-weight: 600; }
.up { color: var(--up); fill: var(--up); stroke: var(--up); }
.down { color: var(--down); fill: var(--down); stroke: var(--down); }
.stays { color: var(--stays); fill: var(--stays); stroke: var(--stays); }
figure { margin: 1rem 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; font: 13px ui-monospace, monospace; }
svg text { stroke: none; white-space: pre; } svg line { stroke-width: 2; }
svg g:hover line { stroke-width: 5; } svg g:hover text { font-weight: 700; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .15rem .8rem .15rem 0; border-bottom: 1px solid var(--rule); }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_tags() {
        assert_eq!(escaped("<b>&\"x\""), "&lt;b&gt;&amp;&quot;x&quot;");
    }
}
