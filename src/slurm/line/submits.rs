//! Times when jobs were first submitted.

/// Times when jobs were first submitted, by job id; seconds since 1970.
///
/// A list in the order of ids: passes copy it, and walk along it in parallel with slurmctld's list
/// of jobs, where ids ascend, or nearly so. With a map instead, a pass under `order=strict` takes
/// 13 % more time with 10,000 running and 100,000 waiting jobs (`bench policies`, docs/pass.md).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::slurm) struct Submits(Vec<(u32, i64)>);

impl Submits {
    /// Time when this job was first submitted, if known. O(log n).
    pub(in crate::slurm) fn get(&self, id: u32) -> Option<i64> {
        let found = self.0.binary_search_by_key(&id, |known| known.0);
        found.ok().map(|at| self.0[at].1)
    }

    /// Sets the time of this job. O(1) for the highest id of all, otherwise O(n).
    pub(in crate::slurm) fn insert(&mut self, id: u32, at: i64) {
        if self.0.last().is_none_or(|last| last.0 < id) {
            self.0.push((id, at));
            return;
        }
        match self.0.binary_search_by_key(&id, |known| known.0) {
            Ok(place) => self.0[place].1 = at,
            Err(place) => self.0.insert(place, (id, at)),
        }
    }

    /// All entries, by ascending id.
    pub(in crate::slurm) fn iter(&self) -> impl Iterator<Item = (u32, i64)> {
        self.0.iter().copied()
    }

    /// For lookups of many ids one after the other.
    pub(in crate::slurm) fn walk(&self) -> Walk<'_> {
        Walk {
            all: &self.0,
            rest: &self.0,
            last: 0,
        }
    }
}

/// If an id is repeated, the last entry is kept.
impl FromIterator<(u32, i64)> for Submits {
    fn from_iter<I: IntoIterator<Item = (u32, i64)>>(known: I) -> Submits {
        let mut all: Vec<(u32, i64)> = known.into_iter().collect();
        all.sort_by_key(|known| known.0);
        all.reverse();
        all.dedup_by_key(|known| known.0);
        all.reverse();
        Submits(all)
    }
}

/// Looks up ids: O(1) on average as long as they ascend, otherwise O(log n).
pub(in crate::slurm) struct Walk<'a> {
    all: &'a [(u32, i64)],
    /// Entries from `last` on.
    rest: &'a [(u32, i64)],
    last: u32,
}

impl Walk<'_> {
    /// Time when this job was first submitted, if known.
    pub(in crate::slurm) fn of(&mut self, id: u32) -> Option<i64> {
        if id < self.last {
            self.rest = &self.all[self.all.partition_point(|known| known.0 < id)..];
        }
        self.last = id;
        while self.rest.first().is_some_and(|known| known.0 < id) {
            self.rest = &self.rest[1..];
        }
        let found = self.rest.first().filter(|known| known.0 == id);
        found.map(|known| known.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_as_a_map(
            known in prop::collection::vec((0..40_u32, 0..9_i64), 0..20),
            more in prop::collection::vec((0..40_u32, 0..9_i64), 0..20),
            ids in prop::collection::vec(0..45_u32, 0..60),
        ) {
            let mut map: BTreeMap<u32, i64> = known.iter().copied().collect();
            let mut submits: Submits = known.into_iter().collect();
            for (id, at) in more {
                map.insert(id, at);
                submits.insert(id, at);
            }
            prop_assert!(submits.iter().eq(map.iter().map(|(id, at)| (*id, *at))));
            let mut walk = submits.walk();
            for id in ids {
                prop_assert_eq!(walk.of(id), map.get(&id).copied());
                prop_assert_eq!(submits.get(id), map.get(&id).copied());
            }
        }
    }
}
