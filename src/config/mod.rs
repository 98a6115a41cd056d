//! The settings, under slurm.conf's own names.
//!
//! Three ways lead to a [`Config`], with the same checks:
//!
//! - [`Config::from_slurm_conf`] reads slurm.conf's own lines ([`SlurmConfReader`] where there are
//!   included files, or where every error is wanted);
//! - [`Config::builder`] takes values;
//! - [`Config::from_host`] takes the numbers that slurmctld holds.
//!
//! The syntax of single values has files of its own: [`time`], [`number`], [`tres_weights`],
//! [`PriorityFlags::parse`], [`ResetPeriod::parse`], [`PriorityParameters::parse`]; that of lines is
//! in [`lines`].

pub mod lines;
pub mod number;
pub mod time;
pub mod tres_weights;

mod builder;
mod error;
mod flags;
mod host;
mod lacking;
mod parameters;
mod policy_file;
mod reset;
mod slurm_conf;

pub use builder::ConfigBuilder;
pub use error::{ConfigError, Place, ValueError};
pub use flags::PriorityFlags;
pub use host::HostConfig;
pub use lacking::Program;
pub use parameters::{
    CountedEnd, Counts, EndState, Expect, KEYS, KeyInfo, MinutesFrom, Order, PriorityParameters,
    Scope, Tiers, UsageModel,
};
pub use policy_file::{AccountPolicy, MOST_MINUTES, MOST_POLICY_BYTES, PolicyFile};
pub use reset::ResetPeriod;
pub use slurm_conf::{Include, SlurmConfReader};

use crate::compat::Compat;
use parameters::resolution;

/// Everything that decides factors and priorities, in slurm.conf's words.
///
/// The default is slurm.conf's: all weights 0, half-life and maximum age of 7 days, a pass every
/// 5 minutes, Fair Tree. `INFINITE` times are 4294967236 seconds (136 years), the number that
/// slurmctld makes of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `PriorityWeightAge`.
    pub priority_weight_age: u32,
    /// `PriorityWeightAssoc`.
    pub priority_weight_assoc: u32,
    /// `PriorityWeightFairshare`.
    pub priority_weight_fairshare: u32,
    /// `PriorityWeightJobSize`.
    pub priority_weight_job_size: u32,
    /// `PriorityWeightPartition`.
    pub priority_weight_partition: u32,
    /// `PriorityWeightQOS`.
    pub priority_weight_qos: u32,
    /// `PriorityWeightTRES`: name (`cpu`, `gres/gpu`) and weight per unit of the TRES, in the
    /// order given; of a name given twice the last counts.
    pub priority_weight_tres: Vec<(String, f64)>,
    /// `PriorityMaxAge`, seconds; 0: every job that ages is at the maximum.
    pub priority_max_age_secs: u32,
    /// `PriorityFavorSmall`.
    pub priority_favor_small: bool,
    /// `PriorityFlags`.
    pub priority_flags: PriorityFlags,
    /// `PriorityDecayHalfLife`, seconds; 0: usage never decays.
    pub priority_decay_half_life_secs: u32,
    /// `PriorityUsageResetPeriod`.
    pub priority_usage_reset_period: ResetPeriod,
    /// `PriorityCalcPeriod`, seconds (or `calc_period=` of `PriorityParameters`), from 1.
    pub priority_calc_period_secs: u32,
    /// `FairShareDampeningFactor`, from 1 up.
    pub fair_share_dampening_factor: u16,
    /// `compat=` of `PriorityParameters`.
    pub compat: Compat,
    /// `max_lock_ms=` of `PriorityParameters`; 0: a pass is applied in one piece.
    pub max_lock_ms: u32,
    /// Other values of `PriorityParameters` and the policy file: there is a method for each key.
    pub parameters: PriorityParameters,
    /// Accounts with minutes or plans in the policy file.
    pub accounts: Vec<AccountPolicy>,
}

/// Seven days, slurm.conf's default of `PriorityMaxAge` and `PriorityDecayHalfLife`.
const WEEK_SECS: u32 = 7 * 86_400;

impl Default for Config {
    /// slurm.conf's defaults (slurm.conf(5)).
    fn default() -> Config {
        Config {
            priority_weight_age: 0,
            priority_weight_assoc: 0,
            priority_weight_fairshare: 0,
            priority_weight_job_size: 0,
            priority_weight_partition: 0,
            priority_weight_qos: 0,
            priority_weight_tres: Vec::new(),
            priority_max_age_secs: WEEK_SECS,
            priority_favor_small: false,
            priority_flags: PriorityFlags::default(),
            priority_decay_half_life_secs: WEEK_SECS,
            priority_usage_reset_period: ResetPeriod::None,
            priority_calc_period_secs: 300,
            fair_share_dampening_factor: 1,
            compat: Compat::Documented,
            max_lock_ms: 0,
            parameters: PriorityParameters::default(),
            accounts: Vec::new(),
        }
    }
}

impl Config {
    /// A builder that starts with slurm.conf's defaults.
    pub fn builder() -> ConfigBuilder {
        ConfigBuilder::default()
    }

    /// These settings with what their policy file says, for a report on a site that follows it; the
    /// caller has read the file.
    ///
    /// # Errors
    /// A key that both give, and the errors of [`Config::validate`].
    pub fn with_policy(self, file: &PolicyFile) -> Result<Config, ConfigError> {
        self.with_policy_for(Program::Command, file)
    }

