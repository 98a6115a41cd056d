//! slurm.conf's lines: continuation, comments, escapes, and the one setting at the start of each.
//!
//! - A backslash at the end of a line, blanks after it or not, joins the next line to it.
//! - `#` starts a comment, quoted or not; `\#` is a number sign and `\\` a backslash.
//! - A line is `Key=Value` with blanks allowed around `=`. A value with blanks is in double quotes.
//!   Keys are letters, digits, `_` and `.`; `+=`, `-=`, `*=` and `/=` are `=` to slurmctld's
//!   settings.
//! - `include FILE`, without blanks before it, is replaced by the lines of that file.
//!
//! Source: slurm.conf(5), "DESCRIPTION"; slurmctld 22.05.8 on lines that are neither
//! (`tests/common/starts.rs`).

use super::error::Place;

/// A character and its place.
#[derive(Clone, Copy, Debug)]
struct Glyph {
    char: char,
    line: usize,
    column: usize,
}

/// A line after joining, without comments and escapes.
#[derive(Clone, Debug)]
pub struct JoinedLine {
    glyphs: Vec<Glyph>,
    number: usize,
}

/// Content of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `include FILE`.
    Include {
        /// The file, as written.
        file: Word,
        /// Text after it on the line, blanks trimmed; Slurm refuses a line where this is not empty.
        rest: Word,
    },
    /// `Key=Value` and the rest of the line.
    Setting {
        /// The key, as written.
        key: Word,
        /// The value, without its quotes.
        value: Word,
        /// Text after it on the line, blanks trimmed; empty for settings of slurm.conf's own,
        /// further `Key=Value` for `NodeName` and `PartitionName`.
        rest: Word,
    },
    /// Neither, for instance a key without `=` or without value.
    Other(Word),
}

/// A part of a line, with the places of its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The characters.
    pub text: String,
    /// JoinedLine and column of each character, and of the one after the last.
    places: Vec<(usize, usize)>,
}

impl Word {
    /// A word by itself, on the first line.
    pub(super) fn alone(text: &str) -> Word {
        Word {
            text: text.to_owned(),
            places: (1..=text.chars().count() + 1).map(|at| (1, at)).collect(),
        }
    }

    /// The end of a list `Key=Value Key=Value` from the first part on that has not this form, blanks
    /// trimmed; empty: all of it has.
    pub fn after_pairs(&self) -> Word {
        let places = self.places.iter().zip(self.text.chars());
        let glyphs = places.map(|(&(line, column), char)| Glyph { char, line, column });
        let line = JoinedLine {
            glyphs: glyphs.collect(),
            number: self.places[0].0,
        };
        let mut at = 0;
        loop {
            let start = line.skip(at, is_blank);
            match line.value(line.key_end(start)) {
                Some((_, after)) if line.key_end(start) > start => at = after,
                _ => return line.trimmed(start),
            }
        }
    }

    /// The place of the character `offset` of this word in `file`; beyond its end, the end.
    pub fn place(&self, file: &str, offset: usize) -> Place {
        let last = self.places.len() - 1;
        let (line, column) = self.places[offset.min(last)];
        Place {
            file: file.to_string(),
            line,
            column,
        }
    }
}

/// True for characters that C's isspace takes for a blank in its own locale; a no-break space is
/// not a blank.
fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t'..='\r')
}

/// Splits a file into lines, empty ones left out.
pub fn lines(text: &str) -> impl Iterator<Item = JoinedLine> {
    let mut physical = text.split('\n').enumerate();
    std::iter::from_fn(move || {
        loop {
            let (index, first) = physical.next()?;
            let mut glyphs = Vec::new();
            let mut more = take_physical(&mut glyphs, index + 1, first);
            while more {
                match physical.next() {
                    Some((index, next)) => more = take_physical(&mut glyphs, index + 1, next),
                    None => more = false,
                }
            }
            strip_escapes(&mut glyphs);
            if glyphs.iter().any(|glyph| !is_blank(glyph.char)) {
                return Some(JoinedLine {
                    glyphs,
                    number: index + 1,
                });
            }
        }
    })
}

