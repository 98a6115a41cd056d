//! A stamp in each time that Slurm's commands print, which separates their own text from a user's.
//!
//! `scontrol -o show job` prints names, comments and paths as they are, line breaks and all, so
//! that a job can carry the text of another job's record. Slurm prints times in the form that
//! `SLURM_TIME_FORMAT` gives (squeue(1), ENVIRONMENT VARIABLES); with a random word in it that is
//! rebuilt for each question, no text that a user wrote before has it. So:
//!
//! * squeue prints `JOBID|UID|SUBMIT_TIME|NAME`: a line that begins so, with the stamp, begins a
//!   name, and the name continues up to the next such line.
//! * scontrol prints one `SubmitTime` in each record. Before it come the name, which is known,
//!   and two texts of users, MCS label and WCKey, which are not kept; all other text of users
//!   comes after it.
//!
//! [`plain`] makes of these answers the form in which captures keep them: a line each,
//! without the stamp, control characters replaced by `?`. It reads the long answer a record at a
//! time, twice: which records are certain shows when all were seen.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, Write};

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHashSet};

use super::job_names::Told;
use super::stamped_record::{Head, UNCERTAIN, push_clean, whole};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::MAX_LINE_BYTES;

/// The stamp of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp(String);

/// Length of `2026-11-21T10:04:14`.
const TIME_BYTES: usize = 19;

impl Stamp {
    /// A new one. Slurm keeps 31 bytes of a time: this is 11 of them.
    pub fn random() -> Stamp {
        // Keyed by what the operating system hands out as random.
        let random = RandomState::new().hash_one(std::process::id());
        Stamp(format!("~{:010x}", random & 0xff_ffff_ffff))
    }

    /// The value of `SLURM_TIME_FORMAT`.
    pub fn time_format(&self) -> String {
        format!("%FT%T{}", self.0)
    }

    /// Returns true if it is anywhere in an answer: a command may not know `SLURM_TIME_FORMAT`.
    fn is_in(&self, mut answer: impl BufRead) -> io::Result<bool> {
        let finder = memmem::Finder::new(self.0.as_bytes());
        // The end of what was searched, in which it may begin.
        let mut window = Vec::new();
        loop {
            let read = answer.fill_buf()?;
            if read.is_empty() {
                return Ok(false);
            }
            window.extend_from_slice(read);
            let read = read.len();
            answer.consume(read);
            if finder.find(&window).is_some() {
                return Ok(true);
            }
            let searched = window.len().saturating_sub(self.0.len());
            window.drain(..searched);
        }
    }

    /// The text after the stamped time with which `text` begins.
    fn after_time<'a>(&self, text: &'a str) -> Option<&'a str> {
        let rest = text.get(TIME_BYTES..)?;
        rest.strip_prefix(self.0.as_str())
    }
}

/// An answer in UTF-8, from its beginning each time.
pub type Answer<'a> = &'a dyn Fn() -> io::Result<Box<dyn BufRead + 'a>>;

/// The answers about jobs: those of squeue and of scontrol.
#[derive(Clone, Copy, Debug)]
pub struct Both<T> {
    /// The answer of squeue.
    pub names: T,
    /// The answer of scontrol.
    pub jobs: T,
}

/// Writes names and jobs in the form of `squeue -o '%A|%j'` and `scontrol -o show job`, a line each
/// and the names the same in both. An answer without the stamp stays as it is. `file` names that of
/// scontrol in messages.
///
/// A record that is not certain is left out: its job was renamed between the two questions, or came
/// or went.
///
/// # Errors
/// Those of the streams; a record of more than [`MAX_LINE_BYTES`].
pub fn plain(
    file: &str,
    asked: Both<Answer<'_>>,
    out: Both<&mut dyn Write>,
    stamp: &Stamp,
    left: &mut LeftOut,
) -> io::Result<()> {
    let stamped = stamp.is_in((asked.names)()?)?;
    let told = match stamped {
        true => told((asked.names)()?, stamp)?,
        false => Told::default(),
    };
    if stamp.is_in((asked.jobs)()?)? {
        let renamed = jobs(file, asked.jobs, out.jobs, stamp, &told, left)?;
        return list(&told, &renamed, out.names);
    }
    io::copy(&mut (asked.jobs)()?, out.jobs)?;
    match stamped {
        true => list(&told, &Renamed::default(), out.names),
        false => io::copy(&mut (asked.names)()?, out.names).map(drop),
    }
}

/// Jobs whose name is not the one that squeue printed.
type Renamed = FxHashMap<u32, String>;

/// Writes a line for each job that squeue printed, and for those that it did not.
fn list(told: &Told, renamed: &Renamed, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    let mut add = |id: u32, name: &str| {
        line.clear();
        push_clean(&mut line, name);
        writeln!(out, "{id}|{line}")
    };
    for (id, name) in told.iter() {
        add(id, renamed.get(&id).map_or(name, String::as_str))?;
    }
    let others = renamed.iter().filter(|(id, _)| told.get(**id).is_none());
    let mut others: Vec<(&u32, &String)> = others.collect();
    others.sort_unstable();
    others.into_iter().try_for_each(|(id, name)| add(*id, name))
}

