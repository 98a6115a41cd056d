//! Raw usage of every association of a tree.
//!
//! Two numbers per association: its *own* usage (what was charged to it, plus what it took over
//! from removed associations) and its *raw* usage (its own and that of all below it, the
//! RawUsage of sshare). Slurm keeps them as `leaf_usage` and `usage`.
//!
//! Positions in raw usage are positions in its tree. [`RawUsage::add_assoc`],
//! [`RawUsage::remove_assoc`] and [`RawUsage::move_assoc`] edit both together; shares may be
//! changed in the tree alone.

use crate::extended::Extended;
use crate::tree::{Assoc, AssocId, AssocIndex, Tree, TreeError};

/// Why usage was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// NaN, infinite or negative.
    #[error("association {id}: usage {value} is not a number from 0 up")]
    NotANumber {
        /// The association.
        id: AssocId,
        /// What was given.
        value: f64,
    },
    /// Not one usage per association.
    #[error("usage of {found} associations was given, but the tree has {expected}")]
    Length {
        /// Associations of the tree.
        expected: usize,
        /// Numbers given.
        found: usize,
    },
    /// What a window ledger refuses.
    #[error(transparent)]
    Window(#[from] super::window::WindowError),
}

/// Raw usage (TRES-seconds) of every association of one tree.
///
/// Where records keep raw usage alone, the own usage is empty.
///
/// Panics when used with a tree of another size than it was made for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawUsage {
    own: Vec<Extended>,
    raw: Vec<Extended>,
}

impl RawUsage {
    /// No usage yet.
    pub fn new(tree: &Tree) -> RawUsage {
        RawUsage {
            own: vec![Extended::ZERO; tree.len()],
            raw: vec![Extended::ZERO; tree.len()],
        }
    }

    /// Of what each association used itself, by position.
    ///
    /// Children are added to their parent after its own usage, the last position first, so the
    /// last bit of a sum may differ from slurmctld's, which adds leaf by leaf.
    ///
    /// # Errors
    /// [`UsageError::Length`], [`UsageError::NotANumber`].
    pub fn from_own(tree: &Tree, own: &[Extended]) -> Result<RawUsage, UsageError> {
        check_all(tree, own)?;
        let mut raw_usage = RawUsage {
            own: own.to_vec(),
            raw: Vec::with_capacity(own.len()),
        };
        raw_usage.sum_up(tree);
        Ok(raw_usage)
    }

    /// Of what each association used with all below it, by position, as slurmctld and
    /// sshare tell it. The numbers stay as they are; an association's own usage is what its
    /// children do not explain, and 0 where rounded children exceed their parent.
    ///
    /// # Errors
    /// [`UsageError::Length`], [`UsageError::NotANumber`].
    pub fn from_raw(tree: &Tree, raw: &[Extended]) -> Result<RawUsage, UsageError> {
        check_all(tree, raw)?;
        Ok(RawUsage::as_kept(tree, raw))
    }

    /// As [`RawUsage::from_raw`], with numbers below zero as they are: in slurmctld's records usage
    /// taken away leaves a rounding error of either sign. Panics at another length.
    pub(crate) fn as_kept(tree: &Tree, raw: &[Extended]) -> RawUsage {
        let mut own = raw.to_vec();
        for &index in tree.parents_first() {
            if let Some(parent) = tree.parent(index) {
                own[parent.get()] -= raw[index.get()];
            }
        }
        for usage in &mut own {
            *usage = (*usage).max(Extended::ZERO);
        }
        RawUsage {
            own,
            raw: raw.to_vec(),
        }
    }

    /// Raw usage as it was: what [`RawUsage::own`] and [`RawUsage::raw`] gave, to the last bit.
    ///
    /// # Errors
    /// [`UsageError::Length`], [`UsageError::NotANumber`].
    pub fn from_own_and_raw(
        tree: &Tree,
        own: Vec<Extended>,
        raw: Vec<Extended>,
    ) -> Result<RawUsage, UsageError> {
        check_all(tree, &own)?;
        check_all(tree, &raw)?;
        Ok(RawUsage { own, raw })
    }

    /// Raw usage by position: own and of all below, TRES-seconds.
    pub fn raw(&self) -> &[Extended] {
        &self.raw
    }

    /// Usage charged to each association itself, by position; empty where it is not kept.
    pub fn own(&self) -> &[Extended] {
        &self.own
    }

    /// Charges `tres_seconds` to an association and to all its ancestors.
    ///
    /// # Errors
    /// [`UsageError::NotANumber`] for NaN, infinite and negative charges.
    pub fn charge(
        &mut self,
        tree: &Tree,
        index: AssocIndex,
        tres_seconds: f64,
    ) -> Result<(), UsageError> {
        self.check_size(tree);
        let usage = Extended::from_f64(tres_seconds)
            .filter(|usage| is_usage(*usage))
            .ok_or(UsageError::NotANumber {
                id: tree.rows()[index.get()].id,
                value: tres_seconds,
            })?;
        self.add(tree, index, usage);
        Ok(())
    }

