//! The lines of a long stream, one at a time.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind, Read};

use super::error::{InputError, Problem};

/// Bytes as text, whatever their encoding. Nearly all input is UTF-8, which std checks many bytes
/// at a time as long as nothing must be replaced.
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Returns true for characters that change the direction of the text around them, by which a name can look
/// like another one. Source: Unicode Standard Annex 9, 2 (explicit directional formatting characters).
pub(super) fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without what could steer a terminal, turn its direction or is no XML: `?` for each control
/// character but tab and line feed. Nothing moves: what is replaced is as many bytes long, so that columns stay.
pub(super) fn plain(text: Cow<'_, str>) -> Cow<'_, str> {
    // Nearly all text has none. Blocks without branches: the compiler looks at many bytes at a time.
    let suspect = |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') | (byte >= 0x7f);
    let any = |block: &[u8]| block.iter().fold(false, |any, &byte| any | suspect(byte));
    if !text.as_bytes().chunks(64).any(any) {
        return text;
    }
    let replaced = |c: char| match c {
        '\n' | '\t' => c,
        // Two bytes, as those of the second block are.
        '\u{80}'..='\u{9f}' | '\u{61c}' => '\u{bf}',
        '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c if turns_text(c) => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => '?',
        c => c,
    };
    if text.chars().all(|c| replaced(c) == c) {
        return text;
    }
    Cow::Owned(text.chars().map(replaced).collect())
}

/// The most rows of a listing, and records of an answer, that are kept.
#[cfg(not(test))]
pub const MAX_ROWS: usize = 8_000_000;
/// A number that a test can produce.
#[cfg(test)]
pub const MAX_ROWS: usize = 20_000;

/// Refuses one row more where there are `rows`; `line` is its number.
pub(super) fn one_more(file: &str, rows: usize, line: usize) -> Result<(), InputError> {
    if rows < MAX_ROWS {
        return Ok(());
    }
    let why = format!("has more than {MAX_ROWS} rows");
    let mut error = InputError::new(file, Problem::Structure(why));
    error.line = Some(line);
    Err(error)
}

/// The longest line that is taken, in bytes.
pub const MAX_LINE_BYTES: u64 = 16 << 20;

/// Lines with their numbers, from 1, whatever their encoding, without control characters; the memory of one is that of the
/// next.
pub(super) struct Lines<'f, R> {
    file: &'f str,
    input: R,
    /// Number of the line that was read last.
    pub number: usize,
    /// Bytes of all lines so far, with their ends.
    pub taken: usize,
    bytes: Vec<u8>,
    /// Bytes of the line that was read last which are still to be taken from the input.
    pending: usize,
}

impl<'f, R: BufRead> Lines<'f, R> {
    /// The lines of `input`, which messages call `file`.
    pub fn new(file: &'f str, input: R) -> Lines<'f, R> {
        Lines::behind(file, input, 0)
    }

    /// The lines of a part of a file that follows `before` other lines.
    pub fn behind(file: &'f str, input: R, before: usize) -> Lines<'f, R> {
        Lines {
            file,
            input,
            number: before,
            taken: 0,
            bytes: Vec::new(),
            pending: 0,
        }
    }

    /// The next line, without its end.
    ///
    /// # Errors
    /// Those of the stream, and a line of more than [`MAX_LINE_BYTES`].
    pub fn next(&mut self) -> Result<Option<Cow<'_, str>>, InputError> {
        self.input.consume(std::mem::take(&mut self.pending));
        // Of nearly all lines the end is in the input's own memory: these are not copied.
        let end = match self.input.fill_buf() {
            Ok(bytes) => memchr::memchr(b'\n', bytes).map(|at| at + 1),
            Err(error) if error.kind() == ErrorKind::Interrupted => None,
            Err(error) => return Err(failed(self.file, self.number + 1, error)),
        };
        let bytes = match end.filter(|end| *end as u64 <= MAX_LINE_BYTES) {
            Some(end) => {
                self.number += 1;
                self.taken += end;
                self.pending = end;
                let bytes = self.input.fill_buf();
                &bytes.map_err(|error| failed(self.file, self.number, error))?[..end]
            }
            None if self.gather()? => &self.bytes,
            None => return Ok(None),
        };
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let text = match self.number {
            1 => text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text),
            _ => text,
        };
        Ok(Some(plain(lossy(text))))
    }

