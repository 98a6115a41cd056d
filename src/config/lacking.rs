//! Settings that are read and checked, but not implemented yet.
//!
//! A setting without effect would be worse than an error: the administrator believes in it. So
//! what is not carried out is refused, by the list below, and by nothing else; a commit that makes a
//! setting work removes its line, or one host from it.

use super::error::{ConfigError, ValueError};
use super::{Config, Counts, Expect, Order, Scope, Tiers, UsageModel};

/// Who carries settings out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The plugin in slurmctld.
    Plugin,
    /// The engine alone: the C library.
    Engine,
    /// The command, which reports on sites: it reads every policy, and its reports say what they
    /// do not follow.
    Command,
}

impl Host {
    const fn name(self) -> &'static str {
        match self {
            Host::Plugin => "the plugin",
            Host::Engine | Host::Command => "this program",
        }
    }
}

/// One setting that some hosts do not carry out.
struct Lack {
    key: &'static str,
    by: &'static [Host],
    /// What they do carry out.
    allowed: &'static str,
    /// The value that they do not; `None`: the settings ask for no such thing.
    asked: fn(&Config) -> Option<String>,
}

const BOTH: &[Host] = &[Host::Plugin, Host::Engine];

/// The list.
const LACKING: &[Lack] = &[
    Lack {
        key: "resolution",
        by: BOTH,
        allowed: "nothing, or a window or total of usage= beside it",
        asked: |config| {
            let secs = config.parameters.resolution.filter(|_| decays(config));
            secs.map(|secs| format!("{secs} s"))
        },
    },
    Lack {
        key: "ranking",
        by: &[Host::Plugin],
        // With such flags slurmctld and its sshare work factors out by themselves, by a formula.
        allowed: "the ranking that PriorityFlags choose, or any without compat=slurm, \
                  NO_FAIR_TREE and DEPTH_OBLIVIOUS",
        asked: |config| {
            let (ranking, of_flags) = (config.ranking(), config.ranking_of_flags());
            let fixed = !of_flags.keeps_levels() || config.compat.is_slurm();
            (fixed && ranking != of_flags).then(|| ranking.to_string())
        },
    },
    Lack {
        key: "order",
        by: &[Host::Engine],
        allowed: "weighted",
        asked: |config| {
            (config.order() != Order::Weighted).then(|| format!("{:?}", config.order()))
        },
    },
    Lack {
        key: "order",
        by: &[Host::Plugin],
        allowed: "weighted, or ranking=least_used:LEVEL or fair_tree beside it",
        asked: |config| {
            let orders = config.order() != Order::Weighted;
            let ranking = config.ranking();
            (orders && ranking.level().is_none())
                .then(|| format!("{:?} beside {ranking}", config.order()))
        },
    },
    Lack {
        key: "counts",
        by: BOTH,
        allowed: "all, or a window or total of usage= beside it",
        asked: |config| {
            let some = *config.counts() != Counts::All && decays(config);
            some.then(|| "states".to_owned())
        },
    },
    Lack {
        key: "scope",
        by: &[Host::Engine],
        allowed: "cluster",
        asked: |config| (config.scope() != Scope::Cluster).then(|| "all_clusters".to_owned()),
    },
    Lack {
        key: "scope",
        by: &[Host::Plugin],
        allowed: "cluster, or a window or total of usage= beside it",
        asked: |config| {
            let all = config.scope() != Scope::Cluster && decays(config);
            all.then(|| "all_clusters".to_owned())
        },
    },
    Lack {
        key: "expect",
        by: &[Host::Engine],
        allowed: "time_limit",
        asked: |config| (config.expect() != Expect::TimeLimit).then(|| "history".to_owned()),
    },
    Lack {
        key: "expect",
        by: &[Host::Plugin],
        allowed: "time_limit, or order=interleaved beside it",
        asked: |config| {
            let alone =
                config.order() != Order::Interleaved && config.expect() != Expect::TimeLimit;
            alone.then(|| "history".to_owned())
        },
    },
    Lack {
        key: "tiers",
        by: &[Host::Engine],
        allowed: "none",
        asked: |config| (config.tiers() != Tiers::None).then(|| format!("{:?}", config.tiers())),
    },
    Lack {
        key: "tiers",
        by: &[Host::Plugin],
        allowed: "none, or order=strict or order=interleaved beside it",
        asked: |config| {
            let alone = config.order() == Order::Weighted && config.tiers() != Tiers::None;
            alone.then(|| format!("{:?}", config.tiers()))
        },
    },
    Lack {
        key: "policy",
        by: &[Host::Engine],
        allowed: "no file",
        asked: |config| config.parameters.policy.clone(),
    },
    Lack {
        key: "minutes",
        by: BOTH,
        allowed: "minutes beside ranking=least_used:LEVEL",
        asked: |config| {
            let looks = config.ranking().columns().entitled;
            let given = config.accounts.iter().find(|row| row.minutes.is_some());
            given.filter(|_| !looks).map(|row| row.account.clone())
        },
    },
    Lack {
        key: "plan",
        by: BOTH,
        allowed: "beside a window or total of usage=: total:DATE, or the one window that there is",
        asked: |config| {
            let mut lengths = Vec::new();
            let plans = config
                .accounts
                .iter()
                .filter_map(|row| Some((row, row.plan?)));
            if let UsageModel::Window { length_secs } = config.usage() {
                lengths.push(length_secs);
            }
            for (row, plan) in plans {
                let fits = match plan {
                    UsageModel::HalfLife => false,
                    UsageModel::Total { .. } => true,
                    UsageModel::Window { length_secs } => {
                        lengths.push(length_secs);
                        lengths.iter().all(|length| *length == length_secs)
                    }
                };
                if !fits || decays(config) {
                    return Some(row.account.clone());
                }
            }
            None
        },
    },
];

