//! A site that passes, for hosts that have all of it in memory.

use jiff::tz::TimeZone;

use super::charge::Accruing;
use super::charged_by_passes::{ChargedByPasses, RunKey};
use super::input::Input;
use super::pass::{Engine, Host, Outcome, last_ran};
use crate::compat::Compat;
use crate::config::{Config, ResetPeriod};
use crate::extended::Extended;
use crate::fairshare::{Entitlement, HostMath};
use crate::priority::{AssocFactors, Job};
use crate::tree::{AssocId, Shares, Tree, TreeError};
use crate::usage::{Model, ModelSettings, RawUsage, ResetSchedule, UsageChange, UsageError};

/// Associations, their usage by any model, and the moments up to which runs were charged.
///
/// [`Site::pass`] is one whole pass except pricing. Resets (`PriorityUsageResetPeriod`) are for models
/// that do not keep when usage was used.
///
/// ```
/// use fairtree::config::Config;
/// use fairtree::engine::{Accruing, Site};
/// use fairtree::priority::TimeLimit;
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::{HalfLife, RawUsage, Run, RunState};
/// let row = |id, parent, kind| Assoc { id, parent, kind, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([row(1, None, AssocKind::Account), row(2, Some(1), AssocKind::User)])?;
/// let assoc = tree.index_of(2).unwrap();
/// let config = Config { priority_decay_half_life_secs: 0, ..Config::default() };
/// let model = HalfLife::of(&config, RawUsage::new(&tree), Some(1_000));
/// let mut site = Site::new(tree, Box::new(model), 1_000);
/// let run = Run {
///     state: RunState::default(),
///     start_time: 1_100,
///     end_time: 0,
///     end_time_exp: Some(i64::MAX),
///     time_limit: TimeLimit::Unlimited,
///     billable_tres: 4.0,
///     usage_factor: 1.0,
///     charged_until: None,
///     passed: None,
///     run_secs_renewed: false,
/// };
/// let mut runs = [Accruing { job: 7, assoc, run, at_end: false }];
/// for now in [1_300, 1_600] {
///     site.pass(&config, &mut runs, &[], now, &mut [], &mut ());
/// }
/// // 500 s of 4 TRES, for the user and the root above.
/// assert_eq!(site.raw().iter().map(|usage| usage.to_f64()).collect::<Vec<_>>(), [2_000.0; 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Site {
    tree: Tree,
    engine: Engine,
    charged_until: ChargedByPasses,
    resets: ResetSchedule,
    zone: TimeZone,
}

impl Site {
    /// `model`: usage of the tree; runs count as charged up to its moment. `last_reset`: seconds since
    /// 1970. The time zone of resets is UTC.
    ///
    /// # Panics
    /// When usage is not one number per association.
    pub fn new(tree: Tree, model: Box<dyn Model>, last_reset: i64) -> Site {
        assert_eq!(model.raw().len(), tree.len(), "one usage per association");
        Site {
            tree,
            charged_until: ChargedByPasses::new(model.moment()),
            engine: Engine::new(model),
            resets: ResetSchedule::new(ResetPeriod::None, Compat::Documented, last_reset),
            zone: TimeZone::UTC,
        }
    }

    /// Associations.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The usage model.
    pub fn model(&self) -> &dyn Model {
        self.engine.model()
    }

    /// Raw usage by position, with that of all below.
    pub fn raw(&self) -> &[Extended] {
        self.model().raw()
    }

    /// The moment that usage is valued at, seconds since 1970; 0 before the first.
    pub fn moment(&self) -> i64 {
        self.model().moment().unwrap_or(0)
    }

    /// Time at which usage was cleared last, seconds since 1970.
    pub fn last_reset(&self) -> i64 {
        self.resets.last_reset()
    }

    /// Sets the time at which usage was cleared last, seconds since 1970. A host that has none before its first pass takes
    /// the time of that pass, as slurmctld does: no reset is due then.
    pub fn set_last_reset(&mut self, last_reset: i64) {
        self.resets = ResetSchedule::new(ResetPeriod::None, Compat::Documented, last_reset);
    }

    /// Sets the time zone of resets.
    pub fn set_zone(&mut self, zone: TimeZone) {
        self.zone = zone;
    }

    /// Sets entitlements, for rankings that read them; positions are those of the tree.
    pub fn entitle(&mut self, entitlement: &Entitlement) {
        self.engine.entitle(entitlement);
    }

    /// Changes the shares of an association.
    ///
    /// # Errors
    /// Those of [`Tree::set_shares`].
    pub fn set_shares(&mut self, id: AssocId, shares: Shares) -> Result<(), TreeError> {
        self.tree.set_shares(id, shares)
    }

