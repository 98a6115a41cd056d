//! Text broken between words, as wide as the terminal.

use std::io::{self, IsTerminal, Write, stdout};

use unicode_width::UnicodeWidthStr;

use super::terminal;

/// How much deeper than its line the rest of it goes.
const HANG: usize = 2;

/// Breaks the lines that are written to it, where they are longer than a terminal is wide; the
/// last line is written by [`Write::flush`].
pub(super) struct Wrapped<W> {
    out: W,
    width: Option<usize>,
    line: Vec<u8>,
}

impl<W: Write> Wrapped<W> {
    /// As wide as the terminal that standard output is. What is piped is not broken, so that
    /// programs can search in it.
    pub fn to_terminal(out: W) -> Wrapped<W> {
        let width = stdout().is_terminal().then(terminal::table_width);
        Wrapped::new(out, width.flatten())
    }

    fn new(out: W, width: Option<usize>) -> Wrapped<W> {
        Wrapped {
            out,
            width,
            line: Vec::new(),
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        let width = self.width.unwrap_or(usize::MAX);
        let indent = line.len() - line.trim_start_matches(' ').len();
        let broken = broken(&line, 0, (indent + HANG).min(width / 2), width);
        self.out.write_all(broken.as_bytes())?;
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Write for Wrapped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.width.is_none() {
            return self.out.write(bytes);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n");
            self.line.extend_from_slice(text.unwrap_or(part));
            if text.is_some() {
                self.end_line()?;
                self.out.write_all(b"\n")?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.out.flush()
    }
}

/// A line broken between words to `width` columns, of which `used` have something before it; what
/// does not fit continues below, `hang` columns deep. Words are never broken. Lines of an input,
/// after `|`, stay as they are.
pub(super) fn broken(line: &str, used: usize, hang: usize, width: usize) -> String {
    let excerpt = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
    if excerpt.starts_with('|') || used + line.width() <= width {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut column = used;
    // Blanks before a word, which vanish where a line breaks.
    let mut blanks = 0;
    let mut first = true;
    for word in line.split(' ') {
        if word.is_empty() {
            blanks += 1;
            continue;
        }
        let wide = word.width();
        if !first && column + blanks + wide > width {
            out.push('\n');
            blanks = hang;
            column = 0;
        }
        out.extend(std::iter::repeat_n(' ', blanks));
        out.push_str(word);
        column += blanks + wide;
        (blanks, first) = (1, false);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: Option<usize>) -> String {
        let mut out = Wrapped::new(Vec::new(), width);
        // In pieces, as formatting writes.
        for piece in text.as_bytes().chunks(3) {
            out.write_all(piece).unwrap();
        }
        out.flush().unwrap();
        String::from_utf8(out.out).unwrap()
    }

    #[test]
    fn what_fits_stays_and_what_does_not_hangs() {
        let text = "aa bb cc dd\n  - ee ff gg\n\n  n   1\nlast";
        assert_eq!(wrapped(text, None), text);
        assert_eq!(wrapped(text, Some(12)), text);
        assert_eq!(
            wrapped(text, Some(10)),
            "aa bb cc\n  dd\n  - ee ff\n    gg\n\n  n   1\nlast"
        );
    }

    #[test]
    fn long_words_and_lines_of_an_input_are_whole() {
        assert_eq!(broken("abcdefgh ij", 0, 2, 4), "abcdefgh\n  ij");
        assert_eq!(broken("12 | x y z", 0, 2, 4), "12 | x y z");
        assert_eq!(broken("", 3, 2, 2), "");
    }

    #[test]
    fn columns_line_up_again_after_a_break() {
        assert_eq!(
            broken("  age   0.5   long text", 0, 6, 16),
            "  age   0.5\n      long text"
        );
    }
}
