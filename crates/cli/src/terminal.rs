//! The capabilities of the terminal.

use std::io::{IsTerminal, stderr, stdout};

use fairtree_render::chart::Look;

/// Columns where their number is not known.
const DEFAULT_COLUMNS: usize = 80;
/// No terminal is narrower or wider.
const COLUMNS: std::ops::RangeInclusive<usize> = 20..=500;

/// How pictures of characters look on standard output: `COLUMNS` first, then the terminal's own
/// width, then 80 columns; ASCII alone where the locale is not UTF-8. `color`: whether to colour.
pub(super) fn look(color: bool) -> Look {
    Look {
        width: columns().clamp(*COLUMNS.start(), *COLUMNS.end()),
        color,
        unicode: unicode(),
    }
}

/// How wide messages may be; `None` where standard error is no terminal.
pub(super) fn message_width() -> Option<usize> {
    let err = stderr();
    if !err.is_terminal() {
        return None;
    }
    let own = || terminal_size::terminal_size_of(&err).map(|(width, _)| usize::from(width.0));
    let width = told().or_else(own)?;
    Some(width.clamp(*COLUMNS.start(), *COLUMNS.end()))
}

/// How wide tables may be: `COLUMNS` first, then the terminal's own width; `None` where standard
/// output is no terminal, so that what is piped or saved has all columns.
pub(super) fn table_width() -> Option<usize> {
    let width = told().or_else(own_columns)?;
    Some(width.clamp(*COLUMNS.start(), *COLUMNS.end()))
}

/// The width in `COLUMNS`.
fn told() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok()?;
    told.parse().ok().filter(|&columns| columns > 0)
}

fn columns() -> usize {
    told().or_else(own_columns).unwrap_or(DEFAULT_COLUMNS)
}

/// How wide the terminal is that standard output is.
fn own_columns() -> Option<usize> {
    let out = stdout();
    if !out.is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(out).map(|(width, _)| usize::from(width.0))
}

/// The first of the locale's variables that says anything decides, as in the C library.
fn unicode() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    said.is_some_and(|value| {
        let value = value.to_string_lossy().to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}
