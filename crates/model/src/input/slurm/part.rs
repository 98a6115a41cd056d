//! A snapshot of a capture with the jobs that a question is about, not a million others.
//!
//! Only the lines in question of jobs, their names and priorities are read into memory; the rest is
//! skipped. They include the jobs that show when the last pass was, see [`VOTERS`].

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::thread;

use memchr::memmem;

use super::job::{self, JobRow, Names};
use super::scan::{self, Excerpt};
use super::snapshot::{Answers, Long, Purpose, Snapshot, Source};
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;
use crate::input::lines::Lines;
use crate::input::sprio::{self, Queue};

/// Number of rows of `sprio`, the first with an age below its maximum, that show the moment of the
/// last pass; also the number of rows without an age that do.
pub const VOTERS: usize = 1000;

/// The jobs that a question is about.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Jobs with these numbers.
    pub ids: Vec<u32>,
    /// Jobs of these arrays.
    pub arrays: Vec<u32>,
    /// Jobs in states for which this holds.
    pub in_state: fn(&str) -> bool,
}

/// Finds the path of a long answer.
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
        Snapshot::with(name, answers, Purpose::Any, || {
            thread::scope(|scope| {
                let queue = scope.spawn(|| {
                    let (file, input) = stream(&place(Source::Priorities)?)?;
                    let mut left = LeftOut::default();
                    Ok((sprio::read_answer(&file, input, &mut left)?, left))
                });
                let mut left = LeftOut::default();
                let jobs = jobs(place, &mut left);
                let queue: Result<_, InputError> = queue
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let (jobs, has_names) = jobs?;
                let (queue, of_queue) = queue?;
                left.append(of_queue);
                let file = place(Source::Jobs)?.display().to_string();
                Long { queue, jobs, left }.checked(&file, has_names)
            })
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
        Snapshot::with(name, answers, Purpose::Any, || selection(place, wanted))
    }
}

/// All jobs, and true if squeue named some.
fn jobs(place: Place<'_>, left: &mut LeftOut) -> Result<(Vec<JobRow>, bool), InputError> {
    let (file, input) = stream(&place(Source::Names)?)?;
    let names = job::read_names_of(&file, input)?;
    let (file, input) = stream(&place(Source::Jobs)?)?;
    let jobs = job::read_stream(&file, input, &names, left)?;
    Ok((jobs, !names.is_empty()))
}

/// The wanted jobs and the voters, with their rows of sprio.
fn selection(place: Place<'_>, wanted: &Wanted) -> Result<Long, InputError> {
    let priorities = place(Source::Priorities)?;
    let mut ids: HashSet<u32> = wanted.ids.iter().copied().collect();
    ids.extend(voters(&priorities)?);
    let question = Question::new(&ids, wanted);
    let path = place(Source::Jobs)?;
    let excerpt = excerpt(&path, |line| question.wants(line))?;
    let found = Ids::new(excerpt.text.lines().filter_map(number_of));
    let names = place(Source::Names)?;
    thread::scope(|scope| {
        let queue = scope.spawn(|| queue(&priorities, &found));
        let file = path.display().to_string();
        let mut left = LeftOut::default();
        let jobs = self::names(&names, &found).and_then(|names| {
            job::read(&file, &excerpt.text, &names, &mut left).map_err(|e| there(e, &excerpt))
        });
        left.renumber(|line| line_of(line, &excerpt));
        let queue = queue
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let jobs = jobs?;
        let (queue, of_queue) = queue?;
        left.append(of_queue);
        Ok(Long { queue, jobs, left })
    })
}

/// Numbers of jobs, asked for once a line: a bit per number up to the highest.
///
/// `MaxJobId` is below 2^26 unless a site says otherwise, so this is 8 MB at most; higher numbers
/// are in a set.
struct Ids {
    bits: Vec<u64>,
    beyond: HashSet<u32>,
}

impl Ids {
    const MOST: u32 = 1 << 26;

    fn new(ids: impl Iterator<Item = u32>) -> Ids {
        let (near, far): (Vec<u32>, Vec<u32>) = ids.partition(|id| *id < Ids::MOST);
        let words = near.iter().max().map_or(0, |most| most / 64 + 1);
        let mut bits = vec![0; words as usize];
        for id in near {
            bits[id as usize / 64] |= 1_u64 << (id % 64);
        }
        let beyond = far.into_iter().collect();
        Ids { bits, beyond }
    }

    fn contains(&self, id: u32) -> bool {
        match self.bits.get(id as usize / 64) {
            Some(word) => word >> (id % 64) & 1 == 1,
            None => id >= Ids::MOST && self.beyond.contains(&id),
        }
    }
}

/// A file by name, opened.
fn stream(path: &Path) -> Result<(String, BufReader<File>), InputError> {
    let file = path.display().to_string();
    let input = File::open(path).map_err(|error| InputError::new(&file, error))?;
    Ok((file, BufReader::with_capacity(1 << 20, input)))
}

/// The number at the beginning of a record of scontrol.
fn number_of(record: &str) -> Option<u32> {
    leading_number(record.strip_prefix("JobId=")?.as_bytes())
}

