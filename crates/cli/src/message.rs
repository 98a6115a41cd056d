//! Messages: standard error, coloured only in a terminal.

use std::io::{IsTerminal, Write, stderr, stdout};

use super::args::Color;
use super::terminal;
use super::wrap::broken;

/// Returns true if a choice means colour.
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
    /// `quiet` leaves notes out; errors are always shown.
    pub fn new(color: Color, quiet: bool) -> Messages {
        Messages {
            choice: color,
            color: colored(color, stderr().is_terminal()),
            quiet,
        }
    }

    /// Returns true if standard output is coloured.
    pub fn colors_output(&self) -> bool {
        colored(self.choice, stdout().is_terminal())
    }

    /// Why the command stopped.
    pub fn error(&self, text: &str) {
        self.say("error", "\x1b[1;31m", text);
    }

    /// Writes a note for the reader of the output.
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
        // Names of files and of users could steer a terminal.
        let text: String = text
            .chars()
            .map(|c| if c.is_control() && c != '\n' { '?' } else { c })
            .collect();
        let text = match terminal::message_width() {
            Some(width) => wrapped(&text, "fairtree: : ".len() + what.len(), width),
            None => text,
        };
        // There is no other place for a message when standard error is closed.
        let _ = writeln!(stderr(), "fairtree: {paint}{what}:{end} {text}");
    }
}

/// The sentences of a message in lines of `width` columns, of which `used` have something before the
/// first one.
fn wrapped(text: &str, used: usize, width: usize) -> String {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| broken(line, if at == 0 { used } else { 0 }, 2, width));
    lines.collect::<Vec<_>>().join("\n")
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
