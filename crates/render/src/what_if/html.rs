//! The answer as a page of its own: before on the left, after on the right, a line between the two
//! places of each account, user and job. No script, nothing from elsewhere.

use std::collections::BTreeMap;
use std::io::{self, Write};

use maud::{Markup, html};

use super::meanwhile;
use super::text::{assoc_place, claim, queue_place, shares, summary};
use crate::chart::{Theme, xml};
use crate::figures::{arrow, percent};
use crate::page::{Alone, alone};
use fairtree_analysis::what_if::{
    AssocMove, AssocStanding, JobMove, JobMoves, JobStanding, Move, WhatIf,
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
    let body = html! {
        h1 { "What if" }
        p class="sub" { (what_if.source) }
        ul { @for change in &what_if.changes { li { (change) } } }
        (moves(what_if, usize::MAX))
    };
    let page = alone(Alone {
        title: &format!("What if: {}", what_if.source),
        theme: Theme::Auto,
        style: "",
        script: None,
        body,
    });
    out.write_all(xml(page).as_bytes())
}

/// Who moves, as drawings and tables, and what was taken for granted; each table has at most `most`
/// rows, those that move farthest.
pub fn moves(what_if: &WhatIf, most: usize) -> Markup {
    let mut levels: BTreeMap<&str, Vec<Drawn>> = BTreeMap::new();
    for row in &what_if.accounts {
        levels
            .entry(row.parent())
            .or_default()
            .push(association(row));
    }
    let users = what_if.users.iter().map(association).collect();
    let both = what_if.meanwhile.as_ref().is_some_and(|time| time.both);
    html! {
        @if let Some(passing) = &what_if.meanwhile { (meanwhile::section(passing, most)) }
        p {
            span class="up" { "moves up" } " · " span class="down" { "moves down" } " · "
            span class="stays" { "stays" }
        }
        (section("Accounts", what_if.accounts.iter().map(|row| row.moves)))
        @for (parent, rows) in levels {
            (slopes(&format!("below {parent}, by level fairshare"), rows))
        }
        (associations(&what_if.accounts, most))
        (section("Users", what_if.users.iter().map(|row| row.moves)))
        (slopes("by fair-share factor", users))
        (associations(&what_if.users, most))
        @if let Some(jobs) = &what_if.jobs { (queue(jobs, both, most)) }
        @if !what_if.assumptions.is_empty() {
            h2 { "Taken for granted" }
            ul { @for assumption in &what_if.assumptions { li { (assumption) } } }
        }
    }
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
    let side = |side: Option<&AssocStanding>| {
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

fn section(title: &str, moves: impl Iterator<Item = Move>) -> Markup {
    html! { h2 { (title) } p { (summary(moves)) } }
}

/// The drawing: each side in its own order, equals next to each other.
fn slopes(title: &str, mut rows: Vec<Drawn>) -> Markup {
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
        return html! {};
    }
    let height = most * ROW + 12;
    let y = |side: usize, at: usize| slots[side][at].map(|slot| slot * ROW + 18);
    html! {
        figure {
            figcaption { (title) }
            p class="hint narrow" { "Before on the left, after on the right: swipe sideways to see both." }
            div class="scroll" {
                svg width="900" height=(height) viewBox=(format!("0 0 900 {height}")) role="img" {
                    @for (at, row) in rows.iter().enumerate() {
                        g class=(class(row.moves)) {
                            title { (row.name) ": " (change(row)) }
                            @if let (Some(from), Some(to)) = (y(0, at), y(1, at)) {
                                line stroke-width="2" x1="360" y1=(from - 4) x2="540" y2=(to - 4) {}
                            }
                            @if let (Some(y), Some((place, figure))) = (y(0, at), &row.sides[0]) {
                                text class="bare end" font-size="13" x="352" y=(y) {
                                    (row.name) "  " (figure) "  " (place)
                                }
                            }
                            @if let (Some(y), Some((place, figure))) = (y(1, at), &row.sides[1]) {
                                text class="bare" font-size="13" x="548" y=(y) {
                                    (place) "  " (row.name) "  " (figure)
                                }
                            }
                        }
                    }
                }
            }
            @if left_out > 0 {
                p { "and " (left_out) " more that move less far; all are in the table" }
            }
        }
    }
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

fn change(row: &Drawn) -> String {
    let side = |side: usize| {
        row.sides[side]
            .as_ref()
            .map(|(place, figure)| format!("{place} ({figure})"))
    };
    arrow(side(0), side(1))
}

fn class(moves: Move) -> &'static str {
    match moves {
        Move::Up | Move::New | Move::Moved => "up",
        Move::Down | Move::Gone => "down",
        Move::Stays => "stays",
    }
}

/// Positions of the rows of a table: all, or the `most` that move farthest.
fn chosen(count: usize, most: usize, places: impl Fn(usize) -> u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..count).collect();
    if count > most {
        rows.sort_by_cached_key(|row| std::cmp::Reverse(places(*row)));
        rows.truncate(most);
    }
    rows
}

