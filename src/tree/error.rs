//! Reasons why rows are not a tree.

use super::{AssocId, Shares};

/// Reason why rows are not a tree, or why an edit was refused. The tree is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// Two rows have the same id.
    #[error("duplicate association id {id}: each id may be used once")]
    DuplicateId {
        /// The id.
        id: AssocId,
    },
    /// A parent is missing from the rows.
    #[error("association {id}: its parent {parent} is not in the tree")]
    UnknownParent {
        /// The child.
        id: AssocId,
        /// The parent it names.
        parent: AssocId,
    },
    /// Rows are below themselves.
    #[error("association {id} is its own ancestor: parents must lead to the root")]
    Cycle {
        /// The first row on the cycle.
        id: AssocId,
    },
    /// There are rows, but none without a parent.
    #[error("no root: one association must have no parent")]
    NoRoot,
    /// There is a second row without a parent.
    #[error("association {id} has no parent, but {root} is the root already")]
    TwoRoots {
        /// The root that came first.
        root: AssocId,
        /// The second one.
        id: AssocId,
    },
    /// The root is a user.
    #[error("association {id} is a user without an account: the root must be an account")]
    RootIsUser {
        /// The user.
        id: AssocId,
    },
    /// A user has something below it.
    #[error("association {id}: its parent {parent} is a user, and users have no children")]
    ParentIsUser {
        /// The child.
        id: AssocId,
        /// The user it names as parent.
        parent: AssocId,
    },
    /// An association has more shares than Slurm can hold.
    #[error(
        "association {id}: {shares} shares, but at most {} are allowed",
        Shares::MAX_RAW
    )]
    SharesOutOfRange {
        /// The association.
        id: AssocId,
        /// The requested shares.
        shares: u32,
    },
    /// An edited association does not exist.
    #[error("association {id} is not in the tree")]
    UnknownId {
        /// The id.
        id: AssocId,
    },
    /// A removed account still has associations below it.
    #[error("association {id} still has {children} children: remove or move them first")]
    HasChildren {
        /// The account.
        id: AssocId,
        /// Number of associations that name it as parent.
        children: usize,
    },
    /// The root cannot be moved.
    #[error("association {id} is the root and cannot be moved")]
    RootMoved {
        /// The root.
        id: AssocId,
    },
    /// An account cannot be moved below itself.
    #[error("association {id} cannot be moved below itself: {parent} is below it")]
    BelowItself {
        /// The account.
        id: AssocId,
        /// The requested parent.
        parent: AssocId,
    },
    /// There are more rows than positions.
    #[error("too many associations: at most {limit} fit")]
    TooManyRows {
        /// The limit.
        limit: usize,
    },
}
