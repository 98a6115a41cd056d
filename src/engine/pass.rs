//! The order of a pass.

use super::assoc_result::AssocResult;
use super::charge::charge_one;
use super::input::Input;
use super::stock_classic;
use crate::config::{Config, UsageModel};
use crate::extended::Extended;
use crate::fairshare::{self, Entitlement, Results};
use crate::priority::{AssocFactors, Job};
use crate::usage::{Charge, Given, HalfLife, Model, UsageChange, UsageError};
use std::ops::Range;

/// The state that passes keep between them: the usage model with its usage.
#[derive(Clone, Debug, Default)]
pub struct Engine {
    pub(super) model: Box<dyn Model>,
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

    /// The usage model, to be changed in any way.
    pub fn model_mut(&mut self) -> &mut Box<dyn Model> {
        &mut self.model
    }

    /// Takes over raw usage as the host's records have it, one number per association by position,
    /// valued at `moment`. A model that knows its usage by itself is left as it is.
    pub fn observe(&mut self, moment: Option<i64>, usage: impl Iterator<Item = Extended>) {
        if let Some(records) = self.model.records(moment) {
            records.clear();
            records.extend(usage);
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
        let change = self.spend(&input, host);
        self.publish(&input, factors, host);
        Outcome {
            change,
            last_ran,
            prices: true,
        }
    }

    /// The first two steps alone: usage advances to now, then jobs are charged.
    pub fn spend(&mut self, input: &Input<'_>, host: &mut impl Host) -> UsageChange {
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
        for at in jobs {
            let job = &input.accruing[at];
            let charged = charge_one(&mut *self.model, to, &period, job, host.tres(at));
            host.charged(at, charged);
        }
    }

    fn publish(&self, input: &Input<'_>, factors: &mut [AssocFactors], host: &mut impl Host) {
        let (config, tree, raw) = (input.config, input.tree, self.model.raw());
        let (ranking, compat) = (config.ranking(), config.compat);
        let found = match input.record_states {
            // Stock's records may still have the shares of another ranking.
            [_, ..] if compat.is_slurm() && ranking.keeps_levels() => {
                let shares = input.record_states.iter();
                let shares = shares.map(|state| state.norm_shares).collect();
                Results::All(fairshare::stock_fair_tree(tree, shares, raw))
            }
            _ => {
                let ranking = (ranking, &self.entitlement);
                fairshare::results(input.host_math, ranking, compat, tree, raw)
            }
        };
        for index in tree.indices() {
            let fairshare = found.of(index);
            if let Some(factor) = factors.get_mut(index.get()) {
                factor.fs_factor = fairshare.fs_factor.unwrap_or(0.0);
            }
            host.ranked(&AssocResult {
                index,
                raw_usage: raw,
                fairshare,
                open: false,
            });
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
        let raw = self.model.raw();
        for index in input.tree.indices() {
            let found = records.fairshare(index, raw);
            if let Some(factor) = factors.get_mut(index.get()) {
                factor.fs_factor = found.fs_factor.unwrap_or(0.0);
            }
            host.ranked(&AssocResult {
                index,
                raw_usage: raw,
                fairshare: found,
                open: records.is_open(index),
            });
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
