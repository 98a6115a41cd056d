//! From the stream to the rows.

use std::io::BufRead;

use super::cells::{Cell, Misfit, cut};
use super::column::Column;
use super::command::{self, Command};
use super::header::{self, HeaderError, Layout};
use super::printed::Printed;
use super::{Listing, SshareRow};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines;
use crate::input::prompt::is_prompt;
use fairtree::tree::Shares;

/// Reads one listing. `file` names the stream in messages. A row that does not fit its columns is
/// left out, with the rows below it where it is an account's; a cell that sshare would not print
/// counts as blank. [`Listing::notes`] names them.
///
/// # Errors
/// A stream that breaks; no listing in it; a second listing (another header, prompt or
/// `CLUSTER:`); no row that can be read whole.
pub fn read(file: &str, input: impl BufRead) -> Result<Listing, InputError> {
    let mut left = LeftOut::of_file();
    let mut listing = read_answer(file, input, &mut left)?;
    listing.notes = left.notes();
    Ok(listing)
}

/// As [`read`], for the answer of a cluster: a row that cannot be read goes to `left`, and so do
/// the rows below such a row of an account, since nothing else shows where they belong.
///
/// # Errors
/// Those of [`read`]; of rows, when none can be read.
pub fn read_answer(
    file: &str,
    input: impl BufRead,
    left: &mut LeftOut,
) -> Result<Listing, InputError> {
    let mut lines = Lines::new(file, input);
    let mut cluster = None;
    let mut command: Option<Command> = None;
    let first = loop {
        let Some(line) = lines.next()? else {
            return Err(InputError::new(file, Problem::Empty).hint("give the output of sshare"));
        };
        if let Some(name) = line.text.strip_prefix("CLUSTER: ") {
            cluster = Some(name.trim().to_owned());
        } else if let Some(found) = command::parse(&line.text) {
            command = Some(found);
        } else if !line.text.trim().is_empty()
            && !line.text.starts_with('#')
            && !is_prompt(&line.text)
        {
            break line;
        }
    };
    let (layout, pending) = layout(&mut lines, &first, command.as_ref())?;
    let before = left.count();
    let mut reader = Reader {
        file,
        layout,
        rows: Vec::new(),
        accounts: Alignment::default(),
        gap: None,
    };
    for line in pending {
        reader.take(&line, left)?;
    }
    let mut ahead = lines.next_said()?;
    while let Some(line) = ahead {
        ahead = lines.next_said()?;
        match foreign(&line.text) {
            // A prompt after the last row was copied along; only more text makes it a question.
            Some("a shell prompt") if ahead.is_none() => break,
            Some(what) if left.is_of_file() => return Err(second(file, &line, what)),
            Some(what) => left.keep::<()>(Err(second(file, &line, what))).map(drop)?,
            None => reader.take(&line, left)?,
        }
    }
    left.any_read(reader.rows.len() - left.odd_rows(), before)?;
    Ok(Listing {
        file: file.to_owned(),
        cluster,
        fields: reader.layout.fields().to_vec(),
        depth_hidden: reader.accounts.flush_right(),
        rows_left_out: left.count() - before,
        notes: Vec::new(),
        rows: reader.rows,
    })
}

/// The columns of the listing that begins with `first`, and lines read that are rows.
fn layout(
    lines: &mut Lines<'_, impl BufRead>,
    first: &SshareLine,
    command: Option<&Command>,
) -> Result<(Layout, Vec<SshareLine>), InputError> {
    let text = first.text.as_str();
    if header::is_header(text) {
        let next = lines.next()?;
        // One column alone looks alike with -P and without until its line of dashes.
        let barred = text.contains('|') || !text.contains(' ');
        let named = command.and_then(|c| c.fields.as_deref());
        let layout = match &next {
            Some(next) if header::is_dashes(&next.text) => header::dashed(text, &next.text),
            _ if barred => header::bars(text),
            _ => header::undashed(text, named),
        };
        let layout = layout.map_err(|error: HeaderError| {
            InputError::new(lines.file, Problem::Structure(error.why))
                .at_line(first.number, text)
                .at_column(error.column)
                .hint(error.hint)
        })?;
        let row = next.filter(|next| !header::is_dashes(&next.text) && !next.text.is_empty());
        return Ok((layout, row.into_iter().collect()));
    }
    match command.and_then(|command| without_header(text, command)) {
        Some(layout) => Ok((layout, vec![first.clone()])),
        None => Err(InputError::new(
            lines.file,
            Problem::Structure("a listing without header does not tell its columns".into()),
        )
        .at_line(first.number, text)
        .hint(
            "run sshare without -n, or put the command above its output: \
             `$ sshare -n -o Account,User,RawShares`",
        )),
    }
}

