//! The buckets of one leaf.
//!
//! Nearly all are only ever read from the oldest on, when they leave the window, so they are
//! kept as the bytes that also stand in a file (see [`super::coding`]). Charges and what is
//! taken back go to a short list of changes, by bucket, which is merged into the bytes when it
//! has grown to an eighth of them; so charging costs about the same wherever in the past it is.

use super::coding::{Checked, Reader, Writer, Written, take};
use super::span::Piece;

/// Buckets of which the amounts are not 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    bytes: Vec<u8>,
    stretches: u32,
    /// Behind the last bucket in the bytes.
    end: i64,
    tail: Tail,
    /// Byte of the first stretch that may reach beyond the buckets that were left behind, and
    /// where the stretch before it ends.
    cursor: (usize, i64),
    /// Ascending.
    changed: Vec<i64>,
    /// To be added, of any sign: as many per changed bucket as there are columns.
    changes: Vec<i128>,
}

/// Where reading and writing may begin for changes to the latest buckets, which most are.
#[derive(Clone, Copy, Debug)]
struct Tail {
    /// Changes to this bucket and later ones change no stretch before `at`.
    from: i64,
    /// Byte of a stretch that they do not change either: it only may become longer.
    at: usize,
    /// Where the stretch before that ends.
    end: i64,
    /// How many there are before it.
    stretches: u32,
}

impl Default for Tail {
    /// Not known.
    fn default() -> Tail {
        Tail {
            from: i64::MAX,
            at: 0,
            end: 0,
            stretches: 0,
        }
    }
}

/// Changes that are always few enough to wait.
const FEW_CHANGES: usize = 8;

impl Buckets {
    /// Buckets as bytes that [`super::coding::check`] has seen.
    pub(super) fn from_bytes(bytes: Vec<u8>, checked: &Checked) -> Buckets {
        Buckets {
            bytes,
            stretches: checked.stretches,
            end: checked.end,
            ..Buckets::default()
        }
    }

    /// Adds `secs` times `units` to each bucket of a piece, or takes them away.
    pub(super) fn change(&mut self, piece: Piece, units: &[u128], add: bool) {
        let amount = |units: &u128| {
            let amount = (units * piece.secs as u128) as i128;
            if add { amount } else { -amount }
        };
        if piece.count > FEW_CHANGES as i64 {
            self.merge(units.len(), i64::MIN);
            let amounts: Vec<i128> = units.iter().map(amount).collect();
            self.merge_with(
                units.len(),
                &[(piece.first, piece.count)],
                &amounts,
                i64::MIN,
            );
            return;
        }
        for bucket in piece.first..piece.first + piece.count {
            let place = match self.changed.last() {
                Some(last) if *last == bucket => self.changed.len() - 1,
                Some(last) if *last > bucket => {
                    let place = self.changed.partition_point(|each| *each < bucket);
                    if self.changed[place] != bucket {
                        self.insert(place, bucket, units.len());
                    }
                    place
                }
                _ => {
                    self.insert(self.changed.len(), bucket, units.len());
                    self.changed.len() - 1
                }
            };
            let changes = &mut self.changes[place * units.len()..][..units.len()];
            for (change, units) in changes.iter_mut().zip(units) {
                *change += amount(units);
            }
        }
        let len = self.changed.len();
        let many = self.changed[0] >= self.tail.from || len > self.stretches as usize / 8;
        if len > FEW_CHANGES && many {
            self.merge(units.len(), i64::MIN);
        }
    }

    fn insert(&mut self, place: usize, bucket: i64, width: usize) {
        self.changed.insert(place, bucket);
        let at = place * width;
        self.changes.splice(at..at, std::iter::repeat_n(0, width));
    }

    /// Merges the changes into the bytes, and drops buckets before `floor`.
    pub(super) fn merge(&mut self, width: usize, floor: i64) {
        if self.changed.is_empty() && floor == i64::MIN {
            return;
        }
        let changed = std::mem::take(&mut self.changed);
        let changes = std::mem::take(&mut self.changes);
        let stretches: Vec<(i64, i64)> = changed.iter().map(|bucket| (*bucket, 1)).collect();
        self.merge_with(width, &stretches, &changes, floor);
    }

    /// [`Buckets::try_merge`] of what cannot leave anything below 0.
    fn merge_with(&mut self, width: usize, stretches: &[(i64, i64)], amounts: &[i128], floor: i64) {
        let merged = self.try_merge(width, stretches, amounts, floor);
        merged.expect("nothing is taken back that was not charged");
    }

