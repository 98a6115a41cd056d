//! Usage models: how the usage of an association follows from what was used when.
//!
//! A [`Model`] is asked the same whatever it is: let time pass, charge a period of use, and what the
//! usage of every association is now. One file per model:
//!
//! | file | model | usage at time t |
//! |---|---|---|
//! | `half_life` | [`HalfLife`] | everything used before t, decayed by `PriorityDecayHalfLife` |
//! | `given` | [`Given`] | what its host says |
//! | `reset` | [`Resetting`] | another model's usage since the last `PriorityUsageResetPeriod` began |
//!
//! Time is an argument everywhere: no model looks at a clock. Usage is kept per association by
//! position in a [`Tree`], and a charge to an association counts for all above it as well.
//!
//! What time does to usage is of one of two kinds ([`UsageChange`]). Under a half-life *all* usage is
//! multiplied by *one* factor, which changes no order among siblings: a host scales the records
//! that it keeps and ranks need not be computed again. A reset leaves nothing.
//!
//! [`Windowed`] (`window`) has what was used in a window before t, or since a date, node by node. It
//! charges runs by their ids, whose end may take their use back, so its host keeps it beside passes.

mod given;
mod half_life;
mod reset;
mod window;

use std::fmt::Debug;

use super::{Amounts, UsageError};
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};

pub use given::Given;
pub use half_life::HalfLife;
pub use reset::Resetting;
pub use window::{Quantity, Windowed};

/// Use of resources over a period, to be charged to one association and all above it.
///
/// A period that is empty or ends before it starts is no use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use<'a> {
    /// Start of the period, seconds since 1970; included.
    pub from: i64,
    /// End of the period, seconds since 1970; not included.
    pub to: i64,
    /// Billing TRES per second, from 0 up (see [`crate::usage::billable_tres`]). What is negative
    /// counts as 0, but for models that follow Slurm.
    pub billing: f64,
    /// `UsageFactor` of the QOS, from 0 up.
    pub factor: f64,
    /// The allocated count of each TRES, in the host's order; may be empty where the model keeps
    /// no usage of single TRES.
    pub tres: &'a [u64],
}

/// What became of all usage as time passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UsageChange {
    /// All usage is this part, 0..=1, of what it was; 1 where nothing changed. QOS with `NoDecay`
    /// keep theirs.
    Factor(f64),
    /// Nothing is left of any usage, that of QOS with `NoDecay` included.
    Cleared,
}

impl UsageChange {
    /// The one factor by which all usage changed.
    pub fn factor(self) -> f64 {
        match self {
            UsageChange::Factor(factor) => factor,
            UsageChange::Cleared => 0.0,
        }
    }
}

/// How usage follows from what was used when.
///
/// Methods that take a tree panic when it is of another size than the one the model was made for.
pub trait Model: Debug + Send + Sync {
    /// The moment that usage is valued at, seconds since 1970: that of the last
    /// [`Model::advance`]. `None`: no time has passed yet.
    fn moment(&self) -> Option<i64>;

    /// Lets time pass to `now`, and tells what became of all usage.
    ///
    /// The first call sets the moment and changes nothing. A `now` before the moment leaves usage
    /// as it is; the moment stays too, so that no time counts twice, but for models that follow
    /// Slurm, which go back with the clock.
    fn advance(&mut self, tree: &Tree, now: i64) -> UsageChange;

    /// Charges use to an association and to all above it; returns what it counts for now.
    ///
    /// # Errors
    /// [`UsageError::NotANumber`] where that is NaN or infinite; nothing was changed.
    fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError>;

    /// Usage at the moment that fair share is computed from, one number per association by position,
    /// with that of all below it.
    fn raw(&self) -> &[Extended];

    /// Forgets all usage; the moment stays.
    fn clear(&mut self);

    /// Takes over settings, from the moment on. False, and nothing done, where they ask for another
    /// model (see [`configure`]).
    fn configure(&mut self, config: &Config) -> bool;

    /// Raw usage by position, for a host whose records are where this model keeps its numbers:
    /// what others charged to them, or set by hand, is written here before a pass, valued at
    /// `moment`. The number of associations may change with that. `None`: the model knows by
    /// itself, and the host's records follow it.
    fn records(&mut self, moment: Option<i64>) -> Option<&mut Vec<Extended>> {
        let _ = moment;
        None
    }
}

/// The model that the settings ask for, without associations. One line per model.
///
/// Windows and totals need a ledger of runs, which knows more than passes do: its host keeps one,
/// and tells what it says.
pub fn for_config(config: &Config) -> Box<dyn Model> {
    let mut model: Box<dyn Model> = match config.usage() {
        UsageModel::HalfLife => Box::new(HalfLife::default()),
        UsageModel::Window { .. } | UsageModel::Total { .. } => Box::new(Given::default()),
    };
    model.configure(config);
    model
}

/// Makes `model` the one that the settings ask for. True: it is another one than before, and
/// starts without usage.
pub fn configure(model: &mut Box<dyn Model>, config: &Config) -> bool {
    let same = model.configure(config);
    if !same {
        *model = for_config(config);
    }
    !same
}

impl Default for Box<dyn Model> {
    /// Usage that never decays, and no associations.
    fn default() -> Box<dyn Model> {
        Box::new(HalfLife::default())
    }
}

/// A model that is chosen while the program runs.
impl Model for Box<dyn Model> {
    fn moment(&self) -> Option<i64> {
        (**self).moment()
    }

    fn advance(&mut self, tree: &Tree, now: i64) -> UsageChange {
        (**self).advance(tree, now)
    }

    fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        (**self).charge(tree, assoc, used)
    }

    fn raw(&self) -> &[Extended] {
        (**self).raw()
    }

    fn clear(&mut self) {
        (**self).clear();
    }

    fn configure(&mut self, config: &Config) -> bool {
        (**self).configure(config)
    }

    fn records(&mut self, moment: Option<i64>) -> Option<&mut Vec<Extended>> {
        (**self).records(moment)
    }
}
