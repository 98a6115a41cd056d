//! What was used when, to the microsecond: the runs that ended and count.
//!
//! For each way of counting there is an edge: what was used before it does not count. A window's
//! edge moves with time, and every run that it is within is charged less; those are as many as
//! ran at that moment. Where all use since a moment counts, only sums are kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::settings::{Counted, Micros};

/// A run that ended and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub node: u32,
    pub start: Micros,
    pub end: Micros,
    pub rate: u32,
}

impl Run {
    /// What counts of it behind `edge`: less than 2^96.
    pub fn behind(&self, edge: Micros) -> u128 {
        let from = self.start.max(edge);
        let length = u64::try_from(i128::from(self.end) - i128::from(from)).unwrap_or(0);
        u128::from(length) * u128::from(self.rate)
    }
}

/// By start, and then as they came.
type Runs = BTreeMap<(Micros, u64), Run>;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct RunHistory {
    rules: Vec<Counted>,
    edges: Vec<Micros>,
    /// Runs that some window may still reach; shared with copies that look into the future.
    runs: Arc<Runs>,
    /// Such runs of a copy.
    fresh: Runs,
    came: u64,
    /// For each window the runs that its edge is within.
    leaving: Vec<Vec<Run>>,
    /// For each rule that has no window, by node, the sum of all.
    sums: Vec<BTreeMap<u32, u128>>,
}

impl RunHistory {
    pub fn new(rules: Vec<Counted>, now: Micros) -> RunHistory {
        let count = rules.len();
        RunHistory {
            edges: rules.iter().map(|rule| rule.edge(now)).collect(),
            rules,
            runs: Arc::default(),
            fresh: Runs::new(),
            came: 0,
            leaving: vec![Vec::new(); count],
            sums: vec![BTreeMap::new(); count],
        }
    }

    pub fn edges(&self) -> &[Micros] {
        &self.edges
    }

    /// Adds a run; its node is to be charged what is [`Run::behind`] each edge. `summed`: rules
    /// without a window whose sums have it already.
    pub fn add(&mut self, run: Run, summed: &[bool]) {
        for at in 0..self.rules.len() {
            let edge = self.edges[at];
            match self.rules[at] {
                Counted::Since(_) if summed.get(at) == Some(&true) => {}
                Counted::Since(_) => self.add_sum(at, run.node, run.behind(edge)),
                Counted::Window(_) if run.start < edge && run.behind(edge) > 0 => {
                    self.leaving[at].push(run);
                }
                Counted::Window(_) => {}
            }
        }
        let last = self.windows().map(|at| self.edges[at]).min();
        if last.is_none_or(|last| run.end <= last) {
            return;
        }
        let key = (run.start, self.came);
        self.came += 1;
        match Arc::get_mut(&mut self.runs) {
            Some(runs) => runs.insert(key, run),
            None => self.fresh.insert(key, run),
        };
    }

    /// Adds to the sum of a rule that has no window.
    pub fn add_sum(&mut self, rule: usize, node: u32, used: u128) {
        if used > 0 {
            *self.sums[rule].entry(node).or_default() += used;
        }
    }

    /// Sums by rule and node.
    pub fn sums(&self) -> impl Iterator<Item = (usize, u32, u128)> {
        let sums = self.sums.iter().enumerate();
        sums.flat_map(|(rule, sums)| sums.iter().map(move |(node, used)| (rule, *node, *used)))
    }

    /// Runs that some window may still reach, by start.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().chain(self.fresh.values())
    }

    fn windows(&self) -> impl Iterator<Item = usize> + '_ {
        let rules = self.rules.iter().enumerate();
        rules.filter_map(|(at, rule)| matches!(rule, Counted::Window(_)).then_some(at))
    }

    /// Moves the edges on to `now`; calls `leaves` with node, rule and use that counts no more.
    pub fn advance(&mut self, now: Micros, mut leaves: impl FnMut(u32, u32, u128)) {
        for at in 0..self.rules.len() {
            let Counted::Window(_) = self.rules[at] else {
                continue;
            };
            let (old, new) = (self.edges[at], self.rules[at].edge(now));
            if new <= old {
                continue;
            }
            self.edges[at] = new;
            let reached = (old, 0)..(new, 0);
            let leaving = &mut self.leaving[at];
            leaving.extend(self.runs.range(reached.clone()).map(|(_, run)| *run));
            leaving.extend(self.fresh.range(reached).map(|(_, run)| *run));
            leaving.retain(|run| {
                leaves(run.node, at as u32, run.behind(old) - run.behind(new));
                run.behind(new) > 0
            });
        }
        self.forget();
    }

    /// Drops runs that no window reaches any more.
    fn forget(&mut self) {
        let last = self.windows().map(|at| self.edges[at]).min();
        let Some(runs) = Arc::get_mut(&mut self.runs) else {
            return;
        };
        let is_over = |end| last.is_none_or(|last| end <= last);
        while let Some(first) = runs.first_entry().filter(|first| is_over(first.get().end)) {
            first.remove();
        }
    }
}
