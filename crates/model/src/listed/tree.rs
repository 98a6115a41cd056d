//! The rows of a listing as one tree.

use crate::input::sshare::{Link, Listing, RowKind, SshareRow};
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{self, AssocFairshare, Ranking};
use fairtree::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree, TreeError};

/// A listing as one tree: the position of an association is its row.
///
/// Rows whose account was not printed need a parent; they get a placeholder, the last position, and
/// then so does the root itself. Values that follow from the placeholder's level are never shown.
#[derive(Debug)]
pub struct ListedTree {
    /// One association per row, then the placeholder if there is one.
    pub tree: Tree,
    /// Raw usage by position; 0 where it is not known.
    pub raw: Vec<Extended>,
    /// The row of the root.
    pub root: Option<usize>,
    /// The placeholder for accounts that were not printed.
    pub stand_in: Option<AssocIndex>,
}

impl ListedTree {
    /// The tree that a listing draws, with its [`links`](crate::input::sshare::links).
    ///
    /// # Errors
    /// More rows than numbers of associations.
    pub fn new(listing: &Listing, links: &[Link]) -> Result<ListedTree, TreeError> {
        let id = |row: usize| AssocId::try_from(row).unwrap_or(AssocId::MAX);
        let rows = &listing.rows;
        let root = (0..rows.len()).find(|&at| is_root(&rows[at], &links[at]));
        let orphans = (0..rows.len()).any(|at| links[at].parent.is_none() && Some(at) != root);
        let stand_in = (orphans || root.is_none()).then_some(rows.len());
        let assoc = |at: usize| Assoc {
            id: id(at),
            parent: links[at].parent.or(stand_in).map(id),
            kind: match links[at].kind {
                RowKind::Account => AssocKind::Account,
                RowKind::User => AssocKind::User,
            },
            shares: rows[at].raw_shares.unwrap_or(Shares::Raw(1)),
        };
        let tree = Tree::from_rows((0..rows.len()).map(assoc).chain(stand_in.map(|at| Assoc {
            id: id(at),
            parent: None,
            kind: AssocKind::Account,
            shares: Shares::Raw(1),
        })))?;
        let usage = |row: &SshareRow| Extended::from_u64(row.raw_usage.unwrap_or(0));
        let mut raw: Vec<Extended> = rows.iter().map(usage).collect();
        raw.extend(stand_in.map(|_| root.map_or(Extended::ZERO, |at| raw_of(rows, at))));
        Ok(ListedTree {
            tree,
            raw,
            root,
            stand_in: stand_in.map(AssocIndex::new),
        })
    }

    /// Result of the engine for each row.
    pub fn compute(&self, ranking: Ranking, compat: Compat) -> Vec<AssocFairshare> {
        fairshare::compute(ranking, compat, &self.tree, &self.raw)
    }

    /// The row that shares and usage are compared with, where it was printed.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn fs_parent(&self, row: usize) -> Option<usize> {
        let parent = self.tree.fs_parent(AssocIndex::new(row))?;
        (Some(parent) != self.stand_in).then(|| parent.get())
    }

    /// Number of rows, without the placeholder.
    pub fn row_count(&self) -> usize {
        self.tree.len() - usize::from(self.stand_in.is_some())
    }
}

fn raw_of(rows: &[SshareRow], at: usize) -> Extended {
    Extended::from_u64(rows[at].raw_usage.unwrap_or(0))
}

/// Slurm's root is an account of that name at the margin.
fn is_root(row: &SshareRow, link: &Link) -> bool {
    row.account.as_deref() == Some("root")
        && link.kind == RowKind::Account
        && link.parent.is_none()
        && row.depth == 0
}
