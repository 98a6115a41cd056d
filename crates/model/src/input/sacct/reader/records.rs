//! The records of a listing, over as many lines as each has.

use std::io::BufRead;

use super::header::Header;
use super::{Detail, HINT};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::{Lines, MAX_LINE_BYTES};
use crate::input::prompt::is_prompt;
use crate::input::sacct::align::align;
use crate::input::sacct::columns::{self, Kind};

/// The records of a log.
pub(super) struct Records<'f, R> {
    pub(super) file: &'f str,
    pub(super) lines: Lines<'f, R>,
    pub(super) header: Header,
    /// The record at hand.
    pub(super) text: String,
    /// Its first line.
    pub(super) first: usize,
    /// A line that was read ahead, and its number.
    pub(super) pending: Option<(usize, String)>,
    /// The only cluster whose jobs count.
    pub(super) wanted_cluster: Option<&'f str>,
    pub(super) detail: Detail,
}

impl<R: BufRead> Records<'_, R> {
    pub(super) fn error(&self, why: String) -> InputError {
        InputError::new(self.file, Problem::Structure(why)).at_line(self.first, &self.text)
    }

    pub(super) fn read_header(&mut self) -> Result<(), InputError> {
        loop {
            if !self.next_line()? {
                return Err(InputError::new(self.file, Problem::Empty).hint(HINT));
            }
            // The command above the listing, pasted along.
            if !self.text.starts_with('#') && !is_prompt(&self.text) {
                break;
            }
        }
        if !columns::begins(&self.text) {
            return Err(self
                .error("a listing of sacct without header does not name its columns".into())
                .hint(
                    "leave out -n of sacct, or name them: fairtree chart --columns \
                     JobID,User,Account,Start,End,AllocTRES,...",
                ));
        }
        self.header =
            Header::new(&self.text, self.text.trim()).map_err(|why| self.error(why).hint(HINT))?;
        Ok(())
    }

    /// Reads the next line that says anything into the record.
    fn next_line(&mut self) -> Result<bool, InputError> {
        if let Some((number, line)) = self.pending.take() {
            if !line.trim().is_empty() {
                (self.first, self.text) = (number, line);
                return Ok(true);
            }
        }
        self.text.clear();
        while let Some(line) = self.lines.next()? {
            if !line.trim().is_empty() {
                self.text.push_str(&line);
                self.first = self.lines.number;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads the next record, over as many lines as it has. One whose end is not there goes to
    /// `left`.
    pub(super) fn advance(&mut self, left: &mut LeftOut) -> Result<bool, InputError> {
        while self.next_line()? {
            match self.complete()? {
                None => return Ok(true),
                Some(error) => left.keep::<()>(Err(error))?,
            };
        }
        Ok(false)
    }

    /// Adds the lines in which the record continues; returns the error if there is no such line.
    fn complete(&mut self) -> Result<Option<InputError>, InputError> {
        let due = self.header.names.len() + usize::from(self.header.bar_after);
        // Only what users write goes over several lines.
        let may_go_on = self.header.kinds.contains(&Kind::Free);
        // Counted line by line: a record may have millions.
        let mut short = cells_in(&self.text);
        while short < due {
            let more = match may_go_on {
                true => self.lines.next()?.map(std::borrow::Cow::into_owned),
                false => None,
            };
            // A line that is a record of its own does not continue another.
            match more {
                Some(line) if cells_in(&line) < due => {
                    self.text.push('\n');
                    self.text.push_str(&line);
                    short += cells_in(&line) - 1;
                }
                more => {
                    self.pending = more.map(|line| (self.lines.number, line));
                    let why = format!("{short} cells between |, where the header has {due}");
                    let error = self.error(why);
                    return Ok(Some(
                        error.hint("is the file cut off, or put together from two?"),
                    ));
                }
            }
            if self.text.len() as u64 > MAX_LINE_BYTES {
                let why = format!("a record of more than {MAX_LINE_BYTES} bytes");
                return Ok(Some(self.error(why)));
            }
        }
        Ok(None)
    }

    /// The cells of the record, one per column.
    pub(super) fn cells(&self) -> Result<Vec<&str>, InputError> {
        let text = match self.header.bar_after {
            true => self.text.strip_suffix('|').unwrap_or(&self.text),
            false => &self.text,
        };
        let cells: Vec<&str> = text.split('|').collect();
        let due = self.header.names.len();
        if cells.len() == due {
            return Ok(cells);
        }
        let found = cells.len();
        let hint =
            "leave out columns whose text may hold | (JobName, Comment, SubmitLine, WorkDir)";
        let Some(aligned) = align(&self.header.kinds, &cells) else {
            let why =
                format!("{found} cells between |, where the header has {due}, fit no reading");
            return Err(self.error(why).hint(hint));
        };
        if let Some(at) = self.header.wanted().find(|&at| aligned[at].is_none()) {
            let why = format!(
                "{found} cells between |, where the header has {due}: which is {} is not known",
                self.header.names[at]
            );
            return Err(self.error(why).hint(hint));
        }
        Ok(aligned.into_iter().map(Option::unwrap_or_default).collect())
    }

    pub(super) fn value(&self, cells: &[&str], at: usize, allowed: &str) -> InputError {
        let before: usize = cells[..at].iter().map(|c| c.chars().count() + 1).sum();
        let problem = Problem::Value {
            what: self.header.names[at].clone(),
            found: cells[at].trim().chars().take(80).collect(),
            allowed: allowed.to_owned(),
        };
        let error = InputError::new(self.file, problem).at_line(self.first, &self.text);
        match self.text.contains('\n') || cells.len() != cells_in(&self.text) {
            true => error,
            false => error.at_column(before + 1),
        }
    }
}

fn cells_in(text: &str) -> usize {
    text.bytes().filter(|&b| b == b'|').count() + 1
}
