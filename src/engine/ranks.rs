//! Ranks, updated from pass to pass.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::{self, LevelRanks, RecordState};
use crate::priority::AssocFactors;
use crate::tree::{AssocIndex, Shares, Tree};

/// Fair Tree ranks of the last pass, if the next one can update them.
#[derive(Clone, Debug, Default)]
pub(super) enum Ranks {
    /// No ranks, or the ranking has no incremental computation.
    #[default]
    None,
    /// Sorted levels, and whose behaviour they follow.
    Levels(Compat, LevelRanks),
    /// Factors by position, computed from the shares that the host's records keep while these
    /// differ from the tree's.
    Apart(Vec<Option<f64>>),
}

impl Ranks {
    /// Updates the ranks after all usage decayed by `factor` (1 if there is no common factor), and
    /// changed otherwise in the associations `changed`, with repetitions.
    ///
    /// `record_states`: under `compat=slurm`, the state of the host's records, one per association; or empty.
    pub(super) fn follow(
        &mut self,
        (compat, tree): (Compat, &Tree),
        raw: &[Extended],
        factor: f64,
        changed: &[AssocIndex],
        record_states: &[RecordState],
    ) {
        if differ(compat, tree, record_states) {
            // Rare, and soon over: see `stock_fair_tree`.
            let shares = record_states
                .iter()
                .map(|state| state.norm_shares)
                .collect();
            let found = fairshare::stock_fair_tree(tree, shares, raw);
            *self = Ranks::Apart(found.iter().map(|found| found.fs_factor).collect());
            return;
        }
        match self {
            Ranks::Levels(of, ranks) if *of == compat => {
                // Where most levels change, sorting them one by one takes longer.
                if changed.len() > raw.len() / 2 {
                    ranks.rebuild(tree, raw);
                } else {
                    ranks.update(tree, raw, factor, changed);
                }
            }
            _ => *self = Ranks::Levels(compat, LevelRanks::new(compat, tree, raw)),
        }
    }

    /// The fair-share factor; `None` for accounts, and where nothing is known.
    #[inline]
    pub(super) fn fs_factor(&self, index: AssocIndex) -> Option<f64> {
        match self {
            Ranks::Levels(_, ranks) => ranks.fs_factor(index),
            Ranks::Apart(factors) => factors.get(index.get()).copied().flatten(),
            Ranks::None => None,
        }
    }

    /// The users whose factor the last pass changed, in no particular order; `None`: any may be.
    pub(super) fn changed(&self) -> Option<&[AssocIndex]> {
        match self {
            Ranks::Levels(_, ranks) => Some(ranks.changed()),
            Ranks::Apart(_) | Ranks::None => None,
        }
    }

    /// Writes the factors that changed to the table that pricing reads; all of them where
    /// `all` says that the table is not that of the last pass.
    pub(super) fn publish(&self, factors: &mut [AssocFactors], all: bool) {
        let factor = |index| self.fs_factor(index).unwrap_or(0.0);
        match self.changed().filter(|_| !all) {
            Some(changed) => {
                for &index in changed {
                    factors[index.get()].fs_factor = factor(index);
                }
            }
            None => {
                for (position, assoc) in factors.iter_mut().enumerate() {
                    assoc.fs_factor = factor(AssocIndex::new(position));
                }
            }
        }
    }
}

/// Whether the host's records still have other shares than the tree, as after a change from
/// another ranking.
fn differ(compat: Compat, tree: &Tree, record_states: &[RecordState]) -> bool {
    compat.is_slurm()
        && tree.indices().zip(record_states).any(|(index, state)| {
            let counts = matches!(tree.rows()[index.get()].shares, Shares::Raw(_));
            counts
                && tree.fs_parent(index).is_some()
                && state.norm_shares != tree.share_of_level(index, compat)
        })
}

#[cfg(test)]
mod tests {
    //! An engine that follows a host's records from pass to pass.