/// Tests which records are in question.
struct Question<'a> {
    ids: Ids,
    wanted: &'a Wanted,
    array: memmem::Finder<'static>,
    state: memmem::Finder<'static>,
}

impl<'a> Question<'a> {
    fn new(ids: &HashSet<u32>, wanted: &'a Wanted) -> Question<'a> {
        Question {
            ids: Ids::new(ids.iter().copied()),
            wanted,
            array: memmem::Finder::new(b" ArrayJobId="),
            state: memmem::Finder::new(b" JobState="),
        }
    }

    fn wants(&self, line: &[u8]) -> bool {
        let Some(number) = line.strip_prefix(b"JobId=").and_then(leading_number) else {
            // The reader says what is wrong with it, if anything.
            return true;
        };
        if self.ids.contains(number) {
            return true;
        }
        // Names and comments can hold such words, too: then the record is read for nothing.
        let arrays = &self.wanted.arrays;
        let of_array = |word: &[u8]| leading_number(word).is_some_and(|n| arrays.contains(&n));
        if !arrays.is_empty() && any_value(line, &self.array, of_array) {
            return true;
        }
        any_value(line, &self.state, |rest| {
            let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
            std::str::from_utf8(&rest[..end]).is_ok_and(self.wanted.in_state)
        })
    }
}

/// Returns true if `fits` holds for the text after one of the places of a key.
fn any_value(line: &[u8], key: &memmem::Finder<'_>, fits: impl Fn(&[u8]) -> bool) -> bool {
    let length = key.needle().len();
    let mut places = key.find_iter(line).map(|at| at + length);
    places.any(|at| fits(&line[at..]))
}

fn leading_number(text: &[u8]) -> Option<u32> {
    let mut digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let first = u32::from(digits.next()? - b'0');
    digits.try_fold(first, |number, digit| {
        number.checked_mul(10)?.checked_add(u32::from(digit - b'0'))
    })
}

/// The jobs of the first rows that show an age.
fn voters(path: &Path) -> Result<HashSet<u32>, InputError> {
    let (file, input) = stream(path)?;
    let mut lines = Lines::new(&file, input);
    let mut found = HashSet::new();
    let Some(header) = lines.next()? else {
        return Ok(found);
    };
    // The weighted age comes before the normalised one.
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

fn names(path: &Path, ids: &Ids) -> Result<Names, InputError> {
    let of = |line: &[u8]| leading_number(line).is_some_and(|id| ids.contains(id));
    let excerpt = excerpt(path, of)?;
    job::read_names_of(&path.display().to_string(), excerpt.text.as_bytes())
}

/// The rows of sprio for some jobs.
fn queue(path: &Path, ids: &Ids) -> Result<(Queue, LeftOut), InputError> {
    let file = path.display().to_string();
    let mut header = Vec::new();
    let opened = File::open(path).map(|input| input.take(1 << 16).read_to_end(&mut header));
    opened
        .and_then(|read| read)
        .map_err(|error| InputError::new(&file, error))?;
    let end = memchr::memchr(b'\n', &header).unwrap_or(header.len());
    header.truncate(end);
    let of = |line: &[u8]| {
        line == header || leading_number(line.trim_ascii_start()).is_none_or(|id| ids.contains(id))
    };
    let excerpt = excerpt(path, of)?;
    let mut left = LeftOut::default();
    let queue = sprio::read_answer(&file, excerpt.text.as_bytes(), &mut left);
    left.renumber(|line| line_of(line, &excerpt));
    Ok((queue.map_err(|error| there(error, &excerpt))?, left))
}

fn excerpt(path: &Path, keep: impl Fn(&[u8]) -> bool + Sync) -> Result<Excerpt, InputError> {
    scan::lines(path, keep).map_err(|error| InputError::new(&path.display().to_string(), error))
}

/// An error in the lines that were kept, with the line of the file.
fn there(mut error: InputError, excerpt: &Excerpt) -> InputError {
    error.line = error.line.map(|line| line_of(line, excerpt));
    error
}

/// The line of the file that the line of an excerpt is.
fn line_of(line: usize, excerpt: &Excerpt) -> usize {
    excerpt.numbers.get(line - 1).copied().unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_up_to_the_highest() {
        let most = u32::MAX;
        let all = [0, 1, 63, 64, 1000, Ids::MOST - 1, Ids::MOST, most];
        let ids = Ids::new(all.into_iter());
        for id in all {
            assert!(ids.contains(id), "{id}");
        }
        for id in [2, 62, 65, 999, Ids::MOST - 2, Ids::MOST + 1, most - 1] {
            assert!(!ids.contains(id), "{id}");
        }
        assert!(!Ids::new(std::iter::empty()).contains(0));
    }

    #[test]
    fn numbers_at_the_beginning() {
        assert_eq!(leading_number(b"4294967295 x"), Some(u32::MAX));
        assert_eq!(leading_number(b"4294967296"), None);
        assert_eq!(leading_number(b"7"), Some(7));
        assert_eq!(leading_number(b"x7"), None);
        assert_eq!(leading_number(b""), None);
    }
}
