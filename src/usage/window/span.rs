//! Times that are covered, and the buckets that an interval falls into.

use super::WindowError;

/// The last second of the year 9999.
pub(super) const MAX_TIME: i64 = 253_402_300_799;

/// Refuses moments before 1970 and after the year 9999.
pub(crate) fn check_time(what: &'static str, found: i64) -> Result<i64, WindowError> {
    match (0..=MAX_TIME).contains(&found) {
        true => Ok(found),
        false => Err(WindowError::Time { what, found }),
    }
}

/// Refuses reversed intervals and moments out of range.
pub(super) fn check_interval(
    place: impl Fn() -> String,
    from: i64,
    to: i64,
) -> Result<(), WindowError> {
    check_time("beginning", from)?;
    check_time("end", to)?;
    if from > to {
        let place = place();
        return Err(WindowError::Reversed { place, from, to });
    }
    Ok(())
}

/// Disjoint intervals `[from, to)`, ascending, with gaps between them; seconds since 1970.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans(Vec<(i64, i64)>);

impl Spans {
    /// The intervals.
    pub fn as_slice(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// Adds `[from, to)`; what is in already stays. Nothing when empty or reversed.
    pub fn add(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        let first = self.0.partition_point(|span| span.1 < from);
        let behind = self.0.partition_point(|span| span.0 <= to);
        let (mut from, mut to) = (from, to);
        if first < behind {
            from = from.min(self.0[first].0);
            to = to.max(self.0[behind - 1].1);
        }
        self.0.splice(first..behind, [(from, to)]);
    }

    /// The first interval that is in both.
    pub fn overlap(&self, other: &Spans) -> Option<(i64, i64)> {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(our), Some(their)) = (ours.peek(), theirs.peek()) {
            let (from, to) = (our.0.max(their.0), our.1.min(their.1));
            if from < to {
                return Some((from, to));
            }
            if our.1 <= their.1 {
                ours.next();
            } else {
                theirs.next();
            }
        }
        None
    }

    /// What is not covered of `[from, to)`, ascending.
    pub fn gaps(&self, from: i64, to: i64) -> Vec<(i64, i64)> {
        let mut gaps = Vec::new();
        let mut at = from;
        for &(begin, end) in &self.0 {
            if begin > at && at < to {
                gaps.push((at, begin.min(to)));
            }
            at = at.max(end);
        }
        if at < to {
            gaps.push((at, to));
        }
        gaps
    }

    /// Forgets what is before `moment`.
    pub fn trim(&mut self, moment: i64) {
        self.0.retain(|span| span.1 > moment);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(moment);
        }
    }

    /// Intervals as they were written; `None` unless ascending, with gaps, not empty.
    pub(super) fn from_sorted(spans: Vec<(i64, i64)>) -> Option<Spans> {
        let ascend = spans.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let sound = spans
            .iter()
            .all(|span| 0 <= span.0 && span.0 < span.1 && span.1 <= MAX_TIME);
        (ascend && sound).then_some(Spans(spans))
    }
}

/// Buckets of the same length with the same part of an interval in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first bucket: seconds since 1970 over the resolution.
    pub first: i64,
    /// How many, from 1 up.
    pub count: i64,
    /// Seconds of the interval in each.
    pub secs: i64,
}

/// The buckets of `[from, to)`: at most a part of the first, whole ones, a part of the last.
pub(super) fn pieces(resolution: i64, from: i64, to: i64) -> impl Iterator<Item = Piece> {
    let piece = |first: i64, count: i64, secs: i64| Piece { first, count, secs };
    let (first, last) = (from.div_euclid(resolution), to.div_euclid(resolution));
    let (head, tail) = (from - first * resolution, to - last * resolution);
    let all = if from >= to {
        [None; 3]
    } else if first == last {
        [Some(piece(first, 1, to - from)), None, None]
    } else {
        let whole = if head == 0 { first } else { first + 1 };
        [
            (head > 0).then(|| piece(first, 1, resolution - head)),
            (whole < last).then(|| piece(whole, last - whole, resolution)),
            (tail > 0).then(|| piece(last, 1, tail)),
        ]
    };
    all.into_iter().flatten()
}

impl Piece {
    /// What of it is at or behind the bucket `floor`.
    pub(super) fn since_bucket(self, floor: i64) -> Option<Piece> {
        let skip = (floor - self.first).clamp(0, self.count);
        (skip < self.count).then_some(Piece {
            first: self.first + skip,
            count: self.count - skip,
            ..self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_by_hand() {
        let mut spans = Spans::default();
        spans.add(10, 20);
        spans.add(30, 40);
        assert_eq!(spans.gaps(0, 50), [(0, 10), (20, 30), (40, 50)]);
        assert_eq!(spans.gaps(12, 35), [(20, 30)]);
        assert_eq!(spans.gaps(12, 18), []);
        spans.add(20, 30);
        assert_eq!(spans.as_slice(), [(10, 40)]);
        spans.trim(15);
        assert_eq!(spans.as_slice(), [(15, 40)]);
        spans.trim(40);
        assert_eq!(spans, Spans::default());
    }

    fn any_spans() -> impl Strategy<Value = Vec<(i64, i64)>> {
        prop::collection::vec((0_i64..40, 0_i64..12), 0..8)
            .prop_map(|spans| spans.into_iter().map(|(at, len)| (at, at + len)).collect())
    }

    fn made(spans: &[(i64, i64)]) -> (Spans, Vec<bool>) {
        let mut made = Spans::default();
        let mut seconds = vec![false; 64];
        for &(from, to) in spans {
            made.add(from, to);
            seconds[from as usize..to as usize].fill(true);
        }
        (made, seconds)
    }

    proptest! {
        // Against a flag per second.
        #[test]
        fn spans_are_sets_of_seconds(a in any_spans(), b in any_spans(), from in 0_i64..60, len in 0_i64..30) {
            let (spans, seconds) = made(&a);
            prop_assert_eq!(Spans::from_sorted(spans.as_slice().to_vec()), Some(spans.clone()));
            let held: i64 = spans.as_slice().iter().map(|span| span.1 - span.0).sum();
            prop_assert_eq!(held as usize, seconds.iter().filter(|on| **on).count());
            let to = (from + len).min(64);
            let mut free = [false; 64];
            for (from, to) in spans.gaps(from, to) {
                free[from as usize..to as usize].fill(true);
            }
            for at in 0..64 {
                let inside = (from..to).contains(&(at as i64));
                prop_assert_eq!(free[at], inside && !seconds[at]);
            }
            let (others, other_seconds) = made(&b);
            let both = (0..64).find(|at| seconds[*at] && other_seconds[*at]);
            prop_assert_eq!(spans.overlap(&others).map(|both| both.0 as usize), both);
        }

        // Against the seconds, one at a time.
        #[test]
        fn pieces_hold_every_second(resolution in 1_i64..9, from in 0_i64..60, len in 0_i64..60) {
            let to = from + len;
            let mut found = std::collections::BTreeMap::new();
            for piece in pieces(resolution, from, to) {
                for bucket in piece.first..piece.first + piece.count {
                    prop_assert!(found.insert(bucket, piece.secs).is_none());
                }
            }
            let mut expected = std::collections::BTreeMap::new();
            for second in from..to {
                *expected.entry(second / resolution).or_insert(0) += 1;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
