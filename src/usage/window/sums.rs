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
/// There are numbers for those columns only in which anything was ever used: of a cluster's TRES that is often
/// half. With numbers for all columns, a pass waits 1.6 times as long for those that it reads: 0.9 ms of 45
/// instead of 0.6 with 100,000 waiting and 10,000 running jobs, 50,000 users and nine TRES, of which five are used
/// (samples of passes of the bench host).
///
/// A run that the clock charges at `rate` since `since` has used `rate * (until - since)` when it stands at
/// `until`. The first part, of all such runs, is the sum of rates times `until`; the second is
/// taken out of what is behind the edge, and out of the total. Numbers wrap meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Columns of amounts; above 0.
    width: usize,
    /// Those of them that have numbers, ascending.
    in_use: Vec<usize>,
    /// The others.
    unused: Vec<usize>,
    /// Whether any node has another plan than the window.
    has_totals: bool,
    /// Per node which of those with numbers it is.
    places: Vec<u32>,
    /// How many nodes have numbers.
    in_places: usize,
    numbers: Vec<u128>,
    plans: Vec<PlanId>,
    /// Memory: what is added to the sums of columns in use. With signs for each node above the leaf instead, a
    /// charge takes 6 % more instructions (`window_charge` of the instruction counts).
    packed: Vec<u128>,
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

/// What is added to a sum that wraps: the amount, or else what takes it away.
#[inline]
fn signed(amount: u128, add: bool) -> u128 {
    if add { amount } else { amount.wrapping_neg() }
}

#[inline]
fn add_to(sum: &mut u128, amount: u128) {
    *sum = sum.wrapping_add(amount);
}

