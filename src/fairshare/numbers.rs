//! The numbers behind the factor of one association, without those of all others.

use super::usage::{norm, quotient, sound};
use super::{fair_tree, stock_tree};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};

/// What [`super::compute`] says of one association under Fair Tree, but for its factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FairTreeNumbers {
    /// See [`super::AssocFairshare::norm_usage`].
    pub norm_usage: Extended,
    /// See [`super::AssocFairshare::effective_usage`].
    pub effective_usage: Extended,
    /// See [`super::AssocFairshare::level_fs`].
    pub level_fs: Option<Extended>,
}

impl FairTreeNumbers {
    /// `raw_usage`: one per association by position, as for [`super::compute`]. `norm_shares`:
    /// those of the association, for `compat=slurm` alone.
    #[inline]
    pub(crate) fn new(
        compat: Compat,
        tree: &Tree,
        raw_usage: &[Extended],
        index: AssocIndex,
        norm_shares: f64,
    ) -> FairTreeNumbers {
        let raw = |at: AssocIndex| {
            let usage = raw_usage[at.get()];
            if compat.is_slurm() {
                usage
            } else {
                sound(usage)
            }
        };
        let used = raw(index);
        let norm_usage = norm(used, tree.root().map_or(Extended::ZERO, raw));
        let Some(parent) = tree.fs_parent(index) else {
            return FairTreeNumbers {
                norm_usage,
                effective_usage: if compat.is_slurm() {
                    Extended::ONE
                } else {
                    norm_usage
                },
                level_fs: None,
            };
        };
        let total = raw(parent);
        FairTreeNumbers {
            norm_usage,
            effective_usage: quotient(used, total),
            level_fs: if compat.is_slurm() {
                stock_tree::level(tree, index, norm_shares, used, total)
            } else {
                let level = fair_tree::level_within(tree, (index, used), (parent, total));
                level.map(|level| level.rounded())
            },
        }
    }
}
