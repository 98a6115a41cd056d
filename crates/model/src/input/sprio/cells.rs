//! From the cells of a line to a row, or to weights.

use super::Weights;
use super::column::{Column, Factor, Form};
use super::header::{Layout, Word, words};
use super::number::Digits;
use super::rows::Value;
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::sshare::Printed;

/// A cell: its text and the byte it starts at, from 0; `None`: it is blank.
pub(super) type Cell<'a> = Option<(&'a str, usize)>;

/// The cells of a line, into `cells`; `Err` with the character, from 0, and the reason where they do
/// not fit.
pub(super) fn cut<'a>(
    line: &'a str,
    layout: &Layout,
    cells: &mut Vec<Cell<'a>>,
) -> Result<(), (usize, String)> {
    cells.clear();
    match layout {
        Layout::Sign(sign, count) => by_sign(line, *sign, *count, cells),
        Layout::Blanks(headings) => by_place(line, headings, cells),
    }
}

fn by_sign<'a>(
    line: &'a str,
    sign: char,
    count: usize,
    cells: &mut Vec<Cell<'a>>,
) -> Result<(), (usize, String)> {
    let mut add = |from: usize, piece: &'a str| {
        let text = piece.trim_start();
        let start = from + piece.len() - text.len();
        let text = text.trim_end();
        cells.push((!text.is_empty()).then_some((text, start)));
    };
    let mut at = 0;
    if let Some(byte) = u8::try_from(sign).ok().filter(u8::is_ascii) {
        // Cells are short: looking at one byte after the other is the fastest.
        for (end, found) in line.bytes().enumerate() {
            if found == byte {
                add(at, &line[at..end]);
                at = end + 1;
            }
        }
        add(at, &line[at..]);
    } else {
        for piece in line.split(sign) {
            add(at, piece);
            at += piece.len() + sign.len_utf8();
        }
    }
    // A sign after the last column, too, leaves an empty piece.
    if cells.len() == count + 1 && cells[count].is_none() {
        cells.pop();
    }
    if cells.len() == count {
        Ok(())
    } else {
        let found = cells.len();
        let why = format!("{found} cells between {sign:?}, where the header has {count}");
        Err((0, why))
    }
}

/// Words under the headings: in order if there are as many, else by their place under the headings.
fn by_place<'a>(
    line: &'a str,
    headings: &[Word],
    cells: &mut Vec<Cell<'a>>,
) -> Result<(), (usize, String)> {
    let cell = |word: &Word| Some((&line[word.byte..word.byte + word.text.len()], word.byte));
    let found = words(line, |c| !c.is_whitespace());
    if found.len() == headings.len() {
        cells.extend(found.iter().map(cell));
        return Ok(());
    }
    if found.len() > headings.len() {
        let first = found[headings.len()].start;
        let why = format!(
            "{} cells, where the header has {} columns",
            found.len(),
            headings.len()
        );
        return Err((first, why));
    }
    cells.resize(headings.len(), None);
    let mut next = 0;
    for word in found {
        // Flush right under a heading, flush left, or over some part of it.
        let under = |heading: &Word| {
            word.end == heading.end
                || word.start == heading.start
                || (word.start < heading.end && heading.start < word.end)
        };
        let Some(at) = (next..headings.len()).find(|&at| under(&headings[at])) else {
            let why = format!("{:?} stands under no heading", word.text);
            return Err((word.start, why));
        };
        next = at + 1;
        cells[at] = cell(&word);
    }
    Ok(())
}

/// A line in cells, with what messages need.
pub(super) struct SprioLine<'a, 'c> {
    pub file: &'a str,
    pub number: usize,
    pub text: &'a str,
    pub cells: &'c [Cell<'a>],
    /// No sign is between the cells.
    pub by_place: bool,
}

/// Width of the resources in sprio's output.
const TRES_WIDTH: usize = 20;

/// `cpu=10`.
fn term(text: &str) -> Option<(String, Printed)> {
    let (name, number) = text.split_once('=')?;
    let number = match number.strip_prefix('-') {
        Some(below) => Printed::parse(below).map(|n| Printed {
            value: -n.value,
            low: -n.high,
            high: -n.low,
        }),
        None => Printed::parse(number),
    };
    Some((name.to_owned(), number?))
}

/// Returns true if `text` can be the beginning of a resource with its number: `gres/g`, `mem=`,
/// `mem=0.`, or nothing after a comma.
fn is_cut(text: &str) -> bool {
    let (name, number) = text.split_once('=').unwrap_or((text, ""));
    let named = |c: char| c.is_ascii_alphanumeric() || "/:_.-".contains(c);
    let begun = number.strip_prefix('-').unwrap_or(number);
    name.chars().all(named)
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && begun
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Resources with their numbers, and the end of the cell where it is cut.
type TresCell<'a> = (Vec<(String, Printed)>, Option<&'a str>);

/// The text of a cell, and where it is.
type Place<'a> = (&'a str, usize);

