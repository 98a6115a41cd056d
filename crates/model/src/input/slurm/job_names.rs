//! Names of jobs, which squeue tells: what is a name in the answer of scontrol, and what is not.

use std::collections::HashSet;
use std::io::BufRead;

use rustc_hash::FxHashMap;

use crate::input::error::InputError;
use crate::input::lines::{Lines, one_more};

/// Names of jobs by number, in one text.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    /// Where each name begins, and its bytes.
    places: FxHashMap<u32, (usize, usize)>,
}

impl Names {
    /// No names.
    pub fn new() -> Names {
        Names::default()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The name of a job; `None` where none is known.
    pub fn get(&self, id: u32) -> Option<&str> {
        let &(start, len) = self.places.get(&id)?;
        Some(&self.text[start..start + len])
    }

    /// All of them, by number.
    pub fn sorted(&self) -> Vec<(u32, &str)> {
        let mut names: Vec<(u32, &str)> = self
            .places
            .iter()
            .map(|(&id, &(start, len))| (id, &self.text[start..start + len]))
            .collect();
        names.sort_unstable();
        names
    }
}

/// Reads `squeue -h -o '%A|%j'`: number and name. A line that begins with no number is part of a
/// name with a line break. Of a number that stands there twice, which is somebody's name, no name
/// is known.
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
        one_more(file, names.names.places.len(), 1)?;
        names.line(&line);
    }
    Ok(names.finish())
}

#[derive(Default)]
struct Gathered {
    names: Names,
    last: Option<u32>,
    doubtful: HashSet<u32>,
}

impl Gathered {
    fn line(&mut self, line: &str) {
        let begun = line
            .split_once('|')
            .filter(|(id, _)| id.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|(id, name)| Some((id.parse::<u32>().ok()?, name)));
        let Names { text, places } = &mut self.names;
        if let Some((id, name)) = begun {
            if places.insert(id, (text.len(), name.len())).is_some() {
                self.doubtful.insert(id);
            }
            text.push_str(name);
            self.last = Some(id);
        } else if let Some((_, len)) = self.last.and_then(|id| places.get_mut(&id)) {
            // It is the last of the text.
            text.push('\n');
            text.push_str(line);
            *len += 1 + line.len();
        }
    }

    fn finish(mut self) -> Names {
        for id in &self.doubtful {
            self.names.places.remove(id);
        }
        self.names
    }
}

/// Where the name of a job ends. Its owner chooses it, blanks, `=` and all, and scontrol prints it
/// as it is: only `names` tells for certain. Where there are none at all, the name is taken to end
/// at the first ` UserId=`.
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
