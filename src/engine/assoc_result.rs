//! The results of a pass for one association.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::AssocFairshare;
use crate::tree::{AssocIndex, Tree};

/// The results of a pass for one association, for a host to publish.
#[derive(Clone, Copy, Debug)]
pub struct AssocResult<'a> {
    /// The association.
    pub index: AssocIndex,
    /// Raw usage of all associations, by position.
    pub raw_usage: &'a [Extended],
    /// As [`AssocFairshare::norm_usage`].
    pub norm_usage: Extended,
    /// As [`AssocFairshare::effective_usage`].
    pub effective_usage: Extended,
    /// As [`AssocFairshare::level_fs`].
    pub level_fs: Option<Extended>,
    /// As [`AssocFairshare::fs_factor`].
    pub fs_factor: Option<f64>,
    /// Stock computes the effective usage on demand after the pass; `effective_usage` is the value
    /// that this would give now. False except for classic fair share under `compat=slurm`.
    pub open: bool,
    pub(super) norm_shares: NormShares<'a>,
}

/// The source of normalised shares. Not every host uses them, so they are computed on demand.
#[derive(Clone, Copy, Debug)]
pub(super) enum NormShares<'a> {
    Known(f64),
    OfLevel(&'a Tree, Compat),
}

impl<'a> AssocResult<'a> {
    /// From the numbers of an association that were computed all together.
    pub(super) fn new(
        index: AssocIndex,
        raw_usage: &'a [Extended],
        fairshare: &AssocFairshare,
        open: bool,
    ) -> AssocResult<'a> {
        AssocResult {
            index,
            raw_usage,
            norm_usage: fairshare.norm_usage,
            effective_usage: fairshare.effective_usage,
            level_fs: fairshare.level_fs,
            fs_factor: fairshare.fs_factor,
            open,
            norm_shares: NormShares::Known(fairshare.norm_shares),
        }
    }

    /// Normalised shares, 0..=1; see [`AssocFairshare::norm_shares`].
    pub fn norm_shares(&self) -> f64 {
        match self.norm_shares {
            NormShares::Known(shares) => shares,
            NormShares::OfLevel(tree, compat) => tree.norm_share_of_level(self.index, compat),
        }
    }

    /// All of it as one row.
    pub fn fairshare(&self) -> AssocFairshare {
        AssocFairshare {
            norm_shares: self.norm_shares(),
            raw_usage: self.raw_usage[self.index.get()],
            norm_usage: self.norm_usage,
            effective_usage: self.effective_usage,
            level_fs: self.level_fs,
            fs_factor: self.fs_factor,
        }
    }
}
