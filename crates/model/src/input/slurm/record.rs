//! Records of `scontrol -o show ...`: a line each, `Key=Value` with blanks between.

use std::collections::HashSet;

use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Record<'a> {
    file: &'a str,
    line: usize,
    text: &'a str,
    /// Key, value, byte of the value.
    fields: Vec<(&'a str, &'a str, usize)>,
}

/// Where the value of a key that people choose freely ends, given the record, the key and the byte
/// that the value begins at; `None`: at the next blank that a key follows.
pub(super) type End<'f> = &'f dyn Fn(&str, &str, usize) -> Option<usize>;

/// Reads the records of `text`, each beginning with `first=` and a name of its own. Lines like `No jobs in the system`
/// hold no record.
pub(super) fn records<'a>(
    file: &'a str,
    text: &'a str,
    first: &str,
    end: End<'_>,
    left: &mut LeftOut,
) -> Result<Vec<Record<'a>>, InputError> {
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    let before = left.count();
    for (number, line) in text.lines().enumerate() {
        let read = record(file, number + 1, line, first, end, |_| false);
        // Text before the first record is no answer at all.
        let read = match records.is_empty() {
            true => read?,
            false => left.keep(read)?.flatten(),
        };
        let Some(record) = read else {
            continue;
        };
        if !seen.insert(record.name()) {
            return Err(record.twice(first));
        }
        records.push(record);
    }
    left.any_read(records.len(), before)?;
    Ok(records)
}

/// Reads one line, the `number`-th from 1, up to the first key for which `stop` holds: text of
/// users follows it. `None` if the line holds no record.
pub(super) fn record<'a>(
    file: &'a str,
    number: usize,
    line: &'a str,
    first: &str,
    end: End<'_>,
    stop: fn(&str) -> bool,
) -> Result<Option<Record<'a>>, InputError> {
    if line.trim().is_empty() || line.starts_with("No ") {
        return Ok(None);
    }
    let begins = line
        .strip_prefix(first)
        .is_some_and(|rest| rest.starts_with('='));
    if !begins {
        let why = format!("the record does not begin with {first}=");
        return Err(InputError::new(file, Problem::Structure(why))
            .at_line(number, line)
            .hint("run scontrol with -o, one record a line"));
    }
    Ok(Some(Record {
        file,
        line: number,
        text: line,
        fields: fields(line, end, stop),
    }))
}

fn fields<'a>(
    line: &'a str,
    end_of: End<'_>,
    stop: fn(&str) -> bool,
) -> Vec<(&'a str, &'a str, usize)> {
    // About as many as scontrol prints of a job.
    let mut fields: Vec<(&str, &str, usize)> = Vec::with_capacity(64);
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let word_end = || memchr::memchr(b' ', rest.as_bytes()).unwrap_or(rest.len());
        let Some(equals) = key_len(rest.as_bytes()) else {
            // A blank inside a value: it continues.
            let end = at + word_end();
            if let Some((_, value, start)) = fields.last_mut() {
                *value = &line[*start..end];
            }
            at = end + 1;
            continue;
        };
        let key = &rest[..equals];
        if stop(key) {
            break;
        }
        let start = at + equals + 1;
        let end = end_of(line, key, start).unwrap_or_else(|| at + word_end());
        fields.push((key, &line[start..end], start));
        at = end + 1;
    }
    fields
}

/// Returns true if two keys are the same. Many keys have the same length; few have also the same
/// last letter.
fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    a.len() == b.len() && a.last() == b.last() && a == b
}

/// The length of the key before `=` that a word begins with, if it does.
fn key_len(word: &[u8]) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b':');
    let end = word.iter().position(|byte| !is_part(*byte))?;
    (word[end] == b'=' && word[0].is_ascii_alphabetic()).then_some(end)
}

impl<'a> Record<'a> {
    /// The error of a record that nothing else knows of.
    pub fn unknown(&self, why: &str) -> InputError {
        InputError::new(self.file, Problem::Structure(why.to_owned())).at_line(self.line, self.text)
    }

