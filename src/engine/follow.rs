//! Fair Tree from pass to pass, for a host that keeps usage in records of its own.
//!
//! Between two passes others may change these records: ends of jobs are charged, usage is set.
//! A [`Follower`] remembers what its last pass left in them. What is different since then was
//! charged; what is not only faded. So a pass sorts again the levels above what was charged,
//! before the pass or by it, and a pass in which nothing was charged sorts nothing.

use super::accrue::{Accruing, charge_raw};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::{self, FairTreeNumbers, Kept, LevelRanks, NumbersOf};
use crate::tree::{AssocIndex, Shares, Tree};
use crate::usage::{Charge, Decay, Period, UsageError, Weights, fade};
use std::sync::Arc;

/// Usage of one tree and the ranks that follow it. Memory is kept from pass to pass.
#[derive(Clone, Debug, Default)]
pub struct Follower {
    /// The tree that everything else is about.
    tree: Arc<Tree>,
    raw: Vec<Extended>,
    /// Not by one factor with all others since the ranks were made; with repetitions.
    charged: Vec<AssocIndex>,
    ranking: Option<(Compat, LevelRanks)>,
    /// By position; only where shares of the host's records are not those of the tree.
    apart: Vec<Option<f64>>,
}

impl Follower {
    /// Takes usage as the host has it, one number per association by position.
    ///
    /// Panics at another length.
    pub fn observe(&mut self, tree: &Arc<Tree>, usage: impl ExactSizeIterator<Item = Extended>) {
        assert_eq!(usage.len(), tree.len(), "one usage per association");
        if !Arc::ptr_eq(&self.tree, tree) {
            self.tree = Arc::clone(tree);
            self.ranking = None;
        }
        if self.ranking.is_none() {
            self.raw.clear();
            self.raw.extend(usage);
            return;
        }
        for (position, (left, now)) in self.raw.iter_mut().zip(usage).enumerate() {
            if *left != now {
                *left = now;
                self.charged.push(AssocIndex::new(position));
            }
        }
    }

    /// Raw usage by position, TRES-seconds.
    pub fn raw(&self) -> &[Extended] {
        &self.raw
    }

    /// A pass: all usage fades by `factor`, in 0..=1, then jobs are charged for `period`, each to
    /// its association and all above, and `each` is told what. Then all users are ranked.
    ///
    /// Charges that are no numbers change nothing; see [`super::accrue()`].
    ///
    /// `kept`: under `compat=slurm`, what the host's records keep, one per association.
    pub fn pass(
        &mut self,
        compat: Compat,
        (factor, decay): (f64, &Decay),
        period: &Period,
        jobs: &[Accruing],
        kept: &[Kept],
        mut each: impl FnMut(usize, Result<Option<Charge>, UsageError>),
    ) {
        fade(&mut self.raw, factor);
        let mut weights = Weights::new(decay);
        for (position, job) in jobs.iter().enumerate() {
            let charged = charge_raw(&self.tree, &mut self.raw, &mut weights, period, job);
            if let Ok(Some(_)) = charged {
                self.charged.push(job.assoc);
            }
            each(
                position,
                charged.map(|found| found.map(|(charge, _)| charge)),
            );
        }
        self.rank(compat, factor, kept);
    }

    fn rank(&mut self, compat: Compat, factor: f64, kept: &[Kept]) {
        if self.stand_apart(compat, kept) {
            // Rare, and soon over: see `stock_fair_tree`.
            self.ranking = None;
            let shares = kept.iter().map(|kept| kept.norm_shares).collect();
            let found = fairshare::stock_fair_tree(&self.tree, shares, &self.raw);
            self.apart = found.iter().map(|found| found.fs_factor).collect();
            self.charged.clear();
            return;
        }
        self.apart.clear();
        match &mut self.ranking {
            Some((of, ranking)) if *of == compat => {
                // Where nearly all levels change, to sort them one by one is the longer way.
                if self.charged.len() > self.raw.len() / 2 {
                    ranking.rebuild(&self.tree, &self.raw);
                } else {
                    ranking.update(&self.tree, &self.raw, factor, &self.charged);
                }
            }
            ranking => *ranking = Some((compat, LevelRanks::new(compat, &self.tree, &self.raw))),
        }
        self.charged.clear();
    }

    /// Does the host still have other shares than the tree, as after a change from another
    /// algorithm?
    fn stand_apart(&self, compat: Compat, kept: &[Kept]) -> bool {
        let tree = &self.tree;
        compat.is_slurm()
            && tree.indices().zip(kept).any(|(index, kept)| {
                let counts = matches!(tree.rows()[index.get()].shares, Shares::Raw(_));
                counts
                    && tree.fs_parent(index).is_some()
                    && kept.norm_shares != tree.share_of_level(index, compat)
            })
    }

    /// The fair-share factor at the last pass; `None` for accounts, and before the first pass.
    #[inline]
    pub fn fs_factor(&self, index: AssocIndex) -> Option<f64> {
        match &self.ranking {
            Some((_, ranking)) => ranking.fs_factor(index),
            None => self.apart.get(index.get()).copied().flatten(),
        }
    }

    /// The users whose factor the last pass changed, in no particular order; `None`: look at all.
    pub fn changed(&self) -> Option<&[AssocIndex]> {
        let (_, ranking) = self.ranking.as_ref()?;
        Some(ranking.changed())
    }

