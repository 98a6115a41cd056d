//! Buckets as bytes: how a leaf's history stands in memory and in a file.
//!
//! A list of buckets is a list of *stretches*: adjacent buckets with equal amounts, which a job
//! that runs on alone makes. Per stretch:
//!
//! | number | what |
//! |---|---|
//! | head | `gap * 4 + whole * 2 + many`; gap: buckets since the end of the stretch before, for the first one since 1970 |
//! | count - 2 | only with `many` |
//! | mask | bit n is set where column n is not 0 |
//! | amounts | of the columns in the mask; in units, or with `whole` in TRES-seconds |
//!
//! Numbers are little-endian in base 128, the top bit tells that another byte follows. There is
//! one way to write a list: the longest stretches, the shortest numbers, `whole` where it can
//! be, no empty buckets. So equal histories have equal bytes, and what is read is checked to be
//! written so.

use super::amount::{LIMIT, UNITS};
use super::span::MAX_TIME;

/// What is wrong with bytes, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub offset: usize,
    pub reason: String,
}

impl Damage {
    pub(super) fn new(offset: usize, reason: impl Into<String>) -> Damage {
        let reason = reason.into();
        Damage { offset, reason }
    }
}

/// Appends a number.
#[inline]
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes the number at `at`, which moves behind it.
pub(super) fn take(bytes: &[u8], at: &mut usize) -> Result<u128, Damage> {
    let start = *at;
    let mut number = 0_u128;
    for shift in (0..126).step_by(7) {
        let Some(&byte) = bytes.get(*at) else {
            return Err(Damage::new(*at, "the bytes end within a number"));
        };
        *at += 1;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return match byte == 0 && shift > 0 {
                true => Err(padded(start)),
                false => Ok(number),
            };
        }
    }
    Err(Damage::new(start, "a number above 2^126"))
}

fn padded(start: usize) -> Damage {
    Damage::new(start, "a number with more bytes than it needs")
}

/// The amount in TRES-seconds, if it is a whole number of them.
#[inline]
fn in_whole(amount: u128) -> Option<u128> {
    match u64::try_from(amount) {
        Ok(small) => (small % UNITS == 0).then(|| u128::from(small / UNITS)),
        Err(_) => (amount % u128::from(UNITS) == 0).then(|| amount / u128::from(UNITS)),
    }
}

/// Appends the amounts of one bucket: mask, then columns. True if they are in whole
/// TRES-seconds, which `whole` asks to try.
pub(super) fn put_amounts(bytes: &mut Vec<u8>, amounts: &[u128], whole: bool) {
    let mask = amounts.iter().enumerate();
    let mask = mask.fold(0_u128, |mask, (at, amount)| {
        mask | u128::from(*amount != 0) << at
    });
    put(bytes, mask);
    for &amount in amounts.iter().filter(|amount| **amount != 0) {
        put(
            bytes,
            if whole {
                amount / u128::from(UNITS)
            } else {
                amount
            },
        );
    }
}

pub(super) fn all_whole(amounts: &[u128]) -> bool {
    amounts.iter().all(|amount| in_whole(*amount).is_some())
}

/// Takes the amounts of one bucket.
#[inline(always)]
pub(super) fn take_amounts(
    bytes: &[u8],
    at: &mut usize,
    whole: bool,
    amounts: &mut [u128],
) -> Result<(), Damage> {
    let start = *at;
    let mut mask = take(bytes, at)?;
    if mask == 0 || amounts.len() < 128 && mask >> amounts.len() != 0 {
        return Err(wrong_mask(start, mask, amounts.len()));
    }
    let (unit, limit) = match whole {
        true => (u128::from(UNITS), LIMIT / UNITS as u128),
        false => (1, LIMIT),
    };
    amounts.fill(0);
    while mask != 0 {
        let start = *at;
        let column = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        let number = take(bytes, at)?;
        if number == 0 || number >= limit {
            return Err(Damage::new(start, "an amount of 0, or above the limit"));
        }
        // Most fit into 64 bits.
        amounts[column] = match (u64::try_from(number), whole) {
            (Ok(small), true) => u128::from(small) * u128::from(UNITS),
            _ => number * unit,
        };
    }
    Ok(())
}

#[cold]
fn wrong_mask(start: usize, mask: u128, columns: usize) -> Damage {
    let reason = format!("columns {mask:#x}; allowed are some of the {columns} lowest bits");
    Damage::new(start, reason)
}

