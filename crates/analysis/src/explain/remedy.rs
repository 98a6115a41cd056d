//! Changes that would change an order, and the amount needed.

use std::sync::atomic::{AtomicUsize, Ordering as AtomicOrdering};

use serde::Serialize;

use super::RankedSite;
use super::search::least;
use super::trial_site::{TrialSite, Variation};
use fairtree::extended::Extended;
use fairtree::tree::{AssocIndex, AssocKind, Shares};
use fairtree_model::cluster::Names;

/// The thing to change, while all else stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RemedyKind {
    /// Had a user, or an account with each of its users in proportion, used less. Unit:
    /// TRES-seconds of raw usage, in today's value.
    LessUsage {
        /// Number of the association.
        assoc: u32,
        /// The caller's name for it.
        name: String,
        /// True for an account as a whole.
        is_account: bool,
        /// Its usage, TRES-seconds.
        raw_usage: f64,
    },
    /// Had an association more raw shares. Unit: shares to add.
    MoreShares {
        /// Number of the association.
        assoc: u32,
        /// The caller's name for it.
        name: String,
        /// Its raw shares now.
        raw_shares: u32,
    },
    /// If no job ran, so that usage only decays. Unit: half-lives.
    DecayAlone {
        /// `PriorityDecayHalfLife`, seconds.
        half_life_secs: u32,
    },
    /// If the running jobs continued as now and no other started. Unit: hours.
    RunningLoad,
    /// If both jobs waited on; every age grows. Unit: seconds. Where the sums differ by less than
    /// one point, priorities, which are cut to integers, pass each other for moments; the answer is
    /// then one of these.
    Waiting,
    /// Had the job a lower nice value. Unit: by how much. Users may only raise it.
    LowerNice {
        /// Its nice value now.
        nice: i32,
    },
}

/// How much of a change is needed, in the unit of its [`RemedyKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// This much changes the order, one unit less does not; the engine computed both.
    Least(u64),
    /// Not even this much does, the most that was tried: all usage, the most shares, until the age
    /// is at its maximum, ten years of running jobs.
    Never(u64),
}

/// One change, and how much of it puts the later one strictly ahead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remedy {
    /// The thing to change.
    #[serde(flatten)]
    pub kind: RemedyKind,
    /// How much is needed.
    pub answer: Answer,
}

/// Ten years: what runs now has ended long before.
const HORIZON_HOURS: u64 = 87_660;

/// Looks for amounts that reach a goal.
pub(super) struct Search<'a, 'g> {
    ranked: RankedSite<'a>,
    names: &'g dyn Names,
    pair: [Option<AssocIndex>; 2],
}

/// A goal: from the fair-share factors of the pair; false as things are.
pub(super) type Goal<'g> = Box<dyn FnMut([f64; 2]) -> bool + 'g>;

impl<'a, 'g> Search<'a, 'g> {
    /// `pair`: who moves, and the other; goals see their factors in this order.
    pub(super) fn new(
        ranked: &RankedSite<'a>,
        names: &'g dyn Names,
        pair: [Option<AssocIndex>; 2],
    ) -> Search<'a, 'g> {
        Search {
            ranked: *ranked,
            names,
            pair,
        }
    }

    /// How much of each change reaches the goal, which `goal` rebuilds for each thread: a look at
    /// the whole ranks all users of a site.
    pub(super) fn look<'c>(
        &self,
        changes: &[Variation],
        goal: &(impl Fn() -> Goal<'c> + Sync),
    ) -> Vec<Remedy> {
        let subjects: Vec<_> = changes.iter().map(|change| self.subject(*change)).collect();
        let (ranked, pair) = (&self.ranked, self.pair);
        let next = AtomicUsize::new(0);
        let work = || {
            let (mut site, mut goal) = (TrialSite::new(ranked, pair), goal());
            let mut found = Vec::new();
            loop {
                let at = next.fetch_add(1, AtomicOrdering::Relaxed);
                let Some(&change) = changes.get(at) else {
                    return found;
                };
                let most = subjects[at].1;
                let least = least(most, |amount| goal(site.factors(change, amount)));
                found.push((at, least.map_or(Answer::Never(most), Answer::Least)));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut answers = vec![Answer::Never(0); changes.len()];
        std::thread::scope(|scope| {
            let others = (1..threads.min(changes.len())).map(|_| scope.spawn(work));
            let others: Vec<_> = others.collect();
            let own = work();
            let found = others.into_iter().flat_map(|other| match other.join() {
                Ok(found) => found,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            for (at, answer) in own.into_iter().chain(found) {
                answers[at] = answer;
            }
        });
        let remedies = subjects.into_iter().zip(answers);
        remedies
            .map(|((kind, _), answer)| Remedy { kind, answer })
            .collect()
    }

    /// Decay alone, which is tried with one half-life; none where usage does not decay.
    ///
    /// Decay multiplies all usage alike, so that nothing changes, be it one half-life or many. The
    /// rounding of single passes, which can part equals by a last bit, is no part of the answer.
    pub(super) fn halving(&self) -> Option<Variation> {
        let decays = !fairtree::engine::decay(self.ranked.config).is_none();
        decays.then_some(Variation::Halving)
    }

    /// The subject of a change, and the largest amount that is tried.
    fn subject(&self, change: Variation) -> (RemedyKind, u64) {
        let tree = self.ranked.tree;
        let row = |index: AssocIndex| tree.rows()[index.get()];
        match change {
            Variation::LessUsage(index) => {
                let usage = self.ranked.raw[index.get()];
                let kind = RemedyKind::LessUsage {
                    assoc: row(index).id,
                    name: self.names.assoc(index),
                    is_account: row(index).kind == AssocKind::Account,
                    raw_usage: usage.to_f64(),
                };
                (kind, rounded_up(usage))
            }
            Variation::MoreShares(index) => {
                let raw_shares = row(index).shares.raw().unwrap_or(0);
                let kind = RemedyKind::MoreShares {
                    assoc: row(index).id,
                    name: self.names.assoc(index),
                    raw_shares,
                };
                (kind, self.shares_left(index, raw_shares))
            }
            Variation::Load => (RemedyKind::RunningLoad, HORIZON_HOURS),
            Variation::Halving => {
                let half_life_secs = self.ranked.config.priority_decay_half_life_secs;
                (RemedyKind::DecayAlone { half_life_secs }, 1)
            }
        }
    }

    /// How many shares an association can get. Slurm adds a level in 32 bits; beyond them more
    /// shares mean less.
    fn shares_left(&self, index: AssocIndex, raw_shares: u32) -> u64 {
        let own = u64::from(Shares::MAX_RAW - raw_shares);
        if !self.ranked.config.compat.is_slurm() {
            return own;
        }
        let level = self.ranked.tree.level_shares(index).unwrap_or(0);
        own.min(u64::from(u32::MAX).saturating_sub(level))
    }
}

/// Whole TRES-seconds that hold all of a usage.
fn rounded_up(usage: Extended) -> u64 {
    let whole = usage.to_u64_truncated();
    if Extended::from(whole) < usage {
        whole.saturating_add(1)
    } else {
        whole
    }
}
