//! Text in columns as wide as their widest cell.

use std::io::{self, Write};

/// Rows of cells under a heading.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The first so many columns are flush left, the others flush right.
    left: usize,
}

impl Columns {
    /// Columns with these headings, of which the first `left` are flush left.
    pub fn new(heading: &[&'static str], left: usize) -> Columns {
        Columns {
            heading: heading.to_vec(),
            rows: Vec::new(),
            left,
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it does not have as many cells as the heading.
    pub fn push<const N: usize>(&mut self, row: [String; N]) {
        assert_eq!(N, self.heading.len(), "a cell for each column");
        self.rows.push(row.into());
    }

    /// Writes heading and rows, indented by two blanks, two blanks between columns. A column
    /// without a single cell that says something is left out; without rows nothing is written.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].chars().count());
            let widest = cells.max().filter(|width| *width > 0)?;
            Some(widest.max(self.heading[at].len()))
        };
        let widths: Vec<Option<usize>> = (0..self.heading.len()).map(widest).collect();
        if self.rows.is_empty() {
            return Ok(());
        }
        let heading = self.heading.iter().copied();
        self.line(out, &widths, heading)?;
        for row in &self.rows {
            self.line(out, &widths, row.iter().map(String::as_str))?;
        }
        Ok(())
    }

    fn line<'a>(
        &self,
        out: &mut impl Write,
        widths: &[Option<usize>],
        cells: impl Iterator<Item = &'a str>,
    ) -> io::Result<()> {
        let mut line = String::new();
        for (at, (cell, width)) in cells.zip(widths).enumerate() {
            let Some(width) = *width else { continue };
            line.push_str("  ");
            match at < self.left {
                true => line.push_str(&format!("{cell:<width$}")),
                false => line.push_str(&format!("{cell:>width$}")),
            }
        }
        writeln!(out, "{}", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_flush_left_and_numbers_flush_right() {
        let mut columns = Columns::new(&["NAME", "EMPTY", "N"], 1);
        columns.push(["a".into(), String::new(), "100".into()]);
        columns.push(["müller".into(), String::new(), "1".into()]);
        let mut out = Vec::new();
        columns.write(&mut out).unwrap();
        let expected = "  NAME      N\n  a       100\n  müller    1\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
