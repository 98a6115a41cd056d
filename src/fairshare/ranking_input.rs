//! The input of a ranking.

use super::host::HostMath;
use super::{Entitlement, Usage};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::Tree;

/// Input data of a ranking.
pub(crate) struct RankingInput<'a> {
    pub(crate) tree: &'a Tree,
    /// One per association by position.
    pub(crate) raw_usage: &'a [Extended],
    pub(crate) entitlement: &'a Entitlement,
    pub(crate) compat: Compat,
    /// Functions of the host's C library; used only by `compat=slurm`.
    pub(crate) host: HostMath,
}

impl<'a> RankingInput<'a> {
    /// Usage, made finite and at least 0.
    pub(crate) fn usage(&self) -> Usage<'a> {
        Usage::new(self.tree, self.raw_usage)
    }
}
