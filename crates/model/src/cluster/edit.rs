//! Changes of associations and their usage, in everything that is kept of them.

use std::sync::Arc;

use super::time::used;
use super::{AssocName, Cluster};
use crate::input::site::Uses;
use fairtree::engine::Site;
use fairtree::extended::Extended;
use fairtree::priority::{AssocFactors, Job};
use fairtree::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, TreeError};
use fairtree::usage::{HalfLife, RawUsage, UsageError};

impl Cluster {
    fn id(&self, index: AssocIndex) -> AssocId {
        self.tree().rows()[index.get()].id
    }

    fn uses_mut(&mut self) -> Option<&mut Uses> {
        self.uses.as_mut().map(Arc::make_mut)
    }

    /// Changes the shares of an association.
    ///
    /// # Errors
    /// Those of [`fairtree::tree::Tree::set_shares`].
    pub fn set_shares(&mut self, index: AssocIndex, shares: Shares) -> Result<(), TreeError> {
        self.site.set_shares(self.id(index), shares)
    }

    /// Adds an association without usage.
    ///
    /// # Errors
    /// Those of [`fairtree::tree::Tree::add`].
    pub fn add(
        &mut self,
        name: AssocName,
        parent: AssocIndex,
        shares: Shares,
    ) -> Result<(), TreeError> {
        let highest = self.tree().rows().iter().map(|row| row.id).max();
        let row = Assoc {
            id: highest.unwrap_or(0).saturating_add(1),
            parent: Some(self.id(parent)),
            kind: match name.user {
                Some(_) => AssocKind::User,
                None => AssocKind::Account,
            },
            shares,
        };
        self.site
            .edit_tree(|tree, raw_usage| raw_usage.add_assoc(tree, row))?;
        self.names.push(name);
        self.tables.assocs.push(AssocFactors::default());
        Ok(())
    }

    /// Moves an account with all below it, and its usage, to another account.
    ///
    /// # Errors
    /// Those of [`fairtree::tree::Tree::move_to`].
    pub fn move_account(
        &mut self,
        account: AssocIndex,
        parent: AssocIndex,
    ) -> Result<(), TreeError> {
        let (account, parent) = (self.id(account), self.id(parent));
        self.site
            .edit_tree(|tree, raw_usage| raw_usage.move_assoc(tree, account, parent))
    }

    /// Removes an association with all below it, and their jobs. Their usage becomes that of the
    /// account above.
    ///
    /// # Errors
    /// Those of [`fairtree::tree::Tree::remove`].
    pub fn remove(&mut self, index: AssocIndex) -> Result<(), TreeError> {
        let below = self.tree().is_below(index);
        let gone = |job: &Job| job.assoc.is_some_and(|assoc| below[assoc.get()]);
        if let Some(jobs) = self.jobs_mut() {
            jobs.retain(|job| !gone(&job.job));
        }
        // Children before their parents, by number, because positions move up.
        let order = self.tree().parents_first().iter().rev();
        let order = order.filter(|each| below[each.get()]);
        let ids: Vec<AssocId> = order.map(|each| self.id(*each)).collect();
        for id in ids {
            let at = self.tree().index_of(id);
            let parent = at.and_then(|at| self.tree().parent(at));
            let at = self
                .site
                .edit_tree(|tree, raw_usage| raw_usage.remove_assoc(tree, id))?;
            if let (Some(uses), Some(parent)) = (self.uses_mut(), parent) {
                uses.remove(at, parent);
            }
            self.names.remove(at.get());
            self.tables.assocs.remove(at.get());
            for job in self.jobs_mut().into_iter().flatten() {
                if let Some(assoc) = job.job.assoc.filter(|assoc| *assoc > at) {
                    job.job.assoc = Some(AssocIndex::new(assoc.get() - 1));
                }
            }
        }
        Ok(())
    }

    /// Charges usage of this moment, TRES-seconds, to an association and all above it.
    ///
    /// # Errors
    /// Usage that is not a number from 0 up, or is too large for a window.
    pub fn charge(&mut self, index: AssocIndex, usage: f64) -> Result<(), UsageError> {
        let now = self.moment();
        self.site
            .edit_usage(|tree, model| match model.raw_usage_mut() {
                Some(raw_usage) => raw_usage.charge(tree, index, usage),
                None => {
                    let charged = model.charge(tree, index, &used(usage, now - 1, now));
                    charged.map(|_| ())
                }
            })?;
        if let Some(uses) = self.uses_mut() {
            uses.charge(index, usage);
        }
        Ok(())
    }

    /// Forgets the usage of an association and of all below it.
    pub fn reset_usage(&mut self, index: AssocIndex) {
        self.site
            .edit_usage(|tree, model| model.reset_assoc(tree, index));
        let below = self.tree().is_below(index);
        if let Some(uses) = self.uses_mut() {
            uses.forget(&below);
        }
    }

    /// Takes over raw usage by position, TRES-seconds valued at `now`, seconds since 1970. It is not
    /// counted from known uses.
    ///
    /// # Panics
    /// Unless `raw` is one number from 0 up per association.
    pub fn set_usage(&mut self, raw: &[Extended], now: i64) {
        let usage = RawUsage::from_raw(self.tree(), raw).expect("usage of the same tree");
        let usage = HalfLife::of(&self.config, usage, Some(now));
        self.site = Site::new(self.tree().clone(), Box::new(usage), now);
        (self.uses, self.has_moment) = (None, true);
    }
}
