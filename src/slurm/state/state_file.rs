//! `priority_fairtree_state`: the times of the last pass and all usage, to the last bit.
//!
//! All numbers are little-endian.
//!
//! | bytes | contents |
//! |---|---|
//! | 8 | `FAIRTREE` |
//! | 4 | version of the format, 6 |
//! | 4 | CRC-32 of the payload |
//! | 8 | length of the payload |
//! | payload | written_at, last_ran, previous_ran, last_reset, next_pass (8 each); number of TRES (4); their ids in the database (4 each); number of association records (4); these; number of QOS records (4); these; data that an order keeps, see [`OrderState`] |
//!
//! A record: id (4), raw usage (10: mantissa 8, sign and exponent 2, as x87 keeps them), wall
//! clock seconds (8), number of TRES (4), and usage of each (10), in the order of the ids above.
//! TRES after the last used one may be left out, and so may records without any usage; each id
//! has one record, in any order.

use super::order_state::{self, FirstSubmit, OrderState};
use super::times::Times;
use crate::usage::RunTimes;
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"FAIRTREE";
const VERSION: u32 = 6;

/// An 80-bit number in the format of x87.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::slurm) struct Number {
    pub(in crate::slurm) mantissa: u64,
    pub(in crate::slurm) sign_exponent: u16,
}

/// Usage of an association or a QOS.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::slurm) struct Record {
    pub(in crate::slurm) id: u32,
    pub(in crate::slurm) usage_raw: Number,
    pub(in crate::slurm) wall: f64,
    /// Position of its first TRES in [`State::tres`].
    pub(in crate::slurm) tres: usize,
    pub(in crate::slurm) tres_len: usize,
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::slurm) struct State {
    /// Time at which slurmctld had this usage, seconds since 1970; not before `last_ran`.
    pub(in crate::slurm) written_at: i64,
    /// Time of the pass to which the usage belongs.
    pub(in crate::slurm) last_ran: i64,
    /// Time of the last pass before it whose state was saved: Slurm's file is of that pass until it
    /// is replaced.
    pub(in crate::slurm) previous_ran: i64,
    pub(in crate::slurm) last_reset: i64,
    /// No other pass changes usage before this time, so dumps of slurmctld from `written_at` until
    /// then have usage of this pass, too. Later dumps may have that of a later pass.
    pub(in crate::slurm) next_pass: i64,
    /// Ids of the TRES, in the order of each record's usage.
    pub(in crate::slurm) tres_ids: Vec<u32>,
    /// Users, and accounts with usage of removed users.
    pub(in crate::slurm) assocs: Vec<Record>,
    pub(in crate::slurm) qos: Vec<Record>,
    pub(in crate::slurm) tres: Vec<Number>,
    pub(in crate::slurm) order: OrderState,
}

/// Reason why a file is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::slurm) enum Damage {
    #[error("bad magic number")]
    Magic,
    #[error("format version {0}, this plugin reads {VERSION}")]
    Version(u32),
    #[error("{found} bytes instead of {expected}")]
    Length { found: u64, expected: u64 },
    #[error("checksum mismatch")]
    Checksum,
    #[error("invalid records")]
    Records,
}

impl State {
    pub(in crate::slurm) fn times(&self) -> Times {
        Times {
            last_ran: self.last_ran,
            last_reset: self.last_reset,
        }
    }