    /// The same where another host carries the settings out.
    ///
    /// # Errors
    /// As [`Config::with_policy`].
    pub fn with_policy_for(
        mut self,
        host: Program,
        file: &PolicyFile,
    ) -> Result<Config, ConfigError> {
        self.parameters.policy = None;
        let parameters = std::mem::take(&mut self.parameters).with(&file.parameters)?;
        self.take(parameters);
        self.accounts.clone_from(&file.accounts);
        self.validate_for(host)?;
        Ok(self)
    }

    /// These settings with what a policy file says instead of theirs: for a report on what that
    /// policy would do.
    ///
    /// # Errors
    /// Those of [`Config::validate`].
    pub fn under_policy(mut self, file: &PolicyFile) -> Result<Config, ConfigError> {
        self.parameters = PriorityParameters::default();
        self.take(file.parameters.clone());
        self.accounts.clone_from(&file.accounts);
        self.validate_for(Program::Command)?;
        Ok(self)
    }

    /// Takes the keys that have fields of their own into these, and the others as they are.
    fn take(&mut self, mut parameters: PriorityParameters) {
        self.compat = parameters.compat.take().unwrap_or(self.compat);
        self.max_lock_ms = parameters.max_lock_ms.take().unwrap_or(self.max_lock_ms);
        let period = parameters.calc_period.take();
        self.priority_calc_period_secs = period.unwrap_or(self.priority_calc_period_secs);
        self.parameters = parameters;
    }

    /// Checks the ranges that the types leave open, for a C program.
    ///
    /// # Errors
    /// The first of [`Config::refusals`].
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_for(Program::Engine)
    }

    /// The same where another host carries the settings out.
    fn validate_for(&self, host: Program) -> Result<(), ConfigError> {
        self.refusals(host).into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything in these settings that a host refuses; empty: it takes them. Plugin, C library,
    /// command and linter ask this function alone.
    ///
    /// `FairShareDampeningFactor` or `PriorityCalcPeriod` of 0; in `PriorityWeightTRES` a name
    /// that is empty or has blanks, or a weight that is not finite; beside `compat=slurm`, what
    /// stock does not have; [`Config::short_windows`]; minutes both in the file and as shares; what the host does not carry out yet. Each
    /// quotes the value as it was written.
    ///
    /// ```
    /// use fairtree::config::{Config, Program, PriorityParameters};
    /// let parameters = PriorityParameters::parse("resolution=1-0", None).unwrap();
    /// let config = Config { parameters, ..Config::default() };
    /// let refusals = config.refusals(Program::Plugin);
    /// assert_eq!(refusals[0].setting, "PriorityParameters resolution");
    /// assert_eq!(refusals[0].value, "1-0");
    /// ```
    pub fn refusals(&self, host: Program) -> Vec<ConfigError> {
        let mut found = Vec::new();
        if self.fair_share_dampening_factor == 0 {
            let error = ValueError::new("0", "a whole number from 1 to 65535");
            found.push(error.of("FairShareDampeningFactor"));
        }
        if self.priority_calc_period_secs == 0 {
            found.push(ValueError::new("0", "a time above 0").of("PriorityCalcPeriod"));
        }
        for (name, weight) in &self.priority_weight_tres {
            if name.is_empty() || name.contains(char::is_whitespace) || !weight.is_finite() {
                let error = ValueError::new(
                    format!("{name}={weight}"),
                    "a name without blanks and a finite number",
                );
                found.push(error.of("PriorityWeightTRES"));
            }
        }
        found.extend(self.parameters.beyond_compat(self.compat));
        found.extend(self.short_windows());
        found.extend(self.minutes_twice());
        found.extend(self.not_carried_out(host));
        found
    }

    /// The refusals of windows without room for one bucket: that of `usage=`, and plans of accounts.
    pub fn short_windows(&self) -> Vec<ConfigError> {
        let least = self.resolution_secs();
        let is_short = |model: UsageModel| match model {
            UsageModel::Window { length_secs } => length_secs < least,
            UsageModel::HalfLife | UsageModel::Total { .. } => false,
        };
        let allowed = match self.parameters.written("resolution") {
            given if given.is_empty() => {
                format!(
                    "a window of {}, the default of resolution=, or more",
                    resolution::DEFAULT
                )
            }
            given => format!("a window of {given}, which resolution= gives, or more"),
        };
        let of_usage = is_short(self.usage()).then(|| {
            let written = self.parameters.written("usage");
            ValueError::new(written, &allowed).of("PriorityParameters usage")
        });
        let plans = self
            .accounts
            .iter()
            .filter(|row| row.plan.is_some_and(is_short));
        let of_plans = plans.map(|row| {
            let error = ValueError::new(row.written("plan"), &allowed).of(row.setting("plan"));
            ConfigError {
                place: Some(row.place.clone()),
                ..error
            }
        });
        of_usage.into_iter().chain(of_plans).collect()
    }

    /// The refusal of minutes in the policy file beside `minutes=shares`: the first account.
    fn minutes_twice(&self) -> Option<ConfigError> {
        let mut accounts = self.accounts.iter();
        let row = accounts.find(|row| row.minutes.is_some())?;
        (self.minutes() == MinutesFrom::Shares).then(|| {
            let allowed = "no minutes of accounts in the policy file beside minutes=shares, with \
                           which raw shares are minutes";
            let error = ValueError::new(row.written("minutes"), allowed);
            ConfigError {
                place: Some(row.place.clone()),
                ..error.of(row.setting("minutes"))
            }
        })
    }
}
