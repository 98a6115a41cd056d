//! Windows and totals: what was used within a length of time, or since a date (`window:LENGTH`,
//! `total:DATE`).
//!
//! [`WindowLedger`] keeps and computes; this hands out its numbers by position, for every
//! quantity. Its plans say node by node which of the two counts.

use super::{HalfLife, Model, ModelSettings, Quantity, UsageChange, Use};
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::quirks::Quirks;
use crate::usage::window::{
    Changed, Column, Columns, LeafKey, LedgerRun, Rate, UsageHistory, Window, WindowError,
    WindowLedger,
};
use crate::usage::{Amounts, Plan, RawUsage, Total, UsageError};

/// Name of the one source in saved ledgers.
const SOURCE: &str = "ft_tree";

/// Usage in a window or since dates, of every quantity.
///
/// Charges to runs are kept run by run until [`Model::end_run`]. Times before 1970 and after the year
/// 9999 are refused; [`Model::advance`] to such a moment changes nothing.
///
/// ```
/// use fairtree::config::{Config, PriorityParameters};
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::{Model, ModelSettings, Quantity, Use, Windowed};
/// use jiff::tz::TimeZone;
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root])?;
/// let index = tree.index_of(1).unwrap();
/// let parameters = PriorityParameters::parse("usage=window:1:00:00,resolution=1:00", None)?;
/// let settings = ModelSettings {
///     config: &Config { parameters, ..Config::default() },
///     zone: &TimeZone::UTC,
///     plans: &[],
///     tres: &["cpu".to_owned()],
/// };
/// let mut model = Windowed::new(&tree, &settings, 6_000)?;
/// model.advance(&tree, 6_600);
/// let used = Use { run: None, from: 6_000, to: 6_600, billing: 2.0, factor: 1.0, tres: &[4] };
/// model.charge(&tree, index, &used)?;
/// assert_eq!(model.usage(Quantity::Tres(0)).unwrap()[0].to_f64(), 2_400.0);
/// // Half of it has left the window.
/// model.advance(&tree, 6_300 + 3_600);
/// assert_eq!(model.raw()[0].to_f64(), 600.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Windowed {
    ledger: WindowLedger,
    /// Names of the host's TRES, and their places among those of the ledger.
    names: Vec<String>,
    tres: Vec<Option<usize>>,
    plans: Vec<(AssocId, Plan)>,
    /// Per column of the ledger one number per association.
    usage: Vec<Vec<Extended>>,
}

/// The longest window that settings ask for, seconds; `None`: they ask for none.
pub fn longest_window_secs(config: &Config) -> Option<u64> {
    let plans = config.accounts.iter().filter_map(|row| row.plan);
    let length = |model| match model {
        UsageModel::Window { length_secs } => Some(u64::from(length_secs)),
        UsageModel::HalfLife | UsageModel::Total { .. } => None,
    };
    plans.chain([config.usage()]).filter_map(length).max()
}

/// The window that settings ask for; one bucket long if none has a length.
fn window_of(config: &Config) -> Result<Window, WindowError> {
    let resolution_secs = u64::from(config.resolution_secs());
    let length_secs = longest_window_secs(config).unwrap_or(resolution_secs);
    Window::new(length_secs, resolution_secs)
}

impl Windowed {
    /// No use yet, at the moment `now`.
    ///
    /// # Errors
    /// Lengths, resolutions, dates, TRES and moments that a window cannot have.
    pub fn new(
        tree: &Tree,
        settings: &ModelSettings<'_>,
        now: i64,
    ) -> Result<Windowed, WindowError> {
        let window = window_of(settings.config)?;
        let mut model = Windowed::unused(tree, window, settings.tres, now)?;
        model.take_settings(tree, settings)?;
        Ok(model)
    }

    fn unused(
        tree: &Tree,
        window: Window,
        tres: &[String],
        now: i64,
    ) -> Result<Windowed, WindowError> {
        let columns = Columns::new(tres.iter().cloned())?;
        let keep_secs = window.length_secs();
        let ledger = WindowLedger::new(tree, window, keep_secs, columns, SOURCE, now)?;
        Ok(Windowed::of(tree, ledger, tres))
    }

    /// `tres`: names of the host's TRES, in its order; those that the ledger does not count have
    /// no usage.
    fn of(tree: &Tree, ledger: WindowLedger, tres: &[String]) -> Windowed {
        let columns = ledger.columns();
        let place = |name: &String| match columns.find(name) {
            Some(Column::Tres(at)) => Some(at),
            _ => None,
        };
        let mut model = Windowed {
            names: tres.to_vec(),
            tres: tres.iter().map(place).collect(),
            plans: Vec::new(),
            usage: vec![Vec::new(); 2 + columns.tres().len()],
            ledger,
        };
        model.read_all(tree);
        model
    }

