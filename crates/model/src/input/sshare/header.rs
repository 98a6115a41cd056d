//! Positions of the columns of a listing: from its header, its line of dashes, its command.

use super::column::{Column, Field};
use super::command;

/// How the cells of a row are separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Columns of fixed width with one blank between.
    Columns(Vec<Field>),
    /// `|` between, or after, the cells.
    Bars(Vec<Field>),
}

impl Layout {
    /// The columns.
    pub fn fields(&self) -> &[Field] {
        match self {
            Layout::Columns(fields) | Layout::Bars(fields) => fields,
        }
    }
}

/// Returns true if `line` can be the first of a listing: a prompt with sshare, `CLUSTER:`, a
/// header.
pub fn begins(line: &str) -> bool {
    command::parse(line).is_some() || line.starts_with("CLUSTER: ") || is_header(line)
}

/// Returns true if every word of `line` is the name of a column, or as much of it as fitted.
pub(super) fn is_header(line: &str) -> bool {
    let mut words = line
        .split(|c: char| c == '|' || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| !Column::of_heading(word).is_empty())
}

/// Why a header does not give the columns: the column (from 1) of the error, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeaderError {
    /// From 1, in characters.
    pub column: usize,
    /// The reason.
    pub why: String,
    /// A way out.
    pub hint: &'static str,
}

/// The layout of a header with `|`.
pub(super) fn bars(header: &str) -> Result<Layout, HeaderError> {
    let mut fields = Vec::new();
    let mut at = 0;
    let text = header.strip_suffix('|').unwrap_or(header);
    for name in text.split('|') {
        let mut all = Column::ALL.into_iter().chain(Column::OWN);
        let Some(column) = all.find(|c| c.name() == name) else {
            return Err(HeaderError {
                column: header[..at].chars().count() + 1,
                why: format!("{name:?} is no column of sshare"),
                hint: "separate the columns as `sshare -P` does",
            });
        };
        fields.push(column.into());
        at += name.len() + 1;
    }
    Ok(Layout::Bars(fields))
}

/// The layout of a header over a line of dashes, one group of dashes per column.
pub(super) fn dashed(header: &str, dashes: &str) -> Result<Layout, HeaderError> {
    let mut fields: Vec<Field> = Vec::new();
    let mut at = 0;
    for group in dashes.trim_end().split(' ') {
        // Headers are ASCII (`is_header`), so any cut falls between characters.
        let cell = header.get(at..).unwrap_or("");
        let cell = cell.get(..group.len()).unwrap_or(cell);
        let word = cell.trim();
        let width = i32::try_from(group.len()).unwrap_or(i32::MAX);
        let column = match Column::of_heading(word)[..] {
            _ if word.is_empty() || group.is_empty() => None,
            [column] => Some(column),
            _ => None,
        };
        let Some(column) = column else {
            return Err(HeaderError {
                column: at + 1,
                why: format!("the header {word:?} over these dashes does not tell the column"),
                hint: "print the columns wider (`-o NormShares%11`) or with -P",
            });
        };
        let left = cell.starts_with(|c| c != ' ') && word.len() < group.len();
        fields.push(Field {
            column,
            width: if left { -width } else { width },
        });
        at += group.len() + 1;
    }
    Ok(Layout::Columns(fields))
}

/// Returns true if a line is that of the dashes under a header.
pub(super) fn is_dashes(line: &str) -> bool {
    line.starts_with('-') && line.bytes().all(|b| b == b'-' || b == b' ')
}

/// The layout of a header whose line of dashes is gone: known only where the columns have the
/// widths that sshare gives them, or those of the command above.
pub(super) fn undashed(header: &str, command: Option<&[Field]>) -> Result<Layout, HeaderError> {
    let named: Option<Vec<Field>> = header
        .split_whitespace()
        .map(|word| Some(Field::from(*Column::of_heading(word).first()?)))
        .collect();
    let candidates = command.map(<[Field]>::to_vec).into_iter().chain(named);
    for fields in candidates {
        // Releases before 20.11 printed the header of every column flush right.
        if [false, true]
            .iter()
            .any(|&right| render(&fields, right) == header.trim_end())
        {
            return Ok(Layout::Columns(fields));
        }
    }
    Err(HeaderError {
        column: 1,
        why: "the columns have other widths than sshare gives them, and the line of dashes \
              that would tell is not there"
            .into(),
        hint: "leave the line of dashes in, or print with -P",
    })
}

/// A header as sshare prints it, without blanks at the end.
fn render(fields: &[Field], right: bool) -> String {
    let mut line = String::new();
    for field in fields {
        let width = field.width.unsigned_abs() as usize;
        let name = field.column.name();
        let name = &name[..name.len().min(width)];
        if field.width < 0 && !right {
            line.push_str(&format!("{name:<width$} "));
        } else {
            line.push_str(&format!("{name:>width$} "));
        }
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(layout: &Layout) -> Vec<(&'static str, i32)> {
        let fields = layout.fields().iter();
        fields.map(|f| (f.column.name(), f.width)).collect()
    }

    #[test]
    fn dashes_give_widths_and_headers_may_be_cut() {
        let layout = dashed("Account   Norm Us", "-------- ----- --").unwrap_err();
        assert_eq!(layout.column, 10);
        let layout = dashed("Account  NormU Us", "-------- ----- --").unwrap();
        assert_eq!(
            names(&layout),
            [("Account", -8), ("NormUsage", 5), ("User", 2)]
        );
    }

    #[test]
    fn bars_with_and_without_the_last_one() {
        for header in ["Account|User|", "Account|User"] {
            let layout = bars(header).unwrap();
            assert_eq!(names(&layout), [("Account", -20), ("User", 10)]);
        }
        assert_eq!(bars("Account|Usr").unwrap_err().column, 9);
    }

    #[test]
    fn without_dashes_default_widths_are_recognised_in_old_and_new_releases() {
        for header in [
            "             Account  RawShares ",
            "Account               RawShares",
        ] {
            let layout = undashed(header, None).unwrap();
            assert_eq!(names(&layout), [("Account", -20), ("RawShares", 10)]);
        }
        let header = "                       Account  RawShares";
        assert!(undashed(header, None).is_err());
        let command = command::parse("$ sshare -o Account%30,RawShares").unwrap();
        let layout = undashed(header, command.fields.as_deref()).unwrap();
        assert_eq!(names(&layout), [("Account", 30), ("RawShares", 10)]);
    }
}