/// Appends one line of the file without its comment; true: the next one belongs to it.
fn take_physical(glyphs: &mut Vec<Glyph>, line: usize, text: &str) -> bool {
    let start = glyphs.len();
    let mut backslashes = 0;
    for (index, char) in text.trim_end_matches('\r').chars().enumerate() {
        if char == '#' && backslashes % 2 == 0 {
            break;
        }
        backslashes = if char == '\\' { backslashes + 1 } else { 0 };
        glyphs.push(Glyph {
            char,
            line,
            column: index + 1,
        });
    }
    let blanks = glyphs[start..]
        .iter()
        .rev()
        .take_while(|glyph| is_blank(glyph.char))
        .count();
    let end = glyphs.len() - blanks;
    let backslashes = glyphs[start..end]
        .iter()
        .rev()
        .take_while(|glyph| glyph.char == '\\')
        .count();
    let joins = backslashes % 2 == 1;
    if joins {
        glyphs.truncate(end - 1);
    }
    joins
}

fn strip_escapes(glyphs: &mut Vec<Glyph>) {
    let mut escaped = false;
    glyphs.retain(|glyph| {
        escaped = glyph.char == '\\' && !escaped;
        !escaped
    });
}

impl JoinedLine {
    /// Number of the line in the file, from 1; of the first of several joined.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The content of the line.
    pub fn statement(&self) -> Statement {
        let start = self.skip(0, is_blank);
        let key_end = self.key_end(start);
        if key_end > start {
            let word = self.word(start, key_end);
            let includes = start == 0 && word.text.eq_ignore_ascii_case("include");
            if includes && self.is_blank(key_end) {
                let from = self.skip(key_end, is_blank);
                let to = self.skip(from, |c| !is_blank(c));
                return Statement::Include {
                    file: self.word(from, to),
                    rest: self.trimmed(to),
                };
            }
            if let Some((value, after)) = self.value(key_end) {
                return Statement::Setting {
                    key: word,
                    value,
                    rest: self.trimmed(after),
                };
            }
        }
        Statement::Other(self.trimmed(start))
    }

    /// The end of the key that begins at `start`; `start` where none does.
    fn key_end(&self, start: usize) -> usize {
        self.skip(start, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    }

    /// The value after the key that ends at `at`, and where it ends itself.
    fn value(&self, at: usize) -> Option<(Word, usize)> {
        let mut at = self.skip(at, is_blank);
        if matches!(self.char(at), Some('-' | '*' | '+' | '/')) {
            at += 1;
        }
        if self.char(at) != Some('=') {
            return None;
        }
        let from = self.skip(at + 1, is_blank);
        if self.char(from) == Some('"') {
            let to = self.skip(from + 1, |c| c != '"');
            if self.char(to).is_some() && (to + 1 == self.glyphs.len() || self.is_blank(to + 1)) {
                return Some((self.word(from + 1, to), to + 1));
            }
        }
        let to = self.skip(from, |c| !is_blank(c));
        (to > from).then(|| (self.word(from, to), to))
    }

    fn char(&self, at: usize) -> Option<char> {
        self.glyphs.get(at).map(|glyph| glyph.char)
    }

    fn is_blank(&self, at: usize) -> bool {
        self.char(at).is_some_and(is_blank)
    }

    fn skip(&self, from: usize, wanted: impl Fn(char) -> bool) -> usize {
        let rest = self.glyphs.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|glyph| wanted(glyph.char)).count()
    }

    fn trimmed(&self, from: usize) -> Word {
        let from = self.skip(from, is_blank);
        let rest = &self.glyphs[from..];
        let blanks = rest.iter().rev().take_while(|g| is_blank(g.char));
        self.word(from, self.glyphs.len() - blanks.count())
    }