/// Writes stretches, which must come in ascending order.
#[derive(Debug)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Where the last stretch that is written ends.
    end: i64,
    stretches: u32,
    /// The last stretch: first bucket and count; 0: none.
    first: i64,
    count: i64,
    amounts: Vec<u128>,
    /// Of the last two that are written: the byte, and where the stretch before ends.
    starts: [(usize, i64); 2],
}

/// What a [`Writer`] has written.
pub(super) struct Written {
    pub bytes: Vec<u8>,
    pub stretches: u32,
    /// Where the last stretch ends.
    pub end: i64,
    /// Of the last two: the byte, and where the stretch before ends.
    pub starts: [(usize, i64); 2],
}

impl Writer {
    pub(super) fn new(width: usize) -> Writer {
        Writer::resume(width, 0)
    }

    /// A writer of what follows a stretch that ends at `end`.
    pub(super) fn resume(width: usize, end: i64) -> Writer {
        Writer {
            bytes: Vec::new(),
            end,
            starts: [(0, end); 2],
            stretches: 0,
            first: 0,
            count: 0,
            amounts: vec![0; width],
        }
    }

    /// Appends `count` buckets from `first` on, each with these amounts.
    pub(super) fn push(&mut self, first: i64, count: i64, amounts: &[u128]) {
        if count <= 0 || amounts.iter().all(|amount| *amount == 0) {
            return;
        }
        if self.count > 0 && self.first + self.count == first && self.amounts == amounts {
            self.count += count;
            return;
        }
        self.flush();
        self.first = first;
        self.count = count;
        self.amounts.copy_from_slice(amounts);
    }

    fn flush(&mut self) {
        if self.count == 0 {
            return;
        }
        assert!(self.first >= self.end, "stretches ascend");
        self.starts = [self.starts[1], (self.bytes.len(), self.end)];
        let whole = all_whole(&self.amounts);
        let gap = (self.first - self.end) as u128;
        let head = gap << 2 | u128::from(whole) << 1 | u128::from(self.count > 1);
        put(&mut self.bytes, head);
        if self.count > 1 {
            put(&mut self.bytes, (self.count - 2) as u128);
        }
        put_amounts(&mut self.bytes, &self.amounts, whole);
        self.end = self.first + self.count;
        self.stretches += 1;
        self.count = 0;
    }

    /// All that was written.
    pub(super) fn finish(mut self) -> Written {
        self.flush();
        let (bytes, stretches) = (self.bytes, self.stretches);
        let (end, starts) = (self.end, self.starts);
        Written {
            bytes,
            stretches,
            end,
            starts,
        }
    }
}

/// Reads stretches.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The next byte.
    pub at: usize,
    /// Where the stretch before ends.
    pub end: i64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader::resume(bytes, 0, 0)
    }

    /// A reader that was at byte `at`, behind a stretch that ends at `end`.
    pub(super) fn resume(bytes: &'a [u8], at: usize, end: i64) -> Reader<'a> {
        Reader { bytes, at, end }
    }

    /// The next stretch, first bucket and count; what each bucket holds goes into `amounts`.
    #[inline(always)]
    pub(super) fn try_next(&mut self, amounts: &mut [u128]) -> Result<Option<(i64, i64)>, Damage> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        let head = take(self.bytes, &mut self.at)?;
        let many = match head & 1 {
            0 => 1,
            _ => take(self.bytes, &mut self.at)?.saturating_add(2),
        };
        let last = (head >> 2).saturating_add(many);
        if last > MAX_TIME as u128 - self.end as u128 {
            return Err(Damage::new(start, "a bucket after the year 9999"));
        }
        take_amounts(self.bytes, &mut self.at, head & 2 != 0, amounts)?;
        let first = self.end + (head >> 2) as i64;
        self.end = first + many as i64;
        Ok(Some((first, many as i64)))
    }

    /// [`Reader::try_next`] of bytes that a [`Writer`] wrote or [`check`] has seen.
    #[inline(always)]
    pub(super) fn next(&mut self, amounts: &mut [u128]) -> Option<(i64, i64)> {
        self.try_next(amounts).expect("bytes that were checked")
    }
}

/// What [`check`] has found.
pub(super) struct Checked {
    pub stretches: u32,
    /// Behind the last bucket.
    pub end: i64,
}

