//! Streams, compressed or not, with a look at their beginning.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

/// Bytes that some editors put before text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Number of bytes of a stream by which its format is found.
pub const HEAD_BYTES: usize = 64 * 1024;

/// A stream, and its beginning, which is still in it.
pub struct Stream<'a> {
    /// The first [`HEAD_BYTES`], or all where there are fewer.
    pub head: Vec<u8>,
    /// All of it.
    pub input: Box<dyn BufRead + 'a>,
}

/// Number of bytes to which any stream in gzip may unpack, however small it is; and how many bytes
/// more for each of its own. Listings and logs unpack to 5 to 15 times their size, JSON to 50
/// times.
pub const MAX_UNPACKED_BYTES: (u64, u64) = (16 << 20, 32);

/// Lines that a stream in gzip may unpack to, however small it is; and of how many of its own bytes
/// each further one must be. Rows of listings and logs take 10 bytes and more. JSON has its lines
/// for looks, and is not counted.
pub const MAX_UNPACKED_LINES: (u64, u64) = (65_536, 8);

/// Opens a stream; one in gzip is unpacked on the way, whatever its name. A byte order mark of
/// UTF-8 at its beginning is taken away.
///
/// # Errors
/// Those of reading, and those of unpacking: a stream that is cut off, or damaged, or unpacks to
/// more than its size allows.
pub fn open<'a>(mut raw: impl Read + 'a) -> io::Result<Stream<'a>> {
    let mut magic = Vec::with_capacity(2);
    raw.by_ref().take(2).read_to_end(&mut magic)?;
    let packed = magic == [0x1f, 0x8b];
    let whole = Cursor::new(magic).chain(raw);
    if packed {
        with_head(Unpacked::new(whole))
    } else {
        with_head(BufReader::with_capacity(HEAD_BYTES, whole))
    }
}

fn with_head<'a>(mut plain: impl Read + 'a) -> io::Result<Stream<'a>> {
    let mut head = Vec::new();
    plain
        .by_ref()
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head)?;
    if head.starts_with(BYTE_ORDER_MARK) {
        head.drain(..BYTE_ORDER_MARK.len());
    }
    let whole = Cursor::new(head.clone()).chain(plain);
    Ok(Stream {
        head,
        input: Box::new(BufReader::with_capacity(HEAD_BYTES, whole)),
    })
}

/// A stream that counts what is read of it.
struct Counted<R> {
    input: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

/// Unpacks as much as [`MAX_UNPACKED_BYTES`] and [`MAX_UNPACKED_LINES`] allow, and marks its errors
/// as errors of unpacking.
struct Unpacked<R: Read> {
    input: MultiGzDecoder<BufReader<Counted<R>>>,
    packed: Rc<Cell<u64>>,
    bytes: u64,
    /// `None`: they do not count.
    lines: Option<u64>,
}

impl<R: Read> Unpacked<R> {
    fn new(input: R) -> Unpacked<R> {
        let packed = Rc::new(Cell::new(0));
        let count = Rc::clone(&packed);
        let counted = BufReader::with_capacity(HEAD_BYTES, Counted { input, count });
        Unpacked {
            input: MultiGzDecoder::new(counted),
            packed,
            bytes: 0,
            lines: Some(0),
        }
    }

    /// Adds what was unpacked.
    fn check(&mut self, unpacked: &[u8]) -> io::Result<()> {
        if self.bytes == 0 && unpacked.trim_ascii_start().starts_with(b"{") {
            self.lines = None;
        }
        self.bytes += unpacked.len() as u64;
        let packed = self.packed.get();
        let most = MAX_UNPACKED_BYTES.0 + packed.saturating_mul(MAX_UNPACKED_BYTES.1);
        if self.bytes > most {
            let [floor, times] = [MAX_UNPACKED_BYTES.0, MAX_UNPACKED_BYTES.1];
            return Err(bomb(&format!("{floor} bytes and {times} times its size")));
        }
        if let Some(lines) = &mut self.lines {
            *lines += unpacked.iter().filter(|byte| **byte == b'\n').count() as u64;
            if *lines > MAX_UNPACKED_LINES.0 + packed / MAX_UNPACKED_LINES.1 {
                let [floor, bytes] = [MAX_UNPACKED_LINES.0, MAX_UNPACKED_LINES.1];
                let why = format!("{floor} lines and one for each {bytes} bytes of its size");
                return Err(bomb(&why));
            }
        }
        Ok(())
    }
}

/// Reason why a stream that unpacks to more than `most` is not unpacked further.
fn bomb(most: &str) -> io::Error {
    let why = format!(
        "the gzip file unpacks to more than {most}: if it is what it should be, unpack it first \
         (gunzip -c)"
    );
    io::Error::other(why)
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the gzip file is cut off".to_owned(),
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                    format!("the gzip file is damaged ({error})")
                }
                _ => return error,
            };
            io::Error::new(error.kind(), why)
        })?;
        self.check(&buffer[..count])?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut stream = open(bytes)?;
        let mut all = Vec::new();
        stream.input.read_to_end(&mut all)?;
        Ok((stream.head, all))
    }

    #[test]
    fn packed_and_plain_read_alike() {
        let long: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        for bytes in [&b""[..], b"x", b"a line\n", &long] {
            let head = &bytes[..bytes.len().min(HEAD_BYTES)];
            for given in [bytes.to_vec(), packed(bytes)] {
                assert_eq!(read(&given).unwrap(), (head.to_vec(), bytes.to_vec()));
            }
        }
        // Several streams in one file, as `cat a.gz b.gz` makes.
        let two = [packed(b"one\n"), packed(b"two\n")].concat();
        assert_eq!(read(&two).unwrap().1, b"one\ntwo\n");
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let marked = "\u{feff}Account|User\n".as_bytes();
        for given in [marked.to_vec(), packed(marked)] {
            assert_eq!(read(&given).unwrap().1, b"Account|User\n");
        }
        // In the middle it may be a part of a name.
        let inside = "a\u{feff}b".as_bytes();
        assert_eq!(read(inside).unwrap().1, inside);
    }

    #[test]
    fn half_of_a_packed_stream_is_an_error() {
        let whole = packed(&vec![b'x'; 100_000]);
        let error = read(&whole[..whole.len() / 2]).unwrap_err();
        assert_eq!(error.to_string(), "the gzip file is cut off");
        let mut damaged = whole.clone();
        let last = damaged.len() - 5;
        damaged[last] ^= 0xff;
        assert!(read(&damaged).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn what_unpacks_to_far_more_than_its_size_is_refused() {
        let refused = |bytes: &[u8], what: &str| {
            let error = read(&packed(bytes)).map(drop).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        refused(&vec![b'x'; 24 << 20], "16777216 bytes and 32 times");
        refused(
            &b"x\n".repeat(70_000),
            "65536 lines and one for each 8 bytes",
        );
        // Many bytes that do not repeat, many lines of JSON.
        let mut state = 1_u32;
        let noise = (0..17 << 20).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let noise: Vec<u8> = noise.collect();
        assert!(read(&packed(&noise)).unwrap().1 == noise);
        let json = [&b"{"[..], &b"\n".repeat(70_000), b"}"].concat();
        assert!(read(&packed(&json)).unwrap().1 == json);
        // What is not packed is as long as it is.
        let lines = b"x\n".repeat(70_000);
        assert!(read(&lines).unwrap().1 == lines);
    }
}
