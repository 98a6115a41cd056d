//! Opening files without waiting for ever and reading them without end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The largest slurm.conf, in bytes; what is larger is something else.
const MAX_CONF_BYTES: u64 = 64 << 20;

/// How long a FIFO may have no writer, milliseconds.
const WRITER_MILLIS: u16 = 10_000;

/// Opens what a user names: a file, a device, a FIFO as the shell makes them for `<(command)`.
///
/// # Errors
/// Those of the file system; a FIFO that is not opened for writing within 10 seconds.
pub(super) fn named(path: &Path) -> io::Result<File> {
    let file = without_waiting(path)?;
    if file.metadata()?.file_type().is_fifo() {
        let mut polled = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
        if poll(&mut polled, PollTimeout::from(WRITER_MILLIS))? == 0 {
            // A read returns 0 where no writer has the FIFO open, and would block where one has.
            match (&file).read(&mut [0]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    let why = "nobody has written to this FIFO for 10 seconds";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
            }
        }
    }
    let flags = fcntl(&file, FcntlArg::F_GETFL)?;
    let waiting = OFlag::from_bits_retain(flags) & !OFlag::O_NONBLOCK;
    fcntl(&file, FcntlArg::F_SETFL(waiting))?;
    Ok(file)
}

fn without_waiting(path: &Path) -> io::Result<File> {
    let flags = (OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// The text of a slurm.conf that a user names; bytes that are not UTF-8, which comments may have, are
/// replaced.
///
/// # Errors
/// Those of [`named`], and more than 64 MiB.
pub(super) fn conf(path: &Path) -> io::Result<String> {
    conf_of(named(path)?)
}

/// The text of a file that a slurm.conf includes.
///
/// # Errors
/// Those of [`conf`]; what is no regular file.
pub(super) fn included(path: &Path) -> io::Result<String> {
    let file = without_waiting(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    conf_of(file)
}

/// As [`conf`], of what is open.
///
/// # Errors
/// Those of reading, and more than 64 MiB.
pub(super) fn conf_of(input: impl Read) -> io::Result<String> {
    let bytes = at_most(input, MAX_CONF_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All of a stream.
///
/// # Errors
/// Those of reading, and more than `most` bytes.
pub(super) fn at_most(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let why = format!("is longer than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(bytes)
}