    /// Takes over lengths and plans. On an error it is half-changed.
    fn take_settings(
        &mut self,
        tree: &Tree,
        settings: &ModelSettings<'_>,
    ) -> Result<(), WindowError> {
        let window = window_of(settings.config)?;
        let default = Plan::of(settings.config.usage(), settings.zone)?;
        let plan =
            |(id, model): &(AssocId, UsageModel)| Ok((*id, Plan::of(*model, settings.zone)?));
        let plans: Result<Vec<_>, WindowError> = settings.plans.iter().map(plan).collect();
        self.plans = plans?;
        let plans = self.plans.clone();
        self.edit(tree, |ledger| {
            if ledger.window().resolution_secs() != window.resolution_secs() {
                ledger.coarsen(tree, window.resolution_secs())?;
            }
            ledger.keep_at_least(window.length_secs());
            ledger.set_length(tree, window.length_secs())?;
            ledger.set_plans(tree, default, plans)
        })
    }

    fn edit<R>(&mut self, tree: &Tree, edit: impl FnOnce(&mut WindowLedger) -> R) -> R {
        let result = edit(&mut self.ledger);
        self.read_changed(tree);
        result
    }

    /// Returns the use that counts at the moment, by the plan of nodes that have none of their own.
    fn weigh(&mut self, used: &Use<'_>) -> Amounts {
        let plan = self.ledger.default_plan();
        let secs = match used.from < used.to {
            true => self.ledger.weigh_secs(used.from, used.to, plan),
            false => 0.0,
        };
        Amounts::of(secs, used, Quirks::default())
    }

    fn read_all(&mut self, tree: &Tree) {
        self.ledger.take_changed();
        for (at, usage) in self.usage.iter_mut().enumerate() {
            let used = |index| self.ledger.used(index, Column::at(at)).to_extended();
            usage.clear();
            usage.extend(tree.indices().map(used));
        }
    }

    fn read_changed(&mut self, tree: &Tree) {
        let Changed::Some(nodes) = self.ledger.take_changed().and_above(tree) else {
            return self.read_all(tree);
        };
        let usage = &mut self.usage;
        self.ledger.each_used(&nodes, |node, used| {
            for (usage, used) in usage.iter_mut().zip(used) {
                usage[node.get()] = *used;
            }
        });
    }

    fn rate(&self, used: &Use<'_>) -> Result<Rate, WindowError> {
        let places = self.tres.iter().zip(used.tres);
        let counts = places.filter_map(|(place, count)| place.map(|place| (place, *count)));
        let counts: Vec<(usize, u64)> = counts.collect();
        // A running job never reduces usage.
        let billing = if used.billing < 0.0 {
            0.0
        } else {
            used.billing
        };
        self.ledger.columns().rate(billing, used.factor, &counts)
    }

    /// Restores the result of [`Model::save`] at the moment `now`.
    ///
    /// # Errors
    /// A sentence on the damage.
    pub fn restore(tree: &Tree, bytes: &[u8], now: i64) -> Result<Windowed, String> {
        let mut input = Input(bytes);
        let length_secs = u64::from_le_bytes(input.take()?);
        let resolution_secs = u64::from(u32::from_le_bytes(input.take()?));
        let default = plan(i64::from_le_bytes(input.take()?))?;
        let mut plans = Vec::new();
        for _ in 0..u32::from_le_bytes(input.take()?) {
            let id = u32::from_le_bytes(input.take()?);
            plans.push((id, plan(i64::from_le_bytes(input.take()?))?));
        }
        let mut tres = Vec::new();
        for _ in 0..u32::from_le_bytes(input.take()?) {
            let len = u32::from_le_bytes(input.take()?) as usize;
            tres.push(input.text(len)?.to_owned());
        }
        let wrong = |error: WindowError| error.to_string();
        let window = Window::new(length_secs, resolution_secs).map_err(wrong)?;
        let history = UsageHistory::load(input.0).map_err(wrong)?;
        let mut made = Windowed::unused(tree, window, &tres, now).map_err(wrong)?;
        let place = |key: &LeafKey| {
            let id = key.account().parse().ok()?;
            tree.index_of(id)
        };
        let restored = made.edit(tree, |ledger| {
            ledger.set_plans(tree, default, plans.iter().copied())?;
            ledger.restore(tree, history, place)
        });
        restored.map_err(wrong)?;
        let found = made.ledger.now();
        if found != now {
            return Err(format!("usage of {found} in a state of {now}"));
        }
        made.plans = plans;
        Ok(made)
    }
}

impl Model for Windowed {
    fn copied(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }

    fn moment(&self) -> Option<i64> {
        Some(self.ledger.now())
    }