    /// The numbers behind the factor, from usage as the last pass left it. `norm_shares`: those
    /// that the host's record keeps, under `compat=slurm`.
    #[inline]
    pub fn numbers(&self, compat: Compat, index: AssocIndex, norm_shares: f64) -> FairTreeNumbers {
        self.all_numbers(compat).of(index, norm_shares)
    }

    /// The same for one association after the other.
    pub(crate) fn all_numbers(&self, compat: Compat) -> NumbersOf<'_> {
        NumbersOf::new(compat, &self.tree, &self.raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Release;
    use crate::fairshare::Ranking;
    use crate::tree::{Assoc, AssocKind};
    use crate::usage::{Ledger, Run, RunState};
    use proptest::prelude::*;

    const COMPATS: [Compat; 2] = [Compat::Documented, Compat::Slurm(Release::V22_05_8)];

    /// root 1 -> accounts 2..=4 with shares 1, 2, parent -> four users each with shares 0..=3.
    fn tree() -> Arc<Tree> {
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
        Arc::new(Tree::from_rows(rows).unwrap())
    }

    fn kept(compat: Compat, tree: &Tree) -> Vec<Kept> {
        let shares = tree.norm_shares_on_level(compat);
        let kept = |norm_shares| Kept {
            norm_shares,
            norm_usage: None,
            effective_usage: None,
        };
        shares.into_iter().map(kept).collect()
    }

    /// The follower says what is computed from scratch.
    fn agrees(compat: Compat, tree: &Tree, follower: &Follower) {
        let found = fairshare::compute(Ranking::FAIR_TREE, compat, tree, follower.raw());
        for (index, found) in tree.indices().zip(found) {
            assert_eq!(follower.fs_factor(index), found.fs_factor, "{index:?}");
            let numbers = follower.numbers(compat, index, found.norm_shares);
            assert_eq!(numbers.norm_usage, found.norm_usage);
            assert_eq!(numbers.effective_usage, found.effective_usage);
            assert_eq!(numbers.level_fs, found.level_fs);
        }
    }

    fn running(assoc: usize, billable_tres: f64) -> Accruing {
        Accruing {
            assoc: AssocIndex::new(assoc),
            run: Run {
                state: RunState::default(),
                start_time: 0,
                end_time: 0,
                end_time_exp: Some(3_600),
                time_limit: crate::priority::TimeLimit::Minutes(60),
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
                    0..3_u8,
                ),
                1..8,
            ),
        ) {
            for compat in COMPATS {
                let tree = tree();
                let decay = Decay::new(600, compat);
                let mut follower = Follower::default();
                // The host's records.
                let mut host = Ledger::new(&tree);
                for (number, (between, jobs, fades)) in passes.iter().enumerate() {
                    for (assoc, usage) in between {
                        let at = AssocIndex::new(*assoc);
                        host.charge(&tree, at, f64::from(*usage)).unwrap();
                    }
                    follower.observe(&tree, host.raw().iter().copied());
                    let (last_ran, now) = (number as i64 * 60, number as i64 * 60 + 60);
                    let factor = [1.0, 0.5, decay.factor(60)][usize::from(*fades)];
                    let jobs: Vec<_> =
                        jobs.iter().map(|(at, tres)| running(*at, f64::from(*tres))).collect();
                    let period = Period::pass(Some(last_ran), now);
                    host.decay(factor);
                    let kept = kept(compat, &tree);
                    follower.pass(compat, (factor, &decay), &period, &jobs, &kept, |at, charge| {
                        if let Some(charge) = charge.unwrap() {
                            host.charge(&tree, jobs[at].assoc, charge.decayed.usage).unwrap();
                        }
                    });
                    prop_assert_eq!(host.raw(), follower.raw());
                    agrees(compat, &tree, &follower);
                }
            }
        }
    }

    #[test]
    fn without_charges_nothing_is_ranked_again() {
        let tree = tree();
        for compat in COMPATS {
            let mut host = Ledger::new(&tree);
            for user in 4..16 {
                let usage = f64::from(user * user);
                host.charge(&tree, AssocIndex::new(user as usize), usage)
                    .unwrap();
            }
            let (decay, kept) = (Decay::new(600, compat), kept(compat, &tree));
            let mut follower = Follower::default();
            for pass in 0..3 {
                follower.observe(&tree, host.raw().iter().copied());
                let period = Period::pass(Some(0), 1);
                follower.pass(
                    compat,
                    (0.5, &decay),
                    &period,
                    &[],
                    &kept,
                    |_, _| unreachable!(),
                );
                host.decay(0.5);
                agrees(compat, &tree, &follower);
                assert_eq!(follower.changed().unwrap().is_empty(), pass > 0);
            }
        }
    }

    #[test]
    fn shares_that_only_the_host_has_count_in_slurm() {
        // As after a change from classic: user 5 keeps 1/4 of the whole.
        let tree = tree();
        let compat = COMPATS[1];
        let mut other = kept(compat, &tree);
        other[4].norm_shares = 0.25;
        let mut follower = Follower::default();
        let decay = Decay::new(600, compat);
        let period = Period::pass(Some(0), 1);
        for kept in [&other, &kept(compat, &tree), &other] {
            follower.observe(&tree, vec![Extended::ONE; tree.len()].into_iter());
            follower.pass(compat, (1.0, &decay), &period, &[], kept, |_, _| ());
            let shares = kept.iter().map(|kept| kept.norm_shares).collect();
            let found = fairshare::stock_fair_tree(&tree, shares, follower.raw());
            for (index, found) in tree.indices().zip(found) {
                assert_eq!(follower.fs_factor(index), found.fs_factor);
            }
        }
    }
}