    use super::super::{Accruing, AssocResult, Engine, Host, Input, Outcome};
    use super::*;
    use crate::compat::Release;
    use crate::config::Config;
    use crate::fairshare::{HostMath, Ranking};
    use crate::priority::TimeLimit;
    use crate::tree::{Assoc, AssocKind};
    use crate::usage::{Charge, Ledger, Run, RunState, UsageChange, UsageError};
    use proptest::prelude::*;

    const COMPATS: [Compat; 2] = [Compat::Documented, Compat::Slurm(Release::V22_05_8)];

    /// root 1 -> accounts 2..=4 with shares 1, 2, parent -> four users each with shares 0..=3.
    fn tree() -> Tree {
        let row = |id, parent, kind, shares| Assoc {
            id,
            parent,
            kind,
            shares,
        };
        let mut rows = vec![row(1, None, AssocKind::Account, Shares::Raw(1))];
        let accounts = [
            (2, Shares::Raw(1)),
            (3, Shares::Raw(2)),
            (4, Shares::Parent),
        ];
        for (id, shares) in accounts {
            rows.push(row(id, Some(1), AssocKind::Account, shares));
        }
        for id in 5..17 {
            let shares = Shares::Raw(id % 4);
            rows.push(row(id, Some(2 + (id - 5) / 4), AssocKind::User, shares));
        }
        Tree::from_rows(rows).unwrap()
    }

    fn record_states(compat: Compat, tree: &Tree) -> Vec<RecordState> {
        let shares = tree.norm_shares_on_level(compat);
        let state = |norm_shares| RecordState {
            norm_shares,
            norm_usage: None,
            effective_usage: None,
        };
        shares.into_iter().map(state).collect()
    }

    /// A host of plain rows: its records have raw usage and factors, and it writes to them what
    /// passes tell.
    struct Rows {
        config: Config,
        tree: Tree,
        usage: Ledger,
        factors: Vec<AssocFactors>,
        engine: Engine,
        record_states: Vec<RecordState>,
        last_ran: i64,
        told: Told,
    }

    #[derive(Default)]
    struct Told {
        charges: Vec<(usize, Charge)>,
        fairshare: Vec<fairshare::AssocFairshare>,
    }

    impl Host for Told {
        fn charged(&mut self, job: usize, charge: Result<Option<Charge>, UsageError>) {
            if let Some(charge) = charge.unwrap() {
                self.charges.push((job, charge));
            }
        }

        fn ranked(&mut self, found: &AssocResult<'_>) {
            self.fairshare.push(found.fairshare());
        }
    }

    impl Rows {
        fn new(compat: Compat, half_life_secs: u32) -> Rows {
            let tree = tree();
            let config = Config {
                compat,
                priority_decay_half_life_secs: half_life_secs,
                ..Config::default()
            };
            Rows {
                usage: Ledger::new(&tree),
                factors: vec![AssocFactors::default(); tree.len()],
                engine: Engine::default(),
                record_states: record_states(compat, &tree),
                last_ran: 0,
                told: Told::default(),
                config,
                tree,
            }
        }

        fn pass(&mut self, now: i64, accruing: &[Accruing]) -> Outcome {
            self.engine.configure(&self.config);
            let usage = self.usage.raw().iter().copied();
            self.engine.observe(Some(self.last_ran), usage);
            self.told = Told::default();
            let input = Input {
                config: &self.config,
                tree: &self.tree,
                accruing,
                record_states: &mut self.record_states,
                host_math: HostMath::default(),
                clears: false,
                last_ran: Some(self.last_ran),
                now,
            };
            let no_jobs = std::iter::empty();
            let (factors, told) = (&mut self.factors, &mut self.told);
            let outcome = self.engine.compute(input, no_jobs, factors, told);
            let UsageChange::Factor(factor) = outcome.change else {
                panic!("a half-life has one factor");
            };
            self.usage.decay(factor);
            for (job, charge) in &self.told.charges {
                let to = accruing[*job].assoc;
                let charged = self.usage.charge(&self.tree, to, charge.decayed.usage);
                charged.unwrap();
            }
            self.last_ran = outcome.last_ran;
            outcome
        }