impl<'a> SprioLine<'a, '_> {
    fn value(&self, word: Place<'_>, column: Column, allowed: &str) -> InputError {
        let problem = Problem::Value {
            what: column.name().to_owned(),
            found: word.0.chars().take(80).collect(),
            allowed: allowed.to_owned(),
        };
        InputError::new(self.file, problem)
            .at_line(self.number, self.text)
            .at_column(self.text[..word.1].chars().count() + 1)
    }

    fn whole<T: std::str::FromStr>(
        &self,
        word: Place<'_>,
        column: Column,
        allowed: &str,
    ) -> Result<T, InputError> {
        let parsed = word.0.parse();
        parsed.map_err(|_| self.value(word, column, allowed))
    }

    fn number(&self, word: Place<'_>, column: Column) -> Result<Value<'a>, InputError> {
        if let Some(digits) = Digits::parse(word.0) {
            return Ok(Value::Digits(digits));
        }
        let parsed = Printed::parse(word.0).map(Value::Printed);
        parsed.ok_or_else(|| self.value(word, column, "a number from 0 up"))
    }

    /// `cpu=10,gres/gpu=5`, and the end of the cell where a column too narrow cut it: no resource
    /// with its number, or the last of a cell that fills sprio's own column, which may have had more
    /// digits.
    fn tres(&self, word: Place<'a>, column: Column) -> Result<TresCell<'a>, InputError> {
        let allowed = "resources as cpu=10,mem=5";
        let mut terms = Vec::new();
        let mut pieces = word.0.split(',').peekable();
        let full = self.by_place && word.0.len() == TRES_WIDTH;
        while let Some(piece) = pieces.next() {
            match term(piece) {
                Some(term) => {
                    terms.push(term);
                    if full && pieces.peek().is_none() {
                        return Ok((terms, Some(piece)));
                    }
                }
                None if pieces.peek().is_none() && is_cut(piece) => {
                    return Ok((terms, Some(piece)));
                }
                None => return Err(self.value(word, column, allowed)),
            }
        }
        Ok((terms, None))
    }

    /// The row of a job, into `values`: one for each column.
    pub fn row(
        &self,
        columns: &[Column],
        values: &mut Vec<Value<'a>>,
        left: &mut LeftOut,
    ) -> Result<(), InputError> {
        values.clear();
        for (&column, cell) in columns.iter().zip(self.cells) {
            values.push(match cell {
                Some(word) => {
                    let read = left.keep_cell(self.read(column, *word))?;
                    read.unwrap_or(Value::Blank)
                }
                None => Value::Blank,
            });
        }
        Ok(())
    }

    fn read(&self, column: Column, word: Place<'a>) -> Result<Value<'a>, InputError> {
        let small = "a whole number";
        Ok(match column {
            Column::JobId => Value::Id(self.whole(word, column, "a job's number")?),
            Column::Partition
            | Column::Cluster
            | Column::User
            | Column::Account
            | Column::QosName
            | Column::Sluid => Value::Name(word.0),
            Column::Site | Column::Nice => Value::Whole(self.whole(word, column, small)?),
            Column::Priority(Form::Weighted) => {
                let allowed = "a whole number from 0 up";
                let number: u64 = self.whole(word, column, allowed)?;
                Value::Points(number as f64)
            }
            Column::Factor(Factor::Tres, _) => {
                let (terms, cut) = self.tres(word, column)?;
                Value::Terms(terms, cut)
            }
            Column::Priority(Form::Normalised) | Column::Factor(..) => self.number(word, column)?,
        })
    }

    /// Returns true if this is the row of `-w`.
    pub fn is_weights(&self, names: &[&str]) -> bool {
        let mut cells = names.iter().zip(self.cells);
        cells
            .any(|(name, cell)| *name == "JOBID" && cell.is_some_and(|(text, _)| text == "Weights"))
    }

    /// The row of `-w`.
    pub fn weights(&self, columns: &[Column]) -> Result<Weights, InputError> {
        let mut weights = Weights::default();
        for (&column, cell) in columns.iter().zip(self.cells) {
            let (Some(word), Column::Factor(factor, _)) = (*cell, column) else {
                continue;
            };
            if factor == Factor::Tres {
                weights.tres = Some(word.0.to_owned());
            } else {
                let allowed = "a weight: a whole number from 0 to 4294967295";
                weights.points[factor.index()] = Some(self.whole(word, column, allowed)?);
            }
        }
        Ok(weights)
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::header;
    use super::*;

    fn texts(head: &str, line: &str) -> Vec<String> {
        let header = header(head).unwrap();
        let mut cells = Vec::new();
        cut(line, &header.layout, &mut cells).unwrap();
        let text = |cell: Cell<'_>| cell.map_or_else(String::new, |(text, _)| text.to_owned());
        cells.into_iter().map(text).collect()
    }

    #[test]
    fn blank_cells_are_told_by_place() {
        assert_eq!(
            texts(
                "  JOBID PARTITION   SITE   NICE",
                "Weights                1       "
            ),
            ["Weights", "", "1", ""]
        );
        assert_eq!(
            texts("JOBID USER   TRES", "    7  bob       "),
            ["7", "bob", ""]
        );
    }

    #[test]
    fn edited_rows_may_be_a_blank_off() {
        assert_eq!(
            texts(
                "  JOBID PARTITION        SITE   JOBSIZE        QOS",
                "Weights                  1        904        1000"
            ),
            ["Weights", "", "1", "904", "1000"]
        );
    }

    #[test]
    fn signs_separate_cells() {
        assert_eq!(texts("JOBID|TRES|", "7|cpu=1,mem=2|"), ["7", "cpu=1,mem=2"]);
        assert_eq!(
            texts("JOBID|USER|TRES", " 7 || \u{e9} "),
            ["7", "", "\u{e9}"]
        );
        assert_eq!(texts("JOBID\u{a6}USER", "7\u{a6}bob"), ["7", "bob"]);
        let layout = header("JOBID|USER").unwrap().layout;
        assert!(cut("7|bob|x", &layout, &mut Vec::new()).is_err());
        let layout = header("JOBID USER").unwrap().layout;
        assert!(cut("7 bob x", &layout, &mut Vec::new()).is_err());
    }
}
