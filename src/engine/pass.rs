//! The order of a pass.

use super::assoc_result::{AssocResult, NormShares};
use super::charge::charge_one;
use super::input::Input;
use super::ranks::Ranks;
use super::stock_classic;
use crate::compat::Compat;
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::fairshare::{self, Entitlement, NumbersOf, RecordState};
use crate::priority::{AssocFactors, Job};
use crate::tree::{AssocIndex, Tree};
use crate::usage::window::Changed;
use crate::usage::{Charge, Given, HalfLife, Model, UsageChange, UsageError};
use std::ops::Range;

/// The state that passes keep between them: the usage model with its usage, and the ranks.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    pub(super) model: Box<dyn Model>,
    /// Associations whose usage changed other than by uniform decay since the last ranking; may
    /// repeat.
    changed: Vec<AssocIndex>,
    pub(super) ranks: Ranks,
    /// Everything is to be published, not only what changes.
    unpublished: bool,
    /// What associations are entitled to, where the ranking looks at it.
    entitlement: Entitlement,
}

/// Receiver of the results of a pass, step by step.
pub trait Host {
    /// An accruing job was charged; `None`: nothing was due. Errors are charges that are no
    /// numbers, which changed nothing.
    fn charged(&mut self, job: usize, charge: Result<Option<Charge>, UsageError>);

    /// The results for one association; the engine calls it for all of them, by position.
    fn ranked(&mut self, found: &AssocResult<'_>);

    /// The allocated count of each TRES of an accruing job, for models that keep usage of these.
    fn tres(&self, job: usize) -> &[u64] {
        let _ = job;
        &[]
    }
}

/// A host that ignores the results.
impl Host for () {
    fn charged(&mut self, _job: usize, _charge: Result<Option<Charge>, UsageError>) {}

    fn ranked(&mut self, _found: &AssocResult<'_>) {}
}

/// The outcome of a pass, for the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The decay of the usage in the host's records; charges are not included.
    pub change: UsageChange,
    /// What [`Input::last_ran`] is for the next pass. Documented: never earlier than before, so
    /// that no time is charged twice when the clock steps back.
    pub last_ran: i64,
    /// Whether jobs are to be priced. Not by a classic pass of stock that does nothing: then all
    /// priorities stay as they are.
    pub prices: bool,
}

/// Whether [`Engine::compute`] needs the jobs to price: in the order of stock's classic fair
/// share.
pub fn asks_for_queue(config: &Config) -> bool {
    config.compat.is_slurm() && !config.ranking().keeps_levels()
}

impl Engine {
    /// With usage as the model has it.
    pub fn new(model: Box<dyn Model>) -> Engine {
        Engine {
            model,
            changed: Vec::new(),
            ranks: Ranks::None,
            unpublished: true,
            entitlement: Entitlement::SHARES,
        }
    }

    /// Takes over settings, for a host that calls [`Engine::observe`] before each pass: under a
    /// half-life its records are the usage, and in windows and totals it counts by itself.
    pub fn configure(&mut self, config: &Config) {
        if !self.model.fits(config) {
            self.model = match config.usage() {
                UsageModel::HalfLife => Box::new(HalfLife::default()),
                UsageModel::Window { .. } | UsageModel::Total { .. } => Box::new(Given::default()),
            };
            self.invalidate();
        }
        self.model.configure(config);
    }

    /// From now on associations are entitled to this instead of shares of one whole, where the
    /// ranking looks at it; positions are those of the tree.
    pub fn entitle(&mut self, entitlement: &Entitlement) {
        if self.entitlement != *entitlement {
            self.entitlement.clone_from(entitlement);
        }
    }

    /// The usage model.
    pub fn model(&self) -> &dyn Model {
        &*self.model
    }

    /// The usage model, to be changed in any way; the next pass ranks everything again.
    pub fn model_mut(&mut self) -> &mut Box<dyn Model> {
        self.invalidate();
        &mut self.model
    }

    /// The tree, or the table that factors are published to, is another one: the next pass ranks
    /// and publishes everything.
    pub fn invalidate(&mut self) {
        self.ranks = Ranks::None;
        self.changed.clear();
        self.unpublished = true;
    }

