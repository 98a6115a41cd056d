//! Resets: another model's usage, cleared when a period begins (`PriorityUsageResetPeriod`).
//!
//! [`ResetSchedule`] has the calendar. A reset comes before anything else that happens at its
//! moment: what a job used since the last pass is charged in full afterwards, also what it used
//! before the boundary, as Slurm does it.

use jiff::tz::TimeZone;

use super::{Model, UsageChange, Use};
use crate::config::Config;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::{Amounts, ResetSchedule, UsageError};

/// A model whose usage is cleared from time to time.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::config::ResetPeriod;
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::{UsageChange, Decay, HalfLife, Ledger, Model, ResetSchedule, Resetting, Use};
/// use jiff::tz::TimeZone;
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root])?;
/// let never = HalfLife::new(Decay::new(0, Compat::Documented), Ledger::new(&tree), Some(0));
/// let daily = ResetSchedule::new(ResetPeriod::Daily, Compat::Documented, 0);
/// let mut model = Resetting::new(never, daily, TimeZone::UTC);
/// let used = Use { from: 0, to: 600, billing: 1.0, factor: 1.0, tres: &[] };
/// model.charge(&tree, tree.index_of(1).unwrap(), &used)?;
/// assert_eq!(model.advance(&tree, 86_399), UsageChange::Factor(1.0));
/// assert_eq!(model.advance(&tree, 86_400), UsageChange::Cleared);
/// assert!(model.raw()[0].is_zero());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Resetting<M> {
    model: M,
    schedule: ResetSchedule,
    zone: TimeZone,
}

impl<M: Model> Resetting<M> {
    /// `zone`: where the schedule's midnights are.
    pub fn new(model: M, schedule: ResetSchedule, zone: TimeZone) -> Resetting<M> {
        Resetting {
            model,
            schedule,
            zone,
        }
    }

    /// The model that is cleared.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The same, to be changed.
    pub fn model_mut(&mut self) -> &mut M {
        &mut self.model
    }

    /// When it is cleared.
    pub fn schedule(&self) -> &ResetSchedule {
        &self.schedule
    }

    /// The same, to be changed.
    pub fn schedule_mut(&mut self) -> &mut ResetSchedule {
        &mut self.schedule
    }

    /// Where midnight is from now on.
    pub fn set_zone(&mut self, zone: TimeZone) {
        self.zone = zone;
    }
}

impl<M: Model> Model for Resetting<M> {
    fn moment(&self) -> Option<i64> {
        self.model.moment()
    }

    fn advance(&mut self, tree: &Tree, now: i64) -> UsageChange {
        let cleared = self.schedule.take_due(now, &self.zone);
        if cleared {
            self.model.clear();
        }
        let change = self.model.advance(tree, now);
        match cleared {
            true => UsageChange::Cleared,
            false => change,
        }
    }

    fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        self.model.charge(tree, assoc, used)
    }

    fn raw(&self) -> &[Extended] {
        self.model.raw()
    }

    fn clear(&mut self) {
        self.model.clear();
    }

    fn configure(&mut self, config: &Config) -> bool {
        let period = config.priority_usage_reset_period;
        if !self.schedule.is_for(period, config.compat) {
            self.schedule.set_period(period, config.compat);
        }
        self.model.configure(config)
    }

    fn records(&mut self, moment: Option<i64>) -> Option<&mut Vec<Extended>> {
        self.model.records(moment)
    }
}
