//! Tables of `sacctmgr -P`: a header, then rows, `|` between cells.

use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;

/// A table.
#[derive(Clone, Debug)]
pub(super) struct Table<'a> {
    file: &'a str,
    columns: Vec<&'a str>,
    header: (usize, &'a str),
    /// The rows.
    pub rows: Vec<TableRow<'a>>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(super) struct TableRow<'a> {
    /// Line in the file, from 1.
    pub line: usize,
    text: &'a str,
    cells: Vec<&'a str>,
}

impl<'a> Table<'a> {
    /// The table in `text`; `file` names it in messages. A row that does not fit the header goes to
    /// `left`.
    pub fn parse(
        file: &'a str,
        text: &'a str,
        left: &mut LeftOut,
    ) -> Result<Table<'a>, InputError> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let Some((number, header)) = lines.next() else {
            return Err(InputError::new(file, Problem::Empty));
        };
        let columns: Vec<&str> = cells(header);
        let before = left.count();
        let mut rows = Vec::new();
        for (number, text) in lines {
            let cells = cells(text);
            if cells.len() != columns.len() {
                let (found, due) = (cells.len(), columns.len());
                let why = format!("{found} cells between |, where the header has {due}");
                let error = InputError::new(file, Problem::Structure(why))
                    .at_line(number + 1, text)
                    .hint("run sacctmgr with -P and no blanks or | in names");
                left.keep::<()>(Err(error))?;
                continue;
            }
            rows.push(TableRow {
                line: number + 1,
                text,
                cells,
            });
        }
        left.any_read(rows.len(), before)?;
        Ok(Table {
            file,
            columns,
            header: (number + 1, header),
            rows,
        })
    }

    /// The position of a column.
    pub fn column(&self, name: &str) -> Result<usize, InputError> {
        self.optional(name).ok_or_else(|| {
            let why = format!("the column {name} is not there");
            InputError::new(self.file, Problem::Structure(why))
                .at_line(self.header.0, self.header.1)
                .hint("leave sacctmgr's columns as they are, or name this one in format=")
        })
    }

    /// The position of a column, if it exists.
    pub fn optional(&self, name: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.eq_ignore_ascii_case(name))
    }

    /// An error about a cell.
    pub fn value(&self, row: &TableRow<'_>, at: usize, allowed: &str) -> InputError {
        let before: usize = row.cells[..at].iter().map(|c| c.chars().count() + 1).sum();
        let problem = Problem::Value {
            what: self.columns[at].to_owned(),
            found: row.cells[at].chars().take(80).collect(),
            allowed: allowed.to_owned(),
        };
        InputError::new(self.file, problem)
            .at_line(row.line, row.text)
            .at_column(before + 1)
    }

    /// An error about a row.
    pub fn broken(&self, row: &TableRow<'_>, why: String) -> InputError {
        InputError::new(self.file, Problem::Structure(why)).at_line(row.line, row.text)
    }

    /// A cell as a number.
    pub fn number<T: std::str::FromStr>(
        &self,
        row: &TableRow<'_>,
        at: usize,
        allowed: &str,
    ) -> Result<T, InputError> {
        let parsed = row.cell(at).parse();
        parsed.map_err(|_| self.value(row, at, allowed))
    }
}

impl<'a> TableRow<'a> {
    /// The text of a cell.
    pub fn cell(&self, at: usize) -> &'a str {
        self.cells[at].trim()
    }

    /// The text of a cell that says something.
    pub fn said(&self, at: Option<usize>) -> Option<&'a str> {
        at.map(|at| self.cell(at)).filter(|text| !text.is_empty())
    }
}

/// The cells of a line, of `-p` (a bar at the end, too) like those of `-P`.
fn cells(line: &str) -> Vec<&str> {
    line.split('|').collect()
}
