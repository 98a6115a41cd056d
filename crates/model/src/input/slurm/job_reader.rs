//! From the answer of `scontrol -o show job` to its records, by several threads.
//!
//! The text is taken in blocks of whole records: a thread takes the next block, reads its records
//! and continues, while one thread puts the blocks together in their order. Only the rows are kept.

use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use super::job::{JobRow, row};
use super::job_blocks::{Block, Blocks};
use super::job_names::{Names, name_end, number_of};
use super::record::{Record, no_end, record};
use crate::input::error::InputError;
use crate::input::interner::Interner;
use crate::input::left_out::LeftOut;
use crate::input::lines::{Lines, MAX_LINE_BYTES, one_more};
use rustc_hash::FxHashSet;

/// Bytes of a block, unless a record is longer.
const BLOCK: usize = 4 << 20;

/// More threads than this wait for the stream rather than read records.
const MOST_THREADS: usize = 8;

/// Reads the records. `file` names the text in messages. A record that cannot be read goes to
/// `left`, and so do those of a number that `names` does not have, or that occurs twice.
///
/// # Errors
/// Text before the first record; no record that can be read where there are some.
pub fn read(
    file: &str,
    text: &str,
    names: &Names,
    left: &mut LeftOut,
) -> Result<Vec<JobRow>, InputError> {
    read_stream(file, text.as_bytes(), names, left)
}

