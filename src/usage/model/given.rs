//! Usage that the host counts by itself, run by run; passes only read it.

use super::{Model, ModelSettings, UsageChange, Use, for_config};
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::{Amounts, UsageError};

/// Usage as it is given before each pass ([`Model::records`]), for windows and totals whose host
/// charges a [`crate::usage::window::WindowLedger`] by runs.
///
/// Charges change nothing here and count 0: what was used is in the numbers that were given.
///
/// ```
/// use fairtree::extended::Extended;
/// use fairtree::tree::Tree;
/// use fairtree::usage::{UsageChange, Given, Model};
/// let mut model = Given::default();
/// model.records(Some(1_000)).unwrap().push(Extended::ONE);
/// assert_eq!(model.advance(&Tree::default(), 2_000), UsageChange::Factor(1.0));
/// assert_eq!(model.raw(), [Extended::ONE]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Given {
    usage: Vec<Extended>,
    moment: Option<i64>,
}

impl Model for Given {
    fn copied(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn moment(&self) -> Option<i64> {
        self.moment
    }

    fn advance(&mut self, _tree: &Tree, now: i64) -> UsageChange {
        self.moment = Some(self.moment.map_or(now, |moment| moment.max(now)));
        UsageChange::Factor(1.0)
    }

    fn charge(
        &mut self,
        _tree: &Tree,
        _assoc: AssocIndex,
        _used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        Ok(Amounts::default())
    }

    fn raw(&self) -> &[Extended] {
        &self.usage
    }

    fn clear(&mut self) {
        self.usage.fill(Extended::ZERO);
    }

    /// The host resets its own numbers.
    fn reset_assoc(&mut self, _tree: &Tree, _assoc: AssocIndex) {}

    fn fits(&self, config: &Config) -> bool {
        config.usage() != UsageModel::HalfLife
    }

    fn continued(
        &self,
        tree: &Tree,
        settings: &ModelSettings<'_>,
    ) -> Result<Box<dyn Model>, UsageError> {
        for_config(tree, settings, self.moment.unwrap_or(0))
    }

    fn records(&mut self, moment: Option<i64>) -> Option<&mut Vec<Extended>> {
        self.moment = moment;
        Some(&mut self.usage)
    }
}