    /// Adds `usage`, of any sign, to an association and to all its ancestors.
    pub(crate) fn add(&mut self, tree: &Tree, index: AssocIndex, usage: Extended) {
        if let Some(own) = self.own.get_mut(index.get()) {
            *own += usage;
        }
        let mut next = Some(index);
        while let Some(index) = next {
            self.raw[index.get()] += usage;
            next = tree.parent(index);
        }
    }

    /// Raw usage alone, by position, to be written as the host's records have it. The size of the
    /// tree may change with it; own usage is not kept from now on.
    pub(crate) fn records(&mut self) -> &mut Vec<Extended> {
        self.own.clear();
        &mut self.raw
    }

    /// Multiplies all usage by `factor` (see [`crate::usage::Decay::factor`]).
    ///
    /// Panics unless `factor` is in 0..=1.
    pub fn decay(&mut self, factor: f64) {
        assert!(
            (0.0..=1.0).contains(&factor),
            "a decay factor is in 0..=1, not {factor}"
        );
        if factor == 1.0 {
            return;
        }
        let factor = Extended::from_f64(factor).expect("not NaN");
        for usage in self.own.iter_mut().chain(&mut self.raw) {
            *usage *= factor;
        }
    }

    /// Forgets all usage.
    pub fn reset(&mut self) {
        self.own.fill(Extended::ZERO);
        self.raw.fill(Extended::ZERO);
    }

    /// Forgets the usage of an association and of all below it (`RawUsage=0` of sacctmgr).
    pub fn reset_assoc(&mut self, tree: &Tree, index: AssocIndex) {
        self.check_size(tree);
        let below = tree.is_below(index);
        for (usage, _) in self.own.iter_mut().zip(&below).filter(|(_, below)| **below) {
            *usage = Extended::ZERO;
        }
        self.sum_up(tree);
    }

    /// Adds an association, without usage, to the tree and to its usage.
    ///
    /// # Errors
    /// Those of [`Tree::add`].
    pub fn add_assoc(&mut self, tree: &mut Tree, row: Assoc) -> Result<AssocIndex, TreeError> {
        self.check_size(tree);
        let index = tree.add(row)?;
        self.own.push(Extended::ZERO);
        self.raw.push(Extended::ZERO);
        Ok(index)
    }

    /// Removes an association without children from the tree and from its usage. Its usage becomes
    /// its parent's own, as in Slurm, so that an account gains nothing by removing its users.
    ///
    /// # Errors
    /// Those of [`Tree::remove`].
    pub fn remove_assoc(&mut self, tree: &mut Tree, id: AssocId) -> Result<AssocIndex, TreeError> {
        self.check_size(tree);
        let parent = tree.index_of(id).and_then(|index| tree.parent(index));
        let index = tree.remove(id)?;
        if let Some(parent) = parent {
            let usage = self.own[index.get()];
            self.own[parent.get()] += usage;
        }
        self.own.remove(index.get());
        self.raw.remove(index.get());
        Ok(index)
    }

    /// Hangs an association with all below it, and its usage, under another account.
    ///
    /// # Errors
    /// Those of [`Tree::move_to`].
    pub fn move_assoc(
        &mut self,
        tree: &mut Tree,
        id: AssocId,
        parent: AssocId,
    ) -> Result<(), TreeError> {
        self.check_size(tree);
        tree.move_to(id, parent)?;
        // Subtracting from the old ancestors would leave rounding behind where nothing is left.
        self.sum_up(tree);
        Ok(())
    }

    /// Sums raw usage from own usage, children before parents.
    fn sum_up(&mut self, tree: &Tree) {
        self.raw.clone_from(&self.own);
        for &index in tree.parents_first().iter().rev() {
            if let Some(parent) = tree.parent(index) {
                let usage = self.raw[index.get()];
                self.raw[parent.get()] += usage;
            }
        }
    }

    fn check_size(&self, tree: &Tree) {
        assert_eq!(
            self.raw.len(),
            tree.len(),
            "a raw_usage belongs to one tree"
        );
    }
}

fn is_usage(usage: Extended) -> bool {
    !usage.is_infinite() && !usage.is_negative()
}

fn check_all(tree: &Tree, usages: &[Extended]) -> Result<(), UsageError> {
    if usages.len() != tree.len() {
        return Err(UsageError::Length {
            expected: tree.len(),
            found: usages.len(),
        });
    }
    match usages.iter().position(|usage| !is_usage(*usage)) {
        None => Ok(()),
        Some(position) => Err(UsageError::NotANumber {
            id: tree.rows()[position].id,
            value: usages[position].to_f64(),
        }),
    }
}

#[cfg(test)]
mod tests;
