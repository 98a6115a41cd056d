//! Windows and totals: what was used within a length of time, or since a date (`window:LENGTH`,
//! `total:DATE`).
//!
//! [`WindowLedger`] keeps and computes; this hands out its numbers by position, for every
//! quantity. Its plans tell node by node which of the two counts.

use super::{Model, Quantity, Step, UsageChange, Use};
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::quirks::Quirks;
use crate::usage::window::{Changed, Column, Rate, Window, WindowError, WindowLedger};
use crate::usage::{Amounts, UsageError};

/// Usage in a window or since dates.
///
/// It keeps every quantity, and the host's records follow it.
///
/// ```
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::window::{Columns, Window, WindowLedger};
/// use fairtree::usage::{UsageChange, Model, Quantity, Use, Windowed};
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root])?;
/// let index = tree.index_of(1).unwrap();
/// let window = Window::new(3600, 60)?;
/// let columns = Columns::new(["cpu"])?;
/// let ledger = WindowLedger::new(&tree, window, 3600, columns, "hpc", 6_000)?;
/// let mut model = Windowed::new(&tree, ledger, &["cpu"]);
/// model.advance(&tree, 6_600);
/// let used = Use { from: 6_000, to: 6_600, billing: 2.0, factor: 1.0, tres: &[4] };
/// model.charge(&tree, index, &used)?;
/// assert_eq!(model.usage(Quantity::Tres(0)).unwrap()[0].to_f64(), 2_400.0);
/// // Half of it has left the window.
/// assert_eq!(model.advance(&tree, 6_300 + 3_600), UsageChange::Each);
/// assert_eq!(model.raw()[0].to_f64(), 600.0);
/// assert_eq!(model.step(index, Quantity::Wall).add.to_f64(), -300.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Windowed {
    ledger: WindowLedger,
    /// What the window's length is to be.
    length_secs: u64,
    /// By position in the host's list of TRES: that in the ledger's, if it counts it.
    tres: Vec<Option<usize>>,
    /// Per column of the ledger one number per association.
    usage: Vec<Vec<Extended>>,
    /// Per association that the last advance moved; ascending.
    moved: Vec<AssocIndex>,
    /// Per moved association what was added, all columns.
    added: Vec<Extended>,
    /// Whose usage is not what it was when this was asked last.
    touched: Changed,
}

impl Windowed {
    /// `tres`: names of the host's TRES, in its order; those that the ledger does not count have
    /// no usage.
    pub fn new<S: AsRef<str>>(tree: &Tree, ledger: WindowLedger, tres: &[S]) -> Windowed {
        let columns = ledger.columns();
        let place = |name: &S| match columns.find(name.as_ref()) {
            Some(Column::Tres(at)) => Some(at),
            _ => None,
        };
        let mut model = Windowed {
            tres: tres.iter().map(place).collect(),
            usage: vec![Vec::new(); 2 + columns.tres().len()],
            length_secs: ledger.window().length_secs(),
            ledger,
            moved: Vec::new(),
            added: Vec::new(),
            touched: Changed::All,
        };
        model.read_all(tree);
        model
    }

    /// The ledger.
    pub fn ledger(&self) -> &WindowLedger {
        &self.ledger
    }

    /// Changes the ledger: runs by their ids, plans, other sources, files. What time has moved
    /// is told by [`Model::advance`] alone.
    pub fn edit<R>(&mut self, tree: &Tree, edit: impl FnOnce(&mut WindowLedger) -> R) -> R {
        let before = self.ledger.window();
        let result = edit(&mut self.ledger);
        if self.ledger.window() != before {
            self.length_secs = self.ledger.window().length_secs();
        }
        self.read_changed(tree, |_, _| ());
        result
    }

    /// Whose usage may be another one since this was last asked: of associations and of those above
    /// them, each once or more; all at first, and where more have changed than there are.
    pub fn take_touched(&mut self) -> Changed {
        std::mem::replace(&mut self.touched, Changed::Some(Vec::new()))
    }

    /// The ledger, when the model is done with.
    pub fn into_ledger(self) -> WindowLedger {
        self.ledger
    }

    /// Takes over what [`Model::configure`] was told.
    fn take_length(&mut self, tree: &Tree) {
        if self.length_secs != self.ledger.window().length_secs() {
            // Of what a longer window reaches back to, nothing was kept before.
            self.ledger.keep_at_least(self.length_secs);
            let set = self.ledger.set_length(tree, self.length_secs);
            set.expect("a length that was checked and is kept");
        }
    }