        /// What was told is what is computed from scratch.
        fn agrees(&self) {
            let raw = self.engine.model().raw();
            let compat = self.config.compat;
            let found = fairshare::compute(Ranking::FAIR_TREE, compat, &self.tree, raw);
            assert_eq!(self.told.fairshare, found);
            for (factors, found) in self.factors.iter().zip(found) {
                assert_eq!(factors.fs_factor, found.fs_factor.unwrap_or(0.0));
            }
        }
    }

    fn running(assoc: usize, billable_tres: f64) -> Accruing {
        Accruing {
            job: 1,
            assoc: AssocIndex::new(assoc),
            run: Run {
                state: RunState::default(),
                start_time: 0,
                end_time: 0,
                end_time_exp: Some(3_600),
                time_limit: TimeLimit::Minutes(60),
                billable_tres,
                usage_factor: 1.0,
                charged_until: None,
                passed: None,
                run_secs_renewed: false,
            },
            at_end: false,
        }
    }

    proptest! {
        #[test]
        fn ranks_follow_the_host(
            passes in prop::collection::vec(
                (
                    prop::collection::vec((4..16_usize, 0..5_u32), 0..4),
                    prop::collection::vec((4..16_usize, 0..5_u32), 0..3),
                    0..3_usize,
                ),
                1..8,
            ),
        ) {
            for compat in COMPATS {
                let mut rows = Rows::new(compat, 600);
                for (between, jobs, half_life) in &passes {
                    for (assoc, usage) in between {
                        let at = AssocIndex::new(*assoc);
                        rows.usage.charge(&rows.tree, at, f64::from(*usage)).unwrap();
                    }
                    // Not at all, by half, and by some odd factor.
                    rows.config.priority_decay_half_life_secs = [0, 60, 601][*half_life];
                    let jobs: Vec<_> =
                        jobs.iter().map(|(at, tres)| running(*at, f64::from(*tres))).collect();
                    rows.pass(rows.last_ran + 60, &jobs);
                    prop_assert_eq!(rows.usage.raw(), rows.engine.model().raw());
                    rows.agrees();
                }
            }
        }
    }

    #[test]
    fn without_charges_nothing_is_ranked_again() {
        for compat in COMPATS {
            let mut rows = Rows::new(compat, 600);
            for user in 4..16 {
                let usage = f64::from(user * user);
                let at = AssocIndex::new(user as usize);
                rows.usage.charge(&rows.tree, at, usage).unwrap();
            }
            for pass in 0..3 {
                rows.pass(rows.last_ran + 600, &[]);
                rows.agrees();
                let changed = rows.engine.ranks.changed().unwrap();
                assert_eq!(changed.is_empty(), pass > 0);
            }
        }
    }

    #[test]
    fn another_table_gets_all_factors() {
        let mut rows = Rows::new(Compat::Documented, 600);
        rows.pass(60, &[running(7, 1.0)]);
        rows.factors.fill(AssocFactors::default());
        rows.engine.invalidate();
        rows.pass(120, &[]);
        rows.agrees();
    }

    #[test]
    fn shares_that_only_the_host_has_count_in_slurm() {
        // As after a change from classic: user 5 keeps 1/4 of the whole.
        let compat = COMPATS[1];
        let mut rows = Rows::new(compat, 0);
        let (usual, mut other) = (rows.record_states.clone(), rows.record_states.clone());
        other[4].norm_shares = 0.25;
        let one = vec![Extended::ONE; rows.tree.len()];
        rows.usage = Ledger::from_raw(&rows.tree, &one).unwrap();
        for record_states in [&other, &usual, &other] {
            rows.record_states.clone_from(record_states);
            rows.pass(rows.last_ran + 1, &[]);
            let shares = record_states
                .iter()
                .map(|state| state.norm_shares)
                .collect();
            let raw = rows.engine.model().raw();
            let found = fairshare::stock_fair_tree(&rows.tree, shares, raw);
            assert_eq!(rows.told.fairshare, found);
            for (factors, found) in rows.factors.iter().zip(found) {
                assert_eq!(factors.fs_factor, found.fs_factor.unwrap_or(0.0));
            }
        }
    }
}
