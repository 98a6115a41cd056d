//! Output of a command: into memory, or into a file some lines at a time.

use std::io::{self, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::input::lines::{MAX_LINE_BYTES, lossy, plain};

/// The longest answer that is taken, in bytes.
pub const MAX_ANSWER_BYTES: u64 = 2 << 30;

/// Reads a pipe in a thread of its own, so that neither pipe of a child can fill up.
pub(super) fn collect<T: Send + 'static, E: Send + 'static>(
    pipe: Option<impl Read + Send + 'static>,
    read: impl FnOnce(&mut dyn Read) -> Result<T, E> + Send + 'static,
) -> Receiver<Result<T, E>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let result = match pipe {
            Some(mut pipe) => read(&mut pipe),
            None => read(&mut io::empty()),
        };
        // After the time limit the receiver is gone.
        let _ = sender.send(result);
    });
    receiver
}

/// An answer in memory.
pub(super) fn whole(pipe: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_ANSWER_BYTES {
        true => Err(too_long()),
        false => Ok(bytes),
    }
}

fn too_long() -> io::Error {
    io::Error::other("the answer is longer than 2 GiB")
}

/// Reason why an answer is not copied to its end.
pub(super) enum Broken {
    Read(io::Error),
    Write(io::Error),
}

/// Bytes that are copied at a time, and a line more at most.
const PIECE: u64 = 1 << 18;

/// Copies an answer as `Ask::run` makes it, some lines at a time.
pub(super) fn copy(pipe: &mut dyn Read, output: &mut impl Write) -> Result<(), Broken> {
    let (mut lines, mut taken) = (Vec::new(), 0);
    loop {
        let begun = lines.len();
        let read = (&mut *pipe).take(PIECE).read_to_end(&mut lines);
        let read = read.map_err(Broken::Read)? as u64;
        taken += read;
        if taken > MAX_ANSWER_BYTES {
            return Err(Broken::Read(too_long()));
        }
        let last = memchr::memrchr(b'\n', &lines[begun..]).map(|at| begun + at + 1);
        let end = match last {
            _ if read == 0 => lines.len(),
            Some(end) => end,
            None if lines.len() as u64 > MAX_LINE_BYTES => {
                let why = format!("a line of more than {MAX_LINE_BYTES} bytes");
                return Err(Broken::Read(io::Error::other(why)));
            }
            None => continue,
        };
        let text = plain(lossy(&lines[..end]));
        output.write_all(text.as_bytes()).map_err(Broken::Write)?;
        lines.drain(..end);
        if read == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copied(text: &[u8]) -> String {
        let mut out = Vec::new();
        let mut rest = text;
        assert!(copy(&mut rest, &mut out).is_ok());
        String::from_utf8(out).unwrap()
    }

    // Whatever the piece ends in: characters of several bytes, control characters, no end of line.
    #[test]
    fn a_copy_is_what_memory_would_hold() {
        let line = "aé\u{1b}[31m\t\u{9b}\r\n".repeat(PIECE as usize / 10);
        let broken = [
            line.as_bytes(),
            b"\xff\xc3\n",
            "é".repeat(1 << 19).as_bytes(),
        ]
        .concat();
        for text in [&b""[..], b"\n", b"x", line.as_bytes(), &broken] {
            assert_eq!(copied(text), plain(lossy(text)));
        }
    }

    #[test]
    fn lines_and_answers_have_a_length() {
        let mut out = Vec::new();
        let read = copy(&mut io::repeat(b'x'), &mut out);
        assert!(matches!(read, Err(Broken::Read(_))));
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let read = copy(&mut &b"x\n"[..], &mut Full);
        assert!(matches!(read, Err(Broken::Write(_))));
    }
}
