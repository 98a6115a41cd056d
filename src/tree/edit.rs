//! Changes to a tree. A refused change leaves the tree unchanged.

use super::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree, TreeError, check_shares};

impl Tree {
    /// Adds one association at the end. Its parent must exist; the first association is the root.
    ///
    /// # Errors
    /// As [`Tree::from_rows`], except cycles, which cannot arise.
    pub fn add(&mut self, row: Assoc) -> Result<AssocIndex, TreeError> {
        let index = self.check_row(&row)?;
        let parent = self.find_parent(&row)?;
        match parent {
            Some(parent) => self.child_counts[parent.get()] += 1,
            None => self.root = Some(index),
        }
        self.positions.insert(row.id, index);
        self.rows.push(row);
        self.parents.push(parent);
        self.child_counts.push(0);
        self.layout.take();
        Ok(index)
    }

    /// Changes the shares of an association.
    ///
    /// # Errors
    /// [`TreeError::UnknownId`], [`TreeError::SharesOutOfRange`].
    pub fn set_shares(&mut self, id: AssocId, shares: Shares) -> Result<(), TreeError> {
        let index = self.known(id)?;
        check_shares(id, shares)?;
        let old = std::mem::replace(&mut self.rows[index.get()].shares, shares);
        let stood_aside = old == Shares::Parent;
        let stands_aside = shares == Shares::Parent;
        if stood_aside != stands_aside
            && self.child_counts[index.get()] > 0
            && self.root != Some(index)
        {
            // Its children move to another list.
            self.layout.take();
        } else if let Some(layout) = self.layout.get_mut() {
            layout.change_shares(index, old, shares);
        }
        Ok(())
    }

    /// Moves an association, with all below it, under another account. Its position does not
    /// change.
    ///
    /// # Errors
    /// [`TreeError::UnknownId`], [`TreeError::RootMoved`], [`TreeError::UnknownParent`],
    /// [`TreeError::ParentIsUser`], [`TreeError::BelowItself`].
    pub fn move_to(&mut self, id: AssocId, parent: AssocId) -> Result<(), TreeError> {
        let index = self.known(id)?;
        let Some(old) = self.parents[index.get()] else {
            return Err(TreeError::RootMoved { id });
        };
        let new = self
            .index_of(parent)
            .ok_or(TreeError::UnknownParent { id, parent })?;
        if self.rows[new.get()].kind == AssocKind::User {
            return Err(TreeError::ParentIsUser { id, parent });
        }
        let mut above = Some(new);
        while let Some(at) = above {
            if at == index {
                return Err(TreeError::BelowItself { id, parent });
            }
            above = self.parents[at.get()];
        }
        self.rows[index.get()].parent = Some(parent);
        self.parents[index.get()] = Some(new);
        self.child_counts[old.get()] -= 1;
        self.child_counts[new.get()] += 1;
        self.layout.take();
        Ok(())
    }

    /// Removes an association without children; those after it move up one position.
    ///
    /// Returns its former position. Takes time in proportion to the size of the tree.
    ///
    /// # Errors
    /// [`TreeError::UnknownId`], [`TreeError::HasChildren`].
    pub fn remove(&mut self, id: AssocId) -> Result<AssocIndex, TreeError> {
        let index = self.known(id)?;
        let children = self.child_counts[index.get()] as usize;
        if children > 0 {
            return Err(TreeError::HasChildren { id, children });
        }
        let closed_up = |at: AssocIndex| {
            if at > index {
                AssocIndex::new(at.get() - 1)
            } else {
                at
            }
        };
        self.layout.take();
        self.positions.remove(&id);
        self.rows.remove(index.get());
        self.child_counts.remove(index.get());
        match self.parents.remove(index.get()) {
            Some(parent) => self.child_counts[closed_up(parent).get()] -= 1,
            None => self.root = None,
        }
        self.root = self.root.map(closed_up);
        for parent in self.parents.iter_mut().flatten() {
            *parent = closed_up(*parent);
        }
        for (at, row) in self.rows.iter().enumerate().skip(index.get()) {
            self.positions.insert(row.id, AssocIndex::new(at));
        }
        Ok(index)
    }

    fn known(&self, id: AssocId) -> Result<AssocIndex, TreeError> {
        self.index_of(id).ok_or(TreeError::UnknownId { id })
    }
}
