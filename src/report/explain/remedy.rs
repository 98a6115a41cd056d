//! What would change an order, and how much of it is needed.

use serde::Serialize;

use super::search::{Scope, least};
use super::tally::Tally;
use super::world::{Change, World};
use super::{Names, Scene};
use crate::extended::Extended;
use crate::fairshare::Algorithm;
use crate::tree::{AssocIndex, AssocKind, Shares};

/// What is changed, while all else stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RemedyKind {
    /// Had a user, or an account with each of its users in proportion, used less. Unit:
    /// TRES-seconds of raw usage, in today's value.
    LessUsage {
        /// Number of the association.
        assoc: u32,
        /// What the caller calls it.
        name: String,
        /// True for an account as a whole.
        is_account: bool,
        /// What it has used, TRES-seconds.
        raw_usage: f64,
    },
    /// Had an association more raw shares. Unit: shares to add.
    MoreShares {
        /// Number of the association.
        assoc: u32,
        /// What the caller calls it.
        name: String,
        /// What it has.
        raw_shares: u32,
    },
    /// If no job ran, so that usage only fades. Unit: half-lives.
    DecayAlone {
        /// `PriorityDecayHalfLife`, seconds.
        half_life_secs: u32,
    },
    /// If the running jobs went on as they do now and no other started. Unit: hours.
    RunningLoad,
    /// If both jobs waited on; every age grows. Unit: seconds. Where the sums differ by less than
    /// one point, priorities, which are cut to integers, pass each other for moments; the answer is
    /// then one of these.
    Waiting,
    /// Had the job a lower nice value. Unit: by how much. Users may only raise it.
    LowerNice {
        /// What it has.
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

/// One change, and how much of it puts the one behind strictly ahead.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Remedy {
    /// What is changed.
    #[serde(flatten)]
    pub kind: RemedyKind,
    /// How much is needed.
    pub answer: Answer,
}

/// Ten years: what runs now has ended long before.
const HORIZON_HOURS: u64 = 87_660;

/// Where amounts are guessed.
enum Guess<'a> {
    /// By the order of the two alone, or by classic factors.
    Order(Box<World<'a>>),
    /// By Fair Tree factors, which count all users.
    Rank(Tally),
}

/// What a goal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoalOf {
    /// The order of the two factors.
    Order,
    /// The factors themselves.
    Factors,
}

/// Looks for amounts that reach a goal.
pub(super) struct Search<'a, 'g> {
    scene: Scene<'a>,
    names: &'g dyn Names,
    guess: Guess<'a>,
    whole: World<'a>,
    /// From the fair-share factors of the pair; false as things are.
    goal: &'g mut dyn FnMut([f64; 2]) -> bool,
}

impl<'a, 'g> Search<'a, 'g> {
    /// `pair`: who moves, and the other; the goal sees their factors in this order.
    pub(super) fn new(
        scene: &Scene<'a>,
        names: &'g dyn Names,
        pair: [Option<AssocIndex>; 2],
        goal_of: GoalOf,
        goal: &'g mut dyn FnMut([f64; 2]) -> bool,
    ) -> Search<'a, 'g> {
        let by_rank = goal_of == GoalOf::Factors;
        Search {
            scene: *scene,
            names,
            guess: if by_rank && scene.config.algorithm() == Algorithm::FairTree {
                Guess::Rank(Tally::new(scene, pair))
            } else {
                Guess::Order(Box::new(World::sketch(scene, pair)))
            },
            whole: World::whole(scene, pair),
            goal,
        }
    }

    /// How much of `change` reaches the goal.
    pub(super) fn look(&mut self, change: Change) -> Remedy {
        let (kind, most) = self.subject(change);
        let (guess, whole, goal) = (&mut self.guess, &mut self.whole, &mut self.goal);
        let found = least(most, |scope, amount| {
            let factors = match (scope, &mut *guess) {
                (Scope::Whole, _) => whole.factors(change, amount),
                (Scope::Sketch, Guess::Order(world)) => world.factors(change, amount),
                (Scope::Sketch, Guess::Rank(tally)) => tally.factors(change, amount),
            };
            goal(factors)
        });
        let answer = found.map_or(Answer::Never(most), Answer::Least);
        Remedy { kind, answer }
    }

    /// Decay alone, tried with one half-life; `None` where usage does not fade.
    ///
    /// Decay multiplies all usage alike, so that nothing changes, be it one half-life or many. The
    /// rounding of single passes, which can part equals by a last bit, is no part of the answer.
    pub(super) fn halving(&mut self) -> Option<Remedy> {
        let fades = !crate::engine::decay(self.scene.config).is_none();
        fades.then(|| self.look(Change::Halving))
    }

    /// What a change is about, and the most that is tried.
    fn subject(&self, change: Change) -> (RemedyKind, u64) {
        let tree = self.scene.tree;
        let row = |index: AssocIndex| tree.rows()[index.get()];
        match change {
            Change::LessUsage(index) => {
                let usage = self.scene.ledger.raw()[index.get()];
                let kind = RemedyKind::LessUsage {
                    assoc: row(index).id,
                    name: self.names.assoc(index),
                    is_account: row(index).kind == AssocKind::Account,
                    raw_usage: usage.to_f64(),
                };
                (kind, rounded_up(usage))
            }
            Change::MoreShares(index) => {
                let raw_shares = row(index).shares.raw().unwrap_or(0);
                let kind = RemedyKind::MoreShares {
                    assoc: row(index).id,
                    name: self.names.assoc(index),
                    raw_shares,
                };
                (kind, self.shares_left(index, raw_shares))
            }
            Change::Load => (RemedyKind::RunningLoad, HORIZON_HOURS),
            Change::Halving => {
                let half_life_secs = self.scene.config.priority_decay_half_life_secs;
                (RemedyKind::DecayAlone { half_life_secs }, 1)
            }
        }
    }

    /// How many shares an association can get. Slurm adds a level in 32 bits; beyond them more
    /// shares mean less.
    fn shares_left(&self, index: AssocIndex, raw_shares: u32) -> u64 {
        let own = u64::from(Shares::MAX_RAW - raw_shares);
        if !self.scene.config.compat.is_slurm() {
            return own;
        }
        let level = self.scene.tree.level_shares(index).unwrap_or(0);
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