/// Adds amounts of the columns in use.
#[inline]
fn add_all(sums: &mut [u128], amounts: &[u128]) {
    for (sum, amount) in sums.iter_mut().zip(amounts) {
        add_to(sum, *amount);
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
        Sums {
            width,
            in_use: Vec::new(),
            unused: (0..width).collect(),
            has_totals: plans.iter().any(|plan| *plan != WINDOW),
            places: vec![NOWHERE; plans.len()],
            in_places: 0,
            numbers: Vec::new(),
            plans,
            packed: Vec::new(),
        }
    }

    /// Clears all usage; plans stay.
    pub(super) fn clear(&mut self) {
        self.places.fill(NOWHERE);
        self.in_places = 0;
        self.numbers.clear();
    }

    pub(super) fn plan(&self, node: AssocIndex) -> PlanId {
        self.plans[node.get()]
    }

    /// Numbers per column.
    fn kinds(&self) -> usize {
        if self.has_totals { 4 } else { 3 }
    }

    /// Numbers per node.
    fn stride(&self) -> usize {
        self.in_use.len() * self.kinds()
    }

    /// Makes room for columns of these amounts in which nothing was used so far. Rows of all columns, one
    /// behind the other.
    fn use_columns(&mut self, amounts: &[u128]) {
        for row in amounts.chunks_exact(self.width) {
            if self.unused.iter().any(|column| row[*column] != 0) {
                let is_new = |column: &&usize| row[**column] != 0;
                let new: Vec<usize> = self.unused.iter().filter(is_new).copied().collect();
                self.widen(&new);
            }
        }
    }

    /// Adds these columns, ascending, in which nothing was used so far.
    #[cold]
    fn widen(&mut self, new: &[usize]) {
        let before = std::mem::take(&mut self.in_use);
        self.unused.retain(|column| !new.contains(column));
        self.in_use = before.iter().chain(new).copied().collect();
        self.in_use.sort_unstable();
        let mut numbers = vec![0; self.in_places * self.stride()];
        let stays = |column: &usize| self.in_use.binary_search(column).expect("it stays");
        let places: Vec<usize> = before.iter().map(stays).collect();
        if !before.is_empty() {
            let rows = self.numbers.chunks(before.len());
            for (row, to) in rows.zip(numbers.chunks_mut(self.in_use.len())) {
                for (number, place) in row.iter().zip(&places) {
                    to[*place] = *number;
                }
            }
        }
        self.numbers = numbers;
    }

    /// Adds to a leaf and to all its ancestors.
    pub(super) fn change(&mut self, tree: &Tree, leaf: AssocIndex, by: &Delta<'_>) {
        let totals = if self.has_totals { by.totals } else { &[] };
        for amounts in [by.inside, by.edge, totals] {
            self.use_columns(amounts);
        }
        let (width, has) = (self.width, self.in_use.len());
        let mut packed = std::mem::take(&mut self.packed);
        packed.clear();
        for amounts in [by.inside, by.edge].iter().filter(|all| !all.is_empty()) {
            let of = |column: &usize| signed(amounts[*column], by.add);
            packed.extend(self.in_use.iter().map(of));
        }
        let inside_len = if by.inside.is_empty() { 0 } else { has };
        let (inside, edge) = packed.split_at(inside_len);
        let mut next = Some(leaf);
        while let Some(node) = next {
            let plan = match totals {
                [] => WINDOW,
                _ => self.plans[node.get()],
            };
            let (in_use, numbers) = self.numbers_mut(node);
            add_all(numbers, inside);
            add_all(&mut numbers[has..], edge);
            if plan != WINDOW {
                let totals = &totals[usize::from(plan) * width..][..width];
                for (sum, column) in numbers[3 * has..].iter_mut().zip(in_use) {
                    add_to(sum, signed(totals[*column], by.add));
                }
            }
            next = tree.parent(node);
        }
        self.packed = packed;
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
        self.use_columns(rate);
        let has = self.in_use.len();
        let mut next = Some(leaf);
        while let Some(node) = next {
            let has_total = self.has_totals && self.plans[node.get()] != WINDOW;
            let (in_use, numbers) = self.numbers_mut(node);
            let (inside, rest) = numbers.split_at_mut(has);
            let (_, rest) = rest.split_at_mut(has);
            let (rates, totals) = rest.split_at_mut(has);
            for (at, column) in in_use.iter().enumerate() {
                add_to(&mut rates[at], signed(rate[*column], add));
                let before = signed(rate[*column].wrapping_mul(since as u128), !add);
                add_to(&mut inside[at], before);
                if has_total {
                    add_to(&mut totals[at], before);
                }
            }
            next = tree.parent(node);
        }
    }

    /// The columns in use, and all numbers of a node.
    #[inline]
    fn numbers_mut(&mut self, node: AssocIndex) -> (&[usize], &mut [u128]) {
        let place = match self.places[node.get()] {
            NOWHERE => self.take_place(node),
            place => place as usize,
        };
        let stride = self.stride();
        (&self.in_use, &mut self.numbers[place * stride..][..stride])
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
        let place = self.in_places;
        self.in_places += 1;
        self.numbers.resize(self.in_places * self.stride(), 0);
        self.places[node.get()] = u32::try_from(place).expect("no more places than nodes");
        place
    }

    /// All numbers of a node; empty: nothing was ever used.
    fn numbers(&self, node: AssocIndex) -> &[u128] {
        let stride = self.stride();
        match self.places[node.get()] {
            NOWHERE => &[],
            place => &self.numbers[place as usize * stride..][..stride],
        }
    }

    /// Whether there are numbers of a node.
    pub(super) fn has_used(&self, node: AssocIndex) -> bool {
        self.places[node.get()] != NOWHERE
    }

    /// Touches what is asked of a node: each cache line, of 64 bytes.
    pub(super) fn read_ahead(&self, node: AssocIndex) -> i64 {
        let lines = self.numbers(node).iter().step_by(4);
        lines.fold(0, |seen, number| seen ^ *number as i64)
    }

    /// Behind the far edge, and in the bucket at it, where the clock stands at `until`.
    pub(super) fn window(&self, node: AssocIndex, column: usize, until: i64) -> (u128, u128) {
        let mut windows = self.windows(node, until);
        let found = windows.find(|window| window.0 == column);
        found.map(|window| window.1).unwrap_or_default()
    }

    /// Per column in use what is behind the far edge, and in the bucket at it; nothing where nothing was ever
    /// used.
    pub(super) fn windows(
        &self,
        node: AssocIndex,
        until: i64,
    ) -> impl Iterator<Item = (usize, (u128, u128))> {
        let (numbers, has) = (self.numbers(node), self.in_use.len());
        let (inside, rest) = numbers.split_at_checked(has).unwrap_or_default();
        let (edge, rates) = rest.split_at_checked(has).unwrap_or_default();
        let inside = inside.iter().zip(rates);
        let inside = inside.map(move |(sum, rate)| with_clock(*sum, *rate, until));
        let windows = inside.zip(edge.iter().copied());
        self.in_use.iter().copied().zip(windows)
    }

    /// Since the node's own date, where the clock stands at `until`.
    pub(super) fn total(&self, node: AssocIndex, column: usize, until: i64) -> u128 {
        let mut totals = self.totals(node, until);
        let found = totals.find(|total| total.0 == column);
        found.map_or(0, |total| total.1)
    }

    /// Per column in use what was used since the node's own date, where the clock stands at `until`; nothing
    /// where nothing was ever used.
    pub(super) fn totals(
        &self,
        node: AssocIndex,
        until: i64,
    ) -> impl Iterator<Item = (usize, u128)> {
        let (numbers, has) = (self.numbers(node), self.in_use.len());
        let rates = numbers.get(2 * has..).unwrap_or_default();
        let (rates, totals) = rates.split_at_checked(has).unwrap_or_default();
        let totals = totals.iter().zip(rates);
        let totals = totals.map(move |(total, rate)| with_clock(*total, *rate, until));
        self.in_use.iter().copied().zip(totals)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Assoc, AssocKind, Shares};

    #[test]
    fn columns_come_into_use_one_after_another() {
        let row = |id, parent, kind| Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        };
        let root = row(1, None, AssocKind::Account);
        let users = [2, 3].map(|id| row(id, Some(1), AssocKind::User));
        let tree = Tree::from_rows([root, users[0], users[1]]).unwrap();
        let [root, a, b] = [0, 1, 2].map(AssocIndex::new);
        // The user's own sums begin with the date of position 0.
        let mut sums = Sums::new(3, vec![WINDOW, 0, WINDOW]);
        let mut change = |leaf, inside: [u128; 3], edge: [u128; 3], total: [u128; 3]| {
            let by = Delta {
                inside: &inside,
                edge: &edge,
                totals: &total,
                add: true,
            };
            sums.change(&tree, leaf, &by);
            sums.in_use.len()
        };
        assert_eq!(change(a, [0; 3], [0; 3], [0; 3]), 0);
        assert_eq!(change(a, [0, 0, 5], [0; 3], [0, 0, 9]), 1);
        assert_eq!(change(b, [0; 3], [4, 0, 0], [0; 3]), 2);
        assert_eq!(change(a, [0; 3], [0; 3], [0, 7, 0]), 3);
        sums.clock(&tree, b, &[0, 2, 0], 10, true);
        let of = |node| [0, 1, 2].map(|column| sums.window(node, column, 13));
        assert_eq!(of(root), [(0, 4), (6, 0), (5, 0)]);
        assert_eq!(of(a), [(0, 0), (0, 0), (5, 0)]);
        assert_eq!(of(b), [(0, 4), (6, 0), (0, 0)]);
        assert_eq!([0, 1, 2].map(|column| sums.total(a, column, 13)), [0, 7, 9]);
    }
}
