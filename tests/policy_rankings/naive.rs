//! Naive models of the rankings beyond Slurm's, in exact fractions, from their definitions.

use crate::common::Site;
use fairtree::extended::Extended;
use fairtree::tree::{AssocIndex, AssocKind, Tree};
use fairtree_oracle::number::{Fraction, dyadic};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};

/// The exact value of a non-negative number.
fn exact(number: Extended) -> Fraction {
    let (mantissa, exponent) = number.to_parts().expect("finite");
    dyadic(BigInt::from(mantissa), i64::from(exponent))
}

/// The place of a node in a naive contest: a class, then a ratio.
type Standing = (u8, Fraction);

struct Naive<'a> {
    tree: &'a Tree,
    used: Vec<Fraction>,
    standings: Vec<Standing>,
    shares_ties: bool,
    places: usize,
    next: usize,
    tied: Option<usize>,
    found: Vec<Option<f64>>,
}

impl<'a> Naive<'a> {
    fn new(site: &'a Site, shares_ties: bool) -> Naive<'a> {
        Naive {
            tree: &site.tree,
            used: site.raw_usage.iter().map(|usage| exact(*usage)).collect(),
            standings: Vec::new(),
            shares_ties,
            places: 0,
            next: 0,
            tied: None,
            found: vec![None; site.tree.len()],
        }
    }

    fn shares(&self, at: usize) -> Option<u32> {
        self.tree.rows()[at].shares.raw()
    }

    fn is_user(&self, at: usize) -> bool {
        self.tree.rows()[at].kind == AssocKind::User
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let parent = self.tree.fs_parent(AssocIndex::new(at));
        parent.map(AssocIndex::get)
    }

    fn children(&self, at: usize) -> Vec<usize> {
        let all = 0..self.tree.len();
        let own = |child: &usize| self.parent(*child) == Some(at);
        let aside = |child: &usize| !self.is_user(*child) && self.shares(*child).is_none();
        all.filter(own).filter(|child| !aside(child)).collect()
    }

    fn is_queue(&self, at: usize) -> bool {
        let children = self.children(at);
        let alike = children.iter().all(|child| self.shares(*child).is_none());
        let root = self.parent(at).is_none();
        !self.is_user(at) && !root && !children.is_empty() && alike
    }

    fn is_leaf(&self, at: usize) -> bool {
        let in_queue = self.parent(at).is_some_and(|parent| self.is_queue(parent));
        self.is_queue(at) || self.is_user(at) && !in_queue
    }

    /// A node's part of its level.
    fn part(&self, at: usize) -> Fraction {
        let Some(parent) = self.parent(at) else {
            return Fraction::one();
        };
        let Some(own) = self.shares(at) else {
            return Fraction::one();
        };
        let level = self.children(parent).into_iter();
        let sum: u64 = level
            .filter_map(|child| self.shares(child))
            .map(u64::from)
            .sum();
        if sum == 0 {
            Fraction::zero()
        } else {
            Fraction::new(own.into(), sum.into())
        }
    }

    fn fraction(&self, at: usize) -> Fraction {
        let above = self
            .parent(at)
            .map_or_else(Fraction::one, |up| self.fraction(up));
        above * self.part(at)
    }

    fn run(mut self, first: Vec<usize>) -> Vec<Option<f64>> {
        let all = 0..self.tree.len();
        self.places = all.clone().filter(|at| self.is_leaf(*at)).count();
        self.next = self.places;
        self.visit(first);
        for at in all {
            if let (Some(up), true) = (self.parent(at), self.is_user(at)) {
                if self.is_queue(up) {
                    self.found[at] = self.found[up];
                }
            }
        }
        self.found
    }

    fn visit(&mut self, mut level: Vec<usize>) {
        level.sort_by(|a, b| self.standings[*a].cmp(&self.standings[*b]));
        while let Some(first) = level.first() {
            let best = self.standings[*first].clone();
            let (group, rest): (Vec<_>, Vec<_>) = level
                .into_iter()
                .partition(|at| self.standings[*at] == best);
            level = rest;
            let (leaves, accounts): (Vec<_>, Vec<_>) =
                group.into_iter().partition(|at| self.is_leaf(*at));
            let mut shared = None;
            if !leaves.is_empty() {
                let rank = self.tied.take().unwrap_or(self.next);
                for at in &leaves {
                    self.found[*at] = Some(rank as f64 / self.places as f64);
                }
                self.next -= leaves.len();
                shared = Some(rank).filter(|_| self.shares_ties);
            }
            let below: Vec<usize> = accounts.iter().flat_map(|at| self.children(*at)).collect();
            if !below.is_empty() {
                self.tied = shared.or(self.tied);
                self.visit(below);
                if shared.is_some() {
                    self.tied = None;
                }
            }
        }
    }
}

pub fn naive_least_used(
    site: &Site,
    level: Option<u32>,
    minutes: &[(usize, u64)],
    whole: u64,
) -> Vec<Option<f64>> {
    naive_of_minutes(site, level, (minutes, false), whole)
}

/// The same; `true`: children that have more minutes together than their parent is entitled to divide
/// what it is entitled to by their minutes.
pub fn naive_of_minutes(
    site: &Site,
    level: Option<u32>,
    minutes: (&[(usize, u64)], bool),
    whole: u64,
) -> Vec<Option<f64>> {
    fn entitled(
        naive: &Naive<'_>,
        at: usize,
        (minutes, divides): (&[(usize, u64)], bool),
        whole: u64,
    ) -> Fraction {
        let given = |row: usize| minutes.iter().rev().find(|(at, _)| *at == row);
        let of_minutes = |mut row: Option<usize>| {
            while let Some(up) = row.filter(|up| given(*up).is_none()) {
                row = naive.parent(up);
            }
            row.is_some()
        };
        let whole_of = |up: usize| entitled(naive, up, (minutes, divides), whole);
        match (given(at), naive.parent(at)) {
            (Some((_, own)), Some(up)) if divides && of_minutes(Some(up)) => {
                let level = naive.children(up).into_iter().filter_map(&given);
                let taken: u64 = level.map(|(_, minutes)| minutes * 60).sum();
                let own = Fraction::from_integer((own * 60).into());
                let taken = Fraction::from_integer(taken.into());
                let above = whole_of(up);
                if taken > above {
                    above * own / taken
                } else {
                    own
                }
            }
            (Some((_, minutes)), _) => Fraction::from_integer((minutes * 60).into()),
            (None, None) => Fraction::from_integer(whole.into()),
            (None, Some(up)) => {
                let above = whole_of(up);
                let Some(own) = naive.shares(at) else {
                    return above;
                };
                // Siblings with minutes have theirs; of minutes the others divide the rest.
                let (mut taken, mut sum) = (0, 0);
                for child in naive.children(up) {
                    match given(child) {
                        Some((_, minutes)) => taken += minutes * 60,
                        None => sum += u64::from(naive.shares(child).unwrap_or(0)),
                    }
                }
                let taken = if of_minutes(Some(up)) { taken } else { 0 };
                let left = above - Fraction::from_integer(taken.into());
                if sum == 0 {
                    return Fraction::zero();
                }
                left.max(Fraction::zero()) * Fraction::new(own.into(), sum.into())
            }
        }
    }
    let mut naive = Naive::new(site, true);
    naive.standings = (0..site.tree.len())
        .map(|at| {
            let due = entitled(&naive, at, minutes, whole);
            let used = naive.used[at].clone();
            if naive.is_user(at) && naive.shares(at).is_none() {
                (0, Fraction::zero())
            } else if due.is_zero() {
                (if used.is_zero() { 1 } else { 2 }, Fraction::zero())
            } else {
                (0, used / due)
            }
        })
        .collect();
    let mut first = Vec::new();
    let mut open = vec![(0, 0)];
    while let Some((at, depth)) = open.pop() {
        if naive.is_leaf(at) || level == Some(depth) {
            first.push(at);
        } else {
            open.extend(
                naive
                    .children(at)
                    .into_iter()
                    .map(|child| (child, depth + 1)),
            );
        }
    }
    naive.run(first)
}

pub fn naive_weighted_walk(site: &Site) -> Vec<Option<f64>> {
    let mut naive = Naive::new(site, false);
    naive.standings = (0..site.tree.len())
        .map(|at| {
            let used = naive.used[at].clone();
            let parent_user = naive.is_user(at) && naive.shares(at).is_none();
            if naive.shares(at) == Some(0) {
                (1, Fraction::zero())
            } else if parent_user || used.is_zero() {
                (0, Fraction::zero())
            } else {
                let level = naive
                    .parent(at)
                    .map(|up| naive.children(up))
                    .unwrap_or_default();
                let sum: Fraction = level.iter().map(|at| naive.used[*at].clone()).sum();
                let sum = if sum.is_zero() { Fraction::one() } else { sum };
                (0, used / sum / naive.part(at))
            }
        })
        .collect();
    let first = naive.children(0);
    naive.run(first)
}

pub fn naive_difference(site: &Site) -> Vec<f64> {
    let naive = Naive::new(site, false);
    let total = naive.used[0].clone();
    let exactly = |at: usize| {
        let mut payer = at;
        while let (None, Some(up)) = (naive.shares(payer), naive.parent(payer)) {
            payer = up;
        }
        let used = naive.used[payer].clone();
        let part = if total.is_zero() {
            Fraction::zero()
        } else {
            (used / &total).min(Fraction::one())
        };
        (Fraction::one() + naive.fraction(payer) - part) / Fraction::from_integer(2.into())
    };
    let rounded = |number: Fraction| {
        let parts = Fraction::from_integer((1_u64 << 53).into());
        let half = Fraction::new(1.into(), 2.into());
        let whole = (number * &parts + half).floor().to_integer();
        let whole = whole.to_f64().expect("at most 2^53");
        (whole / (1_u64 << 53) as f64).max(f64::MIN_POSITIVE)
    };
    (0..site.tree.len())
        .map(|at| rounded(exactly(at)))
        .collect()
}
