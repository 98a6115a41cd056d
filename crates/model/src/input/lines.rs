//! The lines of a long stream, one at a time.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use super::error::{InputError, Problem};

/// Bytes as text, whatever their encoding. Nearly all input is UTF-8, which std checks many bytes at
/// a time as long as nothing is to be replaced.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The longest line that is taken, in bytes.
pub const MAX_LINE_BYTES: u64 = 16 << 20;

/// Lines with their numbers, from 1, whatever their encoding; the memory of one is that of the
/// next.
pub(super) struct Lines<'f, R> {
    file: &'f str,
    input: R,
    /// Number of the line that was read last.
    pub number: usize,
    bytes: Vec<u8>,
}

impl<'f, R: BufRead> Lines<'f, R> {
    /// The lines of `input`, which messages call `file`.
    pub fn new(file: &'f str, input: R) -> Lines<'f, R> {
        Lines {
            file,
            input,
            number: 0,
            bytes: Vec::new(),
        }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// Those of the stream, and a line of more than [`MAX_LINE_BYTES`].
    pub fn next(&mut self) -> Result<Option<Cow<'_, str>>, InputError> {
        self.bytes.clear();
        let mut limited = self.input.by_ref().take(MAX_LINE_BYTES + 1);
        let read = limited.read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|error| {
            let mut error = InputError::new(self.file, error);
            error.line = Some(self.number + 1);
            error
        })?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if read as u64 > MAX_LINE_BYTES {
            let why = format!("a line of more than {MAX_LINE_BYTES} bytes");
            return Err(InputError::new(self.file, Problem::Structure(why))
                .at_line(self.number, &String::from_utf8_lossy(&self.bytes[..200])));
        }
        let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let text = match self.number {
            1 => text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text),
            _ => text,
        };
        Ok(Some(lossy(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_many_ways() {
        let text = b"\xef\xbb\xbfone\r\n\ntw\xff\nlast";
        let mut lines = Lines::new("f", &text[..]);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.into_owned());
        }
        assert_eq!(all, ["one", "", "tw\u{fffd}", "last"]);
        assert_eq!(lines.number, 4);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let endless = std::io::repeat(b'x');
        let mut lines = Lines::new("f", std::io::BufReader::new(endless));
        let error = lines.next().unwrap_err();
        assert_eq!(error.line, Some(1));
        assert!(error.to_string().contains("16777216 bytes"), "{error}");
    }
}
