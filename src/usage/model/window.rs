//! Windows and totals: what was used within a length of time, or since a date (`window:LENGTH`,
//! `total:DATE`).
//!
//! [`WindowLedger`] keeps and computes; this hands out its numbers by position, for every
//! quantity. Its plans tell node by node which of the two counts.

use super::Use;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::quirks::Quirks;
use crate::usage::window::{Changed, Column, Rate, WindowError, WindowLedger};
use crate::usage::{Amounts, UsageError};

/// Which usage of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Billing TRES times seconds: the raw usage that fair share is computed from.
    Billing,
    /// Seconds, times usage factor (`grp_used_wall`).
    Wall,
    /// Seconds times the allocated count of one TRES, by its position in the host's list.
    Tres(usize),
}

/// Usage in a window or since dates, of every quantity.
///
/// ```
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::window::{Columns, Window, WindowLedger};
/// use fairtree::usage::{Quantity, Use, Windowed};
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
/// model.advance(&tree, 6_300 + 3_600);
/// assert_eq!(model.raw()[0].to_f64(), 600.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Windowed {
    ledger: WindowLedger,
    /// By position in the host's list of TRES: that in the ledger's, if it counts it.
    tres: Vec<Option<usize>>,
    /// Per column of the ledger one number per association.
    usage: Vec<Vec<Extended>>,
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
            ledger,
        };
        model.read_all(tree);
        model
    }

    /// The ledger.
    pub fn ledger(&self) -> &WindowLedger {
        &self.ledger
    }

    /// Changes the ledger: runs by their ids, length, plans, other sources, files.
    pub fn edit<R>(&mut self, tree: &Tree, edit: impl FnOnce(&mut WindowLedger) -> R) -> R {
        let result = edit(&mut self.ledger);
        self.read_changed(tree);
        result
    }

    /// Lets time pass to `now`. A `now` before the ledger's moment changes nothing, and so does one
    /// that no ledger can have, before 1970 or after the year 9999.
    pub fn advance(&mut self, tree: &Tree, now: i64) {
        if self.ledger.advance(tree, now) == Ok(true) {
            self.read_changed(tree);
        }
    }

    /// What use counts for at the moment, by the plan of nodes that have none of their own.
    pub fn weigh(&mut self, used: &Use<'_>) -> Amounts {
        let plan = self.ledger.default_plan();
        let secs = match used.from < used.to {
            true => self.ledger.weigh_secs(used.from, used.to, plan),
            false => 0.0,
        };
        Amounts::of(secs, used, Quirks::default())
    }

    /// Charges use that belongs to no run to an association and to all above it; returns what it
    /// counts for now.
    ///
    /// # Errors
    /// Periods that the ledger cannot keep; [`UsageError::NotANumber`]. Nothing was changed.
    pub fn charge(
        &mut self,
        tree: &Tree,
        assoc: AssocIndex,
        used: &Use<'_>,
    ) -> Result<Amounts, UsageError> {
        if used.from < used.to {
            let rate = self.rate(used)?;
            let ledger = &mut self.ledger;
            ledger.charge_interval(tree, assoc, used.from, used.to, &rate)?;
            self.read_changed(tree);
        }
        Ok(self.weigh(used))
    }

    /// Usage at the moment, one number per association by position, with that of all below it.
    /// `None`: the ledger does not count this TRES.
    pub fn usage(&self, of: Quantity) -> Option<&[Extended]> {
        let at = match of {
            Quantity::Billing => 0,
            Quantity::Wall => 1,
            Quantity::Tres(at) => 2 + self.tres.get(at).copied().flatten()?,
        };
        Some(&self.usage[at])
    }

    /// [`Quantity::Billing`], which fair share is computed from.
    pub fn raw(&self) -> &[Extended] {
        &self.usage[0]
    }

    /// Forgets all usage; the moment stays.
    pub fn clear(&mut self) {
        self.ledger.clear();
        self.ledger.take_changed();
        for usage in &mut self.usage {
            usage.fill(Extended::ZERO);
        }
    }

    /// Takes over another tree: an association keeps its usage by its id, one that is new has
    /// none, and what a removed one used itself becomes its account's own, if that is still there.
    pub fn follow_tree(&mut self, before: &Tree, after: &Tree) {
        self.ledger.follow_tree(before, after);
        self.read_all(after);
    }

    fn column(at: usize) -> Column {
        match at {
            0 => Column::Billing,
            1 => Column::Wall,
            _ => Column::Tres(at - 2),
        }
    }

    fn read_all(&mut self, tree: &Tree) {
        self.ledger.take_changed();
        for (at, usage) in self.usage.iter_mut().enumerate() {
            let used = |index| self.ledger.used(index, Self::column(at)).to_extended();
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
    fn time_moves_every_quantity() {
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
        model.advance(&tree, 1_025);
        assert_eq!(numbers(&model, Quantity::Wall), [42.5, 37.5, 37.5, 5.0]);
        assert_eq!(model.weigh(&used(900, 1_000)).wall_secs, 37.5);
        // A clock that steps back moves nothing.
        model.advance(&tree, 1_000);
        assert_eq!(model.ledger().now(), 1_025);
        assert_eq!(numbers(&model, Quantity::Wall), [42.5, 37.5, 37.5, 5.0]);
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
