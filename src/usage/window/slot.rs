//! What a leaf has used, with and without a window over it.

use super::LeafKey;
use super::amount::UNITS;
use super::bucket::Buckets;
use super::run::Segment;
use super::span::{Piece, pieces};
use crate::tree::AssocIndex;

/// Use of one leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaf {
    pub buckets: Buckets,
    /// Per date all columns, used since then; empty: nothing.
    pub totals: Vec<u128>,
}

/// Seconds of `from..to` that are at or behind `since`.
pub(super) fn secs_since(since: i64, from: i64, to: i64) -> i64 {
    (to - from.max(since)).max(0)
}

impl Leaf {
    /// Adds a part of a run to buckets from `floor` on, and totals, or takes it away.
    pub(super) fn change(
        &mut self,
        resolution: i64,
        floor: i64,
        dates: &[i64],
        segment: &Segment,
        add: bool,
    ) {
        let (from, to, units) = (segment.from, segment.to, &segment.rate.units);
        for piece in pieces(resolution, from, to) {
            if let Some(piece) = piece.since_bucket(floor) {
                self.buckets.change(piece, units, add);
            }
        }
        self.change_totals(dates, from, to, units, add);
    }

    /// Adds or takes away what a charge adds to the totals.
    pub(super) fn change_totals(
        &mut self,
        dates: &[i64],
        from: i64,
        to: i64,
        units: &[u128],
        add: bool,
    ) {
        // Dates ascend: the first has the most.
        if dates
            .first()
            .is_none_or(|since| secs_since(*since, from, to) == 0)
        {
            return;
        }
        if self.totals.is_empty() {
            self.totals = vec![0; dates.len() * units.len()];
        }
        for (since, totals) in dates.iter().zip(self.totals.chunks_mut(units.len())) {
            let secs = secs_since(*since, from, to) as u128;
            for (total, units) in totals.iter_mut().zip(units) {
                *total = match add {
                    true => *total + units * secs,
                    false => *total - units * secs,
                };
            }
        }
    }

    /// Keeps totals since `dates` instead of since `before`. What a new date has, is what the
    /// buckets from it on hold, and of the bucket that it falls into a part in proportion,
    /// rounded down to a unit.
    pub(super) fn set_dates(
        &mut self,
        before: &[i64],
        dates: &[i64],
        resolution: i64,
        width: usize,
    ) {
        let mut totals = Vec::with_capacity(dates.len() * width);
        for since in dates {
            match before.binary_search(since) {
                Ok(_) if self.totals.is_empty() => totals.extend(std::iter::repeat_n(0, width)),
                Ok(at) => totals.extend_from_slice(&self.totals[at * width..][..width]),
                Err(_) => {
                    let bucket = since.div_euclid(resolution);
                    let inside = (bucket + 1) * resolution - since;
                    let mut at_edge = vec![0; width];
                    self.buckets.sum(bucket, bucket + 1, &mut at_edge);
                    let mut sums = vec![0; width];
                    self.buckets.sum(bucket + 1, i64::MAX, &mut sums);
                    totals.extend(
                        sums.iter()
                            .zip(&at_edge)
                            .map(|(sum, edge)| sum + edge * inside as u128 / resolution as u128),
                    );
                }
            }
        }
        if totals.iter().all(|total| *total == 0) {
            totals.clear();
        }
        self.totals = totals;
    }

    /// Adds all of another leaf's, with the same dates.
    pub(super) fn add_all(&mut self, other: &Leaf, width: usize) {
        self.buckets.add_all(&other.buckets, width);
        if self.totals.is_empty() {
            self.totals.clone_from(&other.totals);
            return;
        }
        for (total, more) in self.totals.iter_mut().zip(&other.totals) {
            *total += more;
        }
    }

    /// The same in other columns and longer buckets, see [`Buckets::converted`].
    pub(super) fn converted(&self, columns: &[Option<usize>], width: usize, factor: i64) -> Leaf {
        let mut totals = vec![0; self.totals.len() / columns.len() * width];
        for (new, old) in totals
            .chunks_mut(width)
            .zip(self.totals.chunks(columns.len()))
        {
            for (amount, column) in old.iter().zip(columns) {
                if let Some(column) = column {
                    new[*column] = *amount;
                }
            }
        }
        Leaf {
            buckets: self.buckets.converted(columns, width, factor),
            totals,
        }
    }

    /// Whether everything of another leaf's is in this one.
    pub(super) fn contains(&self, other: &Leaf, width: usize) -> bool {
        let mut totals = self.totals.iter().copied().chain(std::iter::repeat(0));
        other
            .totals
            .iter()
            .all(|other| totals.next() >= Some(*other))
            && self.buckets.contain(&other.buckets, width)
    }

    pub(super) fn has_totals(&self) -> bool {
        self.totals.iter().any(|total| *total != 0)
    }

    /// The largest total of a column; `columns` are those of one date.
    pub(super) fn most(&self, column: usize, columns: usize) -> u128 {
        let totals = self.totals.iter().skip(column).step_by(columns);
        totals.max().copied().unwrap_or(0)
    }

    /// An upper bound of all that the leaf holds, per column.
    pub(super) fn add_held(&self, held: &mut [u128]) {
        self.buckets.sum(i64::MIN, i64::MAX, held);
        let columns = held.len();
        for (column, held) in held.iter_mut().enumerate() {
            *held = held.saturating_add(self.most(column, columns));
        }
    }
}

/// A leaf of a tree, or one that is in no tree.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub leaf: Leaf,
    /// Position in the tree; `None`: not in the tree, its usage does not count.
    pub assoc: Option<AssocIndex>,
    /// Its name, if it is in no tree.
    pub key: Option<LeafKey>,
    /// Of the ledger's own source; other sources are not written into its file.
    pub own: bool,
    /// False when free to be used again.
    pub used: bool,
    /// Usage is not what it was when changes were last asked for.
    pub changed: bool,
    /// What the bucket at the window's far edge holds; empty: nothing.
    pub at_edge: Vec<u128>,
    /// The bucket with which it stands in the calendar: the first one behind the far edge that
    /// may hold something; `i64::MAX`: none.
    pub next: i64,
    /// When the oldest kept bucket is this one, old ones are dropped; `i64::MAX`: never.
    pub prune_at: i64,
}

impl Slot {
    pub(super) fn new(assoc: Option<AssocIndex>, own: bool) -> Slot {
        Slot {
            leaf: Leaf::default(),
            assoc,
            key: None,
            own,
            used: true,
            changed: false,
            at_edge: Vec::new(),
            next: i64::MAX,
            prune_at: i64::MAX,
        }
    }
}

/// A charge, sorted by what it adds to.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// Added behind the far edge, per column, if anything is.
    pub inside: Option<i64>,
    /// Seconds inside, and in the bucket at the edge.
    pub inside_secs: i64,
    pub edge_secs: i64,
}

impl Parts {
    /// Counts a piece, of which the bucket `edge` is at the far edge.
    pub(super) fn count(&mut self, piece: Piece, edge: i64) {
        if let Some(inside) = piece.since_bucket(edge + 1) {
            self.inside_secs += inside.count * inside.secs;
            self.inside = Some(
                self.inside
                    .map_or(inside.first, |first| first.min(inside.first)),
            );
        }
        if (piece.first..piece.first + piece.count).contains(&edge) {
            self.edge_secs += piece.secs;
        }
    }
}

const _: () = assert!(UNITS < 1 << 30, "times a day it is below 2^47");
