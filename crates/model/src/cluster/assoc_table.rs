//! Associations by name.
//!
//! A queue asks for one of them for each of its jobs, in no order: what is asked lies close together,
//! so that it stays in the processor's caches.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;

use fairtree::tree::AssocIndex;

/// Associations by account, user and partition.
#[derive(Debug)]
pub(super) struct AssocTable {
    /// Positions among the entries, counted from 1, each in the slot of the name's hash or in a
    /// later one; 0: free. Their number is a power of two; at most half of them are taken.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    /// The names, concatenated.
    text: String,
    /// True if some are for one partition.
    any_partition: bool,
}

#[derive(Debug)]
struct Entry {
    /// Start of its names in the text.
    start: usize,
    /// Bytes of account, user, partition.
    lens: [u32; 3],
    index: AssocIndex,
}

impl AssocTable {
    /// Creates an empty table with room for `count` associations.
    pub fn with_capacity(count: usize) -> AssocTable {
        AssocTable {
            slots: vec![0; (count * 2 + 2).next_power_of_two()],
            entries: Vec::with_capacity(count),
            text: String::new(),
            any_partition: false,
        }
    }

    /// Adds one; of those with the same names the last is found.
    ///
    /// # Panics
    /// If there is no room.
    pub fn insert(&mut self, account: &str, user: &str, partition: &str, index: AssocIndex) {
        let names = [account, user, partition];
        let slot = self.slot(names);
        if let Some(at) = self.slots[slot].checked_sub(1) {
            self.entries[at as usize].index = index;
            return;
        }
        assert!(
            self.entries.len() < self.slots.len() / 2,
            "no more associations than there is room for"
        );
        let start = self.text.len();
        names.iter().for_each(|name| self.text.push_str(name));
        let small = |count: usize| u32::try_from(count).expect("less than 2^32");
        self.entries.push(Entry {
            start,
            lens: names.map(|name| small(name.len())),
            index,
        });
        self.slots[slot] = small(self.entries.len());
        self.any_partition |= !partition.is_empty();
    }

    /// Returns true if some associations are for one partition.
    pub fn any_partition(&self) -> bool {
        self.any_partition
    }

    /// The one with these names; an empty user or partition is that of an association without.
    pub fn get(&self, account: &str, user: &str, partition: &str) -> Option<AssocIndex> {
        if !partition.is_empty() && !self.any_partition {
            return None;
        }
        let at = self.slots[self.slot([account, user, partition])].checked_sub(1)?;
        Some(self.entries[at as usize].index)
    }

    /// The slot of the one with these names, or a free one for it.
    fn slot(&self, names: [&str; 3]) -> usize {
        let mut hasher = FxHasher::default();
        names.hash(&mut hasher);
        let most = self.slots.len() - 1;
        let mut slot = hasher.finish() as usize & most;
        while let Some(at) = self.slots[slot].checked_sub(1) {
            if self.is(&self.entries[at as usize], names) {
                break;
            }
            slot = (slot + 1) & most;
        }
        slot
    }

    fn is(&self, entry: &Entry, names: [&str; 3]) -> bool {
        let mut rest = &self.text[entry.start..];
        entry.lens.iter().zip(names).all(|(len, name)| {
            let same = *len as usize == name.len() && rest.starts_with(name);
            rest = &rest[*len as usize..];
            same
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn associations_are_found_by_all_of_their_names() {
        let mut table = AssocTable::with_capacity(6);
        let names = [
            ("a", "", ""),
            ("a", "b", ""),
            ("ab", "", ""),
            ("a", "b", "c"),
            ("ab", "c", ""),
            ("\u{e9}", "b", ""),
        ];
        for (at, (account, user, partition)) in names.into_iter().enumerate() {
            assert_eq!(table.get(account, user, partition), None);
            table.insert(account, user, partition, AssocIndex::new(at));
        }
        for (at, (account, user, partition)) in names.into_iter().enumerate() {
            let found = table.get(account, user, partition);
            assert_eq!(found, Some(AssocIndex::new(at)));
        }
        assert_eq!(table.get("", "ab", ""), None);
        assert_eq!(table.get("a", "b", "d"), None);
        assert_eq!(table.get("a", "bc", ""), None);
    }

    #[test]
    fn of_equal_names_the_last_is_found() {
        let mut table = AssocTable::with_capacity(1);
        assert_eq!(table.get("a", "u", ""), None);
        for at in 0..3 {
            table.insert("a", "u", "", AssocIndex::new(at));
        }
        assert_eq!(table.get("a", "u", ""), Some(AssocIndex::new(2)));
        assert_eq!(table.get("a", "u", "p"), None);
    }

    #[test]
    fn without_associations_none_is_found() {
        assert_eq!(AssocTable::with_capacity(0).get("a", "u", "p"), None);
    }
}
