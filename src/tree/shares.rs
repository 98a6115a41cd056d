//! Normalised shares, as defined by Fair Tree and by the other rankings.

use super::{AssocIndex, Shares, Tree};
use crate::compat::Compat;
use crate::extended::Extended;

/// Slurm's value for the sum of shares on the root's own level: its `NO_VAL`.
const ROOT_LEVEL_SHARES: u32 = 0xffff_fffe;
/// Slurm's number for `FairShare=parent`.
const RAW_PARENT: u32 = Shares::MAX_RAW + 1;

impl Tree {
    /// Sum of the shares on an association's level: its own and those of all others with the same
    /// [`Tree::fs_parent`]. `FairShare=parent` adds nothing. `None` for the root.
    ///
    /// Below 2^63, because rows and counts are bounded.
    pub fn level_shares(&self, index: AssocIndex) -> Option<u64> {
        Some(self.child_shares(self.fs_parent(index)?))
    }

    /// [`Tree::level_shares`] of the associations whose [`Tree::fs_parent`] is `parent`; 0 without
    /// any.
    pub(crate) fn child_shares(&self, parent: AssocIndex) -> u64 {
        self.layout().child_shares(parent)
    }

    /// Normalised shares under Fair Tree, one per association by position.
    ///
    /// `shares / level shares`, 0..=1; 0 if the level has no shares at all. The root has 1, and
    /// `FairShare=parent` has the value of its [`Tree::fs_parent`].
    ///
    /// `compat=slurm`: the sum of a level wraps at 2^32 (so a value may exceed 1), and the root,
    /// and `parent` right below it, have `root's shares / 4294967294`.
    ///
    /// Source: fair_tree.shtml, "Level Fairshare Calculation".
    pub fn norm_shares_on_level(&self, compat: Compat) -> Vec<f64> {
        let all = self.indices();
        all.map(|index| self.norm_share_of_level(index, compat))
            .collect()
    }

    /// [`Tree::norm_shares_on_level`] of one association.
    pub(crate) fn norm_share_of_level(&self, index: AssocIndex, compat: Compat) -> f64 {
        self.share_of_level(self.payer(index), compat)
    }

    /// The association whose shares count: the `fs_parent` for `FairShare=parent` below the root,
    /// otherwise the association itself.
    fn payer(&self, index: AssocIndex) -> AssocIndex {
        match self.rows[index.get()].shares {
            Shares::Parent => self.fs_parent(index).unwrap_or(index),
            Shares::Raw(_) => index,
        }
    }

    /// Normalised shares under the classic rankings, one per association by position.
    ///
    /// The product of `shares / level shares` over an association and its ancestors below the root,
    /// 0..=1. The root has 1, and `FairShare=parent` has the value of its [`Tree::fs_parent`].
    ///
    /// Rounding: as documented, one rounding for the output. `compat=slurm` multiplies `f64`s from
    /// the association upwards, and the sums of a level wrap at 2^32.
    ///
    /// Source: classic_fair_share.shtml, "Normalized Shares".
    pub fn norm_shares_on_path(&self, compat: Compat) -> Vec<f64> {
        if compat.is_slurm() {
            return self.norm_shares_upwards(compat);
        }
        let mut values = vec![Extended::ONE; self.len()];
        for &index in self.parents_first() {
            if let Some(fs_parent) = self.fs_parent(index) {
                let above = values[fs_parent.get()];
                let part = self.part_of_level(index);
                values[index.get()] = part.map_or(above, |part| above * part);
            }
        }
        values.into_iter().map(Extended::to_f64).collect()
    }

    /// `shares / level shares` of an association below the root, with 64-bit precision; 0 on a
    /// level without shares, `None` for `FairShare=parent`.
    pub(crate) fn part_of_level(&self, index: AssocIndex) -> Option<Extended> {
        let count = self.rows[index.get()].shares.raw()?;
        // A level without shares: 0 / 0 is 0.
        let level = Extended::from(self.level_shares(index).unwrap_or(0));
        Some(Extended::from(count) / level)
    }

    /// [`Tree::norm_shares_on_path`], each product starting at the association itself.
    fn norm_shares_upwards(&self, compat: Compat) -> Vec<f64> {
        // The quotient of an only child is 1 and changes no product: `next` skips it, so deep
        // chains cost nothing. Other quotients are at most one half on a wide level, or soon bring
        // the product to 0.
        let mut next: Vec<Option<AssocIndex>> = vec![None; self.len()];
        let mut quotients = vec![1.0; self.len()];
        for &index in self.parents_first() {
            let Some(fs_parent) = self.fs_parent(index) else {
                continue;
            };
            if let Shares::Raw(_) = self.rows[index.get()].shares {
                quotients[index.get()] = self.share_of_level(index, compat);
            }
            let one = quotients[fs_parent.get()] == 1.0;
            next[index.get()] = if one {
                next[fs_parent.get()]
            } else {
                Some(fs_parent)
            };
        }
        let product = |index| {
            let mut product = 1.0;
            let mut at = self.fs_parent(index).map(|_| index);
            while let Some(here) = at {
                product *= quotients[here.get()];
                at = next[here.get()].filter(|_| product != 0.0);
            }
            product
        };
        self.indices()
            .map(|index| product(self.payer(index)))
            .collect()
    }

    /// `shares / level shares` of an association that is not `parent`, or of the root.
    pub(crate) fn share_of_level(&self, index: AssocIndex, compat: Compat) -> f64 {
        let raw = self.rows[index.get()].shares.raw().unwrap_or(RAW_PARENT);
        let level = match (self.level_shares(index), compat) {
            (None, Compat::Documented) => return 1.0,
            (None, Compat::Slurm(_)) => f64::from(ROOT_LEVEL_SHARES),
            (Some(sum), Compat::Documented) => sum as f64,
            // Slurm adds in 32 bits.
            (Some(sum), Compat::Slurm(_)) => f64::from(sum as u32),
        };
        if level == 0.0 {
            0.0
        } else {
            f64::from(raw) / level
        }
    }
}
