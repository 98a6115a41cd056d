//! A level as a page with a field for each number: percentages and commands follow as one types.

use std::io::{self, Write};

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::words::{score, tres_minutes};
use crate::chart::{Theme, xml};
use crate::figures::percent;
use crate::page::{Alone, alone};
use fairtree::config::MOST_MINUTES;
use fairtree::tree::Shares;
use fairtree_analysis::shares::{Level, LevelRow, Minutes};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The numbers that the page's script computes with.
#[derive(Serialize)]
struct Data<'a> {
    /// TRES-seconds of the account above.
    claim: f64,
    /// Its part of the whole.
    whole: f64,
    minutes: Option<Minutes>,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    kind: &'static str,
    /// The number that it has.
    was: Option<u64>,
    apart: bool,
    used: f64,
    /// The command up to the number.
    command: &'a str,
}

/// Writes the page. `after`: the level with the numbers of a proposal in its fields; `None`: those that
/// it has. `commands`: for each row the command that sets its number, up to the number.
///
/// # Errors
/// Those of `out`.
///
/// # Panics
/// Unless there is one command per row.
pub fn to_html(
    out: &mut impl Write,
    level: &Level,
    after: Option<&Level>,
    commands: &[String],
) -> io::Result<()> {
    assert_eq!(commands.len(), level.rows.len(), "a command for each row");
    let rows = level.rows.iter().zip(commands).map(|(row, command)| Row {
        name: &row.name,
        kind: kind(row),
        was: number(row),
        apart: row.apart,
        used: row.used,
        command,
    });
    let data = Data {
        claim: level.account.claim().unwrap_or(0.0),
        whole: level.account.share_of_whole.unwrap_or(1.0),
        minutes: level.minutes,
        rows: rows.collect(),
    };
    // A name like </script> ends nothing.
    let data = serde_json::to_string(&data)?.replace('<', "\\u003c");
    let claim = if level.is_entitled() {
        "Entitled"
    } else {
        "Due"
    };
    let after = after.map_or(&[][..], |level| &level.rows);
    let field = |row: &LevelRow| {
        let new = after.iter().find(|new| new.name == row.name);
        number(new.unwrap_or(row))
    };
    let title = format!("Shares below {}", level.account.name);
    let body = html! {
        h1 { (title) }
        p class="sub" {
            (level.source) ": "
            @if let Some(part) = level.account.share_of_whole { (percent(part)) " of the whole, " }
            "ranking " (level.ranking) "; times in TRES-minutes"
        }
        (table(level, claim, field))
        p id="left" {}
        p id="zero" class="over" {}
        h2 { "Commands" }
        p class="hint" { "They make what the fields say; nothing is changed before somebody runs them." }
        textarea id="commands" rows="6" readonly aria-label="commands" {}
        p { button id="copy" { "Copy" } }
        @for assumption in &level.assumptions { p class="hint" { (assumption) } }
        script type="application/json" id="data" { (PreEscaped(data)) }
    };
    let page = alone(Alone {
        title: &title,
        theme: Theme::Auto,
        style: STYLE,
        script: Some(SCRIPT),
        body,
    });
    out.write_all(xml(page).as_bytes())
}

/// The rows, each with a field for its number.
fn table(level: &Level, claim: &str, field: impl Fn(&LevelRow) -> Option<u64>) -> Markup {
    html! {
        div class="scroll" { table id="level" {
            thead { tr {
                th { "Name" } th { "Shares or minutes" } th { "Of level" } th { "Of whole" }
                th { (claim) } th { "Used" } th { "Ratio" } th { "Score now" }
            } }
            tbody {
                @for row in &level.rows {
                    tr {
                        td { (row.name) }
                        td {
                            @if let Some(value) = field(row) {
                                input type="number" min="0" step="1" value=(value) max=(most(level, row))
                                    aria-label=(format!("{} of {}", kind(row), row.name));
                                @if row.minutes.is_some() { " min" }
                            } @else { "parent" }
                        }
                        td class="of-level" {} td class="of-whole" {} td class="claim" {}
                        td { (tres_minutes(row.used)) } td class="ratio" {}
                        td { (score(row, level.basis)) }
                    }
                }
            }
            tfoot { tr {
                td { "together" } td class="given" {} td class="of-level" {} td class="of-whole" {}
                td class="claim" {} td { (tres_minutes(level.sum.used)) } td {} td {}
            } }
        } }
    }
}

fn kind(row: &LevelRow) -> &'static str {
    match (row.minutes, row.raw_shares) {
        (Some(_), _) => "minutes",
        (None, Some(_)) => "shares",
        (None, None) => "parent",
    }
}

fn number(row: &LevelRow) -> Option<u64> {
    row.minutes.or(row.raw_shares.map(u64::from))
}

/// The largest number that a field takes.
fn most(level: &Level, row: &LevelRow) -> u64 {
    use fairtree::config::MinutesFrom;
    let from_file = level
        .minutes
        .is_some_and(|minutes| minutes.from == MinutesFrom::File);
    match row.minutes.is_some() && from_file {
        true => MOST_MINUTES,
        false => u64::from(Shares::MAX_RAW),
    }
}
