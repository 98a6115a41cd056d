//! Messages: standard error, coloured only where someone looks.

use std::io::{IsTerminal, Write, stderr, stdout};

use unicode_width::UnicodeWidthStr;

use super::args::Color;
use super::terminal;

/// Whether a choice means colour.
fn colored(choice: Color, terminal: bool) -> bool {
    match choice {
        Color::Always => true,
        Color::Never => false,
        // https://no-color.org: set and not empty.
        Color::Auto => {
            terminal
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
        }
    }
}

/// Where messages go, and how they look.
pub(super) struct Messages {
    choice: Color,
    color: bool,
    quiet: bool,
}

impl Messages {
    /// `quiet` leaves notes out; errors are always told.
    pub fn new(color: Color, quiet: bool) -> Messages {
        Messages {
            choice: color,
            color: colored(color, stderr().is_terminal()),
            quiet,
        }
    }

    /// Whether to colour what goes to standard output.
    pub fn colors_output(&self) -> bool {
        colored(self.choice, stdout().is_terminal())
    }

    /// Why the command stopped.
    pub fn error(&self, text: &str) {
        self.say("error", "\x1b[1;31m", text);
    }

    /// What a reader of the output should know.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.say("note", "\x1b[1;36m", text);
        }
    }

    fn say(&self, what: &str, paint: &str, text: &str) {
        let (paint, end) = if self.color {
            (paint, "\x1b[0m")
        } else {
            ("", "")
        };
        let text = match terminal::message_width() {
            Some(width) => wrapped(text, "fairtree: : ".len() + what.len(), width),
            None => text.to_owned(),
        };
        // Nobody is left to tell when standard error is closed.
        let _ = writeln!(stderr(), "fairtree: {paint}{what}:{end} {text}");
    }
}

/// The sentences of a message broken between words to `width` columns, of which `used` have something
/// before the first line. Lines of an input, behind `|`, stay as they are.
fn wrapped(text: &str, used: usize, width: usize) -> String {
    let mut out = String::new();
    for (at, line) in text.lines().enumerate() {
        let mut column = if at == 0 { used } else { 0 };
        if at > 0 {
            out.push('\n');
        }
        let excerpt = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        if at > 0 && excerpt.starts_with('|') {
            out.push_str(line);
            continue;
        }
        for (nth, word) in line.split(' ').enumerate() {
            let wide = UnicodeWidthStr::width(word);
            if nth > 0 && column + 1 + wide > width {
                out.push_str("\n  ");
                column = 2;
            } else if nth > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += wide;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_break_between_words_and_lines_of_an_input_do_not() {
        let text = "a bb ccc\n12 | x y z x y z\n   |   ^\nhint: do this";
        assert_eq!(
            wrapped(text, 4, 9),
            "a bb\n  ccc\n12 | x y z x y z\n   |   ^\nhint: do\n  this"
        );
    }
}