    /// Adds `stretches` with `amounts` for each to the bytes. `None`, and nothing is changed,
    /// where that would leave less than 0.
    fn try_merge(
        &mut self,
        width: usize,
        stretches: &[(i64, i64)],
        amounts: &[i128],
        floor: i64,
    ) -> Option<()> {
        let first = stretches.first().map_or(i64::MIN, |first| first.0);
        let begin = match floor == i64::MIN && first >= self.tail.from {
            true => self.tail,
            false => Tail::default(),
        };
        let mut writer = Writer::resume(width, begin.end);
        let mut push = |from: i64, to: i64, amounts: &[u128]| {
            let from = from.max(floor);
            writer.push(from, to - from, amounts);
        };
        let mut reader = Reader::resume(&self.bytes, begin.at, begin.end);
        let mut old_amounts = vec![0; width];
        let mut sums = vec![0; width];
        // First bucket and end of what is left of a stretch.
        let until = |(first, count): (i64, i64)| (first, first + count);
        let mut old = reader.next(&mut old_amounts).map(until);
        let mut added = stretches
            .iter()
            .zip(amounts.chunks(width))
            .map(|(stretch, amounts)| (until(*stretch), amounts));
        let mut new = added.next();
        loop {
            let (old_from, old_to) = old.unwrap_or((i64::MAX, i64::MAX));
            let Some(((new_from, new_to), amounts)) = new else {
                if old.is_none() {
                    break;
                }
                push(old_from, old_to, &old_amounts);
                old = reader.next(&mut old_amounts).map(until);
                continue;
            };
            let from = old_from.min(new_from);
            let to = if old_from < new_from {
                old_to.min(new_from)
            } else if new_from < old_from {
                new_to.min(old_from)
            } else {
                old_to.min(new_to)
            };
            for (column, sum) in sums.iter_mut().enumerate() {
                let before = if old_from == from {
                    old_amounts[column] as i128
                } else {
                    0
                };
                let change = if new_from == from { amounts[column] } else { 0 };
                *sum = u128::try_from(before + change).ok()?;
            }
            push(from, to, &sums);
            if old_from == from {
                old = match to < old_to {
                    true => Some((to, old_to)),
                    false => reader.next(&mut old_amounts).map(until),
                };
            }
            if new_from == from {
                new = match to < new_to {
                    true => Some(((to, new_to), amounts)),
                    false => added.next(),
                };
            }
        }
        self.take_written(begin, writer.finish());
        Some(())
    }

    /// Replaces what is behind the beginning of a tail.
    fn take_written(&mut self, begin: Tail, written: Written) {
        let Written {
            bytes,
            stretches,
            end,
            starts,
        } = written;
        if begin.at == 0 {
            self.bytes = bytes;
            self.bytes.shrink_to_fit();
            self.cursor = (0, 0);
        } else {
            self.bytes.truncate(begin.at);
            if self.bytes.capacity() < begin.at + bytes.len() {
                // Not twice as much: that would be half of the memory.
                self.bytes.reserve_exact(bytes.len() + begin.at / 16);
            }
            self.bytes.extend_from_slice(&bytes);
            if self.cursor.0 > begin.at {
                self.cursor = (begin.at, begin.end);
            }
        }
        self.end = end;
        self.stretches = begin.stretches + stretches;
        let tail = |start: usize, from: i64, before: u32| Tail {
            from,
            at: begin.at + starts[start].0,
            end: starts[start].1,
            stretches: self.stretches - before,
        };
        self.tail = match stretches {
            2.. => tail(0, starts[1].1, 2),
            // Nothing is before that it could become a part of.
            1 if begin.at == 0 => tail(1, i64::MIN, 1),
            1 => tail(1, end, 1),
            0 => Tail::default(),
        };
    }

    /// The first bucket in the bytes.
    fn first(&self) -> Option<i64> {
        if self.bytes.is_empty() {
            return None;
        }
        let head = take(&self.bytes, &mut 0);
        Some((head.expect("bytes that were checked") >> 2) as i64)
    }

    /// The first bucket from `floor` on that may hold something.
    pub(super) fn first_from(&self, floor: i64, width: usize) -> Option<i64> {
        let changed = self.changed.partition_point(|bucket| *bucket < floor);
        let changed = self.changed.get(changed).copied();
        let mut amounts = vec![0; width];
        let mut reader = self.reader(floor);
        let mut kept = None;
        while let Some((first, count)) = reader.next(&mut amounts) {
            if first + count > floor {
                kept = Some(first.max(floor));
                break;
            }
        }
        [changed, kept].into_iter().flatten().min()
    }

    /// Adds what the buckets `from..to` hold to `sums`; changes may make that less than 0 for
    /// numbers that wrap, but not for the sum with what stands in the bytes.
    pub(super) fn sum(&self, from: i64, to: i64, sums: &mut [u128]) {
        let width = sums.len();
        let mut amounts = vec![0; width];
        let mut reader = self.reader(from);
        while reader.end < to {
            let Some((first, count)) = reader.next(&mut amounts) else {
                break;
            };
            let count = (first + count).min(to) - first.max(from);
            if count > 0 {
                for (sum, amount) in sums.iter_mut().zip(&amounts) {
                    *sum = sum.wrapping_add(amount * count as u128);
                }
            }
        }
        let first = self.changed.partition_point(|bucket| *bucket < from);
        let behind = self.changed.partition_point(|bucket| *bucket < to);
        for place in first..behind {
            let changes = &self.changes[place * width..][..width];
            for (sum, change) in sums.iter_mut().zip(changes) {
                *sum = sum.wrapping_add(*change as u128);
            }
        }
    }

