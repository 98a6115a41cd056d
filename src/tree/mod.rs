//! Shares in a hierarchy: associations, shares, parents.
//!
//! A tree is built from rows in any order and can be edited. Positions ([`AssocIndex`]) are the
//! order of the rows. Where Slurm's own behaviour depends on sibling order, that order is this one.
//!
//! Derived data (orders, lists of children, sums of shares) is computed on first use and kept until
//! an edit changes it, so that building a tree row by row costs no more than building it at once.

mod assoc;
mod edit;
mod error;
mod layout;
mod shares;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

pub use assoc::{Assoc, AssocId, AssocIndex, AssocKind, Shares};
pub use error::TreeError;
use layout::Layout;

/// Associations, with data derived from their order and shares.
///
/// ```
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// let row = |id, parent, kind, shares| Assoc { id, parent, kind, shares };
/// let tree = Tree::from_rows([
///     row(3, Some(2), AssocKind::User, Shares::Raw(1)),
///     row(1, None, AssocKind::Account, Shares::Raw(1)),
///     row(2, Some(1), AssocKind::Account, Shares::Parent),
/// ])?;
/// let user = tree.index_of(3).unwrap();
/// assert_eq!(user.get(), 0);
/// assert_eq!(tree.parent(user), tree.index_of(2));
/// assert_eq!(tree.fs_parent(user), tree.index_of(1)); // 2 is skipped
/// # Ok::<(), fairtree::tree::TreeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tree {
    rows: Vec<Assoc>,
    parents: Vec<Option<AssocIndex>>,
    child_counts: Vec<u32>,
    positions: FxHashMap<AssocId, AssocIndex>,
    root: Option<AssocIndex>,
    /// Absent after an edit that makes it invalid.
    layout: OnceLock<Layout>,
}

/// Two trees are equal if they have the same rows in the same order.
impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        self.rows == other.rows
    }
}

impl Eq for Tree {}

impl Tree {
    /// Maximum number of associations in a tree.
    pub const MAX_LEN: usize = u32::MAX as usize - 1;

    /// Tree of these rows, in any order. Without rows the tree is empty.
    ///
    /// # Errors
    /// The first fault found, row by row: [`TreeError::SharesOutOfRange`],
    /// [`TreeError::RootIsUser`], [`TreeError::DuplicateId`], [`TreeError::TwoRoots`],
    /// [`TreeError::TooManyRows`]; then, row by row, [`TreeError::UnknownParent`] and
    /// [`TreeError::ParentIsUser`]; then [`TreeError::NoRoot`] and [`TreeError::Cycle`].
    pub fn from_rows(rows: impl IntoIterator<Item = Assoc>) -> Result<Tree, TreeError> {
        let mut tree = Tree::default();
        let rows = rows.into_iter();
        tree.rows.reserve(rows.size_hint().0);
        tree.positions.reserve(rows.size_hint().0);
        for row in rows {
            let index = tree.check_row(&row)?;
            tree.positions.insert(row.id, index);
            if row.parent.is_none() {
                tree.root = Some(index);
            }
            tree.rows.push(row);
        }
        tree.child_counts = vec![0; tree.rows.len()];
        tree.parents.reserve(tree.rows.len());
        for row in &tree.rows {
            let parent = tree.find_parent(row)?;
            if let Some(parent) = parent {
                tree.child_counts[parent.get()] += 1;
            }
            tree.parents.push(parent);
        }
        if tree.rows.is_empty() {
            return Ok(tree);
        }
        let order = layout::reachable(&tree.parents, tree.root.ok_or(TreeError::NoRoot)?);
        if order.len() < tree.rows.len() {
            return Err(tree.find_cycle(&order));
        }
        tree.layout = OnceLock::from(Layout::new(&tree.rows, &tree.parents, order));
        Ok(tree)
    }

    /// Position that `row` would have. Checks all except its parent.
    fn check_row(&self, row: &Assoc) -> Result<AssocIndex, TreeError> {
        let id = row.id;
        check_shares(id, row.shares)?;
        if self.positions.contains_key(&id) {
            return Err(TreeError::DuplicateId { id });
        }
        if row.parent.is_none() {
            if row.kind == AssocKind::User {
                return Err(TreeError::RootIsUser { id });
            }
            if let Some(root) = self.root {
                let root = self.rows[root.get()].id;
                return Err(TreeError::TwoRoots { root, id });
            }
        }
        if self.rows.len() >= Tree::MAX_LEN {
            let limit = Tree::MAX_LEN;
            return Err(TreeError::TooManyRows { limit });
        }
        Ok(AssocIndex::new(self.rows.len()))
    }

