//! Data derived from parents and shares, computed once and kept until an edit.

use super::{Assoc, AssocIndex, AssocKind, Shares};

/// Lists of positions, one list per association, stored end to end.
#[derive(Clone, Debug)]
struct Lists {
    /// Start of each list in `items`; one more entry than lists.
    starts: Vec<u32>,
    items: Vec<AssocIndex>,
}

impl Lists {
    /// Members of each list, in order of position; `of` gives the list of each member.
    fn group(of: &[Option<AssocIndex>]) -> Lists {
        let mut starts = vec![0_u32; of.len() + 1];
        for owner in of.iter().flatten() {
            starts[owner.get() + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        // `starts[o]` serves as the write position of list `o` and ends one list too far.
        let total = *starts.last().unwrap_or(&0) as usize;
        let mut items = vec![AssocIndex::new(0); total];
        for (member, owner) in of.iter().enumerate() {
            if let Some(owner) = owner {
                let next = &mut starts[owner.get()];
                items[*next as usize] = AssocIndex::new(member);
                *next += 1;
            }
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Lists { starts, items }
    }

    fn get(&self, owner: AssocIndex) -> &[AssocIndex] {
        let at = owner.get();
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// The order and the sums of a tree.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    parents_first: Vec<AssocIndex>,
    fs_parents: Vec<Option<AssocIndex>>,
    fs_children: Lists,
    /// Sum of the counts in the list of each `fs_parent`.
    child_shares: Vec<u64>,
    user_count: usize,
}

/// Breadth-first from `root` along `parents`; rows on or below a cycle are missing.
pub(super) fn reachable(parents: &[Option<AssocIndex>], root: AssocIndex) -> Vec<AssocIndex> {
    let children = Lists::group(parents);
    let mut order = Vec::with_capacity(parents.len());
    order.push(root);
    let mut next = 0;
    while let Some(at) = order.get(next) {
        order.extend_from_slice(children.get(*at));
        next += 1;
    }
    order
}

impl Layout {
    /// Layout; `parents_first` holds every row once.
    pub(super) fn new(
        rows: &[Assoc],
        parents: &[Option<AssocIndex>],
        parents_first: Vec<AssocIndex>,
    ) -> Layout {
        let mut fs_parents: Vec<Option<AssocIndex>> = vec![None; rows.len()];
        for at in &parents_first {
            fs_parents[at.get()] = parents[at.get()].map(|parent| {
                match (rows[parent.get()].shares, fs_parents[parent.get()]) {
                    (Shares::Parent, Some(above)) => above,
                    // An account with shares of its own; or the root, which is never skipped.
                    _ => parent,
                }
            });
        }
        let mut child_shares = vec![0; rows.len()];
        for (row, fs_parent) in rows.iter().zip(&fs_parents) {
            if let (Some(count), Some(fs_parent)) = (row.shares.raw(), fs_parent) {
                child_shares[fs_parent.get()] += u64::from(count);
            }
        }
        Layout {
            parents_first,
            fs_children: Lists::group(&fs_parents),
            fs_parents,
            child_shares,
            user_count: rows.iter().filter(|r| r.kind == AssocKind::User).count(),
        }
    }

    pub(super) fn parents_first(&self) -> &[AssocIndex] {
        &self.parents_first
    }

    pub(super) fn fs_parent(&self, index: AssocIndex) -> Option<AssocIndex> {
        self.fs_parents[index.get()]
    }

    pub(super) fn fs_children(&self, index: AssocIndex) -> &[AssocIndex] {
        self.fs_children.get(index)
    }

    pub(super) fn child_shares(&self, index: AssocIndex) -> u64 {
        self.child_shares[index.get()]
    }

    pub(super) fn user_count(&self) -> usize {
        self.user_count
    }

    /// Applies a change of the shares of one association whose children stay in the same list.
    pub(super) fn change_shares(&mut self, index: AssocIndex, old: Shares, new: Shares) {
        if let Some(fs_parent) = self.fs_parents[index.get()] {
            let sum = &mut self.child_shares[fs_parent.get()];
            *sum -= u64::from(old.raw().unwrap_or(0));
            *sum += u64::from(new.raw().unwrap_or(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouping_keeps_the_order_of_positions() {
        let at = |i| Some(AssocIndex::new(i));
        let lists = Lists::group(&[at(2), None, at(0), at(2), at(2)]);
        let get = |i| lists.get(AssocIndex::new(i)).iter().map(|m| m.get());
        assert_eq!(get(0).collect::<Vec<_>>(), [2]);
        assert_eq!(get(1).count(), 0);
        assert_eq!(get(2).collect::<Vec<_>>(), [0, 3, 4]);
        assert_eq!(get(4).count(), 0);
    }
}