    /// The value that it begins with.
    pub fn name(&self) -> &'a str {
        self.text.split([' ', '=']).nth(1).unwrap_or_default()
    }

    /// The error of a second record that begins with the same value of `first`.
    pub fn twice(&self, first: &str) -> InputError {
        let why = format!("{first}={} stands here twice", self.name());
        InputError::new(self.file, Problem::Structure(why))
            .at_line(self.line, self.text)
            .hint("is the answer put together from two?")
    }

    /// The value of a key where it first occurs: later ones may be inside a user's text. `(null)`
    /// and an empty value give `None`.
    pub fn said(&self, key: &str) -> Option<&'a str> {
        let found = self.fields.iter().find(|(name, _, _)| same(name, key));
        found
            .map(|(_, value, _)| value.trim())
            .filter(|value| !value.is_empty() && *value != "(null)")
    }

    /// What follows the last value that was read: text that users write, after the key that stopped
    /// the reader.
    pub fn rest(&self) -> &'a str {
        let end = self
            .fields
            .last()
            .map_or(0, |(_, value, start)| start + value.len());
        &self.text[end..]
    }

    /// As [`Record::said`], of a key that comes before the first `border`.
    pub fn said_before(&self, border: &str, key: &str) -> Option<&'a str> {
        let of = |wanted: &str| {
            self.fields
                .iter()
                .position(|(name, _, _)| same(name, wanted))
        };
        let (at, border) = (of(key)?, of(border)?);
        self.said(key).filter(|_| at < border)
    }

    /// The value of a key that must be there.
    pub fn text(&self, key: &str) -> Result<&'a str, InputError> {
        self.said(key).ok_or_else(|| {
            let why = format!("{key} is not there");
            InputError::new(self.file, Problem::Structure(why)).at_line(self.line, self.text)
        })
    }

    /// An error about the value of a key.
    pub fn value(&self, key: &str, allowed: &str) -> InputError {
        let found = self.fields.iter().find(|(name, _, _)| same(name, key));
        let (value, start) = found.map_or(("", 0), |(_, value, start)| (*value, *start));
        let problem = Problem::Value {
            what: key.to_owned(),
            found: value.chars().take(80).collect(),
            allowed: allowed.to_owned(),
        };
        InputError::new(self.file, problem)
            .at_line(self.line, self.text)
            .at_column(self.text[..start].chars().count() + 1)
    }

    /// The value of a key that must be there, read by `read`.
    pub fn read<T>(
        &self,
        key: &str,
        allowed: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, InputError> {
        read(self.text(key)?).ok_or_else(|| self.value(key, allowed))
    }
}

/// No value is free.
pub(super) fn no_end(_: &str, _: &str, _: usize) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_hold_blanks_and_names_anything() {
        let line =
            "JobId=7 JobName=my job Priority=9 UserId=me(1) Priority=5  OS=Linux 6 #1 @0  X=";
        let records = records(
            "f",
            line,
            "JobId",
            &|line, key, start| {
                let end = line[start..].find(" UserId=")?;
                (key == "JobName").then_some(start + end)
            },
            &mut LeftOut::default(),
        )
        .unwrap();
        let record = &records[0];
        assert_eq!(record.said("JobName"), Some("my job Priority=9"));
        assert_eq!(record.said("Priority"), Some("5"));
        assert_eq!(record.said("OS"), Some("Linux 6 #1 @0"));
        assert_eq!(record.said("X"), None);
        let error = record.value("Priority", "words");
        assert_eq!((error.line, error.column), (Some(1), Some(57)));
    }

    #[test]
    fn other_lines_are_errors() {
        assert!(
            records(
                "f",
                "No jobs in the system\n",
                "JobId",
                &no_end,
                &mut LeftOut::default()
            )
            .unwrap()
            .is_empty()
        );
        assert!(records("f", "JobIdx=7", "JobId", &no_end, &mut LeftOut::default()).is_err());
    }
}
