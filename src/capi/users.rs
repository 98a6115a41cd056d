//! Finding the users that jobs run under, by id, a million times in a call.

use crate::tree::{AssocIndex, AssocKind};

use super::error::{Failure, Status};
use super::tree::{FT_NONE, TreeModel};

/// The users of a tree by id.
pub(super) struct Users<'a> {
    tree: Option<&'a TreeModel>,
    /// The position of each user at its id; [`FT_NONE`] where there is none. Empty where ids are
    /// so far apart that the table would be mostly holes: the tree's own index serves then.
    by_id: Vec<u32>,
}

/// A table may be this many times as long as the tree.
const HOLES: usize = 8;

impl<'a> Users<'a> {
    pub(super) fn new(tree: Option<&'a TreeModel>) -> Users<'a> {
        let rows = tree.map_or([].as_slice(), |tree| tree.tree.rows());
        let len = rows.iter().map(|assoc| assoc.id as usize + 1).max();
        let len = len.filter(|len| *len <= rows.len().saturating_mul(HOLES));
        let mut by_id = vec![FT_NONE; len.unwrap_or(0)];
        if !by_id.is_empty() {
            for (position, assoc) in (0_u32..).zip(rows) {
                if assoc.kind == AssocKind::User {
                    by_id[assoc.id as usize] = position;
                }
            }
        }
        Users { tree, by_id }
    }

    /// The user `id`; `None` for [`FT_NONE`].
    #[inline]
    pub(super) fn find(
        &self,
        id: u32,
        argument: impl Fn() -> String,
    ) -> Result<Option<AssocIndex>, Failure> {
        match self.by_id.get(id as usize) {
            Some(position) if *position != FT_NONE => Ok(Some(AssocIndex::new(*position as usize))),
            _ if id == FT_NONE => Ok(None),
            _ => self.search(id, argument).map(Some),
        }
    }

    fn search(&self, id: u32, argument: impl Fn() -> String) -> Result<AssocIndex, Failure> {
        let found = self
            .tree
            .and_then(|tree| Some((tree, tree.tree.index_of(id)?)));
        match found {
            Some((tree, index)) if tree.tree.rows()[index.get()].kind == AssocKind::User => {
                Ok(index)
            }
            Some(_) => Err(Failure::new(
                Status::FT_ERR_NOT_A_USER,
                format!("{}: association {id} is an account", argument()),
            )),
            None => Err(Failure::new(
                Status::FT_ERR_UNKNOWN_ID,
                format!("{}: association {id} is not in the tree", argument()),
            )),
        }
    }
}
