//! Reasons and places of refused input.

use std::fmt;

/// An error in an input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The stream ended in an error of the operating system.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// Only blanks.
    #[error("is empty: nothing to report on")]
    Empty,
    /// The content is of no known format.
    #[error("is of no known format, starting {found:?}")]
    UnknownFormat {
        /// The first line that says anything.
        found: String,
    },
    /// A value is not what its place asks for.
    #[error("{what} {} is not allowed: allowed is {allowed}", quoted(found))]
    Value {
        /// Name of the column or key that has the value.
        what: String,
        /// The value.
        found: String,
        /// Allowed values.
        allowed: String,
    },
    /// The parts of the input contradict each other, or one is missing.
    #[error("{0}")]
    Structure(String),
    /// The input does not have a part that only some reports need.
    #[error("{0}")]
    Absent(String),
}

/// A value in quotes, at most 200 characters of it.
fn quoted(value: &str) -> String {
    match value.char_indices().nth(200) {
        Some((end, _)) => format!("{:?}...", &value[..end]),
        None => format!("{value:?}"),
    }
}

/// A refused input: the problem, its place, and a way out.
///
/// Displays as one line, `FILE:LINE:COLUMN: PROBLEM`; [`InputError::explained`] adds the line in
/// question and the hint.
#[derive(Debug)]
pub struct InputError {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// Line, from 1; `None` when the whole file is meant.
    pub line: Option<usize>,
    /// Column, from 1, in characters; `None` when the whole line is meant.
    pub column: Option<usize>,
    /// The problem. Boxed: errors travel through every parser as a `Result`.
    pub problem: Box<Problem>,
    /// The text of the line in question.
    pub text: Option<String>,
    /// A way out.
    pub hint: Option<String>,
}

impl InputError {
    /// An error about a whole file.
    pub fn new(file: &str, problem: impl Into<Problem>) -> InputError {
        InputError {
            file: file.to_owned(),
            line: None,
            column: None,
            problem: Box::new(problem.into()),
            text: None,
            hint: None,
        }
    }

    /// The same error at a line (from 1), whose text is `text`.
    #[must_use]
    pub fn at_line(mut self, line: usize, text: &str) -> InputError {
        self.line = Some(line);
        self.text = Some(text.to_owned());
        self
    }

    /// The same error at a column (from 1) of its line; 0, which some parsers report at the end of
    /// a line, becomes 1.
    #[must_use]
    pub fn at_column(mut self, column: usize) -> InputError {
        self.column = Some(column.max(1));
        self
    }

    /// The same error with a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> InputError {
        self.hint = Some(hint.into());
        self
    }

    /// The error as a person wants it: the sentence, the line with a mark under the column, the
    /// hint. Ends without a line break.
    pub fn explained(&self) -> String {
        let mut out = self.to_string();
        if let (Some(line), Some(text)) = (self.line, &self.text) {
            let (text, column) = excerpt(text, self.column);
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            out.push_str(&format!("\n{number} | {text}"));
            if let Some(column) = column {
                let blanks = " ".repeat(column - 1);
                out.push_str(&format!("\n{margin} | {blanks}^"));
            }
        }
        if let Some(hint) = &self.hint {
            out.push_str(&format!("\nhint: {hint}"));
        }
        out
    }
}

/// At most this many characters of a line are shown.
const EXCERPT_CHARS: usize = 120;

/// The part of a line around a column, fit for a terminal, and the column in it.
fn excerpt(text: &str, column: Option<usize>) -> (String, Option<usize>) {
    let start = match column {
        Some(column) if column > EXCERPT_CHARS => column - EXCERPT_CHARS / 2,
        _ => 0,
    };
    let shown = text
        .chars()
        .skip(start)
        .take(EXCERPT_CHARS)
        // Control characters could steer the reader's terminal.
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    (shown, column.map(|c| c - start))
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error() -> InputError {
        let problem = Problem::Value {
            what: "RawShares".into(),
            found: "-5".into(),
            allowed: "a whole number".into(),
        };
        InputError::new("site.toml", problem)
    }

    #[test]
    fn shows_place_line_mark_and_hint() {
        let error = error().at_line(12, "shares = -5").at_column(10).hint("do");
        assert_eq!(
            error.explained(),
            "site.toml:12:10: RawShares \"-5\" is not allowed: allowed is a whole number\n\
             12 | shares = -5\n   |          ^\nhint: do"
        );
    }

    // JSON that ends directly after a line break: found by the fuzz target `queue`.
    #[test]
    fn a_column_before_the_first_is_the_first() {
        let explained = error().at_line(1, "{").at_column(0).explained();
        assert!(explained.ends_with("\n1 | {\n  | ^"), "{explained}");
    }

    #[test]
    fn long_lines_are_cut_around_the_column_and_control_characters_hidden() {
        let line = format!("{}\x1b[31mX", "a".repeat(500));
        let explained = error().at_line(1, &line).at_column(506).explained();
        let mut lines = explained.lines().skip(1);
        let (text, mark) = (lines.next().unwrap(), lines.next().unwrap());
        assert!(!text.contains('\x1b'));
        assert_eq!(
            text.chars().nth(mark.chars().count() - 1),
            Some('X'),
            "{text}\n{mark}"
        );
    }
}
