//! The results of a pass for one association.

use crate::extended::Extended;
use crate::fairshare::AssocFairshare;
use crate::tree::AssocIndex;

/// The results of a pass for one association, for a host to publish.
#[derive(Clone, Copy, Debug)]
pub struct AssocResult<'a> {
    /// The association.
    pub index: AssocIndex,
    /// Raw usage of all associations, by position.
    pub raw_usage: &'a [Extended],
    /// Its fair share.
    pub fairshare: AssocFairshare,
    /// Stock computes the effective usage on demand after the pass; `fairshare` has the value that
    /// this would give now. False except for classic fair share under `compat=slurm`.
    pub open: bool,
}
