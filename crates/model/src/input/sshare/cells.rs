//! The cells of one row.

use super::column::Field;
use super::header::Layout;

/// A cell: its text, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    /// As printed, padding included.
    pub text: &'a str,
    /// Bytes of the line before it.
    pub at: usize,
    /// True if the text fills its column, so that a `+` at its end may mean more.
    pub full: bool,
}

/// A row that does not fit the columns: bytes of the line before the first misfit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Bytes before it.
    pub at: usize,
    /// The reason.
    pub why: &'static str,
}

/// Cuts a line into one cell per field.
pub(super) fn cut<'a>(line: &'a str, layout: &Layout) -> Result<Vec<Cell<'a>>, Misfit> {
    match layout {
        Layout::Bars(fields) => bars(line, fields.len()),
        Layout::Columns(fields) => {
            // sshare pads to a width in bytes; an edited file may be padded in characters.
            let by_bytes = columns(line, fields, byte_end);
            match by_bytes {
                Err(_) if !line.is_ascii() => {
                    columns(line, fields, char_end).map_err(|_| by_bytes.unwrap_err())
                }
                _ => by_bytes,
            }
        }
    }
}

fn bars(line: &str, count: usize) -> Result<Vec<Cell<'_>>, Misfit> {
    let mut cells = Vec::with_capacity(count);
    let mut at = 0;
    for text in line.split('|') {
        if cells.len() == count {
            // `-p` ends each row with a bar.
            if text.is_empty() && at == line.len() {
                break;
            }
            let why = "more cells than the header has columns";
            return Err(Misfit { at, why });
        }
        cells.push(Cell {
            text,
            at,
            full: false,
        });
        at += text.len() + 1;
    }
    if cells.len() < count {
        let why = "fewer cells than the header has columns";
        return Err(Misfit {
            at: line.len(),
            why,
        });
    }
    Ok(cells)
}

/// The byte index after `width` bytes of `text`, `None` when it has fewer. A name that is cut
/// inside a character keeps the whole of it.
fn byte_end(text: &str, width: usize) -> Option<usize> {
    if text.len() <= width {
        return None;
    }
    (width..=text.len()).find(|&end| text.is_char_boundary(end))
}

/// The byte index after `width` characters of `text`, `None` when it has fewer.
fn char_end(text: &str, width: usize) -> Option<usize> {
    text.char_indices().nth(width).map(|(end, _)| end)
}

fn columns<'a>(
    line: &'a str,
    fields: &[Field],
    end_of: impl Fn(&str, usize) -> Option<usize>,
) -> Result<Vec<Cell<'a>>, Misfit> {
    let mut cells = Vec::with_capacity(fields.len());
    let mut at = 0;
    for field in fields {
        let rest = line.get(at..).unwrap_or("");
        let width = field.width.unsigned_abs() as usize;
        let end = match end_of(rest, width) {
            None => rest.len(),
            Some(end) if rest[end..].starts_with(' ') => end,
            // A number too wide for its column pushes the rest of the row to the right.
            Some(end) if rest[..end].ends_with(|c: char| c.is_ascii_digit()) => {
                end + rest[end..].find(' ').unwrap_or(rest.len() - end)
            }
            Some(end) => {
                let why = "text that crosses the border of a column";
                return Err(Misfit { at: at + end, why });
            }
        };
        let text = &rest[..end];
        cells.push(Cell {
            text,
            at,
            full: text.trim_end().len() >= width,
        });
        at = (at + end + 1).min(line.len());
    }
    match line[at..].find(|c| c != ' ') {
        Some(found) => Err(Misfit {
            at: at + found,
            why: "text after the last column",
        }),
        None => Ok(cells),
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::parse_fields;
    use super::*;

    fn texts(line: &str, list: &str) -> Result<Vec<String>, Misfit> {
        let layout = Layout::Columns(parse_fields(list).unwrap());
        let cells = cut(line, &layout)?;
        Ok(cells.iter().map(|c| c.text.trim().to_owned()).collect())
    }

    #[test]
    fn names_outside_ascii_are_padded_in_bytes_or_characters() {
        for line in ["m\u{f8}      10", "m\u{f8}       10"] {
            assert_eq!(texts(line, "A%-6,RawShares%4").unwrap(), ["m\u{f8}", "10"]);
        }
    }

    #[test]
    fn a_wide_number_pushes_the_rest() {
        assert_eq!(
            texts("ab   12345678    7", "A%-4,RawUsage%5,RawShares%4").unwrap(),
            ["ab", "12345678", "7"]
        );
    }

    #[test]
    fn missing_blanks_at_the_end_are_empty_cells() {
        assert_eq!(
            texts("ab", "A%-4,User%5,RawShares%4").unwrap(),
            ["ab", "", ""]
        );
        assert_eq!(texts("", "A%-4,User%5").unwrap(), ["", ""]);
    }

    #[test]
    fn misfits_name_the_place() {
        assert_eq!(texts("abcdefg   1", "A%-4,RawShares%4").unwrap_err().at, 4);
        assert_eq!(
            texts("ab      1 zz", "A%-4,RawShares%4").unwrap_err().at,
            10
        );
        let layout = Layout::Bars(parse_fields("Account,User").unwrap());
        assert_eq!(cut("a|b|c", &layout).unwrap_err().at, 4);
        assert_eq!(cut("a", &layout).unwrap_err().at, 1);
        assert_eq!(cut("a|b|", &layout).unwrap().len(), 2);
    }
}