/// Reads the answer of squeue.
fn told(mut text: impl BufRead, stamp: &Stamp) -> io::Result<Told> {
    let mut told = Told::default();
    let mut line = String::new();
    while text.read_line(&mut line)? > 0 {
        match begin_of_name(&line, stamp) {
            Some((id, uid, first)) => told.begin(id, uid, first),
            None => told.go_on(&line),
        }
        line.clear();
    }
    told.finish();
    Ok(told)
}

/// Number, uid, and the first line of the name.
fn begin_of_name<'a>(line: &'a str, stamp: &Stamp) -> Option<(u32, u32, &'a str)> {
    let (id, rest) = line.split_once('|')?;
    let (uid, rest) = rest.split_once('|')?;
    let name = stamp.after_time(rest)?.strip_prefix('|')?;
    Some((whole(id)?, whole(uid)?, name))
}

/// Writes the records, a line each; returns the names that differ from those of squeue.
fn jobs(
    file: &str,
    asked: Answer<'_>,
    out: &mut dyn Write,
    stamp: &Stamp,
    told: &Told,
    left: &mut LeftOut,
) -> io::Result<Renamed> {
    let (mut certain, mut doubtful) = (FxHashSet::default(), FxHashSet::default());
    parts(asked()?, stamp, told, &mut |part| {
        if let Part::Head { head: Ok(head), .. } = part {
            let known = if head.doubtful {
                &mut doubtful
            } else {
                &mut certain
            };
            known.insert(head.number());
        }
        Ok(())
    })?;
    certain.retain(|id| doubtful.contains(id));
    certain.shrink_to_fit();
    let mut renamed = Renamed::default();
    // The line that is being made, and of a record that is left out why.
    let (mut line, mut why) = (String::new(), None);
    parts(asked()?, stamp, told, &mut |part| {
        match part {
            Part::Head { head, begin, text } => {
                line.clear();
                let head = match head {
                    // The real record is elsewhere.
                    Ok(head) if head.doubtful && certain.contains(&head.number()) => Err(UNCERTAIN),
                    head => head,
                };
                why = head.as_ref().err().map(|why| (*why, begin));
                match head {
                    Ok(head) => {
                        let id = head.number();
                        if told.get(id).is_none_or(|(_, name)| name != head.name) {
                            renamed.insert(id, head.name.to_owned());
                        }
                        head.push_to(&mut line);
                    }
                    Err(_) => line.push_str(text),
                }
            }
            Part::Rest(rest) => match why.take() {
                None => {
                    for text in rest.trim_end_matches('\n').split(&*stamp.0) {
                        push_clean(&mut line, text);
                    }
                    line.push('\n');
                    out.write_all(line.as_bytes())?;
                }
                Some((why, begin)) => {
                    line.push_str(rest);
                    let shown = line.lines().next().unwrap_or("");
                    let problem = Problem::Structure(why.to_owned());
                    let error = InputError::new(file, problem).at_line(begin, shown);
                    // Without `refusing` this never fails.
                    let _ = left.keep::<()>(Err(error));
                }
            },
        }
        Ok(())
    })?;
    Ok(renamed)
}

/// Parts of the answer of scontrol: heads and rests in turn.
enum Part<'a> {
    /// A record up to its ` SubmitTime=`.
    Head {
        head: Result<Head<'a>, &'static str>,
        /// The line that it begins at.
        begin: usize,
        /// The whole record, unchanged.
        text: &'a str,
    },
    /// Text after it, up to the next record.
    Rest(&'a str),
}

/// Hands the parts to `see`: a record for each `SubmitTime` with the stamp.
fn parts(
    mut input: impl BufRead,
    stamp: &Stamp,
    told: &Told,
    see: &mut dyn FnMut(Part<'_>) -> io::Result<()>,
) -> io::Result<()> {
    const KEY: &str = " SubmitTime=";
    let key = memmem::Finder::new(KEY);
    let mark = format!("{} ", stamp.0);
    // From the last ` SubmitTime=` on, and the lines before it.
    let (mut text, mut lines) = (String::new(), 0);
    let mut first = true;
    loop {
        let mut from = text.len();
        if input.read_line(&mut text)? == 0 {
            break;
        }
        while let Some(at) = key.find(&text.as_bytes()[from..]) {
            let submit = from + at;
            from = submit + KEY.len();
            let time = text[from..].get(TIME_BYTES..);
            if !time.is_some_and(|rest| rest.starts_with(&mark)) {
                continue;
            }
            let region = &text[..submit];
            let (begin, head) = Head::find(region, told);
            if !first {
                see(Part::Rest(&region[..begin]))?;
            }
            first = false;
            let breaks = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
            see(Part::Head {
                head,
                begin: lines + breaks(&region[..begin]) + 1,
                text: &region[begin..],
            })?;
            lines += breaks(region);
            text.drain(..submit);
            from = KEY.len();
        }
        if text.len() as u64 > MAX_LINE_BYTES {
            let why = format!("a record of more than {MAX_LINE_BYTES} bytes");
            return Err(io::Error::other(why));
        }
    }
    match first {
        true => Ok(()),
        false => see(Part::Rest(&text)),
    }
}

#[cfg(test)]
#[path = "stamp_tests.rs"]
mod tests;
