//! The answer of `scontrol -o show job` in blocks of whole records.

use std::io::BufRead;

use crate::input::error::InputError;
use crate::input::lines::MAX_LINE_BYTES;

/// Records of a stream, whole.
pub(super) struct Block {
    /// Its number, from 0.
    pub(super) number: usize,
    /// Lines before it.
    pub(super) lines: usize,
    /// It begins in a record that is longer than any.
    pub(super) inside: bool,
    pub(super) bytes: Vec<u8>,
}

/// The blocks of a stream.
pub(super) struct Blocks<R> {
    input: R,
    /// Minimum bytes of a block, except for the last.
    size: usize,
    number: usize,
    lines: usize,
    /// Read, and of the next block.
    rest: Vec<u8>,
    /// That begins in a record that is longer than any.
    inside: bool,
    /// All is read.
    pub(super) ended: bool,
}

impl<R: BufRead> Blocks<R> {
    pub(super) fn new(input: R, size: usize) -> Blocks<R> {
        Blocks {
            input,
            size,
            number: 0,
            lines: 0,
            rest: Vec::new(),
            inside: false,
            ended: false,
        }
    }

    /// The next block, in the memory of `bytes`; one without bytes at the end.
    pub(super) fn next(&mut self, file: &str, mut bytes: Vec<u8>) -> Result<Block, InputError> {
        bytes.clear();
        bytes.append(&mut self.rest);
        let inside = std::mem::take(&mut self.inside);
        // No record begins after the first byte and up to here.
        let mut searched = 1;
        while !self.ended {
            if bytes.len() >= self.size {
                if let Some(at) = last_record(&bytes, searched) {
                    self.rest.extend(bytes.drain(at..));
                    break;
                }
                // A line without end is no line: whoever reads it says so.
                let line = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
                if (bytes.len() - line) as u64 > MAX_LINE_BYTES {
                    self.ended = true;
                    break;
                }
                if line as u64 > MAX_LINE_BYTES {
                    self.rest.extend(bytes.drain(line..));
                    self.inside = true;
                    break;
                }
                searched = bytes.len().saturating_sub(BEGINS.len()).max(1);
            }
            let read = match self.input.fill_buf() {
                Ok(read) => &read[..read.len().min(self.size)],
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.ended = true;
                    return Err(self.broken(file, &bytes, error));
                }
            };
            bytes.extend_from_slice(read);
            let read = read.len();
            self.input.consume(read);
            self.ended = read == 0;
        }
        let block = Block {
            number: self.number,
            lines: self.lines,
            inside,
            bytes,
        };
        self.number += 1;
        self.lines += memchr::memchr_iter(b'\n', &block.bytes).count();
        Ok(block)
    }

    /// The error of a stream that breaks, at its line.
    fn broken(&self, file: &str, bytes: &[u8], error: std::io::Error) -> InputError {
        let mut error = InputError::new(file, error);
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        error.line = Some(self.lines + lines + 1);
        error
    }
}

/// Beginning of a record, after the line before.
const BEGINS: &[u8] = b"\nJobId=";

/// Start of the last record that begins after `from` and is followed by another byte.
fn last_record(bytes: &[u8], from: usize) -> Option<usize> {
    let mut places = memchr::memmem::rfind_iter(&bytes[from - 1..], BEGINS);
    let digit = |at: &usize| {
        let next = bytes.get(from - 1 + at + BEGINS.len());
        next.is_some_and(u8::is_ascii_digit)
    };
    places.find(digit).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Cut anywhere, the blocks are those of the whole.
    #[test]
    fn blocks_hold_whole_records() {
        let mut text = String::new();
        for id in 1..50 {
            text += &format!("JobId={id} JobName=j{id} Comment=two\nlines\nJobId=x\n");
        }
        for size in [1, 2, 7, 100, 500, 5000, 1 << 20] {
            let mut blocks = Blocks::new(text.as_bytes(), size);
            let (mut whole, mut lines) = (Vec::new(), 0);
            loop {
                let block = blocks.next("f", Vec::new()).unwrap();
                assert_eq!(block.lines, lines);
                lines += block.bytes.iter().filter(|byte| **byte == b'\n').count();
                if block.bytes.is_empty() {
                    break;
                }
                assert!(block.bytes.starts_with(b"JobId="), "{size}");
                whole.extend(block.bytes);
            }
            assert_eq!(whole, text.as_bytes());
        }
    }
}