fn decays(config: &Config) -> bool {
    config.usage() == UsageModel::HalfLife
}

impl Config {
    /// Refuses what a host does not carry out yet.
    ///
    /// # Errors
    /// The first such setting, and what may stand there.
    pub fn check_carried_out(&self, host: Host) -> Result<(), ConfigError> {
        let lacking = LACKING.iter().filter(|lack| lack.by.contains(&host));
        for lack in lacking {
            if let Some(value) = (lack.asked)(self) {
                let (allowed, host) = (lack.allowed, host.name());
                let allowed = format!("{allowed}: {host} does not carry out the others yet");
                let error = ValueError::new(value.to_lowercase(), allowed);
                return Err(error.of(format!("PriorityParameters {}", lack.key)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PriorityParameters;

    #[test]
    fn what_is_not_carried_out_is_refused_by_name() {
        let config = |text: &str| Config {
            parameters: PriorityParameters::parse(text, None).unwrap(),
            ..Config::default()
        };
        assert_eq!(config("").check_carried_out(Host::Plugin), Ok(()));
        assert_eq!(
            config("ranking=least_used:2").check_carried_out(Host::Plugin),
            Ok(())
        );
        for lack in LACKING {
            let text = match lack.key {
                "resolution" => "resolution=1-0",
                "ranking" => "ranking=fair_tree",
                "order" => "order=strict,ranking=difference",
                "counts" => "counts=COMPLETED",
                "scope" => "scope=all_clusters",
                "expect" => "expect=history",
                "tiers" => "tiers=qos",
                "policy" => "policy=/etc/slurm/fairtree.toml",
                // Of a policy file: the tests of `host` have them.
                "minutes" | "plan" => continue,
                other => panic!("no example of {other}"),
            };
            for host in lack.by {
                let mut config = config(text);
                config.priority_flags.no_fair_tree = lack.key == "ranking";
                let error = config.check_carried_out(*host).unwrap_err();
                assert_eq!(error.setting, format!("PriorityParameters {}", lack.key));
                assert!(error.allowed.contains("does not carry out"), "{error}");
            }
        }
    }
}
