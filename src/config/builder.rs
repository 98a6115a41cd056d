//! Building a [`Config`] setting by setting, with slurmctld's checks at the end.

use super::{
    Config, ConfigError, PriorityFlags, PriorityParameters, Program, ResetPeriod, ValueError,
};
use crate::compat::Compat;

/// Builds a [`Config`] from slurm.conf's defaults and what is set here; made by
/// [`Config::builder`].
///
/// ```
/// use fairtree::config::Config;
/// let config = Config::builder()
///     .priority_weight_age(1000)
///     .priority_max_age_secs(14 * 86_400)
///     .priority_weight_tres([("gres/gpu", 3000.0)])
///     .build()
///     .unwrap();
/// assert_eq!(config.priority_weight_age, 1000);
/// assert_eq!(config.priority_weight_qos, 0);
///
/// let error = Config::builder().priority_decay_half_life_secs(0).build().unwrap_err();
/// assert_eq!(error.setting, "PriorityDecayHalfLife");
/// ```
#[derive(Clone, Debug, Default)]
pub struct ConfigBuilder {
    config: Config,
    reset_period_given: bool,
}

/// Setters of fields that take any value of their type.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty;)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $field(mut self, $field: $type) -> Self {
                self.config.$field = $field;
                self
            }
        )*
    };
}

impl ConfigBuilder {
    /// Starts with these settings.
    pub(super) fn starting(config: Config) -> ConfigBuilder {
        ConfigBuilder {
            config,
            reset_period_given: false,
        }
    }

    /// Starts with the settings of `config`, whose half-life may be 0.
    pub(super) fn of(config: Config) -> ConfigBuilder {
        ConfigBuilder {
            config,
            reset_period_given: true,
        }
    }

    setters! {
        /// `PriorityWeightAge`.
        priority_weight_age: u32;
        /// `PriorityWeightAssoc`.
        priority_weight_assoc: u32;
        /// `PriorityWeightFairshare`.
        priority_weight_fairshare: u32;
        /// `PriorityWeightJobSize`.
        priority_weight_job_size: u32;
        /// `PriorityWeightPartition`.
        priority_weight_partition: u32;
        /// `PriorityWeightQOS`.
        priority_weight_qos: u32;
        /// `PriorityMaxAge`, seconds; 0: every job that ages is at the maximum.
        priority_max_age_secs: u32;
        /// `PriorityFavorSmall`.
        priority_favor_small: bool;
        /// `PriorityFlags`.
        priority_flags: PriorityFlags;
        /// `PriorityDecayHalfLife`, seconds; 0, for which a reset period must be given as well:
        /// usage never decays.
        priority_decay_half_life_secs: u32;
        /// `PriorityCalcPeriod`, seconds, from 1.
        priority_calc_period_secs: u32;
        /// `FairShareDampeningFactor`, from 1.
        fair_share_dampening_factor: u16;
        /// `compat=` of `PriorityParameters`.
        compat: Compat;
        /// `max_lock_ms=` of `PriorityParameters`.
        max_lock_ms: u32;
    }

    /// `PriorityUsageResetPeriod`; giving it, be it [`ResetPeriod::None`], allows a half-life of
    /// 0, as in slurm.conf.
    #[must_use]
    pub fn priority_usage_reset_period(mut self, period: ResetPeriod) -> Self {
        self.config.priority_usage_reset_period = period;
        self.reset_period_given = true;
        self
    }

    /// `PriorityWeightTRES`: names and weights per unit, any finite numbers; of a name given
    /// twice the last counts.
    #[must_use]
    pub fn priority_weight_tres<N: Into<String>>(
        mut self,
        weights: impl IntoIterator<Item = (N, f64)>,
    ) -> Self {
        self.config.priority_weight_tres = weights
            .into_iter()
            .map(|(name, weight)| (name.into(), weight))
            .collect();
        self
    }

    /// Sets the values that `PriorityParameters` gives; other values stay.
    #[must_use]
    pub fn priority_parameters(mut self, parameters: PriorityParameters) -> Self {
        self.config.take(parameters);
        self
    }

    /// Checks the whole and hands it over.
    ///
    /// # Errors
    /// Those of [`Config::validate`], and a half-life of 0 where no reset period was given: usage
    /// would grow for ever (slurm.conf(5), "PriorityDecayHalfLife").
    pub fn build(self) -> Result<Config, ConfigError> {
        self.build_for(Program::Engine)
    }

    /// The same for another host than the engine by itself.
    pub(super) fn build_for(self, host: Program) -> Result<Config, ConfigError> {
        if self.config.priority_decay_half_life_secs == 0 && !self.reset_period_given {
            return Err(ValueError::new(
                "0",
                "a time above 0, or 0 together with PriorityUsageResetPeriod",
            )
            .of("PriorityDecayHalfLife"));
        }
        self.config.validate_for(host)?;
        Ok(self.config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_set_is_slurms_default() {
        assert_eq!(Config::builder().build().unwrap(), Config::default());
    }

    #[test]
    fn a_half_life_of_0_needs_a_reset_period() {
        let builder = Config::builder().priority_decay_half_life_secs(0);
        let error = builder.clone().build().unwrap_err();
        assert_eq!(error.setting, "PriorityDecayHalfLife");
        for period in [ResetPeriod::None, ResetPeriod::Monthly] {
            let config = builder.clone().priority_usage_reset_period(period).build();
            assert_eq!(config.unwrap().priority_usage_reset_period, period);
        }
    }

    #[test]
    fn ranges_are_checked() {
        for (builder, setting) in [
            (
                Config::builder().fair_share_dampening_factor(0),
                "FairShareDampeningFactor",
            ),
            (
                Config::builder().priority_calc_period_secs(0),
                "PriorityCalcPeriod",
            ),
            (
                Config::builder().priority_weight_tres([("cpu", f64::NAN)]),
                "PriorityWeightTRES",
            ),
            (
                Config::builder().priority_weight_tres([("", 1.0)]),
                "PriorityWeightTRES",
            ),
        ] {
            assert_eq!(builder.build().unwrap_err().setting, setting);
        }
    }

    #[test]
    fn parameters_change_only_what_they_give() {
        let parameters = PriorityParameters {
            calc_period: Some(7),
            ..PriorityParameters::default()
        };
        let config = Config::builder()
            .max_lock_ms(5)
            .priority_parameters(parameters)
            .build()
            .unwrap();
        assert_eq!(
            (config.priority_calc_period_secs, config.max_lock_ms),
            (7, 5)
        );
    }
}