    /// Brings every record's TRES into the order `tres_ids`, that of a slurmctld whose
    /// `AccountingStorageTRES` may have changed: new TRES are unused, and usage of TRES that it no
    /// longer counts is dropped, as slurmctld does with its own files.
    pub(in crate::slurm) fn arrange(&mut self, tres_ids: &[u32]) {
        if self.tres_ids == tres_ids {
            return;
        }
        let order = |id: &u32| self.tres_ids.iter().position(|known| known == id);
        let order: Vec<Option<usize>> = tres_ids.iter().map(order).collect();
        let mut arranged = Vec::new();
        for record in self.assocs.iter_mut().chain(&mut self.qos) {
            let numbers = &self.tres[record.tres..record.tres + record.tres_len];
            record.tres = arranged.len();
            record.tres_len = order.len();
            let number = |from: &Option<usize>| from.and_then(|from| numbers.get(from)).copied();
            arranged.extend(order.iter().map(|from| number(from).unwrap_or_default()));
        }
        self.tres = arranged;
        self.tres_ids = tres_ids.to_vec();
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Any difference from the format of [`Image`].
    pub(in crate::slurm) fn decode(bytes: &[u8]) -> Result<State, Damage> {
        let mut header = Reader(bytes);
        if header.take::<8>() != Some(*MAGIC) {
            return Err(Damage::Magic);
        }
        let version = header.u32().ok_or(Damage::Magic)?;
        if version != VERSION {
            return Err(Damage::Version(version));
        }
        let checksum = header.u32().ok_or(Damage::Magic)?;
        let length = header.u64().ok_or(Damage::Magic)?;
        let payload = header.0;
        if payload.len() as u64 != length {
            return Err(Damage::Length {
                found: bytes.len() as u64,
                expected: length.saturating_add(Image::HEADER as u64),
            });
        }
        if crc32fast::hash(payload) != checksum {
            return Err(Damage::Checksum);
        }
        let mut reader = Reader(payload);
        State::read(&mut reader)
            .filter(|_| reader.0.is_empty())
            .ok_or(Damage::Records)
    }

    fn read(reader: &mut Reader) -> Option<State> {
        let mut state = State {
            written_at: reader.i64()?,
            last_ran: reader.i64()?,
            previous_ran: reader.i64()?,
            last_reset: reader.i64()?,
            next_pass: reader.i64()?,
            ..State::default()
        };
        for _ in 0..reader.u32()? {
            state.tres_ids.push(reader.u32()?);
        }
        state.assocs = reader.records(&mut state.tres)?;
        state.qos = reader.records(&mut state.tres)?;
        state.order.submits = reader.submits()?;
        state.order.run_times = Arc::new(reader.run_times()?);
        Some(state)
    }

    /// The file of this state, with records in the writers' memory. `None` if memory is exhausted.
    pub(in crate::slurm) fn image<'a>(
        &self,
        assocs: &'a mut RecordWriter,
        qos: &'a mut RecordWriter,
    ) -> Option<Image<'a>> {
        self.write(&self.assocs, assocs);
        self.write(&self.qos, qos);
        let stamp = Stamp {
            written_at: self.written_at,
            last_ran: self.last_ran,
            previous_ran: self.previous_ran,
            last_reset: self.last_reset,
            next_pass: self.next_pass,
        };
        let (assocs, qos) = (assocs.records()?, qos.records()?);
        Some(Image::new(stamp, &self.tres_ids, assocs, qos, &self.order))
    }

    fn write(&self, records: &[Record], writer: &mut RecordWriter) {
        writer.clear(records.len());
        for record in records {
            let tres = self.tres[record.tres..record.tres + record.tres_len].iter();
            writer.append(record.id, record.usage_raw, record.wall, tres.copied());
        }
    }
}

/// The times of a file: see [`State`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slurm) struct Stamp {
    pub(in crate::slurm) written_at: i64,
    pub(in crate::slurm) last_ran: i64,
    pub(in crate::slurm) previous_ran: i64,
    pub(in crate::slurm) last_reset: i64,
    pub(in crate::slurm) next_pass: i64,
}

impl Stamp {
    /// Times for usage of the pass at `last_ran`, copied at `now`; the next pass is not before
    /// `next_pass`. `previous_ran` is set when the file is written.
    #[cfg(feature = "slurm")]
    pub(in crate::slurm) fn new(now: i64, last_ran: i64, last_reset: i64, next_pass: i64) -> Stamp {
        Stamp {
            // It has all usage up to the last pass, even if the clock has stepped back since: an
            // older dump of slurmctld must not seem newer.
            written_at: now.max(last_ran),
            last_ran,
            previous_ran: 0,
            last_reset,
            next_pass,
        }
    }
}

/// Writes records in the format of the file. A pass appends one per association while it walks
/// along slurmctld's records, without an array of rows in between, which would take more memory
/// than all other data that a pass keeps for an association.
#[derive(Debug, Default)]
pub(in crate::slurm) struct RecordWriter {
    bytes: Vec<u8>,
    count: u32,
    out_of_memory: bool,
}

impl RecordWriter {
    /// Bytes of a record without TRES.
    const RECORD: usize = 26;
    const NUMBER: usize = 10;

    /// Removes all records and reserves memory for `expected` records without TRES. Memory is kept.
    pub(in crate::slurm) fn clear(&mut self, expected: usize) {
        self.bytes.clear();
        self.count = 0;
        self.out_of_memory = false;
        let _ = self.reserve(expected * RecordWriter::RECORD);
    }

    /// Appends a record, unless all its usage is zero. If memory is exhausted, it appends nothing,
    /// and [`RecordWriter::records`] returns `None`. Never panics: the shim calls it.
    pub(in crate::slurm) fn append(
        &mut self,
        id: u32,
        usage_raw: Number,
        wall: f64,
        tres: impl DoubleEndedIterator<Item = Number> + ExactSizeIterator + Clone,
    ) {
        let unused = tres.clone().rev().take_while(|number| number.mantissa == 0);
        let used = tres.len() - unused.count();
        if usage_raw.mantissa == 0 && wall == 0.0 && used == 0 {
            return;
        }
        if !self.reserve(RecordWriter::RECORD + used * RecordWriter::NUMBER) {
            return;
        }
        self.bytes.extend_from_slice(&id.to_le_bytes());
        self.number(usage_raw);
        self.bytes.extend_from_slice(&wall.to_le_bytes());
        self.bytes.extend_from_slice(&(used as u32).to_le_bytes());
        for number in tres.take(used) {
            self.number(number);
        }
        self.count += 1;
    }

    fn number(&mut self, number: Number) {
        self.bytes.extend_from_slice(&number.mantissa.to_le_bytes());
        let rest = number.sign_exponent.to_le_bytes();
        self.bytes.extend_from_slice(&rest);
    }