/// As [`read`], of a stream that is not kept.
///
/// # Errors
/// Those of [`read`], and those of the stream; more than [`MAX_ROWS`](crate::input::MAX_ROWS) records.
pub fn read_stream(
    file: &str,
    input: impl BufRead + Send,
    names: &Names,
    left: &mut LeftOut,
) -> Result<Vec<JobRow>, InputError> {
    let mut blocks = Blocks::new(input, BLOCK);
    let first = blocks.next(file, Vec::new())?;
    let mut merged = Merged::new(file, left);
    if blocks.ended {
        merged.add(Parsed::of(file, first, names, &mut Interner::default())?)?;
        return merged.finish();
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let blocks = Mutex::new((blocks, Some(first)));
    // Memory of blocks that were read, for the next ones. Given back each time it would stay with
    // the process in pieces that nothing else fits into.
    let spare: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    // The stream is taken by one thread at a time; a panic in it is passed on below.
    let next = || {
        let mut held = held(&blocks);
        let (blocks, first) = &mut *held;
        match first.take() {
            Some(first) => Ok(first),
            None => blocks.next(file, self::held(&spare).pop().unwrap_or_default()),
        }
    };
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for _ in 0..cores.min(MOST_THREADS) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                let mut shared = Interner::default();
                loop {
                    let block = next();
                    let number = block.as_ref().map_or(usize::MAX, |block| block.number);
                    let last = block.as_ref().map_or(true, |block| block.bytes.is_empty());
                    let parsed =
                        block.and_then(|block| Parsed::of(file, block, names, &mut shared));
                    // Nobody listens once there was an error.
                    if send.send((number, parsed)).is_err() || last {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (number, parsed) in receive {
            waiting.insert(number, parsed);
            while let Some(parsed) = waiting.remove(&due) {
                let bytes = merged.add(parsed?)?;
                held(&spare).push(bytes);
                due += 1;
            }
        }
        // The error of the stream comes after everything that was read.
        waiting
            .into_values()
            .try_for_each(|parsed| parsed.map(drop))?;
        merged.finish()
    })
}

/// Checks that [`read_stream`] accepts an answer; one record at a time is in memory.
///
/// # Errors
/// Those of [`read_stream`].
pub fn check_stream(file: &str, input: impl BufRead, names: &Names) -> Result<(), InputError> {
    let left = &mut LeftOut::default();
    let mut shared = Interner::default();
    for_each(file, input, names, left, &mut |record| {
        row(record, &mut shared).map(drop)
    })
}

/// The content of a lock, also after a panic of another thread.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands each record to `see`, and leaves out those that it refuses.
///
/// # Errors
/// Those of [`read_stream`].
pub(super) fn for_each(
    file: &str,
    input: impl BufRead,
    names: &Names,
    left: &mut LeftOut,
    see: &mut dyn FnMut(&Record<'_>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let before = left.count();
    let mut read = 0;
    let mut seen = HashSet::new();
    let mut lines = Lines::new(file, input);
    texts(file, &mut lines, false, &mut |number, text, _| {
        one_more(file, read, number)?;
        let mut read_one = || {
            let Some(Checked { id, record, is_cut }) = checked(file, number, text, names)? else {
                return Ok(());
            };
            if !seen.insert(id) {
                return Err(record.twice("JobId"));
            }
            if is_cut {
                return Err(another_name(&record));
            }
            see(&record)
        };
        if left.keep(read_one())?.is_some() {
            read += 1;
        }
        Ok(())
    })?;
    left.any_read(read, before)
}

/// Takes the number of a record's first line, its text, and its bytes in the stream.
type See<'a> = dyn FnMut(usize, &str, Range<usize>) -> Result<(), InputError> + 'a;

/// Hands the text of each record to `see`, with the number of its first line and its bytes in the
/// stream, as far as those matter: from the first byte of its first line to the last of its last
/// one. `inside`: the first lines may be of a record that began before, and are no part of it any
/// more.
fn texts(
    file: &str,
    lines: &mut Lines<'_, impl BufRead>,
    inside: bool,
    see: &mut See<'_>,
) -> Result<(), InputError> {
    // The record that continues, and the number of its first line; 0: none yet.
    let (mut text, mut begun, mut start) = (String::new(), 0, 0);
    let mut at = lines.taken;
    while let Some(line) = lines.next()? {
        if begins_record(&line) {
            if begun > 0 {
                see(begun, &text, start..at)?;
            }
            text.clear();
            text.push_str(&line);
            drop(line);
            (begun, start) = (lines.number, at);
        } else if begun > 0 && (text.len() + line.len()) as u64 > MAX_LINE_BYTES {
            // Longer than any record: what it says is said before.
        } else if begun > 0 {
            // The rest of a name, a comment or a path with a line break.
            text.push('\n');
            text.push_str(&line);
        } else if !inside {
            // Blank, `No jobs in the system`, or an error.
            let line = line.into_owned();
            record(file, lines.number, &line, "JobId", &no_end, is_free)?;
        }
        at = lines.taken;
    }
    if begun > 0 {
        see(begun, &text, start..at)?;
    }
    Ok(())
}

/// Returns true if a line begins a record, of whatever number: one without a number is left out with a
/// note, rather than taken for the end of the record before it.
fn begins_record(line: &str) -> bool {
    line.starts_with("JobId=")
}

/// A record of a job that has a name.
struct Checked<'a> {
    id: u32,
    record: Record<'a>,
    /// The name continues after the end of the name that squeue printed: its next line begins like
    /// another job. Further text that looks like a record of this job is a part of the name.
    is_cut: bool,
}

fn another_name(record: &Record<'_>) -> InputError {
    record.unknown("JobName is not the one that squeue told")
}

/// A record and its number; `None` where the text holds none.
///
/// # Errors
/// A record of a job that `names` does not have, or with a different name.
fn checked<'a>(
    file: &'a str,
    number: usize,
    text: &'a str,
    names: &Names,
) -> Result<Option<Checked<'a>>, InputError> {
    let end = |record: &str, key: &str, start: usize| name_end(names, record, key, start);
    let Some(record) = record(file, number, text, "JobId", &end, is_free)? else {
        return Ok(None);
    };
    let id = number_of(text).unwrap_or(0);
    let mut is_cut = false;
    if !names.is_empty() {
        let Some(told) = names.get(id) else {
            let why = format!("squeue told no name of JobId={}, or two", record.name());
            return Err(record.unknown(&why));
        };
        let name = text.find(" JobName=").map(|at| at + " JobName=".len());
        // Without a name it is somebody's text after a line break.
        if name.is_none_or(|at| name_end(names, text, "JobName", at).is_none()) {
            let after = name.and_then(|at| text[at..].strip_prefix(told));
            is_cut = after.is_some_and(|after| after.starts_with('\n'));
            if !is_cut {
                return Err(another_name(&record));
            }
        }
    }
    Ok(Some(Checked { id, record, is_cut }))
}

/// The keys that are followed by text of users: a record's own values come before the first of them
/// (`slurm_sprint_job_info` of 22.05.8 and 24.11.5).
fn is_free(key: &str) -> bool {
    matches!(
        key,
        "Socks/Node"
            | "Features"
            | "OverSubscribe"
            | "Command"
            | "WorkDir"
            | "AdminComment"
            | "SystemComment"
            | "Comment"
            | "StdErr"
    )
}

/// The records of a block.
struct Parsed {
    block: Block,
    records: Vec<Found>,
}

#[allow(clippy::large_enum_variant)] // Nearly all are the large one.
enum Found {
    /// Refused before its number counts.
    Unknown(Box<InputError>),
    /// A record, and where it is in the block.
    Known {
        id: u32,
        line: usize,
        bytes: Range<usize>,
        row: Result<JobRow, Box<InputError>>,
    },
}

