//! Names of jobs, as squeue prints them: which text in the answer of scontrol is a name.

use std::collections::HashSet;
use std::io::BufRead;

use crate::input::error::InputError;
use crate::input::lines::{Lines, one_more};
use rustc_hash::FxHashMap;

/// Names of jobs by number, in one text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// End of each name; the next one begins there.
    ends: Vec<usize>,
    /// Position of the name of each job number.
    places: FxHashMap<u32, u32>,
}

impl Names {
    /// No names.
    pub fn new() -> Names {
        Names::default()
    }

    /// Returns true if there are no names.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The name of a job; `None` where none is known.
    pub fn get(&self, id: u32) -> Option<&str> {
        self.places.get(&id).map(|place| self.at(*place))
    }

    fn at(&self, place: u32) -> &str {
        let place = place as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[place]]
    }

    /// All of them, by number.
    pub fn sorted(&self) -> Vec<(u32, &str)> {
        let mut names: Vec<(u32, &str)> = self
            .places
            .iter()
            .map(|(&id, &place)| (id, self.at(place)))
            .collect();
        names.sort_unstable();
        names
    }
}

/// Reads `squeue -h -o '%A|%j'`: number and name. A line that begins with no number is part of a
/// name with a line break. A number that occurs twice (one of them in somebody's name) has no known
/// name.
pub fn read_names(text: &str) -> Names {
    let mut names = Gathered::default();
    text.lines().for_each(|line| names.line(line));
    names.finish()
}

/// As [`read_names`], of a stream that is not kept.
///
/// # Errors
/// Those of the stream.
pub fn read_names_of(file: &str, input: impl BufRead) -> Result<Names, InputError> {
    let mut lines = Lines::new(file, input);
    let mut names = Gathered::default();
    while let Some(line) = lines.next()? {
        one_more(file, names.names.ends.len(), 1)?;
        names.line(&line);
    }
    Ok(names.finish())
}

#[derive(Default)]
struct Gathered {
    names: Names,
    doubtful: HashSet<u32>,
}

impl Gathered {
    fn line(&mut self, line: &str) {
        let begun = line
            .split_once('|')
            .filter(|(id, _)| id.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|(id, name)| Some((id.parse::<u32>().ok()?, name)));
        let Names { text, ends, places } = &mut self.names;
        if let Some((id, name)) = begun {
            if places.insert(id, place(ends.len())).is_some() {
                self.doubtful.insert(id);
            }
            text.push_str(name);
            ends.push(text.len());
        } else if let Some(end) = ends.last_mut() {
            text.push('\n');
            text.push_str(line);
            *end = text.len();
        }
    }

    fn finish(mut self) -> Names {
        for id in &self.doubtful {
            self.names.places.remove(id);
        }
        self.names
    }
}

/// Jobs as squeue printed them: owner and name, including line breaks.
#[derive(Debug, Default)]
pub(super) struct Told {
    text: String,
    /// Number, owner, and where the name ends; the next one begins there.
    jobs: Vec<(u32, u32, usize)>,
    /// The last of each number.
    places: FxHashMap<u32, u32>,
}

impl Told {
    /// Another job, with the first line of its name, as it ends.
    pub fn begin(&mut self, id: u32, uid: u32, line: &str) {
        self.finish();
        self.places.insert(id, place(self.jobs.len()));
        self.text.push_str(line);
        self.jobs.push((id, uid, self.text.len()));
    }

    /// Another line of the last name.
    pub fn go_on(&mut self, line: &str) {
        if !self.jobs.is_empty() {
            self.text.push_str(line);
        }
    }

    /// There are no more lines of the last name: the end of its last one is no part of it.
    pub fn finish(&mut self) {
        if let Some((_, _, end)) = self.jobs.last_mut() {
            if self.text.ends_with('\n') {
                self.text.pop();
            }
            *end = self.text.len();
        }
    }

    /// Owner and name of a job.
    pub fn get(&self, id: u32) -> Option<(u32, &str)> {
        let place = *self.places.get(&id)? as usize;
        Some((self.jobs[place].1, self.name(place)))
    }

    /// Number and name of all jobs, as squeue printed them.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let jobs = self.jobs.iter().enumerate();
        jobs.map(|(place, (id, _, _))| (*id, self.name(place)))
    }

    fn name(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.jobs[before].2);
        &self.text[start..self.jobs[place].2]
    }
}

/// A position among names.
fn place(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 names: an answer has a length")
}

/// End of a job's name. Its owner chooses the name, blanks, `=` and all, and scontrol prints it
/// unchanged: only `names` gives it for certain. If there are no names at all, the name is taken to
/// end at the first ` UserId=`.
pub(super) fn name_end(names: &Names, record: &str, key: &str, start: usize) -> Option<usize> {
    if key != "JobName" {
        return None;
    }
    let rest = &record[start..];
    if names.is_empty() {
        return Some(start + rest.find(" UserId=")?);
    }
    let name = names.get(number_of(record)?)?;
    let after = rest.strip_prefix(name)?;
    let ends = after.starts_with(" UserId=") || after.starts_with(" HetJobIdSet=");
    ends.then_some(start + name.len())
}

/// The number of a record, where `text` begins one.
pub(super) fn number_of(text: &str) -> Option<u32> {
    let rest = text.strip_prefix("JobId=")?;
    rest.split([' ', '\n']).next()?.parse().ok()
}