    fn word(&self, from: usize, to: usize) -> Word {
        let glyphs = &self.glyphs[from..to];
        let mut places: Vec<_> = glyphs.iter().map(|g| (g.line, g.column)).collect();
        places.push(match (self.glyphs.get(to), self.glyphs.last()) {
            (Some(next), _) => (next.line, next.column),
            (None, Some(last)) => (last.line, last.column + 1),
            (None, None) => (self.number, 1),
        });
        Word {
            text: glyphs.iter().map(|glyph| glyph.char).collect(),
            places,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key, value and rest of the first setting.
    fn setting(text: &str) -> (String, String, String) {
        match lines(text).next().unwrap().statement() {
            Statement::Setting { key, value, rest } => (key.text, value.text, rest.text),
            other => panic!("{other:?}"),
        }
    }

    fn value(text: &str) -> String {
        setting(text).1
    }

    #[test]
    fn blanks_quotes_comments_and_escapes() {
        assert_eq!(value("Key=1"), "1");
        assert_eq!(value("  Key = 1  \r\n"), "1");
        assert_eq!(value("Key= 7-0 # seven days"), "7-0");
        assert_eq!(value("Key=7-0#x"), "7-0");
        assert_eq!(value("Key=\"a b\""), "a b");
        assert_eq!(value("Key=\"\""), "");
        assert_eq!(value("Key+=5"), "5");
        assert_eq!(value("Key=a\\#b"), "a#b");
        assert_eq!(value("Key=a\\\\b"), "a\\b");
        assert_eq!(value("Key==x"), "=x");
        assert_eq!(value("Key=\"a"), "\"a");
        assert_eq!(value("Key=a\u{a0}b"), "a\u{a0}b");
    }

    #[test]
    fn what_follows_is_the_rest() {
        let (key, value, rest) = setting("PartitionName=a Nodes=b  Priority=3 ");
        assert_eq!(
            (key.as_str(), value.as_str(), rest.as_str()),
            ("PartitionName", "a", "Nodes=b  Priority=3")
        );
    }

    #[test]
    fn pairs_end_at_what_is_not_one() {
        for (text, left, column) in [
            ("A=a Nodes=b  Priority = 3 ", "", 0),
            ("A=a Reason=\"x y\" State=DOWN", "", 0),
            ("A=a Nodes=b junk CPUs=2", "junk CPUs=2", 13),
            ("A=a CPUs=", "CPUs=", 5),
            ("A=a Reason=\"x\"y z", "z", 17),
            ("A=a = 3", "= 3", 5),
        ] {
            let Statement::Setting { rest, .. } = lines(text).next().unwrap().statement() else {
                panic!("{text}");
            };
            let found = rest.after_pairs();
            assert_eq!(found.text, left, "{text}");
            if !left.is_empty() {
                assert_eq!(found.place("f", 0).column, column, "{text}");
            }
        }
    }

    #[test]
    fn a_backslash_joins_lines_and_keeps_places() {
        let text = "# head\nKey=a,\\  \n  b,\\ # comment\nc\nNext=1";
        let mut all = lines(text);
        let first = all.next().unwrap();
        assert_eq!(first.number(), 2);
        // The blanks before `b` end the value, as they do for slurmctld.
        let Statement::Setting { value, rest, .. } = first.statement() else {
            panic!()
        };
        assert_eq!((value.text.as_str(), rest.text.as_str()), ("a,", "b,c"));
        let place = rest.place("f", 2);
        assert_eq!((place.line, place.column), (4, 1));
        assert_eq!(value.place("f", 0).to_string(), "f:2:5");
        assert_eq!(all.next().unwrap().number(), 5);
        assert!(all.next().is_none());
    }

    #[test]
    fn an_even_number_of_backslashes_does_not_join() {
        let all: Vec<_> = lines("A=x\\\\\nB=y\\\\\\\nz").collect();
        assert_eq!(all.len(), 2);
        let Statement::Setting { value, .. } = all[1].statement() else {
            panic!()
        };
        assert_eq!(value.text, "y\\z");
    }

    #[test]
    fn includes_and_other_lines() {
        let statement = |text: &str| lines(text).next().unwrap().statement();
        let Statement::Include { file, rest } = statement("Include /etc/slurm/nodes.conf # x")
        else {
            panic!()
        };
        assert_eq!((&*file.text, &*rest.text), ("/etc/slurm/nodes.conf", ""));
        let Statement::Include { rest, .. } = statement("include a b c") else {
            panic!()
        };
        assert_eq!((&*rest.text, rest.place("f", 0).column), ("b c", 11));
        for text in [
            "{% if x %}",
            "Key",
            "Key=",
            "Key = ",
            "= 5",
            "-",
            "PriorityWeightAge 5",
            " include a",
        ] {
            assert!(matches!(statement(text), Statement::Other(_)), "{text}");
        }
        assert!(matches!(statement("include=5"), Statement::Setting { .. }));
        assert!(lines("\n  \n# only comments\n\\").next().is_none());
    }
}
