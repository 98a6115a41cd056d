//! Reading a history from a file: how long it may be, and its first bytes before the others.

use std::io::{self, Read};

use super::file::MAGIC;
use super::{UsageHistory, WindowError};

/// The longest file of another source that is read, in bytes: what slurmctld takes without harm.
pub const MAX_SOURCE_BYTES: u64 = 256 << 20;

/// The longest ledger of the plugin's own that is read, in bytes.
pub const MAX_OWN_BYTES: u64 = 4 << 30;

/// Why a file is not read as a history.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It could not be read.
    #[error(transparent)]
    System(#[from] io::Error),
    /// It is too long.
    #[error("longer than {most} bytes")]
    TooLong {
        /// The longest that is read.
        most: u64,
    },
    /// Its bytes are no history.
    #[error(transparent)]
    Content(#[from] WindowError),
}

impl UsageHistory {
    /// Reads a history of at most `most` bytes from `input`, which has `len` bytes as far as is
    /// known. No more than its first bytes are read where it is longer, or begins otherwise.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(input: impl Read, len: u64, most: u64) -> Result<UsageHistory, ReadError> {
        if len > most {
            return Err(ReadError::TooLong { most });
        }
        let mut bytes = Vec::new();
        let mut input = input.take(MAGIC.len() as u64);
        input.read_to_end(&mut bytes)?;
        if bytes == MAGIC {
            input.set_limit((most + 1).saturating_sub(bytes.len() as u64));
            input.read_to_end(&mut bytes)?;
        }
        match bytes.len() as u64 > most {
            true => Err(ReadError::TooLong { most }),
            false => Ok(UsageHistory::load(&bytes)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Columns;
    use super::*;

    /// Counts what is read of it.
    struct Counted<R>(R, u64);

    impl<R: Read> Read for Counted<R> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(to)?;
            self.1 += read as u64;
            Ok(read)
        }
    }

    #[test]
    fn what_is_no_history_or_too_long_is_not_read() {
        let history = UsageHistory::new("hpc", 60, Columns::default(), &[], 1000).unwrap();
        let bytes = history.save();
        let most = bytes.len() as u64;
        assert_eq!(UsageHistory::read(&bytes[..], most, most).unwrap(), history);
        // A length that grows meanwhile, also without end.
        let error = UsageHistory::read(&bytes[..], 0, most - 1).unwrap_err();
        assert!(matches!(error, ReadError::TooLong { .. }), "{error}");
        let mut endless = Counted(bytes.chain(io::repeat(0)), 0);
        let error = UsageHistory::read(&mut endless, 0, most).unwrap_err();
        assert_eq!(error.to_string(), format!("longer than {most} bytes"));
        assert_eq!(endless.1, most + 1);
        let mut other = Counted(io::repeat(0), 0);
        let error = UsageHistory::read(&mut other, 0, most).unwrap_err();
        assert!(matches!(error, ReadError::Content(_)), "{error}");
        assert_eq!(other.1, 8);
        let mut long = Counted(io::repeat(0), 0);
        UsageHistory::read(&mut long, most + 1, most).unwrap_err();
        assert_eq!(long.1, 0);
    }
}
