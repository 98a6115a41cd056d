//! From a byte of a text to its line and column.

use std::ops::Range;

use crate::input::error::{InputError, Problem};

/// A text and the name of its file.
pub(in crate::input) struct Text<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// The text without a byte order mark.
    pub text: &'a str,
}

impl<'a> Text<'a> {
    /// The text of a file.
    pub fn new(file: &'a str, text: &'a str) -> Text<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Text { file, text }
    }

    /// An error at the byte `at`.
    pub fn error(&self, at: usize, problem: Problem) -> InputError {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[at..]
            .find('\n')
            .map_or(self.text.len(), |end| at + end);
        InputError::new(self.file, problem)
            .at_line(
                before.matches('\n').count() + 1,
                self.text[start..end].trim_end_matches('\r'),
            )
            .at_column(self.text[start..at].chars().count() + 1)
    }

    /// An error about the value of `what` in the bytes `span`.
    pub fn value(
        &self,
        span: &Range<usize>,
        what: impl Into<String>,
        allowed: impl Into<String>,
    ) -> InputError {
        let found = self.text.get(span.clone()).unwrap_or("");
        let found = found.trim_matches(['"', '\'']).chars().take(80).collect();
        let problem = Problem::Value {
            what: what.into(),
            found,
            allowed: allowed.into(),
        };
        self.error(span.start, problem)
    }
}
