//! Text in columns as wide as their widest cell, or as narrow as the terminal requires.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks before each column.
const GAP: usize = 2;
/// Text is not cut shorter than this.
const MIN_TEXT: usize = 8;

/// Rows of cells under a heading.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    /// The number of first columns that are flush left; the others are flush right.
    left: usize,
    /// The last column is flush left, too.
    words_last: bool,
    /// The columns to leave out first if not all fit.
    spare: &'static [&'static str],
}

impl Columns {
    /// Columns with these headings, of which the first `left` are flush left.
    pub fn new(heading: &[&'static str], left: usize) -> Columns {
        Columns {
            heading: heading.to_vec(),
            rows: Vec::new(),
            left,
            words_last: false,
            spare: &[],
        }
    }

    /// The same with words in the last column: flush left.
    #[must_use]
    pub fn words_last(self) -> Columns {
        Columns {
            words_last: true,
            ..self
        }
    }

    /// The columns that are left out where not all fit, by heading, the first one first.
    pub fn spare(self, spare: &'static [&'static str]) -> Columns {
        Columns { spare, ..self }
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
    /// Where `width` columns of a terminal are too few, the spare columns go, one after the other,
    /// and a line at the end names them; then text that is flush left is cut, a `+` at its end as
    /// in Slurm's own tables. What is still too wide stays so: numbers are never cut.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write, width: Option<usize>) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let (widths, gone) = self.fit(width.unwrap_or(usize::MAX));
        let heading = self.heading.iter().copied();
        self.line(out, &widths, heading)?;
        for row in &self.rows {
            self.line(out, &widths, row.iter().map(String::as_str))?;
        }
        if gone.is_empty() {
            return Ok(());
        }
        let gone = gone.join(", ");
        writeln!(out, "  (no room for {gone}; --json has all)")
    }

    /// The width of each column that is shown, and the headings of those left out for lack of room.
    fn fit(&self, room: usize) -> (Vec<Option<usize>>, Vec<&'static str>) {
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].width());
            let widest = cells.max().filter(|width| *width > 0)?;
            Some(widest.max(self.heading[at].len()))
        };
        let mut widths: Vec<Option<usize>> = (0..self.heading.len()).map(widest).collect();
        let taken = |widths: &[Option<usize>]| -> usize {
            widths.iter().flatten().map(|width| width + GAP).sum()
        };
        let mut gone = Vec::new();
        for spare in self.spare {
            if taken(&widths) <= room {
                break;
            }
            let at = self.heading.iter().position(|heading| heading == spare);
            if at.and_then(|at| widths[at].take()).is_some() {
                gone.push(*spare);
            }
        }
        let mut excess = taken(&widths).saturating_sub(room);
        let last = widths.len().saturating_sub(1);
        let is_text = |at: usize| at < self.left || self.words_last && at == last;
        let text = widths.iter_mut().enumerate().filter(|(at, _)| is_text(*at));
        for width in text.filter_map(|(_, width)| width.as_mut()) {
            let less = excess.min(width.saturating_sub(MIN_TEXT));
            *width -= less;
            excess -= less;
        }
        (widths, gone)
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
            let cell = cut(cell, width);
            let blanks = width.saturating_sub(cell.width());
            let is_last = at + 1 == self.heading.len();
            match at < self.left || self.words_last && is_last {
                true => line.push_str(&format!("{:GAP$}{cell}{:blanks$}", "", "")),
                false => line.push_str(&format!("{:GAP$}{:blanks$}{cell}", "", "")),
            }
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// Text of at most `width` columns of a terminal.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        short.push(c);
    }
    short + "+"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(columns: &Columns, width: Option<usize>) -> String {
        let mut out = Vec::new();
        columns.write(&mut out, width).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_are_flush_left_and_numbers_flush_right() {
        let mut columns = Columns::new(&["NAME", "EMPTY", "N"], 1);
        columns.push(["a".into(), String::new(), "100".into()]);
        columns.push(["müller".into(), String::new(), "1".into()]);
        let expected = "  NAME      N\n  a       100\n  müller    1\n";
        assert_eq!(written(&columns, None), expected);
    }

    #[test]
    fn characters_may_take_two_columns() {
        let mut columns = Columns::new(&["NAME", "N"], 1);
        columns.push(["山田太郎".into(), "1".into()]);
        columns.push(["smith".into(), "22".into()]);
        let expected = "  NAME       N\n  山田太郎   1\n  smith     22\n";
        assert_eq!(written(&columns, None), expected);
    }

    #[test]
    fn a_narrow_terminal_gets_less() {
        let mut columns = Columns::new(&["NAME", "A", "B", "C"], 1).spare(&["B", "A"]);
        let row = ["a-rather-long-name", "1111", "2222", "3333"];
        columns.push(row.map(str::to_owned));
        let of = |width| written(&columns, Some(width));
        let all =
            "  NAME                   A     B     C\n  a-rather-long-name  1111  2222  3333\n";
        assert_eq!(of(38), all);
        assert_eq!(
            of(37),
            "  NAME                   A     C\n  a-rather-long-name  1111  3333\n  (no room for B; --json has all)\n"
        );
        let shortest = "  NAME         C\n  a-rathe+  3333\n  (no room for B, A; --json has all)\n";
        assert_eq!(of(16), shortest);
        assert_eq!(of(1), shortest);
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab+");
        assert_eq!(cut("山田太郎", 6), "山田+");
    }
}
