//! The rows of a tree.

use std::fmt;

/// An association's number, unique in a tree (Slurm's `assoc_id`).
pub type AssocId = u32;

/// Position of an association in its tree: the number of its row.
///
/// Takes four bytes, also as an `Option`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssocIndex(std::num::NonZeroU32);

impl AssocIndex {
    /// The position `index`; panics if `index` is `u32::MAX` or more.
    pub fn new(index: usize) -> AssocIndex {
        let plus_one = u32::try_from(index).ok().and_then(|i| i.checked_add(1));
        AssocIndex(
            plus_one
                .and_then(std::num::NonZeroU32::new)
                .expect("fewer than 2^32 - 1 rows"),
        )
    }

    /// As a slice index.
    pub fn get(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl fmt::Debug for AssocIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.get())
    }
}

/// Claim of an association on its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// A count, compared with the counts of its siblings: 0..=[`Shares::MAX_RAW`].
    Raw(u32),
    /// `FairShare=parent`. A user shares as its account does. An account is skipped: its children
    /// count as children of the nearest ancestor that has shares of its own.
    Parent,
}

impl Shares {
    /// The largest count; Slurm uses the next number for `parent`.
    pub const MAX_RAW: u32 = 0x7fff_fffe;

    /// The count; `None` for `parent`.
    pub const fn raw(self) -> Option<u32> {
        match self {
            Shares::Raw(count) => Some(count),
            Shares::Parent => None,
        }
    }
}

/// Kind of an association: an account, or a user in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssocKind {
    /// May have children.
    Account,
    /// A leaf. Users are ranked.
    User,
}

/// One row of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assoc {
    /// Unique in the tree.
    pub id: AssocId,
    /// `None` for the root, of which there is exactly one.
    pub parent: Option<AssocId>,
    /// Account or user; the root is an account.
    pub kind: AssocKind,
    /// Shares. The root's own shares matter only to `compat=slurm`; `parent` has no effect there.
    pub shares: Shares,
}
