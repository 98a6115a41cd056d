//! From the cells of a line to a row, or to weights.

use super::column::{Column, Factor, Form};
use super::header::{Layout, Word, words};
use super::{Row, Weights};
use crate::input::error::{InputError, Problem};
use crate::input::sshare::Printed;

/// A cell: its text and the character it starts at, from 0.
pub(super) type Cell = Option<Word>;

/// The cells of a line; `Err` with the character and the reason where they do not fit.
pub(super) fn cut(line: &str, layout: &Layout) -> Result<Vec<Cell>, (usize, String)> {
    match layout {
        Layout::Sign(sign, count) => by_sign(line, *sign, *count),
        Layout::Blanks(headings) => by_place(line, headings),
    }
}

fn by_sign(line: &str, sign: char, count: usize) -> Result<Vec<Cell>, (usize, String)> {
    let mut cells = Vec::with_capacity(count);
    let mut at = 0;
    for piece in line.split(sign) {
        let text = piece.trim();
        let start = at + piece.chars().take_while(|c| c.is_whitespace()).count();
        cells.push((!text.is_empty()).then(|| Word {
            start,
            end: start + text.chars().count(),
            text: text.to_owned(),
        }));
        at += piece.chars().count() + 1;
    }
    // A sign after the last column, too, leaves an empty piece.
    if cells.len() == count + 1 && cells[count].is_none() {
        cells.pop();
    }
    if cells.len() == count {
        Ok(cells)
    } else {
        let found = cells.len();
        let why = format!("{found} cells between {sign:?}, where the header has {count}");
        Err((0, why))
    }
}

/// Words under the headings: each in order where there are as many, else by what they stand under.
fn by_place(line: &str, headings: &[Word]) -> Result<Vec<Cell>, (usize, String)> {
    let found = words(line, |c| !c.is_whitespace());
    if found.len() == headings.len() {
        return Ok(found.into_iter().map(Some).collect());
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
    let mut cells: Vec<Cell> = vec![None; headings.len()];
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
        cells[at] = Some(word);
    }
    Ok(cells)
}

/// A line in cells, with what messages need.
pub(super) struct Line<'a> {
    pub file: &'a str,
    pub number: usize,
    pub text: &'a str,
    pub cells: &'a [Cell],
}

impl Line<'_> {
    fn value(&self, word: &Word, column: Column, allowed: &str) -> InputError {
        let problem = Problem::Value {
            what: column.name().to_owned(),
            found: word.text.chars().take(80).collect(),
            allowed: allowed.to_owned(),
        };
        InputError::new(self.file, problem)
            .at_line(self.number, self.text)
            .at_column(word.start + 1)
    }

    fn whole<T: std::str::FromStr>(
        &self,
        word: &Word,
        column: Column,
        allowed: &str,
    ) -> Result<T, InputError> {
        let parsed = word.text.parse();
        parsed.map_err(|_| self.value(word, column, allowed))
    }

    fn number(&self, word: &Word, column: Column) -> Result<Printed, InputError> {
        let parsed = Printed::parse(&word.text);
        parsed.ok_or_else(|| self.value(word, column, "a number from 0 up"))
    }

    /// `cpu=10,gres/gpu=5`, as much of it as the column holds.
    fn tres(&self, word: &Word, column: Column) -> Result<Vec<(String, Printed)>, InputError> {
        let allowed = "resources as cpu=10,mem=5, whole: a column too narrow cuts them";
        let mut terms = Vec::new();
        for term in word.text.split(',') {
            let parsed = term.split_once('=').and_then(|(name, number)| {
                let number = match number.strip_prefix('-') {
                    Some(below) => Printed::parse(below).map(|n| Printed {
                        value: -n.value,
                        low: -n.high,
                        high: -n.low,
                    }),
                    None => Printed::parse(number),
                };
                Some((name.to_owned(), number?))
            });
            terms.push(parsed.ok_or_else(|| self.value(word, column, allowed))?);
        }
        Ok(terms)
    }

    /// The row of a job.
    pub fn row(&self, columns: &[Column]) -> Result<Row, InputError> {
        let mut row = Row {
            line: self.number,
            ..Row::default()
        };
        for (&column, cell) in columns.iter().zip(self.cells) {
            // Without weights for them, and of a priority set by hand, there are no terms.
            match column {
                Column::Factor(Factor::Tres, Form::Weighted) => row.tres = Some(Vec::new()),
                Column::Factor(Factor::Tres, Form::Normalised) => row.norm_tres = Some(Vec::new()),
                _ => {}
            }
            if let Some(word) = cell {
                self.fill(&mut row, column, word)?;
            }
        }
        Ok(row)
    }

    fn fill(&self, row: &mut Row, column: Column, word: &Word) -> Result<(), InputError> {
        let text = || Some(word.text.clone());
        let small = "a whole number";
        match column {
            Column::JobId => row.job_id = Some(self.whole(word, column, "a job's number")?),
            Column::Partition => row.partition = text(),
            Column::Cluster => row.cluster = text(),
            Column::User => row.user = text(),
            Column::Account => row.account = text(),
            Column::QosName => row.qos_name = text(),
            Column::Site => row.site = Some(self.whole(word, column, small)?),
            Column::Nice => row.nice = Some(self.whole(word, column, small)?),
            Column::Priority(Form::Weighted) => {
                let allowed = "a whole number from 0 up";
                let number: u64 = self.whole(word, column, allowed)?;
                row.priority = Some(number as f64);
            }
            Column::Priority(Form::Normalised) => {
                row.norm_priority = Some(self.number(word, column)?);
            }
            Column::Factor(Factor::Tres, Form::Weighted) => {
                row.tres = Some(self.tres(word, column)?);
            }
            Column::Factor(Factor::Tres, Form::Normalised) => {
                row.norm_tres = Some(self.tres(word, column)?);
            }
            Column::Factor(factor, Form::Weighted) => {
                row.weighted[factor.index()] = Some(self.number(word, column)?);
            }
            Column::Factor(factor, Form::Normalised) => {
                row.norm[factor.index()] = Some(self.number(word, column)?);
            }
        }
        Ok(())
    }

    /// Whether this is the row of `-w`.
    pub fn is_weights(&self, names: &[&str]) -> bool {
        let mut cells = names.iter().zip(self.cells);
        cells.any(|(name, cell)| {
            *name == "JOBID" && cell.as_ref().is_some_and(|word| word.text == "Weights")
        })
    }

    /// The row of `-w`.
    pub fn weights(&self, columns: &[Column]) -> Result<Weights, InputError> {
        let mut weights = Weights::default();
        for (&column, cell) in columns.iter().zip(self.cells) {
            let (Some(word), Column::Factor(factor, _)) = (cell, column) else {
                continue;
            };
            if factor == Factor::Tres {
                weights.tres = Some(word.text.clone());
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
        let cells = cut(line, &header.layout).unwrap();
        let text = |cell: Cell| cell.map_or_else(String::new, |word| word.text);
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
        let layout = header("JOBID|USER").unwrap().layout;
        assert!(cut("7|bob|x", &layout).is_err());
        let layout = header("JOBID USER").unwrap().layout;
        assert!(cut("7 bob x", &layout).is_err());
    }
}