/// The layout that the command gives the listing, where the first row fits it.
fn without_header(row: &str, command: &Command) -> Option<Layout> {
    let candidates = [&command.fields, &command.fields_without_fair_tree];
    let mut layouts = candidates.into_iter().flatten().map(|fields| {
        if command.parsable {
            Layout::Bars(fields.clone())
        } else {
            Layout::Columns(fields.clone())
        }
    });
    layouts.find(|layout| cut(row, layout).is_ok())
}

/// Kind of a line that cannot be a row.
fn foreign(line: &str) -> Option<&'static str> {
    if line.starts_with("CLUSTER: ") {
        Some("the listing of another cluster")
    } else if line == "$"
        || line.starts_with("$ ")
        || line.contains('@') && is_prompt(line)
        || is_command(line)
    {
        Some("a shell prompt")
    } else if line.contains("Shares") && header::is_header(line) {
        Some("a second header")
    } else {
        None
    }
}

fn is_command(line: &str) -> bool {
    line.contains("sshare") && command::parse(line).is_some()
}

fn second(file: &str, line: &SshareLine, what: &str) -> InputError {
    let problem = Problem::Structure(format!("{what} inside a listing"));
    InputError::new(file, problem)
        .at_line(line.number, &line.text)
        .hint("give one listing at a time")
}

/// Makes rows of lines.
struct Reader<'a> {
    file: &'a str,
    layout: Layout,
    rows: Vec<SshareRow>,
    accounts: Alignment,
    /// Depth at which the last row that was left out was drawn, as long as rows below it may
    /// follow.
    gap: Option<usize>,
}

impl Reader<'_> {
    /// Takes a row, or leaves it out.
    fn take(&mut self, line: &SshareLine, left: &mut LeftOut) -> Result<(), InputError> {
        lines::one_more(self.file, self.rows.len(), line.number)?;
        let first = self.layout.fields().first();
        let depth = first
            .filter(|field| field.column == Column::Account)
            .map(|_| line.text.len() - line.text.trim_start().len());
        if let (Some(above), Some(depth)) = (self.gap, depth) {
            if depth > above {
                let why = "the row of the account above it cannot be read";
                let error = InputError::new(self.file, Problem::Structure(why.into()));
                left.keep::<()>(Err(error.at_line(line.number, &line.text)))?;
                return Ok(());
            }
        }
        let odd = left.cells();
        let read = self.row(line, left);
        if read.is_ok() {
            left.see_row(odd);
        }
        // Nobody is below a user, and only the first row is at the margin.
        let hides = |depth: &usize| (*depth > 0 || self.rows.is_empty()) && !self.is_user(line);
        self.gap = depth.filter(|_| read.is_err()).filter(hides);
        left.keep(read)?;
        Ok(())
    }

    /// Returns true if a row that fits its columns is a user's.
    fn is_user(&self, line: &SshareLine) -> bool {
        let cells = cut(&line.text, &self.layout).unwrap_or_default();
        let mut both = self.layout.fields().iter().zip(cells);
        both.any(|(field, cell)| field.column == Column::User && !cell.text.trim().is_empty())
    }

    fn row(&mut self, line: &SshareLine, left: &mut LeftOut) -> Result<(), InputError> {
        let cells = cut(&line.text, &self.layout).map_err(|misfit| self.misfit(line, &misfit))?;
        let mut row = SshareRow {
            line: line.number,
            ..SshareRow::default()
        };
        let columns = matches!(self.layout, Layout::Columns(_));
        for (field, cell) in self.layout.fields().iter().zip(&cells) {
            if field.column == Column::Account && columns {
                self.accounts.see(cell.text, field.width);
            }
            let filled = fill(&mut row, field.column, cell).map_err(|allowed| {
                let value = cell.text.trim();
                let start = cell.at + (cell.text.len() - cell.text.trim_start().len());
                let problem = Problem::Value {
                    what: field.column.name().to_owned(),
                    found: value.to_owned(),
                    allowed: allowed.to_owned(),
                };
                InputError::new(self.file, problem)
                    .at_line(line.number, &line.text)
                    .at_column(line.text[..start].chars().count() + 1)
            });
            left.keep_cell(filled)?;
        }
        self.rows.push(row);
        Ok(())
    }

    fn misfit(&self, line: &SshareLine, misfit: &Misfit) -> InputError {
        let before = line.text.get(..misfit.at).unwrap_or(&line.text);
        InputError::new(self.file, Problem::Structure(misfit.why.into()))
            .at_line(line.number, &line.text)
            .at_column(before.chars().count() + 1)
            .hint("each row must stand in the columns of the header; `sshare -P` is the safest")
    }
}