    /// Takes over raw usage as the host's records have it, one number per association by position,
    /// valued at `moment`. Where it is not what the last pass left, the host has charged or
    /// set it. A model that knows its usage by itself is left as it is.
    pub fn observe(&mut self, moment: Option<i64>, usage: impl ExactSizeIterator<Item = Extended>) {
        let Some(records) = self.model.records(moment) else {
            return;
        };
        if matches!(self.ranks, Ranks::None) || records.len() != usage.len() {
            records.clear();
            records.extend(usage);
            self.ranks = Ranks::None;
            return;
        }
        for (position, (left, now)) in records.iter_mut().zip(usage).enumerate() {
            if *left != now {
                *left = now;
                self.changed.push(AssocIndex::new(position));
            }
        }
    }

    /// All steps but pricing. `factors`: the table that pricing reads, one per association; or
    /// empty, where the host takes factors from [`Host::ranked`].
    ///
    /// `queue`: the jobs to price, in the order of the host's job list, each with the number of
    /// accruing ones that stand before it, itself included. Only classic fair share under
    /// `compat=slurm` asks, as the order of jobs decides there.
    ///
    /// # Panics
    /// When usage, records or factors are not one per association.
    pub fn compute(
        &mut self,
        input: Input<'_>,
        queue: impl Iterator<Item = (Job, usize)>,
        factors: &mut [AssocFactors],
        host: &mut impl Host,
    ) -> Outcome {
        input.check(self.model.raw().len());
        assert!(
            factors.is_empty() || factors.len() == input.tree.len(),
            "one factor per association"
        );
        let last_ran = last_ran(&input);
        if asks_for_queue(input.config) {
            return self.stock_classic(input, queue, factors, host, last_ran);
        }
        let change = self.use_up(&input, host);
        self.rank(&input, change);
        self.publish(&input, factors, host);
        Outcome {
            change,
            last_ran,
            prices: true,
        }
    }

    /// The first two steps alone: usage advances to now, then jobs are charged. The next pass ranks
    /// everything again.
    pub fn spend(&mut self, input: &Input<'_>, host: &mut impl Host) -> UsageChange {
        self.invalidate();
        self.use_up(input, host)
    }

    fn use_up(&mut self, input: &Input<'_>, host: &mut impl Host) -> UsageChange {
        let change = self.advance(input);
        self.charge(input, 0..input.accruing.len(), host);
        change
    }

    /// Ranks once more what the host's records hold by now, and publishes that: no time passes, and
    /// no run is charged. Not for the order of stock's classic fair share.
    pub fn rank_again(
        &mut self,
        input: Input<'_>,
        factors: &mut [AssocFactors],
        host: &mut impl Host,
    ) {
        input.check(self.model.raw().len());
        self.rank(&input, UsageChange::Factor(1.0));
        self.publish(&input, factors, host);
    }

    fn advance(&mut self, input: &Input<'_>) -> UsageChange {
        if input.clears {
            self.model.clear();
        }
        let change = self.model.advance(input.tree, input.now);
        match input.clears {
            true => UsageChange::Cleared,
            false => change,
        }
    }

    fn charge(&mut self, input: &Input<'_>, jobs: Range<usize>, host: &mut impl Host) {
        let period = input.period();
        let to = (input.config, input.tree);
        // Ranks that are rebuilt look at everything.
        let follows = !matches!(self.ranks, Ranks::None);
        for at in jobs {
            let job = &input.accruing[at];
            let charged = charge_one(&mut *self.model, to, &period, job, host.tres(at));
            if follows && matches!(charged, Ok(Some(_))) {
                self.changed.push(job.assoc);
            }
            host.charged(at, charged);
        }
    }

    fn rank(&mut self, input: &Input<'_>, change: UsageChange) {
        let config = input.config;
        match self.model.take_changed() {
            Changed::All => self.ranks = Ranks::None,
            Changed::Some(changed) => self.changed.extend(changed),
        }
        if config.ranking().keeps_levels() {
            let factor = change.factor();
            let of = (config.compat, input.tree);
            let (raw, changed) = (self.model.raw(), &self.changed);
            self.ranks
                .follow(of, raw, factor, changed, input.record_states);
        } else {
            self.ranks = Ranks::None;
        }
        self.changed.clear();
    }

