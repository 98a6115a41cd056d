//! Streams, compressed or not, with a look at their beginning.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// What some editors put before text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// As much of a stream as its format is found by.
pub const HEAD_BYTES: usize = 64 * 1024;

/// A stream, and its beginning, which is still in it.
pub struct Stream<'a> {
    /// The first [`HEAD_BYTES`], or all where there are fewer.
    pub head: Vec<u8>,
    /// All of it.
    pub input: Box<dyn BufRead + 'a>,
}

/// Opens a stream; one in gzip is unpacked on the way, whatever its name. A byte order mark of
/// UTF-8 at its beginning is taken away.
///
/// # Errors
/// Those of reading, and those of unpacking: a stream that is cut off, or damaged.
pub fn open<'a>(mut raw: impl Read + 'a) -> io::Result<Stream<'a>> {
    let mut magic = Vec::with_capacity(2);
    raw.by_ref().take(2).read_to_end(&mut magic)?;
    let packed = magic == [0x1f, 0x8b];
    let whole = BufReader::with_capacity(HEAD_BYTES, Cursor::new(magic).chain(raw));
    if packed {
        with_head(Unpacked(MultiGzDecoder::new(whole)))
    } else {
        with_head(whole)
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

/// Says of an error that it is one of unpacking.
struct Unpacked<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let why = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the gzip file is cut off".to_owned(),
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                    format!("the gzip file is damaged ({error})")
                }
                _ => return error,
            };
            io::Error::new(error.kind(), why)
        })
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
        // In the middle it may be someone's name.
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
}
