//! The settings as slurmctld holds them: plain numbers and strings.

use super::tres_weights::parse_tres_weights;
use super::{
    Config, ConfigBuilder, ConfigError, PriorityFlags, PriorityParameters, Program, ResetPeriod,
};
use crate::compat::Release;

/// The priority settings of slurmctld's `slurm_conf`, under its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig<'a> {
    /// `PriorityWeightAge`.
    pub priority_weight_age: u32,
    /// `PriorityWeightAssoc`.
    pub priority_weight_assoc: u32,
    /// `PriorityWeightFairshare`.
    pub priority_weight_fs: u32,
    /// `PriorityWeightJobSize`.
    pub priority_weight_js: u32,
    /// `PriorityWeightPartition`.
    pub priority_weight_part: u32,
    /// `PriorityWeightQOS`.
    pub priority_weight_qos: u32,
    /// `PriorityWeightTRES`; empty where slurmctld has none.
    pub priority_weight_tres: &'a str,
    /// `PriorityMaxAge`, seconds.
    pub priority_max_age: u32,
    /// `PriorityFavorSmall`: 0 is `NO`.
    pub priority_favor_small: u16,
    /// `PriorityFlags`: slurm.h's `PRIORITY_FLAGS_*`.
    pub priority_flags: u16,
    /// `PriorityDecayHalfLife`, seconds.
    pub priority_decay_hl: u32,
    /// `PriorityUsageResetPeriod`: slurm.h's `PRIORITY_RESET_*`.
    pub priority_reset_period: u16,
    /// `PriorityCalcPeriod`, seconds.
    pub priority_calc_period: u32,
    /// `FairShareDampeningFactor`.
    pub fs_dampening_factor: u16,
    /// `PriorityParameters`; empty where slurmctld has none.
    pub priority_params: &'a str,
}

impl Config {
    /// Takes the settings of a slurmctld of that release, whose own reader has checked slurm.conf's
    /// syntax; `compat=slurm` without a release means this one.
    ///
    /// # Errors
    /// Flags and reset periods that the release does not define, TRES weights and
    /// `PriorityParameters` that cannot be read, and the errors of [`Config::validate`], such as
    /// `FairShareDampeningFactor=0`, which slurmctld accepts; what the plugin does not carry out
    /// yet.
    pub fn from_host(host: &HostConfig<'_>, release: Release) -> Result<Config, ConfigError> {
        Config::from_host_reading(
            host,
            release,
            |_| Err("no file can be read here".to_owned()),
        )
    }

