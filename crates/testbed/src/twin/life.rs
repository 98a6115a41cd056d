//! A life: the events in a cluster, one per line.
//!
//! The host (`tests/twin`) can play any subset of a life's lines that keeps `boot`. Because of
//! this, a long life can be shrunk.

use std::fmt::Write as _;

/// The lines of a life, without line ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// Events and definitions in order; the host numbers them from 1.
    pub lines: Vec<String>,
}

impl Life {
    /// Parses a life from text; comments and empty lines are dropped.
    pub fn parse(text: &str) -> Life {
        let lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty());
        Life {
            lines: lines.map(str::to_owned).collect(),
        }
    }

    /// The text for the host.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// The life without the events of some verbs.
    pub fn without(mut self, verbs: &[String]) -> Life {
        self.lines.retain(|line| {
            let verb = line.split(' ').next().unwrap_or_default();
            !verbs.iter().any(|unwanted| unwanted == verb)
        });
        self
    }

    /// Adds one line.
    pub fn push(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_go() {
        let life = Life::parse("clock 5 # start\n\n# nothing\nboot\n");
        assert_eq!(life.lines, ["clock 5", "boot"]);
        assert_eq!(life.text(), "clock 5\nboot\n");
    }

    #[test]
    fn verbs_can_be_left_out() {
        let life = Life::parse("clock 5\nboot\npass 1").without(&["pass".to_owned()]);
        assert_eq!(life.lines, ["clock 5", "boot"]);
    }
}
