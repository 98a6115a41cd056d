//! When jobs were first submitted, looked up for the jobs of a list.

use std::collections::BTreeMap;
use std::collections::btree_map::Range;
use std::iter::Peekable;

/// Looks up ids in O(1) on average as long as they ascend, as nearly all in slurmctld's list of jobs do,
/// and in O(log n) where they do not.
pub(super) struct Submits<'a> {
    all: &'a BTreeMap<u32, i64>,
    /// Those from `last` on.
    rest: Peekable<Range<'a, u32, i64>>,
    last: u32,
}

impl<'a> Submits<'a> {
    pub(super) fn new(all: &'a BTreeMap<u32, i64>) -> Submits<'a> {
        Submits {
            all,
            rest: all.range(..).peekable(),
            last: 0,
        }
    }

    /// When this job was first submitted, if that is known.
    pub(super) fn of(&mut self, id: u32) -> Option<i64> {
        if id < self.last {
            self.rest = self.all.range(id..).peekable();
        }
        self.last = id;
        while self.rest.next_if(|known| *known.0 < id).is_some() {}
        let found = self.rest.peek().filter(|known| *known.0 == id);
        found.map(|known| *known.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_id_is_found_in_any_order(
            all in prop::collection::btree_map(0..40_u32, 0..9_i64, 0..20),
            ids in prop::collection::vec(0..45_u32, 0..60),
        ) {
            let mut submits = Submits::new(&all);
            for id in ids {
                prop_assert_eq!(submits.of(id), all.get(&id).copied());
            }
        }
    }
}
