//! Sums over the leaves below each node, kept up to date by adding and taking away.

use crate::tree::{AssocIndex, Tree};
use crate::usage::Plan;

/// The plan of a node, as a number: the position of its date, or the window.
pub(super) type PlanId = u16;

pub(super) const WINDOW: PlanId = PlanId::MAX;

/// Without anything below.
const NOWHERE: u32 = u32::MAX;

/// Sums per node, for every column: what is after the window's far edge, in the bucket at the edge, and,
/// where any node has a total, what was used since the node's own date.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Columns of amounts; above 0.
    width: usize,
    /// True if any node has another plan than the window.
    has_totals: bool,
    /// Per node which of those with numbers it is.
    places: Vec<u32>,
    numbers: Vec<u128>,
    plans: Vec<PlanId>,
}

/// What to add to the sums of a leaf and of all above it; empty: nothing.
pub(super) struct Delta<'a> {
    pub inside: &'a [u128],
    pub edge: &'a [u128],
    /// Per date all columns.
    pub totals: &'a [u128],
    /// Or to take away.
    pub add: bool,
}

fn change_all(sums: &mut [u128], amounts: &[u128], add: bool) {
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum = match add {
            true => *sum + amount,
            false => *sum - amount,
        };
    }
}

impl Sums {
    /// No usage yet. `plans`: one per node.
    pub(super) fn new(width: usize, plans: Vec<PlanId>) -> Sums {
        Sums {
            width,
            has_totals: plans.iter().any(|plan| *plan != WINDOW),
            places: vec![NOWHERE; plans.len()],
            numbers: Vec::new(),
            plans,
        }
    }

    /// Clears all usage; plans stay.
    pub(super) fn clear(&mut self) {
        self.places.fill(NOWHERE);
        self.numbers.clear();
    }

    pub(super) fn plan(&self, node: AssocIndex) -> PlanId {
        self.plans[node.get()]
    }

    /// Numbers per node.
    fn stride(&self) -> usize {
        self.width * if self.has_totals { 3 } else { 2 }
    }

    /// Adds to a leaf and to all its ancestors.
    pub(super) fn change(&mut self, tree: &Tree, leaf: AssocIndex, by: &Delta<'_>) {
        let (width, stride) = (self.width, self.stride());
        let mut next = Some(leaf);
        while let Some(node) = next {
            let place = &mut self.places[node.get()];
            if *place == NOWHERE {
                *place = (self.numbers.len() / stride) as u32;
                self.numbers.resize(self.numbers.len() + stride, 0);
            }
            let numbers = &mut self.numbers[*place as usize * stride..][..stride];
            change_all(&mut numbers[..width], by.inside, by.add);
            change_all(&mut numbers[width..2 * width], by.edge, by.add);
            let plan = self.plans[node.get()];
            if plan != WINDOW && !by.totals.is_empty() {
                let totals = &by.totals[usize::from(plan) * width..][..width];
                change_all(&mut numbers[2 * width..], totals, by.add);
            }
            next = tree.parent(node);
        }
    }

    /// A number of a node, of this kind and column.
    fn number(&self, node: AssocIndex, kind: usize, column: usize) -> u128 {
        match self.places[node.get()] {
            NOWHERE => 0,
            place => self.numbers[place as usize * self.stride() + kind * self.width + column],
        }
    }

    /// After the far edge, and in the bucket at it.
    pub(super) fn window(&self, node: AssocIndex, column: usize) -> (u128, u128) {
        (self.number(node, 0, column), self.number(node, 1, column))
    }

    /// Since the node's own date; only of nodes with a total.
    pub(super) fn total(&self, node: AssocIndex, column: usize) -> u128 {
        self.number(node, 2, column)
    }
}

/// The plan of every node: its own, or that of the nearest node above that has one.
pub(super) fn plans_of(
    tree: &Tree,
    dates: &[i64],
    default: Plan,
    own: impl Fn(AssocIndex) -> Option<Plan>,
) -> Vec<PlanId> {
    let id = |plan| match plan {
        Plan::Window => WINDOW,
        Plan::Total(total) => {
            let at = dates.binary_search(&total.since());
            at.expect("dates of all plans are kept") as PlanId
        }
    };
    let mut plans = vec![id(default); tree.len()];
    for &node in tree.parents_first() {
        let above = tree.parent(node).map(|parent| plans[parent.get()]);
        plans[node.get()] = own(node).map(id).or(above).unwrap_or(id(default));
    }
    plans
}
