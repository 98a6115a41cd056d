//! Saved states as bytes: numbers, texts and lists in a frame.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | which state |
//! | 4 | version of its format |
//! | 8 | length of what follows, without the checksum |
//! | … | the state |
//! | 4 | CRC-32 (IEEE) of all bytes before |
//!
//! All numbers are little-endian; lists and texts begin with their length in 4 bytes, what may be
//! absent with a byte 0 or 1.

use super::MachineError;

const HEAD: usize = 20;
const TAIL: usize = 4;

/// Why bytes are no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Damaged(String),
    /// Of another version: found, and the one that is read.
    Version(u32, u32),
}

impl From<Fault> for MachineError {
    fn from(fault: Fault) -> MachineError {
        match fault {
            Fault::Damaged(why) => MachineError::Damaged { why },
            Fault::Version(found, read) => MachineError::Version { found, read },
        }
    }
}

pub(super) fn damaged(why: impl Into<String>) -> Fault {
    Fault::Damaged(why.into())
}

/// A kind of state: its first bytes and the latest version of its format. Earlier ones are read.
pub(super) struct Format {
    pub magic: &'static [u8; 8],
    pub version: u32,
}

impl Format {
    /// The bytes of what `write` writes.
    pub fn save(&self, write: impl FnOnce(&mut Writer)) -> Vec<u8> {
        let mut writer = Writer(Vec::new());
        writer.0.extend(self.magic);
        writer.u32(self.version);
        writer.u64(0);
        write(&mut writer);
        let mut bytes = writer.0;
        let length = (bytes.len() - HEAD) as u64;
        bytes[HEAD - 8..HEAD].copy_from_slice(&length.to_le_bytes());
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// What `read` makes of the bytes, of which it must read all.
    pub fn restore<T>(
        &self,
        bytes: &[u8],
        read: impl FnOnce(&mut Reader<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if bytes.len() < HEAD + TAIL || !bytes.starts_with(self.magic) {
            return Err(damaged("bad magic number"));
        }
        let mut head = Reader {
            bytes: &bytes[self.magic.len()..],
            version: 0,
        };
        let version = head.u32()?;
        if !(1..=self.version).contains(&version) {
            return Err(Fault::Version(version, self.version));
        }
        if head.u64()? != (bytes.len() - HEAD - TAIL) as u64 {
            return Err(damaged("its length is wrong"));
        }
        let (content, checksum) = bytes.split_at(bytes.len() - TAIL);
        if crc32fast::hash(content).to_le_bytes() != checksum {
            return Err(damaged("the checksum does not match"));
        }
        let mut reader = Reader {
            bytes: &content[HEAD..],
            version,
        };
        let found = read(&mut reader)?;
        match reader.bytes.is_empty() {
            true => Ok(found),
            false => Err(damaged("there are more bytes than it has")),
        }
    }
}

/// Appends what is saved.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    pub fn u32(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn u64(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn u128(&mut self, number: u128) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn i64(&mut self, number: i64) {
        self.0.extend(number.to_le_bytes());
    }

    pub fn text(&mut self, text: &str) {
        self.u32(u32::try_from(text.len()).expect("a short text"));
        self.0.extend(text.as_bytes());
    }

    pub fn list<T>(&mut self, list: &[T], each: impl Fn(&mut Writer, &T)) {
        self.u32(u32::try_from(list.len()).expect("fewer than 2^32"));
        for one in list {
            each(self, one);
        }
    }

    pub fn option<T>(&mut self, option: Option<T>, some: impl Fn(&mut Writer, T)) {
        self.u8(option.is_some().into());
        if let Some(value) = option {
            some(self, value);
        }
    }
}

/// Takes what was saved off the front of bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    version: u32,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) =
            (self.bytes.split_first_chunk()).ok_or_else(|| damaged("it is cut short"))?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// Returns true if the format has what came with its version `version`.
    pub fn since(&self, version: u32) -> bool {
        self.version >= version
    }

    pub fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.take::<1>()?[0])
    }

    pub fn flag(&mut self) -> Result<bool, Fault> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged("a byte that is neither 0 nor 1")),
        }
    }

    pub fn u32(&mut self) -> Result<u32, Fault> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Fault> {
        self.take().map(u64::from_le_bytes)
    }

    pub fn i64(&mut self) -> Result<i64, Fault> {
        self.take().map(i64::from_le_bytes)
    }

    pub fn u128(&mut self) -> Result<u128, Fault> {
        self.take().map(u128::from_le_bytes)
    }

    pub fn text(&mut self) -> Result<String, Fault> {
        let length = self.u32()? as usize;
        let (text, rest) =
            (self.bytes.split_at_checked(length)).ok_or_else(|| damaged("it is cut short"))?;
        self.bytes = rest;
        String::from_utf8(text.to_vec()).map_err(|_| damaged("a text that is not UTF-8"))
    }

    pub fn list<T>(
        &mut self,
        each: impl Fn(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        (0..self.u32()?).map(|_| each(self)).collect()
    }

    pub fn option<T>(
        &mut self,
        some: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        self.flag()?.then(|| some(self)).transpose()
    }
}
