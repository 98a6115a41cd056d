//! The half-life: everything that was ever used, decayed (`PriorityDecayHalfLife`).
//!
//! All usage decays by one factor, so sums are all that has to be kept: what was used when is
//! forgotten. See [`Decay`] for the formulas and for where `compat=slurm` differs.

use super::{Model, ModelSettings, UsageChange, Use, for_config};
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::decay::Weights;
use crate::usage::{Amounts, Decay, RawUsage, UsageError};

/// Usage that decays with a half-life, or never.
///
/// It keeps billing TRES; a host's records keep the rest.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::{UsageChange, Decay, HalfLife, RawUsage, Model, Use};
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let user = Assoc { id: 2, parent: Some(1), kind: AssocKind::User, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root, user])?;
/// let hour = Decay::new(3_600, Compat::Documented);
/// let mut model = HalfLife::new(hour, RawUsage::new(&tree), Some(0));
/// model.advance(&tree, 600);
/// let used = Use { run: None, from: 0, to: 600, billing: 2.0, factor: 1.0, tres: &[] };
/// let charged = model.charge(&tree, tree.index_of(2).unwrap(), &used)?;
/// // Ten minutes of two TRES, of which a little has decayed.
/// assert!(charged.usage > 1_100.0 && charged.usage < 1_200.0);
/// assert_eq!(model.advance(&tree, 4_200), UsageChange::Factor(0.5));
/// assert_eq!(model.raw()[0].to_f64(), charged.usage / 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct HalfLife {
    raw_usage: RawUsage,
    weights: Weights,
    moment: Option<i64>,
}

impl Default for HalfLife {
    /// No associations, and usage that never decays.
    fn default() -> HalfLife {
        let never = Decay::new(0, crate::compat::Compat::Documented);
        HalfLife::new(never, RawUsage::default(), None)
    }
}

impl HalfLife {
    /// `raw_usage`: usage so far, valued at `moment`; `None`: when does not matter, as no time has
    /// passed yet.
    pub fn new(decay: Decay, raw_usage: RawUsage, moment: Option<i64>) -> HalfLife {
        HalfLife {
            raw_usage,
            weights: Weights::new(&decay),
            moment,
        }
    }

    /// As [`HalfLife::new`], with the half-life of these settings.
    pub fn of(config: &Config, raw_usage: RawUsage, moment: Option<i64>) -> HalfLife {
        HalfLife::new(decay_of(config), raw_usage, moment)
    }

    /// The half-life, and the formulas that it follows.
    pub fn decay(&self) -> &Decay {
        self.weights.decay()
    }

    /// What use counts for at the moment.
    fn weigh(&mut self, used: &Use<'_>) -> Amounts {
        let valued_at = self.moment.unwrap_or(used.to);
        let secs = self.weights.weight(used.from, used.to, valued_at);
        Amounts::of(secs, used, self.decay().quirks())
    }

    /// What use counts for, checked and exact.
    fn exact(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<(Amounts, Extended), UsageError> {
        let amounts = self.weigh(used);
        let exact = Extended::from_f64(amounts.usage).filter(|usage| !usage.is_infinite());
        let exact = exact.ok_or(UsageError::NotANumber {
            id: tree.rows()[assoc.get()].id,
            value: amounts.usage,
        })?;
        Ok((amounts, exact))
    }
}

fn decay_of(config: &Config) -> Decay {
    Decay::new(config.priority_decay_half_life_secs, config.compat)
}

impl Model for HalfLife {
    fn copied(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn moment(&self) -> Option<i64> {
        self.moment
    }

    fn advance(&mut self, _tree: &Tree, now: i64) -> UsageChange {
        let passed = self.moment.map_or(0, |moment| now.saturating_sub(moment));
        let factor = self.decay().factor(passed);
        self.raw_usage.decay(factor);
        self.moment = match self.moment {
            Some(moment) if !self.decay().quirks().follows_clock_back => Some(moment.max(now)),
            _ => Some(now),
        };
        UsageChange::Factor(factor)
    }

    fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        let (amounts, exact) = self.exact(tree, assoc, used)?;
        self.raw_usage.add(tree, assoc, exact);
        Ok(amounts)
    }

    fn raw(&self) -> &[Extended] {
        self.raw_usage.raw()
    }

    fn clear(&mut self) {
        self.raw_usage.reset();
    }

