//! Maps keyed by job number.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Something of each job, by number.
pub(crate) type IdMap<T> = HashMap<u32, T, BuildHasherDefault<IdHasher>>;

/// Numbers of jobs.
pub(crate) type IdSet = HashSet<u32, BuildHasherDefault<IdHasher>>;

/// Puts numbers that follow each other side by side: Slurm gives them out in order and lists jobs in
/// about that order, so that what is asked next is in the processor's caches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = u64::from(id);
    }

    // The map distinguishes neighbours by the uppermost bits.
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !(u64::MAX >> 8) | self.0 & (u64::MAX >> 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_apart() {
        let ids = (0..5000)
            .chain((0..5000).map(|at| at << 18))
            .chain([u32::MAX]);
        let map: IdMap<u32> = ids.clone().map(|id| (id, !id)).collect();
        assert!(ids.clone().all(|id| map[&id] == !id));
        assert_eq!(map.len(), ids.collect::<HashSet<_>>().len());
        assert!(!map.contains_key(&5001));
    }
}