    /// Reads a line into memory of its own; false at the end.
    fn gather(&mut self) -> Result<bool, InputError> {
        self.bytes.clear();
        let mut limited = self.input.by_ref().take(MAX_LINE_BYTES + 1);
        let read = limited.read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|error| failed(self.file, self.number + 1, error))?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        self.taken += read;
        if read as u64 > MAX_LINE_BYTES {
            let why = format!("a line of more than {MAX_LINE_BYTES} bytes");
            return Err(InputError::new(self.file, Problem::Structure(why))
                .at_line(self.number, &String::from_utf8_lossy(&self.bytes[..200])));
        }
        Ok(true)
    }
}

/// The error of a stream that breaks at a line.
fn failed(file: &str, line: usize, error: std::io::Error) -> InputError {
    let mut error = InputError::new(file, error);
    error.line = Some(line);
    error
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

    // Whatever the input hands over at a time.
    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let text = "one\n\ntwo\r\nthr\u{e9}e\n\u{1b}x\nlast";
        for size in 1..=text.len() + 1 {
            let input = std::io::BufReader::with_capacity(size, text.as_bytes());
            let mut lines = Lines::new("f", input);
            let (mut all, mut taken) = (Vec::new(), Vec::new());
            while let Some(line) = lines.next().unwrap() {
                all.push(line.into_owned());
                taken.push((lines.number, lines.taken));
            }
            assert_eq!(
                all,
                ["one", "", "two", "thr\u{e9}e", "?x", "last"],
                "{size}"
            );
            let ends = [(1, 4), (2, 5), (3, 10), (4, 17), (5, 20), (6, 24)];
            assert_eq!(taken, ends, "{size}");
        }
    }

    #[test]
    fn names_do_not_turn_the_direction_of_text() {
        let text = "anna\u{202e}bob|\u{2066}\u{61c}x";
        let clean = plain(text.into());
        assert_eq!(clean, "anna\u{fffd}bob|\u{fffd}\u{bf}x");
        assert_eq!(clean.len(), text.len());
    }

    #[test]
    fn control_characters_go_and_columns_stay() {
        let text = "a\u{1b}[31m\tb\u{9b}c\u{7f}\u{2028}\u{ffff}é\r\n";
        let mut lines = Lines::new("f", text.as_bytes());
        let line = lines.next().unwrap().unwrap().into_owned();
        assert_eq!(line, "a?[31m\tb¿c?\u{fffd}\u{fffd}é");
        assert_eq!(line.len(), text.len() - 2);
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let endless = std::io::repeat(b'x');
        let mut lines = Lines::new("f", std::io::BufReader::new(endless));
        let error = lines.next().unwrap_err();
        assert_eq!(error.line, Some(1));
        assert!(error.to_string().contains("16777216 bytes"), "{error}");
    }

    #[test]
    fn more_rows_than_are_kept_are_refused() {
        use super::super::slurm::job;
        use super::super::{LeftOut, sprio, sshare};
        let many = |head: &str, row: &dyn Fn(usize) -> String, rows: usize| -> Vec<u8> {
            let rows: String = (0..rows).map(row).collect();
            format!("{head}{rows}").into_bytes()
        };
        let share = |at: usize| format!("a{at}|1\n");
        let priority = |at: usize| format!("{at}|1\n");
        let job = |at: usize| {
            format!(
                "JobId={at} JobName=x UserId=a(1) Priority=1 Nice=0 JobState=PENDING TimeLimit=00:01:00 \
                 SubmitTime=2026-11-21T10:04:14 AccrueTime=Unknown NumNodes=1 NumCPUs=1\n"
            )
        };
        for more in [false, true] {
            let rows = MAX_ROWS + usize::from(more);
            let text = many("Account|RawShares\n", &share, rows);
            let listing = sshare::read("f", &text[..]).map(drop);
            let text = many("JOBID|AGE\n", &priority, rows);
            let queue = sprio::read("f", &text[..]).map(drop);
            let text = many("", &job, rows);
            let left = &mut LeftOut::refusing();
            let jobs = job::read_stream("f", &text[..], &job::Names::new(), left).map(drop);
            for read in [listing, queue, jobs] {
                match read {
                    Ok(()) => assert!(!more),
                    Err(error) => assert!(more && error.to_string().contains("rows"), "{error}"),
                }
            }
        }
    }
}
