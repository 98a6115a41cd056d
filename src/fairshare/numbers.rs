//! The numbers that lead to the factor of one association, without computing all others.

use super::quirks::Quirks;
use super::usage::{at_most_one, part_of, sound};
use super::{fair_tree, stock_tree};
use crate::compat::Compat;
use crate::extended::{Divisor, Extended};
use crate::tree::{AssocIndex, Tree};

/// Results of [`super::compute`] for one association under Fair Tree, except its factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairTreeNumbers {
    /// See [`super::AssocFairshare::norm_usage`].
    pub norm_usage: Extended,
    /// See [`super::AssocFairshare::effective_usage`].
    pub effective_usage: Extended,
    /// See [`super::AssocFairshare::level_fs`].
    pub level_fs: Option<Extended>,
}

/// Computes the numbers of one association after the other.
pub(crate) struct NumbersOf<'a> {
    quirks: Quirks,
    tree: &'a Tree,
    raw_usage: &'a [Extended],
    /// Usage of the root.
    total: Divisor,
    /// Parent of the last association: consecutive associations often have the same one.
    parent: Option<AssocIndex>,
    /// Sum of shares of all associations with this parent.
    level_shares: u64,
    /// Usage of the parent.
    level_total: Divisor,
}

impl<'a> NumbersOf<'a> {
    /// `raw_usage`: one per association by position, as for [`super::compute`].
    pub(crate) fn new(compat: Compat, tree: &'a Tree, raw_usage: &'a [Extended]) -> Self {
        let quirks = Quirks::of(compat);
        let usage = |root: AssocIndex| read(quirks, raw_usage[root.get()]);
        NumbersOf {
            quirks,
            tree,
            raw_usage,
            total: Divisor::new(tree.root().map_or(Extended::ZERO, usage)),
            parent: None,
            level_shares: 0,
            level_total: Divisor::new(Extended::ZERO),
        }
    }

    /// `norm_shares`: those of the association; used only by `compat=slurm`.
    #[inline]
    pub(crate) fn of(&mut self, index: AssocIndex, norm_shares: f64) -> FairTreeNumbers {
        let used = read(self.quirks, self.raw_usage[index.get()]);
        let norm_usage = at_most_one(part_of(used, &self.total));
        let Some(parent) = self.tree.fs_parent(index) else {
            return FairTreeNumbers {
                norm_usage,
                effective_usage: if self.quirks.root_uses_all {
                    Extended::ONE
                } else {
                    norm_usage
                },
                level_fs: None,
            };
        };
        if self.parent != Some(parent) {
            self.go_to(parent);
        }
        let (shares, total) = (self.level_shares, self.level_total.number());
        FairTreeNumbers {
            norm_usage,
            effective_usage: part_of(used, &self.level_total),
            level_fs: if self.quirks.rounds_level_fs {
                stock_tree::level(self.tree, index, norm_shares, used, total)
            } else {
                let level = fair_tree::level_within(self.tree, (index, used), (shares, total));
                level.map(|level| level.rounded())
            },
        }
    }

    fn go_to(&mut self, parent: AssocIndex) {
        self.parent = Some(parent);
        self.level_shares = self.tree.child_shares(parent);
        self.level_total = Divisor::new(read(self.quirks, self.raw_usage[parent.get()]));
    }
}

/// Negative usage is kept in stock.
#[inline]
fn read(quirks: Quirks, usage: Extended) -> Extended {
    if quirks.negative_usage {
        usage
    } else {
        sound(usage)
    }
}