    fn publish(&mut self, input: &Input<'_>, factors: &mut [AssocFactors], host: &mut impl Host) {
        let (config, tree, raw) = (input.config, input.tree, self.model.raw());
        let compat = config.compat;
        if config.ranking().keeps_levels() {
            if !factors.is_empty() {
                self.ranks.publish(factors, self.unpublished);
                self.unpublished = false;
            }
            tell_levels(compat, tree, raw, &self.ranks, input.record_states, host);
            return;
        }
        self.unpublished = true;
        let ranking = (config.ranking(), &self.entitlement);
        let numbers = fairshare::results(input.host_math, ranking, compat, tree, raw);
        for index in tree.indices() {
            let found = numbers.of(index);
            if let Some(factor) = factors.get_mut(index.get()) {
                factor.fs_factor = found.fs_factor.unwrap_or(0.0);
            }
            host.ranked(&AssocResult::new(index, raw, &found, false));
        }
    }

    /// The order of stock's classic fair share: see [`stock_classic`].
    fn stock_classic(
        &mut self,
        input: Input<'_>,
        queue: impl Iterator<Item = (Job, usize)>,
        factors: &mut [AssocFactors],
        host: &mut impl Host,
        last_ran: i64,
    ) -> Outcome {
        self.invalidate();
        let mut input = input;
        let host_states = std::mem::take(&mut input.record_states);
        let mut computed = Vec::new();
        let record_states = if host_states.is_empty() {
            computed.extend(stock_classic::record_states(&input, self.model.raw()));
            &mut computed[..]
        } else {
            host_states
        };
        let mut records = stock_classic::records(&input, record_states);
        records.begin_pass(self.model.raw());
        let change = self.advance(&input);
        let prices = input.last_ran.is_some_and(|last_ran| input.now > last_ran);
        if prices {
            let mut charged = 0;
            for (job, before) in queue {
                if charged < before {
                    self.charge(&input, charged..before, host);
                    charged = before;
                }
                if let Some(assoc) = stock_classic::payer(input.config, &job) {
                    records.ask(assoc, self.model.raw());
                }
            }
            self.charge(&input, charged..input.accruing.len(), host);
        }
        self.changed.clear();
        let raw = self.model.raw();
        for index in input.tree.indices() {
            let found = records.fairshare(index, raw);
            if let Some(factor) = factors.get_mut(index.get()) {
                factor.fs_factor = found.fs_factor.unwrap_or(0.0);
            }
            let open = records.is_open(index);
            host.ranked(&AssocResult::new(index, raw, &found, open));
        }
        Outcome {
            change,
            last_ran,
            prices,
        }
    }
}

/// What the last pass is for the next one.
pub(super) fn last_ran(input: &Input<'_>) -> i64 {
    match input.last_ran {
        Some(last_ran) if !input.config.compat.is_slurm() => last_ran.max(input.now),
        _ => input.now,
    }
}

/// Tells the host what was found for each association under Fair Tree.
fn tell_levels(
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
    ranks: &Ranks,
    record_states: &[RecordState],
    host: &mut impl Host,
) {
    let mut numbers = NumbersOf::new(compat, tree, raw_usage);
    for index in tree.indices() {
        // Documented numbers take shares from the tree; normalised ones are for who asks.
        let (shares, norm_shares) = match record_states.get(index.get()) {
            Some(state) => (state.norm_shares, NormShares::Known(state.norm_shares)),
            None if compat.is_slurm() => {
                let shares = tree.norm_share_of_level(index, compat);
                (shares, NormShares::Known(shares))
            }
            None => (0.0, NormShares::OfLevel(tree, compat)),
        };
        let numbers = numbers.of(index, shares);
        host.ranked(&AssocResult {
            index,
            raw_usage,
            norm_usage: numbers.norm_usage,
            effective_usage: numbers.effective_usage,
            level_fs: numbers.level_fs,
            fs_factor: ranks.fs_factor(index),
            open: false,
            norm_shares,
        });
    }
}
