//! Sums over the leaves below each node, kept up to date by adding and taking away.

use crate::tree::{AssocIndex, Tree};
use crate::usage::Plan;

/// The plan of a node, as a number: the position of its date, or the window.
pub(super) type PlanId = u16;

pub(super) const WINDOW: PlanId = PlanId::MAX;

/// Without anything below.
const NOWHERE: u32 = u32::MAX;

/// Sums per node: what is behind the window's far edge, in the bucket at the edge, and, where any
/// node has a total, since the node's own date.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    width: usize,
    /// Numbers per node.
    stride: usize,
    /// Per node where its numbers stand, over the stride.
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

/// Reads each cache line that these numbers begin in, of 64 bytes.
pub(super) fn touch(numbers: &[u128]) -> i64 {
    let last = numbers.last().map_or(0, |number| *number as i64);
    let lines = numbers.iter().step_by(4);
    lines.fold(last, |seen, number| seen ^ *number as i64)
}

#[inline]
fn change(sums: &mut [u128], amounts: &[u128], add: bool) {
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum = match add {
            true => sum.wrapping_add(*amount),
            false => sum.wrapping_sub(*amount),
        };
    }
}

impl Sums {
    /// No usage yet. `plans`: one per node.
    pub(super) fn new(width: usize, plans: Vec<PlanId>) -> Sums {
        let has_totals = plans.iter().any(|plan| *plan != WINDOW);
        Sums {
            width,
            stride: width * if has_totals { 3 } else { 2 },
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

    /// A node that was added at the end of the tree.
    pub(super) fn push(&mut self, plan: PlanId) {
        self.places.push(NOWHERE);
        self.plans.push(plan);
    }

    /// True if a node with this plan has sums for it.
    pub(super) fn holds(&self, plan: PlanId) -> bool {
        plan == WINDOW || self.stride == 3 * self.width
    }

    pub(super) fn plan(&self, node: AssocIndex) -> PlanId {
        self.plans[node.get()]
    }

    /// Adds to a leaf and to all its ancestors.
    pub(super) fn change(&mut self, tree: &Tree, leaf: AssocIndex, by: &Delta<'_>) {
        let width = self.width;
        let mut next = Some(leaf);
        while let Some(node) = next {
            let place = match self.places[node.get()] {
                NOWHERE => self.take_place(node),
                place => place as usize,
            };
            let numbers = &mut self.numbers[place * self.stride..][..self.stride];
            if !by.inside.is_empty() {
                change(&mut numbers[..width], by.inside, by.add);
            }
            if !by.edge.is_empty() {
                change(&mut numbers[width..2 * width], by.edge, by.add);
            }
            next = tree.parent(node);
            if by.totals.is_empty() || self.stride < 3 * width {
                continue;
            }
            let plan = self.plans[node.get()];
            if plan != WINDOW {
                let totals = &by.totals[usize::from(plan) * width..][..width];
                change(&mut numbers[2 * width..], totals, by.add);
            }
        }
    }

    #[cold]
    fn take_place(&mut self, node: AssocIndex) -> usize {
        let place = self.numbers.len() / self.stride;
        self.numbers.resize(self.numbers.len() + self.stride, 0);
        self.places[node.get()] = u32::try_from(place).expect("no more places than nodes");
        place
    }

    /// All numbers of a node; empty: nothing was ever used.
    fn numbers(&self, node: AssocIndex) -> &[u128] {
        match self.places[node.get()] {
            NOWHERE => &[],
            place => &self.numbers[place as usize * self.stride..][..self.stride],
        }
    }

    /// Touches what is asked and changed of a node.
    pub(super) fn read_ahead(&self, node: AssocIndex) -> i64 {
        touch(self.numbers(node))
    }

    /// Behind the far edge, and in the bucket at it.
    pub(super) fn window(&self, node: AssocIndex, column: usize) -> (u128, u128) {
        let numbers = self.numbers(node);
        match numbers.is_empty() {
            true => (0, 0),
            false => (numbers[column], numbers[self.width + column]),
        }
    }

    /// Per column what is behind the far edge, and in the bucket at it; nothing where nothing was ever used.
    pub(super) fn windows(&self, node: AssocIndex) -> impl Iterator<Item = (u128, u128)> {
        let (inside, rest) = self
            .numbers(node)
            .split_at_checked(self.width)
            .unwrap_or_default();
        inside.iter().copied().zip(rest.iter().copied())
    }

    /// Since the node's own date.
    pub(super) fn total(&self, node: AssocIndex, column: usize) -> u128 {
        let total = self.numbers(node).get(2 * self.width + column);
        total.copied().unwrap_or(0)
    }

    /// Bytes in memory, about.
    pub(super) fn memory(&self) -> usize {
        self.places.capacity() * 4 + self.plans.capacity() * 2 + self.numbers.capacity() * 16
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