    /// The same with a policy file: `read` gives the text of a file by its path, or why it cannot.
    ///
    /// # Errors
    /// As [`Config::from_host`], and those of [`PriorityParameters::with_policy_file`].
    pub fn from_host_reading(
        host: &HostConfig<'_>,
        release: Release,
        read: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Config, ConfigError> {
        let flags = PriorityFlags::from_bits(host.priority_flags, release)
            .map_err(|error| error.of("PriorityFlags"))?;
        let reset_period = ResetPeriod::from_host(host.priority_reset_period)
            .map_err(|error| error.of("PriorityUsageResetPeriod"))?;
        let tres = parse_tres_weights(host.priority_weight_tres)
            .map_err(|error| error.of("PriorityWeightTRES"))?;
        let parameters = PriorityParameters::parse(host.priority_params, Some(release))?;
        let (parameters, accounts) = parameters.with_policy_file(Some(release), read)?;
        let config = Config {
            accounts,
            ..Config::default()
        };
        ConfigBuilder::starting(config)
            .priority_weight_age(host.priority_weight_age)
            .priority_weight_assoc(host.priority_weight_assoc)
            .priority_weight_fairshare(host.priority_weight_fs)
            .priority_weight_job_size(host.priority_weight_js)
            .priority_weight_partition(host.priority_weight_part)
            .priority_weight_qos(host.priority_weight_qos)
            .priority_weight_tres(tres)
            .priority_max_age_secs(host.priority_max_age)
            .priority_favor_small(host.priority_favor_small != 0)
            .priority_flags(flags)
            .priority_decay_half_life_secs(host.priority_decay_hl)
            .priority_usage_reset_period(reset_period)
            .priority_calc_period_secs(host.priority_calc_period)
            .fair_share_dampening_factor(host.fs_dampening_factor)
            .priority_parameters(parameters)
            .build_for(Program::Plugin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Compat;

    /// Values that slurmctld holds if slurm.conf gives none (read_config.c of 22.05.8).
    const DEFAULT: HostConfig<'static> = HostConfig {
        priority_weight_age: 0,
        priority_weight_assoc: 0,
        priority_weight_fs: 0,
        priority_weight_js: 0,
        priority_weight_part: 0,
        priority_weight_qos: 0,
        priority_weight_tres: "",
        priority_max_age: 604_800,
        priority_favor_small: 0,
        priority_flags: 1 << 5,
        priority_decay_hl: 604_800,
        priority_reset_period: 0,
        priority_calc_period: 300,
        fs_dampening_factor: 1,
        priority_params: "",
    };

    fn read(host: HostConfig<'_>) -> Result<Config, ConfigError> {
        Config::from_host(&host, Release::V22_05_8)
    }

    #[test]
    fn the_hosts_defaults_are_ours() {
        assert_eq!(read(DEFAULT).unwrap(), Config::default());
    }

    #[test]
    fn every_setting_arrives() {
        let config = read(HostConfig {
            priority_weight_age: 1,
            priority_weight_assoc: 2,
            priority_weight_fs: 3,
            priority_weight_js: 4,
            priority_weight_part: 5,
            priority_weight_qos: 6,
            priority_weight_tres: "cpu=7",
            priority_max_age: 8,
            priority_favor_small: 1,
            priority_flags: 1 << 6,
            priority_decay_hl: 0,
            priority_reset_period: 4,
            priority_calc_period: 60,
            fs_dampening_factor: 9,
            priority_params: "compat=slurm,calc_period=10,max_lock_ms=11",
        });
        let expected = Config {
            priority_weight_age: 1,
            priority_weight_assoc: 2,
            priority_weight_fairshare: 3,
            priority_weight_job_size: 4,
            priority_weight_partition: 5,
            priority_weight_qos: 6,
            priority_weight_tres: vec![("cpu".to_string(), 7.0)],
            priority_max_age_secs: 8,
            priority_favor_small: true,
            priority_flags: PriorityFlags {
                incr_only: true,
                no_fair_tree: true,
                ..PriorityFlags::default()
            },
            priority_decay_half_life_secs: 0,
            priority_usage_reset_period: ResetPeriod::Monthly,
            priority_calc_period_secs: 10,
            fair_share_dampening_factor: 9,
            compat: Compat::Slurm(Release::V22_05_8),
            max_lock_ms: 11,
            ..Config::default()
        };
        assert_eq!(config.unwrap(), expected);
    }

    #[test]
    fn a_policy_file_goes_on() {
        let host = HostConfig {
            priority_params: "calc_period=7,policy=/etc/policy.toml",
            ..DEFAULT
        };
        let read = |text: &str| {
            let text = text.to_owned();
            Config::from_host_reading(&host, Release::V22_05_8, |path| {
                assert_eq!(path, "/etc/policy.toml");
                Ok(text)
            })
        };
        let config = read("ranking = 'least_used:2'\n[accounts.a]\nminutes = 5\n").unwrap();
        assert_eq!(config.ranking().to_string(), "least_used:2");
        assert_eq!(config.priority_calc_period_secs, 7);
        assert_eq!(config.accounts[0].minutes, Some(5));
        for (text, error) in [
            ("rank = 'x'", "/etc/policy.toml:1:1: key"),
            (
                "[accounts.a]\nminutes = 1_0",
                "/etc/policy.toml:1:11: accounts.a.minutes: found \"1_0\"",
            ),
            (
                "[accounts.a]\nplan = 'half_life'",
                "/etc/policy.toml:1:11: accounts.a.plan: found \"half_life\"",
            ),
        ] {
            let found = read(text).unwrap_err().to_string();
            assert!(found.starts_with(error), "{found}");
        }
        let error = Config::from_host(&host, Release::V22_05_8).unwrap_err();
        assert_eq!(error.setting, "PriorityParameters policy");
    }

    #[test]
    fn what_slurmctld_lets_pass_is_refused_by_name() {
        for (host, setting) in [
            (
                HostConfig {
                    priority_flags: 1 << 15,
                    ..DEFAULT
                },
                "PriorityFlags",
            ),
            (
                HostConfig {
                    priority_reset_period: 7,
                    ..DEFAULT
                },
                "PriorityUsageResetPeriod",
            ),
            (
                HostConfig {
                    priority_weight_tres: "cpu",
                    ..DEFAULT
                },
                "PriorityWeightTRES",
            ),
            (
                HostConfig {
                    fs_dampening_factor: 0,
                    ..DEFAULT
                },
                "FairShareDampeningFactor",
            ),
            (
                HostConfig {
                    priority_params: "x=1",
                    ..DEFAULT
                },
                "PriorityParameters",
            ),
        ] {
            assert_eq!(read(host).unwrap_err().setting, setting);
        }
    }
}