/// Decides if accounts are printed flush right, which hides their depth.
#[derive(Default)]
struct Alignment {
    any_padded_left: bool,
    any_padded_right: bool,
}

impl Alignment {
    fn see(&mut self, cell: &str, width: i32) {
        let short = cell.len() < width.unsigned_abs() as usize;
        self.any_padded_right |= short || cell.ends_with(' ');
        self.any_padded_left |= cell.starts_with(' ');
    }

    fn flush_right(&self) -> bool {
        self.any_padded_left && !self.any_padded_right
    }
}

/// Puts a cell where it belongs; the error is what is allowed.
fn fill(row: &mut SshareRow, column: Column, cell: &Cell<'_>) -> Result<(), &'static str> {
    let text = cell.text.trim();
    let name = || (!text.is_empty()).then(|| text.to_owned());
    match column {
        Column::Account => {
            row.account = name();
            row.account_cut = cell.full && text.ends_with('+');
            row.depth = cell.text.len() - cell.text.trim_start().len();
        }
        Column::User => row.user = name(),
        Column::Cluster => row.cluster = name(),
        Column::Partition => row.partition = name(),
        Column::GrpTresMins => row.grp_tres_mins = name(),
        Column::GrpTresRaw => row.grp_tres_raw = name(),
        Column::TresRunMins => row.tres_run_mins = name(),
        Column::Id => row.id = whole(text, u64::from(u32::MAX), "a whole number")?.map(narrow),
        Column::RawShares if text == "parent" => row.raw_shares = Some(Shares::Parent),
        Column::RawShares => {
            let allowed = "a whole number from 0 to 2147483646, parent, or nothing for the root";
            let max = u64::from(Shares::MAX_RAW);
            row.raw_shares = whole(text, max, allowed)?.map(|n| Shares::Raw(narrow(n)));
        }
        Column::RawUsage => row.raw_usage = whole(text, u64::MAX - 2, "a whole number")?,
        Column::NormShares => row.norm_shares = number(text)?,
        Column::NormUsage => row.norm_usage = number(text)?,
        Column::EffectvUsage => row.effective_usage = number(text)?,
        Column::LevelFs => row.level_fs = number(text)?,
        Column::FairShare => row.fs_factor = number(text)?,
        // Computed from the others; no listing of sshare has them.
        Column::Entitled | Column::Due | Column::UsedRatio => {}
    }
    Ok(())
}

/// A number that [`whole`] found to be at most `u32::MAX`.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn whole(text: &str, max: u64, allowed: &'static str) -> Result<Option<u64>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(allowed);
    }
    match text.parse::<u64>() {
        Ok(number) if number <= max => Ok(Some(number)),
        _ => Err(allowed),
    }
}

fn number(text: &str) -> Result<Option<Printed>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let allowed = "a number from 0 up as 0.013736 or 1.5085e+04, inf, or nothing";
    Printed::parse(text)
        .map(|printed| Some(printed.rounded_twice()))
        .ok_or(allowed)
}

/// A line and its number, from 1.
#[derive(Clone, Debug)]
struct SshareLine {
    number: usize,
    text: String,
}

/// The lines of a stream with their numbers, each kept for itself.
struct Lines<'f, R> {
    file: &'f str,
    lines: lines::Lines<'f, R>,
}

impl<'f, R: BufRead> Lines<'f, R> {
    fn new(file: &'f str, input: R) -> Lines<'f, R> {
        let lines = lines::Lines::new(file, input);
        Lines { file, lines }
    }

    fn next(&mut self) -> Result<Option<SshareLine>, InputError> {
        // sshare cuts names by bytes, so a cut name may end in half a character.
        let Some(text) = self.lines.next()? else {
            return Ok(None);
        };
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let number = self.lines.number;
        Ok(Some(SshareLine { number, text }))
    }

    /// The next line that says anything.
    fn next_said(&mut self) -> Result<Option<SshareLine>, InputError> {
        loop {
            match self.next()? {
                Some(line) if line.text.trim().is_empty() => {}
                line => return Ok(line),
            }
        }
    }
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