fn heading(all: usize, shown: usize) -> String {
    match all == shown {
        true => format!("All {all} in numbers"),
        false => format!("The {shown} of {all} that move farthest in numbers"),
    }
}

fn associations(rows: &[AssocMove], most: usize) -> Markup {
    let shown = chosen(rows.len(), most, |at| rows[at].places());
    let both = |row: &AssocMove, figure: &dyn Fn(&AssocStanding) -> String| {
        arrow(
            row.before.as_ref().map(figure),
            row.after.as_ref().map(figure),
        )
    };
    let factor = |value: Option<f64>| value.map_or(String::new(), c_format::f);
    let claimed = match claim(rows) {
        "DUE" => "Due",
        _ => "Entitled",
    };
    html! {
        details {
            summary { (heading(rows.len(), shown.len())) }
            div class="scroll" {
                table {
                    thead { tr {
                        th { "Name" } th { "Place" } th { "FairShare" } th { "LevelFS" }
                        th { "Shares" } th { (claimed) } th { "Used" }
                    } }
                    tbody {
                        @for row in shown.iter().map(|at| &rows[*at]) {
                            tr class=(class(row.moves)) {
                                td { (row.name) }
                                td { (assoc_place(row.before.as_ref(), row.after.as_ref())) }
                                td { (both(row, &|side| factor(side.fs_factor))) }
                                td { (both(row, &|side| factor(side.level_fs))) }
                                td { (both(row, &|side| shares(side.raw_shares))) }
                                td { (both(row, &|side| percent(side.claimed_part()))) }
                                td { (both(row, &|side| percent(side.effective_usage))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn queue(jobs: &JobMoves, both: bool, most: usize) -> Markup {
    let mut partitions: BTreeMap<&str, Vec<Drawn>> = BTreeMap::new();
    for job in jobs.iter() {
        let partition = job.partition.unwrap_or("no partition");
        partitions.entry(partition).or_default().push(queued(&job));
    }
    let shown = chosen(jobs.len(), most, |at| jobs.get(at).places());
    html! {
        (section("Jobs", jobs.iter().map(|job| job.moves)))
        @for (partition, rows) in partitions {
            (slopes(&format!("in {partition}, by priority"), rows))
        }
        details {
            summary { (heading(jobs.len(), shown.len())) }
            div class="scroll" {
                table {
                    thead { tr {
                        th { "Job" } th { "Partition" } th { "User" } th { "Account" } th { "QOS" }
                        th { "Place" } th { "Priority" }
                    } }
                    tbody {
                        @for job in shown.iter().map(|at| jobs.get(*at)) {
                            @let priority = |side: &Option<JobStanding>| {
                                side.as_ref().map(|side| side.priority.to_string())
                            };
                            tr class=(class(job.moves)) {
                                td { (job.job_id) }
                                td { (job.partition.unwrap_or("")) }
                                td { (job.user) }
                                td { (job.account.unwrap_or("")) }
                                td { (job.qos.unwrap_or("")) }
                                td { (queue_place(&job, both)) }
                                td { (arrow(priority(&job.before), priority(&job.after))) }
                            }
                        }
                    }
                }
            }
        }
    }
}
