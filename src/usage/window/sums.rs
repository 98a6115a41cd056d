//! Sums over the leaves below each node, kept up to date by adding and taking away.

use crate::tree::{AssocIndex, Tree};
use crate::usage::Plan;

/// The plan of a node, as a number: the position of its date, or the window.
pub(super) type PlanId = u16;

pub(super) const WINDOW: PlanId = PlanId::MAX;

/// Without anything below.
const NOWHERE: u32 = u32::MAX;

/// Sums per node: what is behind the window's far edge, in the bucket at the edge, the rates of runs that
/// are charged by the clock, and, where any node has a total, what was used since the node's own date.
///
/// A run that the clock charges at `rate` since `since` has used `rate * (until - since)` when it stands at
/// `until`. The first part, of all such runs, is the sum of rates times `until`; the second is
/// taken out of what is behind the edge, and out of the total. Numbers wrap meanwhile.
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

#[inline]
fn change(sums: &mut [u128], amounts: &[u128], add: bool) {
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        *sum = match add {
            true => sum.wrapping_add(*amount),
            false => sum.wrapping_sub(*amount),
        };
    }
}

/// A sum with what the clock has charged.
#[inline]
fn with_clock(sum: u128, rate: u128, until: i64) -> u128 {
    match rate {
        0 => sum,
        _ => sum.wrapping_add(rate.wrapping_mul(until as u128)),
    }
}

impl Sums {
    /// No usage yet. `plans`: one per node.
    pub(super) fn new(width: usize, plans: Vec<PlanId>) -> Sums {
        let has_totals = plans.iter().any(|plan| *plan != WINDOW);
        Sums {
            width,
            stride: width * if has_totals { 4 } else { 3 },
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
        plan == WINDOW || self.has_totals()
    }

    fn has_totals(&self) -> bool {
        self.stride > 3 * self.width
    }

    pub(super) fn plan(&self, node: AssocIndex) -> PlanId {
        self.plans[node.get()]
    }

    /// Adds to a leaf and to all its ancestors.
    pub(super) fn change(&mut self, tree: &Tree, leaf: AssocIndex, by: &Delta<'_>) {
        let width = self.width;
        let mut next = Some(leaf);
        while let Some(node) = next {
            let numbers = self.numbers_mut(node);
            if !by.inside.is_empty() {
                change(&mut numbers[..width], by.inside, by.add);
            }
            if !by.edge.is_empty() {
                change(&mut numbers[width..2 * width], by.edge, by.add);
            }
            next = tree.parent(node);
            if by.totals.is_empty() || !self.has_totals() {
                continue;
            }
            let plan = self.plans[node.get()];
            if plan != WINDOW {
                let totals = &by.totals[usize::from(plan) * width..][..width];
                change(&mut self.numbers_mut(node)[3 * width..], totals, by.add);
            }
        }
    }

    /// Lets the clock charge a leaf, and so all above it, `rate` per second since the moment `since`, or no
    /// more. What it has charged so far goes with it.
    pub(super) fn clock(
        &mut self,
        tree: &Tree,
        leaf: AssocIndex,
        rate: &[u128],
        since: i64,
        add: bool,
    ) {
        let width = self.width;
        let mut next = Some(leaf);
        while let Some(node) = next {
            let has_total = self.has_totals() && self.plans[node.get()] != WINDOW;
            let (inside, rest) = self.numbers_mut(node).split_at_mut(width);
            let (_, rest) = rest.split_at_mut(width);
            let (rates, totals) = rest.split_at_mut(width);
            change(rates, rate, add);
            for (column, rate) in rate.iter().enumerate() {
                let before = rate.wrapping_mul(since as u128);
                let place = std::slice::from_mut(&mut inside[column]);
                change(place, &[before], !add);
                if has_total {
                    change(&mut totals[column..=column], &[before], !add);
                }
            }
            next = tree.parent(node);
        }
    }

    fn numbers_mut(&mut self, node: AssocIndex) -> &mut [u128] {
        let place = match self.places[node.get()] {
            NOWHERE => self.take_place(node),
            place => place as usize,
        };
        &mut self.numbers[place * self.stride..][..self.stride]
    }

    /// Makes room for leaves and all above them, side by side in the order of the tree, in which they are read.
    /// In the order in which leaves come, a pass with a window takes 2 % more CPU time with 100,000 waiting and
    /// 10,000 running jobs and 50,000 users (`time_pass` of the bench host, alternating processes).
    pub(super) fn take_places(&mut self, tree: &Tree, leaves: impl Iterator<Item = AssocIndex>) {
        let mut in_use = vec![false; tree.len()];
        for leaf in leaves {
            let mut next = Some(leaf);
            while let Some(node) = next.filter(|node| !in_use[node.get()]) {
                in_use[node.get()] = true;
                next = tree.parent(node);
            }
        }
        for node in tree.indices().filter(|node| in_use[node.get()]) {
            self.take_place(node);
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

    /// Touches what is asked of a node: each cache line, of 64 bytes.
    pub(super) fn read_ahead(&self, node: AssocIndex) -> i64 {
        let lines = self.numbers(node).iter().step_by(4);
        lines.fold(0, |seen, number| seen ^ *number as i64)
    }

    /// Behind the far edge, and in the bucket at it, where the clock stands at `until`.
    pub(super) fn window(&self, node: AssocIndex, column: usize, until: i64) -> (u128, u128) {
        self.windows(node, until).nth(column).unwrap_or_default()
    }

    /// Per column what is behind the far edge, and in the bucket at it; nothing where nothing was ever used.
    pub(super) fn windows(
        &self,
        node: AssocIndex,
        until: i64,
    ) -> impl Iterator<Item = (u128, u128)> {
        let numbers = self.numbers(node);
        let (inside, rest) = numbers.split_at_checked(self.width).unwrap_or_default();
        let (edge, rates) = rest.split_at_checked(self.width).unwrap_or_default();
        let inside = inside.iter().zip(rates);
        let inside = inside.map(move |(sum, rate)| with_clock(*sum, *rate, until));
        inside.zip(edge.iter().copied())
    }

    /// Since the node's own date, where the clock stands at `until`.
    pub(super) fn total(&self, node: AssocIndex, column: usize, until: i64) -> u128 {
        let numbers = self.numbers(node);
        let at = |place: usize| numbers.get(place * self.width + column).copied();
        at(3).map_or(0, |total| with_clock(total, at(2).unwrap_or(0), until))
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