/// Whether bytes are a list of buckets, written in the one way; their amounts are added to
/// `sums`, which must stay below [`LIMIT`].
pub(super) fn check(bytes: &[u8], sums: &mut [u128]) -> Result<Checked, Damage> {
    let mut reader = Reader::new(bytes);
    let mut amounts = vec![0; sums.len()];
    let mut before = vec![0; sums.len()];
    let mut stretches = 0_u32;
    loop {
        let (start, end) = (reader.at, reader.end);
        let Some((first, count)) = reader.try_next(&mut amounts)? else {
            return Ok(Checked { stretches, end });
        };
        if stretches > 0 && first == end && amounts == before {
            return Err(Damage::new(
                start,
                "two stretches of buckets that are one stretch",
            ));
        }
        let whole = bytes[start] & 2 != 0;
        if !whole && all_whole(&amounts) {
            return Err(Damage::new(
                start,
                "whole TRES-seconds that are written in units",
            ));
        }
        for (sum, amount) in sums.iter_mut().zip(&amounts) {
            // Counts are below 2^38.
            let more = match amount >> 72 {
                0 => amount * count as u128,
                _ => amount
                    .checked_mul(count as u128)
                    .unwrap_or(LIMIT)
                    .min(LIMIT),
            };
            *sum += more;
            if *sum >= LIMIT {
                return Err(Damage::new(start, "usage above the limit"));
            }
        }
        std::mem::swap(&mut before, &mut amounts);
        stretches += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stretches_by_hand() {
        let mut writer = Writer::new(2);
        writer.push(5, 1, &[3 * u128::from(UNITS), 0]);
        writer.push(6, 2, &[3 * u128::from(UNITS), 0]);
        writer.push(10, 1, &[0, 7]);
        writer.push(11, 4, &[0, 0]);
        let Written {
            bytes, stretches, ..
        } = writer.finish();
        // 5 * 4 + whole + many, 3 buckets, column 0, 3 TRES-seconds; 2 * 4, column 1, 7 units.
        assert_eq!(bytes, [23, 1, 1, 3, 8, 2, 7]);
        assert_eq!(stretches, 2);
    }

    fn any_list() -> impl Strategy<Value = Vec<(i64, i64, Vec<u128>)>> {
        let amount = prop_oneof![
            Just(0_u128),
            1_u128..4,
            (0_u128..5).prop_map(|n| n * u128::from(UNITS)),
            Just(LIMIT / 4096),
            Just(1_u128 << 64)
        ];
        let entry = (0_i64..3, 1_i64..4, prop::collection::vec(amount, 3));
        prop::collection::vec(entry, 0..8)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(list in any_list()) {
            let mut writer = Writer::new(3);
            let mut expected = std::collections::BTreeMap::new();
            let mut at = 0;
            for (gap, count, amounts) in &list {
                writer.push(at + gap, *count, amounts);
                for bucket in at + gap..at + gap + count {
                    if amounts.iter().any(|amount| *amount != 0) {
                        expected.insert(bucket, amounts.clone());
                    }
                }
                at += gap + count;
            }
            let Written { bytes, stretches, .. } = writer.finish();
            let mut sums = [0; 3];
            let checked = check(&bytes, &mut sums).unwrap();
            prop_assert_eq!(checked.stretches, stretches);
            let mut found = std::collections::BTreeMap::new();
            let (mut reader, mut amounts) = (Reader::new(&bytes), [0; 3]);
            while let Some((first, count)) = reader.next(&mut amounts) {
                found.extend((first..first + count).map(|bucket| (bucket, amounts.to_vec())));
            }
            prop_assert_eq!(&found, &expected);
            for column in 0..3 {
                let sum: u128 = expected.values().map(|amounts| amounts[column]).sum();
                prop_assert_eq!(sum, sums[column]);
            }
        }

        // Whatever is taken for a list is written back as the same bytes.
        #[test]
        fn bytes_that_pass_are_the_ones_that_are_written(bytes in prop::collection::vec(0_u8..=9, 0..24)) {
            if check(&bytes, &mut [0; 3]).is_ok() {
                let mut writer = Writer::new(3);
                let (mut reader, mut amounts) = (Reader::new(&bytes), [0; 3]);
                while let Some((first, count)) = reader.next(&mut amounts) {
                    writer.push(first, count, &amounts);
                }
                prop_assert_eq!(writer.finish().bytes, bytes);
            }
        }
    }
}
