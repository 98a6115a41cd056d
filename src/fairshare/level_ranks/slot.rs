//! A place on a sorted level, and the member at that place while the level is sorted.

use crate::tree::{AssocIndex, AssocKind, Tree};

/// A place on a sorted level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub index: AssocIndex,
    pub is_user: bool,
    /// True if equal to the member before it.
    pub ties: bool,
    /// Its [`key`](super::rule::Rule::key) among siblings.
    pub key: f64,
}

impl Slot {
    pub(super) fn new(index: AssocIndex, tree: &Tree) -> Slot {
        Slot {
            index,
            is_user: tree.rows()[index.get()].kind == AssocKind::User,
            ties: false,
            key: 0.0,
        }
    }
}

/// A member of a level while it is sorted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub key: f64,
    pub slot: Slot,
}
