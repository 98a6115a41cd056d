//! Who comes first: from shares and usage to a fair-share factor per association.
//!
//! One file per algorithm; [`compute`] is the signature of all.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::Tree;

/// How shares and usage become factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Rank by depth-first walk (`FAIR_TREE`, the default of Slurm).
    FairTree,
    /// `2^(-usage/shares/dampening)` (`NO_FAIR_TREE`).
    Classic {
        /// `FairShareDampeningFactor`, from 1 up.
        dampening: u16,
    },
    /// The same with the effective usage of `DEPTH_OBLIVIOUS`.
    DepthOblivious {
        /// `FairShareDampeningFactor`, from 1 up.
        dampening: u16,
    },
}

/// What a computation says of one association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssocFairshare {
    /// Normalised shares, 0..=1.
    pub norm_shares: f64,
    /// Raw usage, TRES-seconds.
    pub raw_usage: Extended,
    /// Raw usage over the root's, 0..=1.
    pub norm_usage: Extended,
    /// Fair Tree: raw usage over the parent's. Classic: as the algorithm defines it. From 0 up.
    pub effective_usage: Extended,
    /// Level fairshare: shares over usage, 0..=infinity. `None` where the algorithm has none:
    /// the root, accounts with `FairShare=parent`, and all associations outside Fair Tree.
    pub level_fs: Option<Extended>,
    /// Fair-share factor, 0..=1. `None` for accounts under Fair Tree.
    pub fs_factor: Option<f64>,
}

/// Fair-share factors of all associations.
///
/// `raw_usage`: one per association by position (see [`crate::usage::Ledger::raw`]).
pub fn compute(
    _algorithm: Algorithm,
    _compat: Compat,
    _tree: &Tree,
    _raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    todo!()
}
