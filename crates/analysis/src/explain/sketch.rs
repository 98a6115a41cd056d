//! A small tree that orders two users as the whole does.

use super::RankedSite;
use super::path::chain;
use fairtree::extended::Extended;
use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares};

/// The ways from the root to two users, and on each level one account (more where the sum of
/// shares is more than one can have) for all others.
pub(super) struct Sketch {
    pub(super) rows: Vec<Assoc>,
    pub(super) raw: Vec<Extended>,
    /// The position here of each association of the whole: its own, or that of the account that
    /// replaces it.
    pub(super) places: Vec<AssocIndex>,
}

impl Sketch {
    pub(super) fn new(ranked: &RankedSite<'_>, pair: [Option<AssocIndex>; 2]) -> Sketch {
        let tree = ranked.tree;
        let mut on_way = vec![false; tree.len()];
        for index in pair.iter().flatten() {
            for at in chain(tree, *index) {
                on_way[at.get()] = true;
            }
        }
        let mut sketch = Sketch {
            rows: Vec::new(),
            raw: Vec::new(),
            places: Vec::new(),
        };
        let mut places: Vec<Option<AssocIndex>> = vec![None; tree.len()];
        let mut open: Vec<AssocIndex> = tree.root().into_iter().collect();
        for root in &open {
            let usage = ranked.ledger.raw()[root.get()];
            places[root.get()] = Some(sketch.add(None, &tree.rows()[root.get()], usage));
        }
        while let Some(account) = open.pop() {
            let parent = places[account.get()];
            let children = tree.fs_children(account);
            let (kept, others): (Vec<AssocIndex>, Vec<AssocIndex>) =
                children.iter().partition(|child| on_way[child.get()]);
            for child in kept {
                let row = &tree.rows()[child.get()];
                let usage = ranked.ledger.raw()[child.get()];
                places[child.get()] = Some(sketch.add(parent, row, usage));
                if row.kind == AssocKind::Account {
                    open.push(child);
                }
            }
            if !others.is_empty() {
                let place = sketch.add_others(ranked, parent, &others);
                for other in others {
                    places[other.get()] = Some(place);
                }
            }
        }
        // What is below the others, and accounts that stand aside.
        for &index in tree.parents_first() {
            if places[index.get()].is_none() {
                places[index.get()] = tree.fs_parent(index).and_then(|p| places[p.get()]);
            }
        }
        sketch.places = places.into_iter().flatten().collect();
        assert_eq!(sketch.places.len(), tree.len(), "every row has a place");
        sketch
    }

    /// Appends accounts with the shares and the usage of all `others`; the last one is returned.
    fn add_others(
        &mut self,
        ranked: &RankedSite<'_>,
        parent: Option<AssocIndex>,
        others: &[AssocIndex],
    ) -> AssocIndex {
        let row = |index: &AssocIndex| ranked.tree.rows()[index.get()];
        let counted = others
            .iter()
            .filter(|other| row(other).shares != Shares::Parent);
        let usage = counted
            .clone()
            .map(|other| ranked.ledger.raw()[other.get()]);
        let shares = counted.filter_map(|other| row(other).shares.raw());
        let mut shares: u64 = shares.map(u64::from).sum();
        let mut like = Assoc {
            kind: AssocKind::Account,
            shares: Shares::Raw(Shares::MAX_RAW),
            ..row(&others[0])
        };
        while shares > u64::from(Shares::MAX_RAW) {
            self.add(parent, &like, Extended::ZERO);
            shares -= u64::from(Shares::MAX_RAW);
        }
        like.shares = Shares::Raw(u32::try_from(shares).unwrap_or(Shares::MAX_RAW));
        self.add(parent, &like, usage.sum())
    }

    /// Appends a row like `like`.
    fn add(&mut self, parent: Option<AssocIndex>, like: &Assoc, usage: Extended) -> AssocIndex {
        let index = AssocIndex::new(self.rows.len());
        let id = |index: AssocIndex| index.get() as u32 + 1;
        self.rows.push(Assoc {
            id: id(index),
            parent: parent.map(id),
            ..*like
        });
        self.raw.push(usage);
        index
    }
}