    /// Makes room for `more` bytes; returns false if memory is exhausted. Grows by 1/16 at least:
    /// much more is rarely needed, and touched pages stay in use.
    fn reserve(&mut self, more: usize) -> bool {
        if self.bytes.capacity() - self.bytes.len() >= more {
            return true;
        }
        let more = more + (self.bytes.len() + more) / 16 + 4096;
        let grown = self.bytes.try_reserve_exact(more).is_ok();
        self.out_of_memory |= !grown;
        grown
    }

    /// The records; `None` if memory was exhausted for one of them.
    pub(in crate::slurm) fn records(&self) -> Option<Records<'_>> {
        (!self.out_of_memory).then_some(Records {
            count: self.count,
            bytes: &self.bytes,
        })
    }
}

/// Encoded records and their number.
#[derive(Clone, Copy, Debug)]
pub(in crate::slurm) struct Records<'a> {
    pub(in crate::slurm) count: u32,
    pub(in crate::slurm) bytes: &'a [u8],
}

/// The whole file, ready for writing.
pub(in crate::slurm) struct Image<'a> {
    front: Vec<u8>,
    assocs: &'a [u8],
    qos_count: [u8; 4],
    qos: &'a [u8],
    order: Vec<u8>,
    times: Times,
}

impl<'a> Image<'a> {
    const HEADER: usize = 24;

    pub(in crate::slurm) fn new(
        stamp: Stamp,
        tres_ids: &[u32],
        assocs: Records<'a>,
        qos: Records<'a>,
        order: &OrderState,
    ) -> Image<'a> {
        let mut front = vec![0; Image::HEADER];
        for time in [
            stamp.written_at,
            stamp.last_ran,
            stamp.previous_ran,
            stamp.last_reset,
            stamp.next_pass,
        ] {
            front.extend_from_slice(&time.to_le_bytes());
        }
        front.extend_from_slice(&(tres_ids.len() as u32).to_le_bytes());
        for id in tres_ids {
            front.extend_from_slice(&id.to_le_bytes());
        }
        front.extend_from_slice(&assocs.count.to_le_bytes());
        let mut image = Image {
            front,
            assocs: assocs.bytes,
            qos_count: qos.count.to_le_bytes(),
            qos: qos.bytes,
            order: order.encode(),
            times: Times {
                last_ran: stamp.last_ran,
                last_reset: stamp.last_reset,
            },
        };
        image.write_header();
        image
    }

    fn write_header(&mut self) {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&self.front[Image::HEADER..]);
        let mut length = self.front.len() - Image::HEADER;
        for piece in &self.pieces()[1..] {
            checksum.update(piece);
            length += piece.len();
        }
        self.front[..8].copy_from_slice(MAGIC);
        self.front[8..12].copy_from_slice(&VERSION.to_le_bytes());
        self.front[12..16].copy_from_slice(&checksum.finalize().to_le_bytes());
        self.front[16..24].copy_from_slice(&(length as u64).to_le_bytes());
    }

    /// The pieces of the file, in order.
    pub(in crate::slurm) fn pieces(&self) -> [&[u8]; 5] {
        [
            &self.front,
            self.assocs,
            &self.qos_count,
            self.qos,
            &self.order,
        ]
    }

    pub(in crate::slurm) fn times(&self) -> Times {
        self.times
    }
}

/// The bytes that are not read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    fn number(&mut self) -> Option<Number> {
        Some(Number {
            mantissa: self.u64()?,
            sign_exponent: u16::from_le_bytes(self.take()?),
        })
    }

    fn submits(&mut self) -> Option<Vec<FirstSubmit>> {
        let mut submits: Vec<FirstSubmit> = Vec::new();
        for _ in 0..self.u32()? {
            submits.push((self.u32()?, self.i64()?));
        }
        order_state::ascending(submits)
    }

    fn run_times(&mut self) -> Option<RunTimes> {
        let mut runs = Vec::new();
        for _ in 0..self.u32()? {
            let (assoc, last, before) = (self.u32()?, self.u32()?, self.u32()?);
            runs.push((assoc, order_state::last_runs(last, before)));
        }
        Some(order_state::ascending(runs)?.into_iter().collect())
    }

    /// Reads records; returns them ascending by id.
    fn records(&mut self, tres: &mut Vec<Number>) -> Option<Vec<Record>> {
        let count = self.u32()?;
        let mut records: Vec<Record> = Vec::new();
        for _ in 0..count {
            let mut record = Record {
                id: self.u32()?,
                usage_raw: self.number()?,
                wall: f64::from_bits(self.u64()?),
                tres: tres.len(),
                tres_len: self.u32()? as usize,
            };
            for _ in 0..record.tres_len {
                tres.push(self.number()?);
            }
            record.tres_len = tres.len() - record.tres;
            if !record.wall.is_finite() {
                return None;
            }
            records.push(record);
        }
        records.sort_by_key(|record| record.id);
        let twice = records.windows(2).any(|pair| pair[0].id == pair[1].id);
        (!twice).then_some(records)
    }
}