impl Parsed {
    fn of(
        file: &str,
        block: Block,
        names: &Names,
        shared: &mut Interner,
    ) -> Result<Parsed, InputError> {
        let mut records = Vec::new();
        let mut lines = Lines::behind(file, &block.bytes[..], block.lines);
        texts(file, &mut lines, block.inside, &mut |line, text, bytes| {
            match checked(file, line, text, names) {
                Ok(None) => {}
                Ok(Some(Checked { id, record, is_cut })) => {
                    let row = match is_cut {
                        true => Err(another_name(&record)),
                        false => row(&record, shared),
                    };
                    records.push(Found::Known {
                        id,
                        line,
                        bytes,
                        row: row.map_err(Box::new),
                    });
                }
                Err(error) => records.push(Found::Unknown(Box::new(error))),
            }
            Ok(())
        })?;
        Ok(Parsed { block, records })
    }

    /// The error of a second record of a number.
    fn twice(
        &self,
        file: &str,
        line: usize,
        bytes: Range<usize>,
    ) -> Result<InputError, InputError> {
        let mut lines = Lines::behind(file, &self.block.bytes[bytes], line - 1);
        let mut error = None;
        texts(file, &mut lines, false, &mut |line, text, _| {
            let record = record(file, line, text, "JobId", &no_end, is_free)?;
            error = record.map(|record| record.twice("JobId"));
            Ok(())
        })?;
        Ok(error.expect("it was read before"))
    }
}

/// All blocks so far.
struct Merged<'a> {
    file: &'a str,
    left: &'a mut LeftOut,
    before: usize,
    seen: FxHashSet<u32>,
    rows: Vec<JobRow>,
}

impl<'a> Merged<'a> {
    fn new(file: &'a str, left: &'a mut LeftOut) -> Merged<'a> {
        Merged {
            file,
            before: left.count(),
            left,
            seen: HashSet::default(),
            rows: Vec::new(),
        }
    }

    /// Takes the rows of the next block, and returns its memory.
    fn add(&mut self, mut parsed: Parsed) -> Result<Vec<u8>, InputError> {
        for found in std::mem::take(&mut parsed.records) {
            let line = match &found {
                Found::Unknown(error) => error.line.unwrap_or(0),
                Found::Known { line, .. } => *line,
            };
            one_more(self.file, self.rows.len(), line)?;
            let row = match found {
                Found::Unknown(error) => Err(*error),
                Found::Known {
                    id,
                    line,
                    bytes,
                    row,
                } => match self.seen.insert(id) {
                    true => row.map_err(|error| *error),
                    false => Err(parsed.twice(self.file, line, bytes)?),
                },
            };
            self.rows.extend(self.left.keep(row)?);
        }
        Ok(parsed.block.bytes)
    }

    fn finish(self) -> Result<Vec<JobRow>, InputError> {
        self.left.any_read(self.rows.len(), self.before)?;
        Ok(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn record_of(id: u32, comment: &str) -> String {
        format!(
            "JobId={id} JobName=j{id} UserId=u(1) Priority=1 Nice=0 Account=a QOS=q \
             JobState=PENDING TimeLimit=00:05:00 SubmitTime=Unknown AccrueTime=Unknown \
             Partition=p NumNodes=1 NumCPUs=1 TRES=cpu=1 Socks/Node=* Comment={comment}\n"
        )
    }

    // Longer than a block, so that several threads read it.
    #[test]
    fn a_long_answer_is_read_as_a_short_one() {
        let (mut text, mut squeue) = (String::new(), String::new());
        let comment = "x".repeat(1000);
        let count = 2 * BLOCK as u32 / 1000;
        for id in 1..=count {
            text += &record_of(id, &comment);
            writeln!(squeue, "{id}|j{id}").unwrap();
        }
        let broken = record_of(count + 1, "").replace("Nice=0", "Nice=x");
        writeln!(squeue, "{}|j{}", count + 1, count + 1).unwrap();
        // Twice the same number, one without a name, one that cannot be read.
        let odd = [record_of(5, ""), record_of(count + 2, ""), broken].concat();
        let names = super::super::job::read_names(&squeue);
        let mut left = LeftOut::default();
        let rows = read("f", &(text + &odd), &names, &mut left).unwrap();
        assert!(rows.iter().map(|row| row.id).eq(1..=count));
        let notes = left.notes();
        for (note, (line, why)) in notes.iter().zip([
            (count + 1, "JobId=5 stands here twice"),
            (count + 2, "squeue told no name"),
            (count + 3, "Nice \"x\""),
        ]) {
            assert!(note.starts_with(&format!("f:{line}:")), "{note}");
            assert!(note.contains(why), "{note}");
        }
        assert_eq!(notes.len(), 3);
    }
}
