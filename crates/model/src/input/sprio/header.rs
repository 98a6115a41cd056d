//! Columns that a header names, and their places.

use super::column::{Column, Factor, Field, Form, LineFormat};
use crate::input::prompt::{call, words as words_of};

/// A word of a header or a cell of a row, with its place in the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// First character, from 0.
    pub start: usize,
    /// Behind the last character.
    pub end: usize,
    /// First byte.
    pub byte: usize,
    /// The text.
    pub text: String,
}

/// How the cells of a row are separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// By blanks: a cell is under its heading.
    Blanks(Vec<Word>),
    /// By one sign.
    Sign(char, usize),
}

/// A header, as far as it can be understood alone.
#[derive(Clone, Debug)]
pub(super) struct Header {
    /// One name per column, as printed in full.
    pub names: Vec<&'static str>,
    /// Their positions.
    pub layout: Layout,
}

/// Headings in full. PARTITION heads two columns, every other one at most two forms of one.
const NAMES: [&str; 16] = [
    "JOBID",
    "PARTITION",
    "CLUSTER",
    "USER",
    "ACCOUNT",
    "QOSNAME",
    "SLUID",
    "SITE",
    "NICE",
    "PRIORITY",
    "AGE",
    "ASSOC",
    "FAIRSHARE",
    "JOBSIZE",
    "QOS",
    "TRES",
];

/// Returns true if `line` can be the first of a listing: a command line with sprio, or a header.
pub fn begins(line: &str) -> bool {
    is_command(line) || header(line).is_some_and(|header| header.names.len() > 1)
}

/// Returns true if a line is a call of sprio, with a prompt before it or without.
pub(super) fn is_command(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    first.rsplit('/').next() == Some("sprio") || call(line, "sprio").is_some()
}

/// The header of a listing of this format, which `sprio -h` left out; `None` if the cells of its
/// rows cannot be separated.
pub(super) fn of_format(format: &LineFormat) -> Option<Header> {
    let names: Vec<&'static str> = format
        .fields
        .iter()
        .map(|field| field.column.name())
        .collect();
    let between: Vec<&str> = format
        .fields
        .iter()
        .map(|field| field.suffix.trim())
        .collect();
    let (last, between) = between.split_last()?;
    let sign = between.first().copied().unwrap_or("");
    let same = between.iter().all(|suffix| *suffix == sign) && (last.is_empty() || *last == sign);
    if !same || !format.prefix.trim().is_empty() {
        return None;
    }
    let mut signs = sign.chars();
    let layout = match (signs.next(), signs.next()) {
        (Some(sign), None) => Layout::Sign(sign, names.len()),
        (None, None) => {
            let mut at = format.prefix.chars().count();
            let word = |field: &Field| {
                let start = at;
                at += field.width + field.suffix.chars().count();
                Word {
                    start,
                    end: start + field.width,
                    byte: start,
                    text: String::new(),
                }
            };
            Layout::Blanks(format.fields.iter().map(word).collect())
        }
        _ => return None,
    };
    Some(Header { names, layout })
}

/// The columns that a call of sprio asks for; `None` without `-o`.
pub(super) fn asked(line: &str) -> Option<LineFormat> {
    let words = words_of(call(line, "sprio").unwrap_or(line));
    let mut words = words.iter().map(String::as_str).skip(1);
    let mut format = None;
    while let Some(word) = words.next() {
        if let Some(value) = word.strip_prefix("--format=") {
            format = Some(value);
        } else if word == "--format" {
            format = words.next();
        } else if let Some(letters) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) {
            // These take the rest of the word, or else the next.
            let Some(at) = letters.find(['o', 'j', 'M', 'p', 'S', 'u']) else {
                continue;
            };
            let (letter, rest) = letters[at..].split_at(1);
            let value = match rest {
                "" => words.next(),
                rest => Some(rest),
            };
            if letter == "o" {
                format = value;
            }
        }
    }
    LineFormat::parse(format?).ok()
}

/// A line as a header; `None` when a word of it is no heading, whole or cut.
pub(super) fn header(line: &str) -> Option<Header> {
    // Nearly all lines are rows: one of their words shows it.
    let runs = line.split(|c: char| !c.is_ascii_alphabetic());
    for run in runs.filter(|run| !run.is_empty()) {
        full_name(run)?;
    }
    let words = words(line, |c| c.is_ascii_alphabetic());
    if words.is_empty() {
        return None;
    }
    let names = words
        .iter()
        .map(|word| full_name(&word.text))
        .collect::<Option<Vec<_>>>()?;
    let chars: Vec<char> = line.trim_end().chars().collect();
    let mut signs = words.windows(2).map(|pair| {
        let between: Vec<char> = chars[pair[0].end..pair[1].start].to_vec();
        let mut said = between.into_iter().filter(|c| !c.is_whitespace());
        (said.next(), said.next())
    });
    let first = signs.next().unwrap_or((None, None));
    if first.1.is_some() || signs.any(|sign| sign != first) {
        return None;
    }
    let outside = chars[..words[0].start]
        .iter()
        .chain(&chars[words[words.len() - 1].end..])
        .any(|c| !c.is_whitespace() && Some(*c) != first.0);
    if outside {
        return None;
    }
    let layout = match first.0 {
        Some(sign) => Layout::Sign(sign, words.len()),
        None => Layout::Blanks(words),
    };
    Some(Header { names, layout })
}

