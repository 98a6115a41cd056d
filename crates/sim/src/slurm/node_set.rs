//! A set of nodes, by position.

/// A set of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSet {
    words: Vec<u64>,
}

impl NodeSet {
    /// No node of `size` nodes.
    pub fn empty(size: usize) -> NodeSet {
        NodeSet {
            words: vec![0; size.div_ceil(64)],
        }
    }

    /// All of `size` nodes.
    pub fn all(size: usize) -> NodeSet {
        let mut set = NodeSet::empty(size);
        (0..size).for_each(|node| set.insert(node));
        set
    }

    /// These of `size` nodes.
    pub fn of(size: usize, nodes: impl IntoIterator<Item = usize>) -> NodeSet {
        let mut set = NodeSet::empty(size);
        nodes.into_iter().for_each(|node| set.insert(node));
        set
    }

    /// Adds a node.
    pub fn insert(&mut self, node: usize) {
        self.words[node / 64] |= 1 << (node % 64);
    }

    /// Takes a node away.
    pub fn remove(&mut self, node: usize) {
        self.words[node / 64] &= !(1 << (node % 64));
    }

    /// Adds a node, or takes it away.
    pub fn put(&mut self, node: usize, within: bool) {
        match within {
            true => self.insert(node),
            false => self.remove(node),
        }
    }

    /// Returns true if the node is in it.
    pub fn contains(&self, node: usize) -> bool {
        self.words[node / 64] >> (node % 64) & 1 == 1
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Returns true if it is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Keeps what is in `other`, too.
    pub fn keep(&mut self, other: &NodeSet) {
        self.each(other, |own, other| own & other);
    }

    /// Takes away what is in `other`.
    pub fn take(&mut self, other: &NodeSet) {
        self.each(other, |own, other| own & !other);
    }

    /// Adds what is in `other`.
    pub fn add(&mut self, other: &NodeSet) {
        self.each(other, |own, other| own | other);
    }

    fn each(&mut self, other: &NodeSet, of: impl Fn(u64, u64) -> u64) {
        for (own, other) in self.words.iter_mut().zip(&other.words) {
            *own = of(*own, *other);
        }
    }

    /// Returns true if all of it is in `other`.
    pub fn is_subset(&self, other: &NodeSet) -> bool {
        let mut both = self.words.iter().zip(&other.words);
        both.all(|(own, other)| own & !other == 0)
    }

    /// Returns true if a node is in both.
    pub fn meets(&self, other: &NodeSet) -> bool {
        let mut both = self.words.iter().zip(&other.words);
        both.any(|(own, other)| own & other != 0)
    }

    /// The nodes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    at * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_more_than_a_word() {
        let mut set = NodeSet::of(130, [0, 63, 64, 129]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert!(set.is_subset(&NodeSet::all(130)) && set.len() == 4);
        set.keep(&NodeSet::of(130, [63, 100]));
        assert_eq!(set.iter().collect::<Vec<_>>(), [63]);
        set.add(&NodeSet::of(130, [1]));
        set.take(&NodeSet::of(130, [63]));
        assert!(set.meets(&NodeSet::of(130, [1])) && !set.contains(63));
        set.remove(1);
        assert!(set.is_empty());
    }
}