    fn column(at: usize) -> Column {
        match at {
            0 => Column::Billing,
            1 => Column::Wall,
            _ => Column::Tres(at - 2),
        }
    }

    fn read_all(&mut self, tree: &Tree) {
        self.touched = Changed::All;
        self.ledger.take_changed();
        for (at, usage) in self.usage.iter_mut().enumerate() {
            let used = |index| self.ledger.used(index, Self::column(at)).to_extended();
            usage.clear();
            usage.extend(tree.indices().map(used));
        }
    }

    /// Reads what changed; tells of which associations, ascending. `told`: of each of them, column by
    /// column, what it was and is. Nothing is told where all was read again.
    fn read_changed(
        &mut self,
        tree: &Tree,
        mut told: impl FnMut(Extended, Extended),
    ) -> Vec<AssocIndex> {
        let Changed::Some(nodes) = self.ledger.take_changed().and_above(tree) else {
            self.read_all(tree);
            return Vec::new();
        };
        if let Changed::Some(touched) = &mut self.touched {
            touched.extend(&nodes);
            // Nobody may ask.
            if touched.len() > tree.len() {
                self.touched = Changed::All;
            }
        }
        let usage = &mut self.usage;
        self.ledger.each_used(&nodes, |node, used| {
            for (usage, used) in usage.iter_mut().zip(used) {
                let before = std::mem::replace(&mut usage[node.get()], *used);
                told(before, *used);
            }
        });
        nodes
    }

    fn rate(&self, used: &Use<'_>) -> Result<Rate, WindowError> {
        let counts: Vec<(usize, u64)> = self
            .tres
            .iter()
            .zip(used.tres)
            .filter_map(|(place, count)| place.map(|place| (place, *count)))
            .collect();
        // A running job never reduces usage.
        let billing = if used.billing < 0.0 {
            0.0
        } else {
            used.billing
        };
        self.ledger.columns().rate(billing, used.factor, &counts)
    }

    fn column_of(&self, of: Quantity) -> Option<usize> {
        match of {
            Quantity::Billing => Some(0),
            Quantity::Wall => Some(1),
            Quantity::Tres(at) => self.tres.get(at).copied().flatten().map(|at| 2 + at),
        }
    }
}

impl Model for Windowed {
    fn moment(&self) -> Option<i64> {
        Some(self.ledger.now())
    }

    /// A moment that no ledger can stand at, before 1970 or after the year 9999, changes nothing.
    fn advance(&mut self, tree: &Tree, now: i64) -> UsageChange {
        self.moved.clear();
        self.added.clear();
        self.take_length(tree);
        self.read_changed(tree, |_, _| ());
        if self.ledger.advance(tree, now) != Ok(true) {
            return UsageChange::Factor(1.0);
        }
        let mut added = std::mem::take(&mut self.added);
        self.moved = self.read_changed(tree, |before, used| added.push(used - before));
        self.added = added;
        match self.moved.is_empty() {
            true => UsageChange::Factor(1.0),
            false => UsageChange::Each,
        }
    }

    /// By the plan of nodes that have none of their own.
    fn weigh(&mut self, used: &Use<'_>) -> Amounts {
        let plan = self.ledger.default_plan();
        let secs = match used.from < used.to {
            true => self.ledger.weigh_secs(used.from, used.to, plan),
            false => 0.0,
        };
        Amounts::of(secs, used, Quirks::default())
    }

    fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        if used.from < used.to {
            let rate = self.rate(used)?;
            let ledger = &mut self.ledger;
            ledger.charge_interval(tree, assoc, used.from, used.to, &rate)?;
            self.read_changed(tree, |_, _| ());
        }
        Ok(self.weigh(used))
    }

    fn take_back(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        if used.from < used.to {
            let rate = self.rate(used)?;
            let ledger = &mut self.ledger;
            ledger.take_back_interval(tree, assoc, used.from, used.to, &rate)?;
            self.read_changed(tree, |_, _| ());
        }
        Ok(self.weigh(used))
    }

    fn usage(&self, of: Quantity) -> Option<&[Extended]> {
        self.column_of(of).map(|at| self.usage[at].as_slice())
    }

    fn raw(&self) -> &[Extended] {
        &self.usage[0]
    }

    fn moved(&self) -> &[AssocIndex] {
        &self.moved
    }

    fn step(&self, assoc: AssocIndex, of: Quantity) -> Step {
        let place = self
            .moved
            .binary_search(&assoc)
            .ok()
            .zip(self.column_of(of));
        let add = place.map(|(place, at)| self.added[place * self.usage.len() + at]);
        Step {
            scale: 1.0,
            add: add.unwrap_or(Extended::ZERO),
        }
    }

    fn clear(&mut self) {
        self.ledger.clear();
        self.ledger.take_changed();
        self.touched = Changed::All;
        for usage in &mut self.usage {
            usage.fill(Extended::ZERO);
        }
    }

    /// Another length is taken over with the next advance. Plans, and with them the dates of
    /// totals, are the host's to set ([`WindowLedger::set_plans`]): it knows accounts by name, and
    /// its time zone. Another resolution asks for another model.
    fn configure(&mut self, config: &Config) -> bool {
        let resolution_secs = self.ledger.window().resolution_secs();
        match config.usage() {
            UsageModel::HalfLife => false,
            UsageModel::Total { .. } => config.resolution_secs() == resolution_secs,
            UsageModel::Window { length_secs } => {
                let length_secs = u64::from(length_secs);
                let sound = Window::new(length_secs, u64::from(config.resolution_secs()));
                if config.resolution_secs() != resolution_secs || sound.is_err() {
                    return false;
                }
                self.length_secs = length_secs;
                true
            }
        }
    }

    fn follow_tree(&mut self, before: &Tree, after: &Tree) {
        self.ledger.follow_tree(before, after);
        self.moved.clear();
        self.added.clear();
        self.read_all(after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Assoc, AssocKind, Shares};
    use crate::usage::window::{Columns, Window};
    use crate::usage::{Plan, Total};

    fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
        Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        }
    }

    /// root 1 -> account 2 -> user 3; root -> user 4.
    fn tree() -> Tree {
        Tree::from_rows([
            row(1, None, AssocKind::Account),
            row(2, Some(1), AssocKind::Account),
            row(3, Some(2), AssocKind::User),
            row(4, Some(1), AssocKind::User),
        ])
        .unwrap()
    }

    fn model(tree: &Tree) -> Windowed {
        let window = Window::new(100, 10).unwrap();
        let columns = Columns::new(["mem", "cpu"]).unwrap();
        let ledger = WindowLedger::new(tree, window, 100, columns, "hpc", 1_000).unwrap();
        Windowed::new(tree, ledger, &["mem", "energy", "cpu"])
    }

    fn used(from: i64, to: i64) -> Use<'static> {
        Use {
            from,
            to,
            billing: 2.0,
            factor: 0.5,
            tres: &[8, 100, 4],
        }
    }

    fn numbers(model: &Windowed, of: Quantity) -> Vec<f64> {
        let usage = model.usage(of).unwrap();
        usage.iter().map(|usage| usage.to_f64()).collect()
    }

    #[test]
    fn what_time_moves_is_told_for_every_quantity() {
        let tree = tree();
        let mut model = model(&tree);
        let (user, other) = (tree.index_of(3).unwrap(), tree.index_of(4).unwrap());
        let charged = model.charge(&tree, user, &used(900, 1_000)).unwrap();
        assert_eq!((charged.wall_secs, charged.usage), (50.0, 100.0));
        model.charge(&tree, other, &used(990, 1_000)).unwrap();
        assert_eq!(
            numbers(&model, Quantity::Billing),
            [110.0, 100.0, 100.0, 10.0]
        );
        assert_eq!(
            numbers(&model, Quantity::Tres(0)),
            [440.0, 400.0, 400.0, 40.0]
        );
        assert_eq!(
            numbers(&model, Quantity::Tres(2)),
            [220.0, 200.0, 200.0, 20.0]
        );
        assert_eq!(model.usage(Quantity::Tres(1)), None);
        assert_eq!(model.advance(&tree, 1_025), UsageChange::Each);
        let moved: Vec<u32> = model
            .moved()
            .iter()
            .map(|at| tree.rows()[at.get()].id)
            .collect();
        assert_eq!(moved, [1, 2, 3]);
        assert_eq!(numbers(&model, Quantity::Wall), [42.5, 37.5, 37.5, 5.0]);
        assert_eq!(model.step(user, Quantity::Tres(2)).add.to_f64(), -50.0);
        assert_eq!(model.step(other, Quantity::Billing).add, Extended::ZERO);
        assert_eq!(model.weigh(&used(900, 1_000)).wall_secs, 37.5);
        // A clock that steps back moves nothing.
        assert_eq!(model.advance(&tree, 1_000), UsageChange::Factor(1.0));
        assert_eq!(model.moment(), Some(1_025));
        assert_eq!(model.moved(), []);
    }

    #[test]
    fn whose_usage_changed_is_told_once() {
        let tree = tree();
        let mut model = model(&tree);
        assert_eq!(model.take_touched(), Changed::All);
        assert_eq!(model.take_touched(), Changed::Some(Vec::new()));
        let user = tree.index_of(3).unwrap();
        model.charge(&tree, user, &used(990, 1_000)).unwrap();
        let above = [1, 2, 3].map(|id| tree.index_of(id).unwrap());
        assert_eq!(model.take_touched(), Changed::Some(above.to_vec()));
        // The window leaves the use behind, in two steps; then there are more changes than nodes.
        model.advance(&tree, 1_095);
        model.advance(&tree, 1_200);
        assert_eq!(model.take_touched(), Changed::All);
        model.clear();
        assert_eq!(model.take_touched(), Changed::All);
    }

    #[test]
    fn another_length_is_taken_over() {
        let tree = tree();
        let mut model = model(&tree);
        model
            .charge(&tree, tree.index_of(3).unwrap(), &used(900, 1_000))
            .unwrap();
        let config = |parameters: &str| Config {
            parameters: crate::config::PriorityParameters::parse(parameters, None).unwrap(),
            ..Config::default()
        };
        assert!(!model.configure(&config("usage=half_life")));
        assert!(!model.configure(&config("usage=window:0:50,resolution=0:20")));
        assert!(model.configure(&config("usage=window:0:50,resolution=0:10")));
        model.advance(&tree, 1_000);
        assert_eq!(numbers(&model, Quantity::Wall)[0], 25.0);
        assert!(model.configure(&config("usage=window:3:20,resolution=0:10")));
        model.advance(&tree, 1_010);
        assert_eq!(numbers(&model, Quantity::Wall)[0], 50.0);
    }

    #[test]
    fn taking_back_is_exact_and_checked() {
        let tree = tree();
        let mut model = model(&tree);
        let (user, other) = (tree.index_of(3).unwrap(), tree.index_of(4).unwrap());
        model.charge(&tree, user, &used(900, 1_000)).unwrap();
        model.advance(&tree, 1_025);
        assert!(model.take_back(&tree, other, &used(900, 1_000)).is_err());
        assert!(model.take_back(&tree, user, &used(999, 1_001)).is_err());
        assert!(model.charge(&tree, user, &used(1_000, 1_026)).is_err());
        assert_eq!(model.raw()[0].to_f64(), 75.0);
        model.take_back(&tree, user, &used(900, 1_000)).unwrap();
        assert_eq!(numbers(&model, Quantity::Billing), [0.0; 4]);
        assert_eq!(
            model.charge(&tree, user, &used(9, 9)),
            Ok(Amounts::default())
        );
    }

    #[test]
    fn totals_stand_beside_windows_and_follow_the_tree() {
        let tree = tree();
        let mut model = model(&tree);
        let flex = Plan::Total(Total::new(500).unwrap());
        let set = model.edit(&tree, |ledger| {
            ledger.set_plans(&tree, Plan::Window, [(2, flex)])
        });
        set.unwrap();
        let user = tree.index_of(3).unwrap();
        model.charge(&tree, user, &used(400, 1_000)).unwrap();
        assert_eq!(numbers(&model, Quantity::Wall), [50.0, 250.0, 250.0, 0.0]);
        let after = Tree::from_rows([
            row(2, Some(1), AssocKind::Account),
            row(1, None, AssocKind::Account),
        ])
        .unwrap();
        model.follow_tree(&tree, &after);
        assert_eq!(numbers(&model, Quantity::Wall), [250.0, 50.0]);
        model.clear();
        assert_eq!(numbers(&model, Quantity::Wall), [0.0, 0.0]);
        model.advance(&after, 2_000);
        model
            .charge(&after, after.index_of(2).unwrap(), &used(1_990, 2_000))
            .unwrap();
        assert_eq!(numbers(&model, Quantity::Wall), [5.0, 5.0]);
    }
}