/// The heading that `word` is, or is the beginning of, cut by a narrow column.
fn full_name(word: &str) -> Option<&'static str> {
    if let Some(name) = NAMES.into_iter().find(|name| *name == word) {
        return Some(name);
    }
    let mut fits = NAMES.into_iter().filter(|name| name.starts_with(word));
    match (fits.next(), fits.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    }
}

/// The runs of characters for which `inside` holds.
pub(super) fn words(line: &str, inside: impl Fn(char) -> bool) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut open = false;
    for (at, (byte, c)) in line.char_indices().enumerate() {
        match (inside(c), open) {
            (true, true) => {
                if let Some(word) = words.last_mut() {
                    word.text.push(c);
                    word.end = at + 1;
                }
            }
            (true, false) => words.push(Word {
                start: at,
                end: at + 1,
                byte,
                text: c.to_string(),
            }),
            (false, _) => {}
        }
        open = inside(c);
    }
    words
}

/// The columns of the headings. `normal(k)` says if the numbers of the k-th are normalised, and
/// `number(k)` if it contains nothing but numbers.
pub(super) fn columns(
    names: &[&str],
    normal: impl Fn(usize) -> bool,
    number: impl Fn(usize) -> bool,
) -> Vec<Column> {
    let partitions: Vec<usize> = (0..names.len())
        .filter(|&at| names[at] == "PARTITION")
        .collect();
    // The name comes before the number; a single column is decided by its contents, or is the name
    // if it is beside the job's number.
    let is_name = |at: usize| match partitions[..] {
        [only] => only == 1 || !number(only),
        [first, ..] => at == first,
        [] => false,
    };
    let form = |at| {
        if normal(at) {
            Form::Normalised
        } else {
            Form::Weighted
        }
    };
    let column = |(at, name): (usize, &&str)| match *name {
        "JOBID" => Column::JobId,
        "CLUSTER" => Column::Cluster,
        "USER" => Column::User,
        "ACCOUNT" => Column::Account,
        "QOSNAME" => Column::QosName,
        "SLUID" => Column::Sluid,
        "SITE" => Column::Site,
        "NICE" => Column::Nice,
        "PRIORITY" => Column::Priority(form(at)),
        "PARTITION" if is_name(at) => Column::Partition,
        name => {
            let mut factors = Factor::ALL.into_iter();
            let factor = factors.find(|factor| factor.heading() == name);
            Column::Factor(factor.unwrap_or(Factor::Tres), form(at))
        }
    };
    names.iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_from_rows() {
        for line in [
            "          JOBID PARTITION   PRIORITY       SITE        AGE",
            "JOBID|USER|PRIORITY",
            "JOBID|USER|PRIORITY|",
            " JOBI PRIOR FAIRS",
        ] {
            assert!(header(line).is_some(), "{line}");
        }
        for line in [
            "1019947 Main",
            "Weights    1",
            "# JOBID",
            "a JOBID|USER,AGE",
            "",
        ] {
            assert!(header(line).is_none(), "{line}");
        }
    }

    #[test]
    fn commands_are_told_from_comments() {
        for line in [
            "sprio -u a,b",
            "$ sprio -w",
            "[me@login ~]$ sprio",
            "# /usr/bin/sprio -l",
        ] {
            assert!(is_command(line), "{line}");
        }
        for line in ["# sprio of last week", "# 2024-12-03", "$ sshare", ""] {
            assert!(!is_command(line), "{line}");
        }
    }

    #[test]
    fn a_call_tells_the_columns() {
        for line in [
            "$ sprio -h -o '%i|%u|%Y'",
            "[root@h ~]# sprio -hu bob -o\"%i|%u|%Y\" | head",
            "sprio -S y --format=%i|%u|%Y",
            "$ sprio --noheader --format '%i|%u|%Y'",
        ] {
            let line = line.replace("=%i|%u|%Y", "='%i|%u|%Y'");
            let header = of_format(&asked(&line).unwrap()).unwrap();
            assert_eq!(header.names, ["JOBID", "USER", "PRIORITY"], "{line}");
            assert_eq!(header.layout, Layout::Sign('|', 3));
        }
        assert_eq!(asked("$ sprio -l"), None);
        for format in ["%i|%u,%Y", "job %i %u", "%i--%u"] {
            assert!(of_format(&LineFormat::parse(format).unwrap()).is_none());
        }
    }

    #[test]
    fn the_first_of_two_partitions_is_the_name() {
        let header = header("JOBID USER PARTITION PRIORITY PARTITION").unwrap();
        let columns = columns(&header.names, |_| false, |_| true);
        assert_eq!(columns[2], Column::Partition);
        assert_eq!(
            columns[4],
            Column::Factor(Factor::Partition, Form::Weighted)
        );
    }
}
