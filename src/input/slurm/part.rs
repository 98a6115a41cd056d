//! A snapshot of a capture with the jobs that a question is about, not a million others.
//!
//! Of the jobs, their names and priorities only the lines in question are read into memory; the
//! rest passes by. The jobs that tell when the last pass was are among them, see [`VOTERS`].

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::job::{self, JobRow, Names};
use super::scan::{self, Kept};
use super::snapshot::{Answers, Snapshot, Source};
use crate::input::error::InputError;
use crate::input::lines::Lines;
use crate::input::sprio::{self, Queue};

/// How many rows of `sprio` with an age below its maximum, the first ones, tell the moment of the
/// last pass; and how many that have none yet.
pub const VOTERS: usize = 1000;

/// The jobs that a question is about.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Those with these numbers.
    pub ids: Vec<u32>,
    /// Those that are of these arrays.
    pub arrays: Vec<u32>,
    /// Those in states for which this holds.
    pub in_state: fn(&str) -> bool,
}

/// Where the long answers are.
pub type Place<'p> = &'p (dyn Fn(Source) -> Result<PathBuf, InputError> + Sync);

impl Snapshot {
    /// Reads the answers of one capture called `name` with all jobs. `answers`: all but the long
    /// ones, which are read where `place` says they are and of which the rows are kept, not the
    /// text.
    ///
    /// # Errors
    /// As [`Snapshot::read`].
    pub fn read_long(
        name: &str,
        answers: &Answers,
        place: Place<'_>,
    ) -> Result<Snapshot, InputError> {
        Snapshot::with(name, answers, || {
            let (file, input) = stream(&place(Source::Names)?)?;
            let names = job::read_names_of(&file, input)?;
            let (file, input) = stream(&place(Source::Jobs)?)?;
            let jobs = job::read_stream(&file, input, &names)?;
            let (file, input) = stream(&place(Source::Priorities)?)?;
            Ok((sprio::read(&file, input)?, jobs))
        })
    }

    /// Reads the answers of one capture called `name`, and of its jobs the wanted ones and the
    /// voters. `answers`: all but the long ones, which are read where `place` says they are.
    ///
    /// # Errors
    /// As [`Snapshot::read`]; lines of other jobs are not looked into.
    pub fn read_part(
        name: &str,
        answers: &Answers,
        place: Place<'_>,
        wanted: &Wanted,
    ) -> Result<Snapshot, InputError> {
        Snapshot::with(name, answers, || selection(place, wanted))
    }
}

/// The wanted jobs and the voters, with their rows of sprio.
fn selection(place: Place<'_>, wanted: &Wanted) -> Result<(Queue, Vec<JobRow>), InputError> {
    let priorities = place(Source::Priorities)?;
    let mut ids: HashSet<u32> = wanted.ids.iter().copied().collect();
    ids.extend(voters(&priorities)?);
    let jobs = place(Source::Jobs)?;
    let kept = kept(&jobs, |line| is_wanted(line, &ids, wanted))?;
    let found: HashSet<u32> = kept.text.lines().filter_map(number_of).collect();
    let names = names(&place(Source::Names)?, &found)?;
    let file = jobs.display().to_string();
    let jobs = job::read(&file, &kept.text, &names).map_err(|error| there(error, &kept))?;
    Ok((queue(&priorities, &found)?, jobs))
}

/// A file by name, opened.
fn stream(path: &Path) -> Result<(String, BufReader<File>), InputError> {
    let file = path.display().to_string();
    let input = File::open(path).map_err(|error| InputError::new(&file, error))?;
    Ok((file, BufReader::with_capacity(1 << 20, input)))
}

/// The number at the beginning of a record of scontrol.
fn number_of(record: &str) -> Option<u32> {
    let number = record.strip_prefix("JobId=")?.split(' ').next()?;
    number.parse().ok()
}

fn is_wanted(line: &[u8], ids: &HashSet<u32>, wanted: &Wanted) -> bool {
    let Some(number) = line.strip_prefix(b"JobId=").and_then(leading_number) else {
        // The reader says what is wrong with it, if anything.
        return true;
    };
    if ids.contains(&number) {
        return true;
    }
    // Names and comments can hold such words, too: then the record is read for nothing.
    let of_array = |word: &[u8]| leading_number(word).is_some_and(|n| wanted.arrays.contains(&n));
    if !wanted.arrays.is_empty() && any_value(line, b" ArrayJobId=", of_array) {
        return true;
    }
    any_value(line, b" JobState=", |rest| {
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        std::str::from_utf8(&rest[..end]).is_ok_and(wanted.in_state)
    })
}

/// Whether `fits` holds for what follows one of the places where `key` stands.
fn any_value(line: &[u8], key: &[u8], fits: impl Fn(&[u8]) -> bool) -> bool {
    let mut places = memmem::find_iter(line, key).map(|at| at + key.len());
    places.any(|at| fits(&line[at..]))
}

fn leading_number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// The jobs of the first rows that tell an age.
fn voters(path: &Path) -> Result<HashSet<u32>, InputError> {
    let (file, input) = stream(path)?;
    let mut lines = Lines::new(&file, input);
    let mut found = HashSet::new();
    let Some(header) = lines.next()? else {
        return Ok(found);
    };
    // The weighted age stands before the other one.
    let at = header
        .split('|')
        .enumerate()
        .filter(|(_, name)| *name == "AGE");
    let Some((at, _)) = at.last() else {
        return Ok(found);
    };
    let (mut aged, mut ageless) = (0, 0);
    while let Some(line) = lines.next()? {
        let Some(id) = leading_number(line.trim_start().as_bytes()) else {
            continue;
        };
        let cell = line.split('|').nth(at).unwrap_or("");
        let age = cell.trim().parse().unwrap_or(0.0);
        let count = match age {
            0.0 => &mut ageless,
            age if age > 0.0 && age < 1.0 => &mut aged,
            _ => continue,
        };
        if *count < VOTERS {
            found.insert(id);
            *count += 1;
        }
        if aged == VOTERS {
            break;
        }
    }
    Ok(found)
}

fn names(path: &Path, ids: &HashSet<u32>) -> Result<Names, InputError> {
    let of = |line: &[u8]| leading_number(line).is_some_and(|id| ids.contains(&id));
    let kept = kept(path, of)?;
    job::read_names_of(&path.display().to_string(), kept.text.as_bytes())
}

/// The rows of sprio for some jobs.
fn queue(path: &Path, ids: &HashSet<u32>) -> Result<Queue, InputError> {
    let file = path.display().to_string();
    let mut header = Vec::new();
    let opened = File::open(path).map(|input| input.take(1 << 16).read_to_end(&mut header));
    opened
        .and_then(|read| read)
        .map_err(|error| InputError::new(&file, error))?;
    let end = memchr::memchr(b'\n', &header).unwrap_or(header.len());
    header.truncate(end);
    let of = |line: &[u8]| {
        line == header || leading_number(line.trim_ascii_start()).is_none_or(|id| ids.contains(&id))
    };
    let kept = kept(path, of)?;
    sprio::read(&file, kept.text.as_bytes()).map_err(|error| there(error, &kept))
}

fn kept(path: &Path, keep: impl Fn(&[u8]) -> bool + Sync) -> Result<Kept, InputError> {
    scan::lines(path, keep).map_err(|error| InputError::new(&path.display().to_string(), error))
}

/// An error in the lines that were kept, with the line of the file.
fn there(mut error: InputError, kept: &Kept) -> InputError {
    let number = |line: usize| kept.numbers.get(line - 1).copied().unwrap_or(line);
    error.line = error.line.map(number);
    error
}