    fn advance(&mut self, tree: &Tree, now: i64) -> UsageChange {
        if self.ledger.advance(tree, now) == Ok(true) {
            self.read_changed(tree);
        }
        UsageChange::Factor(1.0)
    }

    /// As [`Model::charge`]; the result counts by the plan of nodes that have none of their own.
    fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        let rate = self.rate(used)?;
        let ledger = &mut self.ledger;
        match used.run {
            Some(run) => ledger.charge(tree, assoc, run, used.from, used.to, &rate)?,
            None => ledger.charge_interval(tree, assoc, used.from, used.to, &rate)?,
        }
        self.read_changed(tree);
        Ok(self.weigh(used))
    }

    fn raw(&self) -> &[Extended] {
        &self.usage[0]
    }

    fn clear(&mut self) {
        self.ledger.clear();
        self.ledger.take_changed();
        for usage in &mut self.usage {
            usage.fill(Extended::ZERO);
        }
    }

    fn reset_assoc(&mut self, tree: &Tree, assoc: AssocIndex) {
        self.edit(tree, |ledger| ledger.reset_assoc(tree, assoc));
    }

    fn fits(&self, config: &Config) -> bool {
        let default = self.ledger.default_plan();
        let kind = match config.usage() {
            UsageModel::HalfLife => false,
            UsageModel::Window { .. } => default == Plan::Window,
            UsageModel::Total { .. } => default != Plan::Window,
        };
        kind && window_of(config) == Ok(self.ledger.window())
    }

    fn continued(
        &self,
        tree: &Tree,
        settings: &ModelSettings<'_>,
    ) -> Result<Box<dyn Model>, UsageError> {
        if settings.config.usage() == UsageModel::HalfLife {
            let raw_usage = RawUsage::from_raw(tree, self.raw())?;
            let half_life = HalfLife::of(settings.config, raw_usage, self.moment());
            return Ok(Box::new(half_life));
        }
        let mut model = self.clone();
        model.take_settings(tree, settings)?;
        Ok(Box::new(model))
    }

    fn follow_tree(&mut self, before: &Tree, after: &Tree) {
        self.ledger.follow_tree(before, after);
        self.read_all(after);
    }

    fn tres(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn usage(&self, of: Quantity) -> Option<&[Extended]> {
        let at = match of {
            Quantity::Billing => 0,
            Quantity::Wall => 1,
            Quantity::Tres(at) => 2 + self.tres.get(at).copied().flatten()?,
        };
        Some(&self.usage[at])
    }

    fn charged_until(&self, run: LedgerRun) -> Option<i64> {
        self.ledger.charged_until(run)
    }

    fn end_run(&mut self, tree: &Tree, run: LedgerRun, counts: bool) -> bool {
        self.edit(tree, |ledger| match counts {
            true => ledger.close(run),
            false => ledger.take_back(tree, run),
        })
    }

    fn save(&self, tree: &Tree) -> Option<Vec<u8>> {
        let window = self.ledger.window();
        let mut bytes = Vec::new();
        bytes.extend(window.length_secs().to_le_bytes());
        bytes.extend(window.resolution_secs().to_le_bytes());
        bytes.extend(since(self.ledger.default_plan()).to_le_bytes());
        bytes.extend(count(self.plans.len()).to_le_bytes());
        for (id, plan) in &self.plans {
            bytes.extend(id.to_le_bytes());
            bytes.extend(since(*plan).to_le_bytes());
        }
        bytes.extend(count(self.names.len()).to_le_bytes());
        for name in &self.names {
            bytes.extend(count(name.len()).to_le_bytes());
            bytes.extend(name.as_bytes());
        }
        let name = |at: AssocIndex| {
            let id = tree.rows()[at.get()].id.to_string();
            LeafKey::new(&id, "", "").expect("digits are a name")
        };
        bytes.extend(self.ledger.save(name).expect("ids differ"));
        Some(bytes)
    }
}

/// A plan as a number: -1 for the window, or the date.
fn since(plan: Plan) -> i64 {
    match plan {
        Plan::Window => -1,
        Plan::Total(total) => total.since(),
    }
}

fn plan(since: i64) -> Result<Plan, String> {
    match since {
        -1 => Ok(Plan::Window),
        _ => Total::new(since)
            .map(Plan::Total)
            .map_err(|e| e.to_string()),
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32")
}

/// Takes saved numbers and names off the front of bytes.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.0.split_first_chunk().ok_or("they are cut short")?;
        self.0 = rest;
        Ok(*taken)
    }

    fn text(&mut self, len: usize) -> Result<&'a str, String> {
        let (text, rest) = self.0.split_at_checked(len).ok_or("they are cut short")?;
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| "a name that is not UTF-8".to_owned())
    }
}

#[cfg(test)]
mod tests;