    /// Reading from `floor` on begins there from now on; what is before can still be read.
    pub(super) fn leave_behind(&mut self, floor: i64, width: usize) {
        let (at, end) = self.cursor;
        let mut reader = Reader::resume(&self.bytes, at, end);
        let mut amounts = vec![0; width];
        loop {
            let before = (reader.at, reader.end);
            match reader.next(&mut amounts) {
                Some((first, count)) if first + count <= floor => {}
                _ => {
                    self.cursor = before;
                    return;
                }
            }
        }
    }

    fn reader(&self, floor: i64) -> Reader<'_> {
        let (at, end) = self.cursor;
        match end <= floor {
            true => Reader::resume(&self.bytes, at, end),
            false => Reader::new(&self.bytes),
        }
    }

    /// The buckets from `floor` on as bytes, written in the one way.
    pub(super) fn to_bytes(&self, width: usize, floor: i64) -> std::borrow::Cow<'_, [u8]> {
        if self.changed.is_empty() && self.first().is_none_or(|first| first >= floor) {
            return (&self.bytes).into();
        }
        let mut merged = self.clone();
        merged.merge(width, i64::MIN);
        if merged.first().is_some_and(|first| first < floor) {
            merged.merge(width, floor);
        }
        merged.bytes.into()
    }

    /// Adds all of another leaf's.
    pub(super) fn add_all(&mut self, other: &Buckets, width: usize) {
        self.merge(width, i64::MIN);
        let (stretches, all) = other.signed(width, 1);
        self.merge_with(width, &stretches, &all, i64::MIN);
    }

    /// Whether every bucket has at least what the other's has.
    pub(super) fn contain(&self, other: &Buckets, width: usize) -> bool {
        let mut rest = self.clone();
        rest.merge(width, i64::MIN);
        let (stretches, all) = other.signed(width, -1);
        rest.try_merge(width, &stretches, &all, i64::MIN).is_some()
    }

    /// All stretches, and their amounts times `sign`.
    fn signed(&self, width: usize, sign: i128) -> (Vec<(i64, i64)>, Vec<i128>) {
        let bytes = self.to_bytes(width, i64::MIN);
        let (mut reader, mut amounts) = (Reader::new(&bytes), vec![0; width]);
        let (mut stretches, mut all) = (Vec::new(), Vec::new());
        while let Some(stretch) = reader.next(&mut amounts) {
            stretches.push(stretch);
            all.extend(amounts.iter().map(|amount| sign * *amount as i128));
        }
        (stretches, all)
    }

    /// The same amounts in other columns and longer buckets.
    ///
    /// * `columns`: for each column where it goes; `None`: it is dropped.
    /// * `factor`: buckets of now per bucket of then.
    pub(super) fn converted(
        &self,
        columns: &[Option<usize>],
        width: usize,
        factor: i64,
    ) -> Buckets {
        let bytes = self.to_bytes(columns.len(), i64::MIN);
        let (mut reader, mut amounts) = (Reader::new(&bytes), vec![0; columns.len()]);
        let mut converted = Buckets::default();
        let mut writer = Writer::new(width);
        // The bucket of then that is not complete yet.
        let (mut open, mut sums) = (i64::MIN, vec![0; width]);
        while let Some((first, count)) = reader.next(&mut amounts) {
            for piece in super::span::pieces(factor, first, first + count) {
                if piece.first != open {
                    writer.push(open, 1, &sums);
                    sums.fill(0);
                    open = piece.first;
                }
                for (amount, column) in amounts.iter().zip(columns) {
                    if let Some(column) = column {
                        sums[*column] += amount * piece.secs as u128;
                    }
                }
                if piece.count > 1 {
                    writer.push(open, piece.count, &sums);
                    sums.fill(0);
                    open = i64::MIN;
                }
            }
        }
        writer.push(open, 1, &sums);
        converted.take_written(Tail::default(), writer.finish());
        converted
    }

    /// True where nothing was charged from `floor` on, or all was taken back.
    pub(super) fn is_empty(&self, width: usize, floor: i64) -> bool {
        if self.changed.is_empty() {
            return self.bytes.is_empty() || self.end <= floor;
        }
        // No bucket has less than 0: what was added to is more than that.
        let from = self.changed.partition_point(|bucket| *bucket < floor);
        let grown = self.changes[from * width..]
            .iter()
            .any(|change| *change > 0);
        !grown && self.to_bytes(width, floor).is_empty()
    }

    /// Bytes in a file, about.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.changed.len() * 32
    }
}

#[cfg(test)]
mod tests;
