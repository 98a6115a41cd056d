//! Parts of usage at the last pass, as the printed columns show them.
//!
//! RawUsage grows at the end of each job; NormUsage, EffectvUsage, LevelFS and FairShare are those of
//! the last pass. The derived columns can still be compared with each other: the columns of a row
//! must agree, and the parts of all rows of an account must add up to the whole.

use super::ranks::Interval;
use fairtree::tree::AssocIndex;
use fairtree_model::input::sshare::Listing;
use fairtree_model::listed::ListedTree;

/// Rounding errors of sums and quotients.
const NOISE: f64 = 1e-9;

/// A row's part of the usage of its whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The values that all columns allow; `None`: the columns contradict each other.
    pub agreed: Option<Interval>,
    /// The values that at least one column allows, and those in between.
    pub any: Interval,
}

impl Part {
    /// The part that columns show; `None` without a column.
    pub(super) fn of(columns: impl IntoIterator<Item = Option<Interval>>) -> Option<Part> {
        let mut columns = columns.into_iter().flatten();
        let first = columns.next()?;
        let start = Part {
            agreed: Some(first),
            any: first,
        };
        Some(columns.fold(start, |part, column| Part {
            agreed: part.agreed.and_then(|agreed| both(agreed, column)),
            any: Interval {
                low: part.any.low.min(column.low),
                high: part.any.high.max(column.high),
            },
        }))
    }
}

/// The values that two intervals share, rounding errors allowed for.
pub(super) fn both(a: Interval, b: Interval) -> Option<Interval> {
    let low = a.low.max(b.low);
    let high = a.high.min(b.high);
    let noise = NOISE * low.max(NOISE);
    (low <= high + noise).then_some(Interval {
        low: low.min(high),
        high: high.max(low),
    })
}

/// The rows directly below one account.
#[derive(Clone, Copy, Default)]
struct Group {
    low: f64,
    high: f64,
    /// A part is above 0 for certain.
    used: bool,
    /// Rows without a part.
    unknown: usize,
    rows: u64,
    /// Sum of RawUsage; `None` where a row has none.
    raw_usage: Option<u128>,
}

/// Returns for each row whether usage at an earlier moment can give its part: its columns agree, and
/// the parts of the rows beside it leave room for it in the whole. False without a part.
///
/// `whole`: the sum of the parts directly below an account (first argument: the row, second: the
/// account).
pub(super) fn consistent(
    listing: &Listing,
    forest: &ListedTree,
    parts: &[Option<Part>],
    whole: impl Fn(usize, usize) -> Interval,
) -> Vec<bool> {
    let parent = |at: usize| forest.tree.parent(AssocIndex::new(at)).map(AssocIndex::get);
    let mut groups = vec![
        Group {
            raw_usage: Some(0),
            ..Group::default()
        };
        forest.tree.len()
    ];
    for (at, part) in parts.iter().enumerate() {
        let Some(above) = parent(at) else { continue };
        let group = &mut groups[above];
        group.rows += 1;
        let own = listing.rows[at].raw_usage.map(u128::from);
        group.raw_usage = group.raw_usage.zip(own).map(|(sum, own)| sum + own);
        match part {
            Some(part) => {
                group.low += part.any.low;
                group.high += part.any.high;
                group.used |= part.any.low > 0.0;
            }
            None => group.unknown += 1,
        }
    }
    let fits = |(at, part): (usize, &Option<Part>)| {
        let Some(part) = part else { return false };
        let Some(agreed) = part.agreed else {
            return false;
        };
        let Some(above) = parent(at).filter(|above| *above < listing.rows.len()) else {
            return true;
        };
        let group = &groups[above];
        // Nothing was used then: all parts are 0.
        if !group.used && group.unknown == 0 {
            return true;
        }
        let all = whole(at, above);
        let listed = group.raw_usage.zip(listing.rows[above].raw_usage);
        let complete = group.unknown == 0
            && listed.is_some_and(|(sum, own)| u128::from(own) < sum + u128::from(group.rows));
        let rest = Interval {
            low: match complete {
                true => (all.low - (group.high - part.any.high)).max(0.0),
                false => 0.0,
            },
            high: (all.high - (group.low - part.any.low)).max(0.0),
        };
        agreed.low <= rest.high + NOISE && rest.low <= agreed.high + NOISE
    };
    parts.iter().enumerate().map(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Option<Interval> {
        Some(Interval { low, high })
    }

    #[test]
    fn columns_agree_where_all_allow_a_value() {
        let part = Part::of([interval(0.1, 0.3), None, interval(0.2, 0.4)]).unwrap();
        let agreed = part.agreed.unwrap();
        assert_eq!((agreed.low, agreed.high), (0.2, 0.3));
        assert_eq!((part.any.low, part.any.high), (0.1, 0.4));
        let part = Part::of([interval(0.1, 0.2), interval(0.3, 0.4)]).unwrap();
        assert!(part.agreed.is_none());
        assert!(Part::of([None]).is_none());
    }
}
