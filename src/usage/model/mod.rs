//! Usage models: how the usage of an association follows from what was used when.
//!
//! A [`Model`] is asked the same whatever it is: let time pass, charge a period of use, and what the
//! usage of every association is now. One file per model:
//!
//! | file | model | usage at time t |
//! |---|---|---|
//! | `half_life` | [`HalfLife`] | everything used before t, decayed by `PriorityDecayHalfLife` |
//! | `window` | [`Windowed`] | everything used in a window before t, or since a date, node by node |
//! | `given` | [`Given`] | numbers of a host that counts windows and totals by itself |
//!
//! Time is an argument everywhere: no model looks at a clock. Usage is kept per association by
//! position in a [`Tree`], and a charge to an association counts for all above it as well.
//!
//! What time does to usage is of one of two kinds ([`UsageChange`]). Under a half-life *all* usage is
//! multiplied by *one* factor, which changes no order among siblings: a host scales the records
//! that it keeps and ranks need not be computed again. A reset leaves nothing.

mod given;
mod half_life;
mod window;

use std::fmt::Debug;

use jiff::tz::TimeZone;

use super::window::LedgerRun;
use super::{Amounts, RawUsage, UsageError};
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocId, AssocIndex, Tree};

pub use given::Given;
pub use half_life::HalfLife;
pub use window::{Windowed, longest_window_secs};

/// Use of resources over a period, to be charged to one association and all above it.
///
/// An empty period is no use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use<'a> {
    /// Run that used it, for models that can take back its use; `None`: no run.
    pub run: Option<LedgerRun>,
    /// Start of the period, seconds since 1970; included.
    pub from: i64,
    /// End of the period, seconds since 1970, not before `from`; not included.
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

/// One kind of usage of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Billing TRES times seconds: the raw usage that fair share is computed from.
    Billing,
    /// Seconds, times usage factor (`grp_used_wall`).
    Wall,
    /// Seconds times the allocated count of one TRES, by its position in the host's list.
    Tres(usize),
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

/// Settings that choose a usage model.
#[derive(Clone, Copy, Debug)]
pub struct ModelSettings<'a> {
    /// All settings; models read `usage=`, `resolution=`, the half-life and `compat=`.
    pub config: &'a Config,
    /// Time zone of dates.
    pub zone: &'a TimeZone,
    /// Plans of accounts, by association.
    pub plans: &'a [(AssocId, UsageModel)],
    /// Names of the host's TRES, in its order; a half-life ignores them.
    pub tres: &'a [String],
}

/// How usage follows from what was used when.
///
/// Methods that take a tree panic when it is of another size than the one the model was made for.
pub trait Model: Debug + Send + Sync {
    /// A copy.
    fn copied(&self) -> Box<dyn Model>;

    /// The moment that usage is valued at, seconds since 1970: that of the last
    /// [`Model::advance`]. `None`: no time has passed yet.
    fn moment(&self) -> Option<i64>;

    /// Lets time pass to `now`; returns what became of all usage.
    ///
    /// The first call sets the moment and changes nothing. A `now` before the moment leaves usage
    /// as it is; the moment stays too, so that no time counts twice, except for models that follow
    /// Slurm, which go back with the clock.
    fn advance(&mut self, tree: &Tree, now: i64) -> UsageChange;

    /// Charges use to an association and to all above it; returns what it counts for now.
    ///
    /// # Errors
    /// [`UsageError::NotANumber`] where that is NaN or infinite, and [`UsageError::Window`];
    /// nothing was changed.
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

    /// Forgets the usage of an association and of all below it.
    fn reset_assoc(&mut self, tree: &Tree, assoc: AssocIndex);

    /// Returns true if settings ask for this model; false: see [`Model::continued`].
    fn fits(&self, config: &Config) -> bool;

    /// Takes over settings that fit and may change from pass to pass, from the moment on.
    fn configure(&mut self, config: &Config) {
        let _ = config;
    }

    /// The model that the settings ask for, with this model's usage as far as that can be known. A
    /// half-life continues from the numbers of a window. A window begins without usage where it
    /// is not known when it was used.
    ///
    /// # Errors
    /// [`UsageError::Window`] for lengths, resolutions and dates that a window cannot have.
    fn continued(
        &self,
        tree: &Tree,
        settings: &ModelSettings<'_>,
    ) -> Result<Box<dyn Model>, UsageError>;

    /// Own and raw usage, where the model keeps nothing else; `None`: it keeps when it was used.
    fn raw_usage(&self) -> Option<&RawUsage> {
        None
    }

    /// The same, to be changed.
    fn raw_usage_mut(&mut self) -> Option<&mut RawUsage> {
        None
    }

    /// Takes over a different tree, where [`Model::raw_usage`] is `None`: an association keeps its usage
    /// by its id, a new one has none, and what a removed one used itself becomes its account's own,
    /// if that is still there.
    fn follow_tree(&mut self, before: &Tree, after: &Tree) {
        let _ = (before, after);
    }

    /// Raw usage by position, for a host whose records are where this model keeps its numbers:
    /// what others charged to them, or set by hand, is written here before a pass, valued at
    /// `moment`. The number of associations may change with that. `None`: the model knows by
    /// itself, and the host's records follow it.
    fn records(&mut self, moment: Option<i64>) -> Option<&mut Vec<Extended>> {
        let _ = moment;
        None
    }

    /// Names of the TRES whose usage is kept, in the host's order; `None`: billing alone is kept, and
    /// no run can be taken back.
    fn tres(&self) -> Option<&[String]> {
        None
    }

    /// Usage by position, with that of all below; `None`: it is not kept.
    fn usage(&self, of: Quantity) -> Option<&[Extended]> {
        (of == Quantity::Billing).then(|| self.raw())
    }

    /// Moment up to which a run was charged, where that is kept run by run; `None`: it is not, or the
    /// run is unknown.
    fn charged_until(&self, run: LedgerRun) -> Option<i64> {
        let _ = run;
        None
    }

    /// Ends a run; one that does not count is taken back as if it had never run. False: no such run
    /// is kept.
    fn end_run(&mut self, tree: &Tree, run: LedgerRun, counts: bool) -> bool {
        let _ = (tree, run, counts);
        false
    }

    /// Everything that [`Windowed::restore`] needs beside the tree and the moment; `None`: the
    /// numbers of [`Model::raw_usage`] are everything.
    fn save(&self, tree: &Tree) -> Option<Vec<u8>> {
        let _ = tree;
        None
    }
}

/// The model that the settings ask for, without usage at the moment `now`. One line per model.
///
/// # Errors
/// [`UsageError::Window`] for lengths, resolutions, dates and moments that a window cannot have.
pub fn for_config(
    tree: &Tree,
    settings: &ModelSettings<'_>,
    now: i64,
) -> Result<Box<dyn Model>, UsageError> {
    let config = settings.config;
    Ok(match config.usage() {
        UsageModel::HalfLife => Box::new(HalfLife::of(config, RawUsage::new(tree), Some(now))),
        UsageModel::Window { .. } | UsageModel::Total { .. } => {
            Box::new(Windowed::new(tree, settings, now)?)
        }
    })
}

impl Default for Box<dyn Model> {
    /// Usage that never decays, and no associations.
    fn default() -> Box<dyn Model> {
        Box::new(HalfLife::default())
    }
}

impl Clone for Box<dyn Model> {
    fn clone(&self) -> Box<dyn Model> {
        self.copied()
    }
}
