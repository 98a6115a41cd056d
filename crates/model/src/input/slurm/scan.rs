//! Some lines of a long file, found by several threads without keeping the rest.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use crate::input::lines::{MAX_LINE_BYTES, lossy, plain};

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// More threads than this wait for memory rather than compute.
const MOST_THREADS: u64 = 8;

/// Lines of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, each with its end.
    pub text: String,
    /// Their numbers in the file, from 1.
    pub numbers: Vec<usize>,
}

/// The lines for which `keep` holds, in order. The end of a line is no part of what `keep` sees.
///
/// # Errors
/// Those of the file, and a line of more than [`MAX_LINE_BYTES`].
pub(super) fn lines(path: &Path, keep: impl Fn(&[u8]) -> bool + Sync) -> io::Result<Excerpt> {
    let file = File::open(path)?;
    let len = file.metadata()?.len();
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let threads = cores.min(MOST_THREADS).min(len / BLOCK as u64 + 1);
    split(&file, len, threads, &keep)
}

fn split(
    file: &File,
    len: u64,
    threads: u64,
    keep: &(impl Fn(&[u8]) -> bool + Sync),
) -> io::Result<Excerpt> {
    // In 128 bits: the product of two lengths.
    let border = |number: u64| (u128::from(len) * u128::from(number) / u128::from(threads)) as u64;
    let parts: Vec<io::Result<Part>> = thread::scope(|scope| {
        let part = |number| {
            let (from, to) = (border(number), border(number + 1));
            scope.spawn(move || Part::read(file, from, to, keep))
        };
        let running: Vec<_> = (0..threads).map(part).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, io::Result<Part>>| {
            let ended = thread.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().map(join).collect()
    });
    let mut excerpt = Excerpt::default();
    let mut before = 0;
    for part in parts {
        let part = part?;
        excerpt.text.push_str(&plain(lossy(&part.bytes)));
        excerpt
            .numbers
            .extend(part.numbers.iter().map(|number| before + number));
        before += part.lines;
    }
    Ok(excerpt)
}

/// The lines that begin in a part of the file.
#[derive(Default)]
struct Part {
    /// Their number.
    lines: usize,
    /// The lines that are kept.
    bytes: Vec<u8>,
    /// Their numbers in this part.
    numbers: Vec<usize>,
}

impl Part {
    /// Reads the lines that begin at `from` or later, and before `to`.
    fn read(file: &File, from: u64, to: u64, keep: &impl Fn(&[u8]) -> bool) -> io::Result<Part> {
        let mut part = Part::default();
        let mut buffer = vec![0; BLOCK];
        // The line that continues at `from` belongs to the part before; it ends at the first line
        // break from the byte before on.
        let mut inside = from > 0;
        let mut base = from.saturating_sub(1);
        let mut filled = 0;
        loop {
            if filled == buffer.len() {
                if filled as u64 > MAX_LINE_BYTES {
                    let why = format!("a line of more than {MAX_LINE_BYTES} bytes");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                buffer.resize(filled * 2, 0);
            }
            let read = match file.read_at(&mut buffer[filled..], base + filled as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            filled += read;
            let mut start = 0;
            while start < filled {
                if !inside && base + start as u64 >= to {
                    return Ok(part);
                }
                let rest = &buffer[start..filled];
                let end = match memchr::memchr(b'\n', rest) {
                    Some(end) => end,
                    None if read == 0 => rest.len(),
                    None => break,
                };
                if inside {
                    inside = false;
                } else {
                    part.see(&rest[..end], keep);
                }
                start += end + 1;
            }
            if read == 0 {
                return Ok(part);
            }
            let start = start.min(filled);
            buffer.copy_within(start..filled, 0);
            filled -= start;
            base += start as u64;
        }
    }

    fn see(&mut self, line: &[u8], keep: &impl Fn(&[u8]) -> bool) {
        self.lines += 1;
        if keep(line) {
            self.bytes.extend(line);
            self.bytes.push(b'\n');
            self.numbers.push(self.lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        file
    }

    // Whatever the borders of the parts cut.
    #[test]
    fn each_line_is_seen_once() {
        for text in [
            "",
            "\n",
            "one",
            "one\n",
            "one\ntwo\n\nfour\nfive",
            "\n\na\n\n",
        ] {
            let file = file(text.as_bytes());
            let len = text.len() as u64;
            let all: String = text.lines().map(|line| format!("{line}\n")).collect();
            let numbers: Vec<usize> = (1..=text.lines().count()).collect();
            for threads in 1..=9 {
                let excerpt = split(&file, len, threads, &|_| true).unwrap();
                assert_eq!(excerpt.text, all, "{text:?} {threads}");
                assert_eq!(excerpt.numbers, numbers);
            }
        }
    }

    #[test]
    fn lines_longer_than_a_block_are_whole() {
        let long = "x".repeat(3 * BLOCK + 7);
        let text = format!("a\n{long}\nb\n");
        let file = file(text.as_bytes());
        for threads in [1, 2, 5] {
            let keep = |line: &[u8]| line.len() != 1;
            let excerpt = split(&file, text.len() as u64, threads, &keep).unwrap();
            assert_eq!(excerpt.numbers, [2]);
            assert_eq!(excerpt.text.trim_end(), long);
        }
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let file = file(&vec![b'x'; MAX_LINE_BYTES as usize * 2 + 2]);
        let len = file.metadata().unwrap().len();
        assert!(split(&file, len, 2, &|_| true).is_err());
    }
}
