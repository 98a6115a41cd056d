//! Why rows are not a tree.

use super::{AssocId, Shares};

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
    /// A parent that no row describes.
    #[error("association {id}: its parent {parent} is not in the tree")]
    UnknownParent {
        /// The child.
        id: AssocId,
        /// The parent it names.
        parent: AssocId,
    },
    /// Rows that are below themselves.
    #[error("association {id} is its own ancestor: parents must lead to the root")]
    Cycle {
        /// The first row of those on the cycle.
        id: AssocId,
    },
    /// Rows, but none without a parent.
    #[error("no root: one association must have no parent")]
    NoRoot,
    /// A second row without a parent.
    #[error("association {id} has no parent, but {root} is the root already")]
    TwoRoots {
        /// The root that came first.
        root: AssocId,
        /// The other.
        id: AssocId,
    },
    /// A root that is a user.
    #[error("association {id} is a user without an account: the root must be an account")]
    RootIsUser {
        /// The user.
        id: AssocId,
    },
    /// A user with something below it.
    #[error("association {id}: its parent {parent} is a user, and users have no children")]
    ParentIsUser {
        /// The child.
        id: AssocId,
        /// The user it names as parent.
        parent: AssocId,
    },
    /// More shares than Slurm can hold.
    #[error(
        "association {id}: {shares} shares, but at most {} are allowed",
        Shares::MAX_RAW
    )]
    SharesOutOfRange {
        /// The association.
        id: AssocId,
        /// What was asked for.
        shares: u32,
    },
    /// An edit of a row that is not there.
    #[error("association {id} is not in the tree")]
    UnknownId {
        /// The id.
        id: AssocId,
    },
    /// Removing an account that still has something below it.
    #[error("association {id} still has {children} children: remove or move them first")]
    HasChildren {
        /// The account.
        id: AssocId,
        /// How many associations name it as parent.
        children: usize,
    },
    /// Moving the root.
    #[error("association {id} is the root and cannot be moved")]
    RootMoved {
        /// The root.
        id: AssocId,
    },
    /// Moving an account below itself.
    #[error("association {id} cannot be moved below itself: {parent} is below it")]
    BelowItself {
        /// The account.
        id: AssocId,
        /// Where it was to go.
        parent: AssocId,
    },
    /// More rows than positions.
    #[error("too many associations: at most {limit} fit")]
    TooManyRows {
        /// The limit.
        limit: usize,
    },
}