    /// Adds, removes or moves associations, with [`RawUsage`]'s functions for that. A model that
    /// keeps when usage was used follows the tree afterwards.
    ///
    /// # Errors
    /// Those of `change`, which then has changed nothing.
    pub fn edit_tree<R>(
        &mut self,
        change: impl FnOnce(&mut Tree, &mut RawUsage) -> Result<R, TreeError>,
    ) -> Result<R, TreeError> {
        let model = self.engine.model_mut();
        if let Some(raw_usage) = model.raw_usage_mut() {
            return change(&mut self.tree, raw_usage);
        }
        let before = self.tree.clone();
        let result = change(&mut self.tree, &mut RawUsage::new(&before))?;
        model.follow_tree(&before, &self.tree);
        Ok(result)
    }

    /// Changes usage in any way.
    pub fn edit_usage<R>(&mut self, change: impl FnOnce(&Tree, &mut Box<dyn Model>) -> R) -> R {
        change(&self.tree, self.engine.model_mut())
    }

    /// Changes to the usage model that settings ask for, see [`Model::continued`]. Runs count as
    /// charged up to its moment where a half-life continues from a window.
    ///
    /// # Errors
    /// Those of [`Model::continued`]; nothing is changed.
    pub fn set_model(&mut self, settings: &ModelSettings<'_>) -> Result<(), UsageError> {
        let next = self.model().continued(&self.tree, settings)?;
        if self.model().raw_usage().is_none() && next.raw_usage().is_some() {
            self.charged_until = ChargedByPasses::new(next.moment());
        }
        *self.engine.model_mut() = next;
        Ok(())
    }

    /// Lets time pass without runs: usage advances to `now`, after a reset if one is due. Ranks do not
    /// change until the next pass.
    pub fn advance(&mut self, config: &Config, now: i64) -> UsageChange {
        let clears = self.begin(config, now);
        let input = input(&self.tree, &self.charged_until, config, (clears, now), &[]);
        self.engine.spend(&input, &mut ())
    }

    /// As [`Site::pass`] without ranks, for a host that lets much time pass: usage advances, and runs are
    /// charged. Ranks do not change until the next pass.
    pub fn spend(&mut self, config: &Config, runs: &mut [Accruing], now: i64) -> UsageChange {
        let clears = self.begin(config, now);
        self.set_passed(runs, now);
        let input = input(&self.tree, &self.charged_until, config, (clears, now), runs);
        let last_ran = last_ran(&input);
        let change = self.engine.spend(&input, &mut ());
        self.commit(config, runs, (last_ran, now));
        change
    }

    /// One pass except pricing: usage advances, runs are charged for the time since the pass that
    /// charged them last, and associations are ranked.
    ///
    /// `runs`: all runs that exist, and those that ended since the last pass; their
    /// [`Run::passed`](crate::usage::Run::passed) is set here. `jobs`: the jobs to price, which count
    /// as listed after all runs; only where [`super::asks_for_queue`]. `factors`, `host`: as for
    /// [`Engine::compute`].
    pub fn pass(
        &mut self,
        config: &Config,
        runs: &mut [Accruing],
        jobs: &[Job],
        now: i64,
        factors: &mut [AssocFactors],
        host: &mut impl Host,
    ) -> Outcome {
        let clears = self.begin(config, now);
        self.set_passed(runs, now);
        let count = runs.len();
        let queue = jobs.iter().map(|job| (*job, count));
        let input = input(&self.tree, &self.charged_until, config, (clears, now), runs);
        let outcome = self.engine.compute(input, queue, factors, host);
        self.commit(config, runs, (outcome.last_ran, now));
        outcome
    }

    fn set_passed(&self, runs: &mut [Accruing], now: i64) {
        for run in runs {
            run.run.passed = self.charged_until.until(run.key(), now);
        }
    }

    fn commit(&mut self, config: &Config, runs: &[Accruing], (last_ran, now): (i64, i64)) {
        let keys: Vec<RunKey> = runs.iter().map(Accruing::key).collect();
        let keys = (!config.compat.is_slurm()).then_some(keys);
        self.charged_until.commit(last_ran, now, keys);
    }

    /// Takes over settings; returns true if all usage must be cleared now.
    fn begin(&mut self, config: &Config, now: i64) -> bool {
        self.engine.model.configure(config);
        let period = config.priority_usage_reset_period;
        if !self.resets.is_for(period, config.compat) {
            self.resets.set_period(period, config.compat);
        }
        self.model().raw_usage().is_some() && self.resets.take_due(now, &self.zone)
    }
}

fn input<'a>(
    tree: &'a Tree,
    charged_until: &ChargedByPasses,
    config: &'a Config,
    (clears, now): (bool, i64),
    accruing: &'a [Accruing],
) -> Input<'a> {
    Input {
        config,
        tree,
        accruing,
        record_states: &mut [],
        host_math: HostMath::default(),
        clears,
        last_ran: charged_until.last_ran(),
        now,
    }
}