    /// Position of the account that `row` names as its parent.
    fn find_parent(&self, row: &Assoc) -> Result<Option<AssocIndex>, TreeError> {
        let Some(parent) = row.parent else {
            return Ok(None);
        };
        let id = row.id;
        match self.index_of(parent) {
            None => Err(TreeError::UnknownParent { id, parent }),
            Some(index) if self.rows[index.get()].kind == AssocKind::User => {
                Err(TreeError::ParentIsUser { id, parent })
            }
            found => Ok(found),
        }
    }

    /// First row on the first cycle; `reached`: the rows that are below the root.
    fn find_cycle(&self, reached: &[AssocIndex]) -> TreeError {
        let mut outside = vec![true; self.rows.len()];
        for index in reached {
            outside[index.get()] = false;
        }
        // From any row outside, going up as many steps as there are rows leads onto a cycle.
        let mut at = outside.iter().position(|out| *out).unwrap_or(0);
        let up = |at: usize| self.parents[at].map_or(at, AssocIndex::get);
        for _ in 0..self.rows.len() {
            at = up(at);
        }
        let mut first = at;
        let mut next = up(at);
        while next != at {
            first = first.min(next);
            next = up(next);
        }
        TreeError::Cycle {
            id: self.rows[first].id,
        }
    }

    /// The rows, in order of position.
    pub fn rows(&self) -> &[Assoc] {
        &self.rows
    }

    /// Number of associations.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Every position, from the first row to the last.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = AssocIndex> + ExactSizeIterator {
        (0..self.rows.len()).map(AssocIndex::new)
    }

    /// Position of the association `id`.
    pub fn index_of(&self, id: AssocId) -> Option<AssocIndex> {
        self.positions.get(&id).copied()
    }

    /// The root; `None` only in an empty tree.
    pub fn root(&self) -> Option<AssocIndex> {
        self.root
    }

    /// The direct parent; `None` for the root. Like all functions that take a position, panics if
    /// it is beyond the rows.
    pub fn parent(&self, index: AssocIndex) -> Option<AssocIndex> {
        self.parents[index.get()]
    }

    /// An association and all above it, the root last; nothing from `None`.
    pub fn upward(&self, from: impl Into<Option<AssocIndex>>) -> impl Iterator<Item = AssocIndex> {
        std::iter::successors(from.into(), |at| self.parent(*at))
    }

    /// True for an association and all below it, by position.
    pub fn is_below(&self, top: AssocIndex) -> Vec<bool> {
        let mut below = vec![false; self.len()];
        for &at in self.parents_first() {
            let parent = self.parent(at);
            below[at.get()] = at == top || parent.is_some_and(|parent| below[parent.get()]);
        }
        below
    }

    /// The association from which shares are taken: the nearest ancestor that is not itself
    /// `FairShare=parent`, or else the root; `None` for the root.
    ///
    /// Source: Slurm's manual page sacctmgr(1), "fairshare"; `fs_assoc_ptr` of its `assoc_mgr`.
    pub fn fs_parent(&self, index: AssocIndex) -> Option<AssocIndex> {
        self.layout().fs_parent(index)
    }

    /// Associations whose `fs_parent` is this one, in order of position. Empty for an account with
    /// `FairShare=parent`, unless it is the root.
    pub fn fs_children(&self, index: AssocIndex) -> &[AssocIndex] {
        self.layout().fs_children(index)
    }

    /// Every position, parents before children.
    pub fn parents_first(&self) -> &[AssocIndex] {
        if self.rows.is_empty() {
            return &[];
        }
        self.layout().parents_first()
    }

    /// Number of user associations: the best rank.
    pub fn user_count(&self) -> usize {
        if self.rows.is_empty() {
            return 0;
        }
        self.layout().user_count()
    }

    /// Derived data of the rows, of which there is at least one.
    fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| {
            let root = self.root.expect("a tree with rows has a root");
            let order = layout::reachable(&self.parents, root);
            Layout::new(&self.rows, &self.parents, order)
        })
    }
}

/// Refuses counts that Slurm cannot hold.
fn check_shares(id: AssocId, shares: Shares) -> Result<(), TreeError> {
    match shares {
        Shares::Raw(shares) if shares > Shares::MAX_RAW => {
            Err(TreeError::SharesOutOfRange { id, shares })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
