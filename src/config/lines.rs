//! slurm.conf's lines: continuation, comments, escapes, and the one setting at the start of each.
//!
//! - A backslash at the end of a line, blanks after it or not, joins the next line to it.
//! - `#` starts a comment, quoted or not; `\#` is a number sign and `\\` a backslash.
//! - A line is `Key=Value` with blanks allowed around `=`. A value with blanks stands in double
//!   quotes. Keys are letters, digits, `_` and `.`; `+=`, `-=`, `*=` and `/=` are `=` to slurmctld's
//!   settings.
//! - `include FILE` stands for the lines of that file.
//!
//! Source: slurm.conf(5), "DESCRIPTION".

use super::error::Place;

/// A character and where it stands.
#[derive(Clone, Copy, Debug)]
struct Glyph {
    char: char,
    line: usize,
    column: usize,
}

/// A line after joining, without comments and escapes.
#[derive(Clone, Debug)]
pub struct Line {
    glyphs: Vec<Glyph>,
    number: usize,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `include FILE`.
    Include(Word),
    /// `Key=Value` and the rest of the line.
    Setting {
        /// The key, as written.
        key: Word,
        /// The value, without its quotes.
        value: Word,
        /// What follows on the line, blanks trimmed; empty for settings of slurm.conf's own,
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
    /// Line and column of each character, and of the one after the last.
    places: Vec<(usize, usize)>,
}

impl Word {
    /// A word that stands alone, on the first line.
    pub(super) fn alone(text: &str) -> Word {
        Word {
            text: text.to_owned(),
            places: (1..=text.chars().count() + 1).map(|at| (1, at)).collect(),
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

/// Splits a file into lines, empty ones left out.
pub fn lines(text: &str) -> impl Iterator<Item = Line> {
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
            if glyphs.iter().any(|glyph| !glyph.char.is_whitespace()) {
                return Some(Line {
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
        .take_while(|glyph| glyph.char.is_whitespace())
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

impl Line {
    /// Number of the line in the file, from 1; of the first of several joined.
    pub fn number(&self) -> usize {
        self.number
    }

    /// What the line says.
    pub fn statement(&self) -> Statement {
        let start = self.skip(0, char::is_whitespace);
        let key_end = self.skip(start, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if key_end > start {
            let word = self.word(start, key_end);
            if word.text.eq_ignore_ascii_case("include") && self.is_blank(key_end) {
                let from = self.skip(key_end, char::is_whitespace);
                let to = self.skip(from, |c| !c.is_whitespace());
                return Statement::Include(self.word(from, to));
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

    /// The value after the key that ends at `at`, and where it ends itself.
    fn value(&self, at: usize) -> Option<(Word, usize)> {
        let mut at = self.skip(at, char::is_whitespace);
        if matches!(self.char(at), Some('-' | '*' | '+' | '/')) {
            at += 1;
        }
        if self.char(at) != Some('=') {
            return None;
        }
        let from = self.skip(at + 1, char::is_whitespace);
        if self.char(from) == Some('"') {
            let to = self.skip(from + 1, |c| c != '"');
            if self.char(to).is_some() && (to + 1 == self.glyphs.len() || self.is_blank(to + 1)) {
                return Some((self.word(from + 1, to), to + 1));
            }
        }
        let to = self.skip(from, |c| !c.is_whitespace());
        (to > from).then(|| (self.word(from, to), to))
    }

    fn char(&self, at: usize) -> Option<char> {
        self.glyphs.get(at).map(|glyph| glyph.char)
    }

    fn is_blank(&self, at: usize) -> bool {
        self.char(at).is_some_and(char::is_whitespace)
    }

    fn skip(&self, from: usize, wanted: impl Fn(char) -> bool) -> usize {
        let rest = self.glyphs.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|glyph| wanted(glyph.char)).count()
    }

    fn trimmed(&self, from: usize) -> Word {
        let from = self.skip(from, char::is_whitespace);
        let rest = &self.glyphs[from..];
        let blanks = rest.iter().rev().take_while(|g| g.char.is_whitespace());
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
        let Statement::Include(file) = statement("Include /etc/slurm/nodes.conf # x") else {
            panic!()
        };
        assert_eq!(file.text, "/etc/slurm/nodes.conf");
        for text in [
            "{% if x %}",
            "Key",
            "Key=",
            "Key = ",
            "= 5",
            "-",
            "PriorityWeightAge 5",
        ] {
            assert!(matches!(statement(text), Statement::Other(_)), "{text}");
        }
        assert!(matches!(statement("include=5"), Statement::Setting { .. }));
        assert!(lines("\n  \n# only comments\n\\").next().is_none());
    }
}