    fn reset_assoc(&mut self, tree: &Tree, assoc: AssocIndex) {
        self.raw_usage.reset_assoc(tree, assoc);
    }

    fn fits(&self, config: &Config) -> bool {
        config.usage() == UsageModel::HalfLife
    }

    fn configure(&mut self, config: &Config) {
        let decay = decay_of(config);
        if *self.decay() != decay {
            self.weights = Weights::new(&decay);
        }
    }

    fn continued(
        &self,
        tree: &Tree,
        settings: &ModelSettings<'_>,
    ) -> Result<Box<dyn Model>, UsageError> {
        match self.fits(settings.config) {
            true => Ok(self.copied()),
            false => for_config(tree, settings, self.moment.unwrap_or(0)),
        }
    }

    fn raw_usage(&self) -> Option<&RawUsage> {
        Some(&self.raw_usage)
    }

    fn raw_usage_mut(&mut self) -> Option<&mut RawUsage> {
        Some(&mut self.raw_usage)
    }

    fn records(&mut self, moment: Option<i64>) -> Option<&mut Vec<Extended>> {
        self.moment = moment;
        Some(self.raw_usage.records())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::{Compat, Release};
    use crate::tree::{Assoc, AssocKind, Shares};

    const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

    fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
        Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        }
    }

    /// root 1 -> account 2 -> user 3.
    fn tree() -> Tree {
        Tree::from_rows([
            row(1, None, AssocKind::Account),
            row(2, Some(1), AssocKind::Account),
            row(3, Some(2), AssocKind::User),
        ])
        .unwrap()
    }

    fn used(from: i64, to: i64, billing: f64) -> Use<'static> {
        Use {
            run: None,
            from,
            to,
            billing,
            factor: 0.5,
            tres: &[],
        }
    }

    fn model(half_life_secs: u32, compat: Compat, tree: &Tree) -> HalfLife {
        let decay = Decay::new(half_life_secs, compat);
        HalfLife::new(decay, RawUsage::new(tree), Some(1_000))
    }

    fn raw(model: &HalfLife) -> Vec<f64> {
        model.raw().iter().map(|usage| usage.to_f64()).collect()
    }

    #[test]
    fn a_charge_counts_for_all_above_and_halves() {
        let tree = tree();
        let user = tree.index_of(3).unwrap();
        for compat in [Compat::Documented, SLURM] {
            let mut model = model(0, compat, &tree);
            assert_eq!(model.advance(&tree, 1_100), UsageChange::Factor(1.0));
            // 100 s of 4 TRES at half price.
            let found = model.charge(&tree, user, &used(1_000, 1_100, 4.0)).unwrap();
            assert_eq!((found.wall_secs, found.usage), (50.0, 200.0));
            assert_eq!(raw(&model), [200.0; 3]);
            let config = Config {
                priority_decay_half_life_secs: 600,
                ..Config::default()
            };
            model.configure(&config);
            assert_eq!(model.advance(&tree, 1_700), UsageChange::Factor(0.5));
            assert_eq!(raw(&model), [100.0; 3]);
        }
    }

    #[test]
    fn the_clock_steps_back_with_slurm_alone() {
        let tree = tree();
        for (compat, moment) in [(Compat::Documented, 1_000), (SLURM, 500)] {
            let mut model = model(600, compat, &tree);
            assert_eq!(model.advance(&tree, 500), UsageChange::Factor(1.0));
            assert_eq!(model.moment(), Some(moment));
        }
    }

    #[test]
    fn the_first_moment_decays_nothing() {
        let tree = tree();
        let decay = Decay::new(60, Compat::Documented);
        let mut model = HalfLife::new(decay, RawUsage::new(&tree), None);
        assert_eq!(model.advance(&tree, 1_000_000), UsageChange::Factor(1.0));
        assert_eq!(model.moment(), Some(1_000_000));
    }

    #[test]
    fn what_is_no_number_changes_nothing() {
        let tree = tree();
        let user = tree.index_of(3).unwrap();
        let mut model = model(600, Compat::Documented, &tree);
        for billing in [f64::NAN, f64::INFINITY] {
            let refused = model.charge(&tree, user, &used(900, 1_000, billing));
            assert!(matches!(refused, Err(UsageError::NotANumber { id: 3, .. })));
        }
        assert_eq!(raw(&model), [0.0; 3]);
    }
}
