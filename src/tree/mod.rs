//! Who shares with whom: associations, shares, parents.
//!
//! A tree is built from rows in any order and can be edited. Positions ([`AssocIndex`]) are the
//! order of the rows; where Slurm's own behaviour depends on sibling order, this is that order.

use std::fmt;

/// An association's number, unique in a tree (Slurm's `assoc_id`).
pub type AssocId = u32;

/// The position of an association in its tree: the row it came in.
///
/// Four bytes, and an `Option` of it as well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssocIndex(std::num::NonZeroU32);

impl AssocIndex {
    /// The position `index`; panics at `usize` values from `u32::MAX` on.
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

/// What an association may claim of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// A count, compared with the counts of its siblings: 0..=[`Shares::MAX_RAW`].
    Raw(u32),
    /// `FairShare=parent`.
    Parent,
}

impl Shares {
    /// The largest count; Slurm uses the next number for `parent`.
    pub const MAX_RAW: u32 = 0x7fff_fffe;
}

/// Whether an association is an account or a user in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssocKind {
    /// May have children.
    Account,
    /// A leaf; users are what is ranked.
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
    /// The root's own shares matter only to `compat=slurm`.
    pub shares: Shares,
}

/// Why rows are not a tree, or why an edit was refused. The tree is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// Two rows with one id.
    #[error("association {id} stands twice: an id may be used once")]
    DuplicateId {
        /// The id.
        id: AssocId,
    },
}

/// Associations, and what follows from their order and shares.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    rows: Vec<Assoc>,
}

impl Tree {
    /// A tree of these rows, in any order. No rows make an empty tree.
    pub fn from_rows(_rows: impl IntoIterator<Item = Assoc>) -> Result<Tree, TreeError> {
        todo!()
    }
    /// The rows, in order of position.
    pub fn rows(&self) -> &[Assoc] {
        &self.rows
    }
    /// Number of associations.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
    /// Where the association `id` stands.
    pub fn index_of(&self, _id: AssocId) -> Option<AssocIndex> {
        todo!()
    }
    /// The direct parent; `None` for the root.
    pub fn parent(&self, _index: AssocIndex) -> Option<AssocIndex> {
        todo!()
    }
    /// The association that shares are taken from: the nearest ancestor that is not itself
    /// `FairShare=parent`, as Slurm defines it; `None` for the root.
    pub fn fs_parent(&self, _index: AssocIndex) -> Option<AssocIndex> {
        todo!()
    }
    /// Those whose `fs_parent` is this one, in order of position.
    pub fn fs_children(&self, _index: AssocIndex) -> &[AssocIndex] {
        todo!()
    }
    /// Every position, parents before children.
    pub fn parents_first(&self) -> &[AssocIndex] {
        todo!()
    }
    /// Number of user associations: the best rank.
    pub fn user_count(&self) -> usize {
        todo!()
    }
    /// Adds one association at the end. Its parent must be there.
    pub fn add(&mut self, _row: Assoc) -> Result<AssocIndex, TreeError> {
        todo!()
    }
    /// Gives an association other shares.
    pub fn set_shares(&mut self, _id: AssocId, _shares: Shares) -> Result<(), TreeError> {
        todo!()
    }
    /// Hangs an association with all below it under another account.
    pub fn move_to(&mut self, _id: AssocId, _parent: AssocId) -> Result<(), TreeError> {
        todo!()
    }
    /// Removes an association without children; those behind it move up one position.
    pub fn remove(&mut self, _id: AssocId) -> Result<AssocIndex, TreeError> {
        todo!()
    }
}
