//! Settings that are read and checked, but not implemented yet.
//!
//! A setting without effect would be worse than an error: the administrator believes in it. So
//! what is not carried out is refused, by the lists below, and by nothing else; a commit that makes a
//! setting work removes its line, or one host from it.

use super::error::{ConfigError, ValueError};
use super::policy_file::AccountPolicy;
use super::{Config, Counts, Expect, MinutesFrom, Order, Scope, Tiers, UsageModel};

/// Programs that apply settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The plugin in slurmctld.
    Plugin,
    /// The engine alone: the C library.
    Engine,
    /// The command, which reports on sites: it reads every policy, and its reports say what they
    /// do not follow.
    Command,
}

impl Program {
    const fn name(self) -> &'static str {
        match self {
            Program::Plugin => "the plugin",
            Program::Engine | Program::Command => "this program",
        }
    }
}

/// A key of `PriorityParameters` with a value that some hosts do not carry out.
struct Lack {
    key: &'static str,
    by: &'static [Program],
    /// The values that they support.
    allowed: &'static str,
    /// True where the settings ask for what they do not.
    asked: fn(&Config) -> bool,
}

const BOTH: &[Program] = &[Program::Plugin, Program::Engine];
const ALL: &[Program] = &[Program::Plugin, Program::Engine, Program::Command];

/// The keys.
const LACKING: &[Lack] = &[
    Lack {
        key: "resolution",
        by: BOTH,
        allowed: "nothing, or a window or total of usage= beside it",
        asked: |config| config.parameters.resolution.is_some() && decays(config),
    },
    Lack {
        key: "ranking",
        by: &[Program::Plugin],
        // With such flags slurmctld and its sshare work factors out by themselves, by a formula.
        allowed: "the ranking that PriorityFlags choose, or any without compat=slurm, \
                  NO_FAIR_TREE and DEPTH_OBLIVIOUS",
        asked: |config| {
            let of_flags = config.ranking_of_flags();
            let fixed = !of_flags.keeps_levels() || config.compat.is_slurm();
            fixed && config.ranking() != of_flags
        },
    },
    Lack {
        key: "order",
        by: &[Program::Engine],
        allowed: "weighted",
        asked: |config| config.order() != Order::Weighted,
    },
    Lack {
        key: "order",
        by: &[Program::Plugin],
        allowed: "weighted, or ranking=least_used:LEVEL or fair_tree beside it",
        asked: |config| config.order() != Order::Weighted && config.ranking().level().is_none(),
    },
    Lack {
        key: "counts",
        by: BOTH,
        allowed: "all, or a window or total of usage= beside it",
        asked: |config| *config.counts() != Counts::All && decays(config),
    },
    Lack {
        key: "scope",
        by: &[Program::Engine],
        allowed: "cluster",
        asked: |config| config.scope() != Scope::Cluster,
    },
    Lack {
        key: "scope",
        by: &[Program::Plugin],
        allowed: "cluster, or a window or total of usage= beside it",
        asked: |config| config.scope() != Scope::Cluster && decays(config),
    },
    Lack {
        key: "expect",
        by: &[Program::Engine],
        allowed: "time_limit",
        asked: |config| config.expect() != Expect::TimeLimit,
    },
    Lack {
        key: "expect",
        by: &[Program::Plugin],
        allowed: "time_limit, or order=interleaved beside it",
        asked: |config| {
            config.expect() != Expect::TimeLimit && config.order() != Order::Interleaved
        },
    },
    Lack {
        key: "tiers",
        by: &[Program::Engine],
        allowed: "none",
        asked: |config| config.tiers() != Tiers::None,
    },
    Lack {
        key: "tiers",
        by: &[Program::Plugin],
        allowed: "none, or order=strict or order=interleaved beside it",
        asked: |config| config.tiers() != Tiers::None && config.order() == Order::Weighted,
    },
    Lack {
        key: "minutes",
        by: ALL,
        allowed: "file, or ranking=least_used:LEVEL beside it",
        asked: |config| {
            config.minutes() == MinutesFrom::Shares && !config.ranking().columns().entitled
        },
    },
    Lack {
        key: "policy",
        by: &[Program::Engine],
        allowed: "no file",
        asked: |config| config.parameters.policy.is_some(),
    },
];

/// A key of an account's table in the policy file that some hosts do not carry out.
struct AccountLack {
    key: &'static str,
    by: &'static [Program],
    /// The values that they support.
    allowed: &'static str,
    /// The accounts that ask for what they do not.
    asked: fn(&Config) -> Vec<&AccountPolicy>,
}

/// Those of accounts.
const LACKING_OF_ACCOUNTS: &[AccountLack] = &[
    AccountLack {
        key: "minutes",
        by: ALL,
        allowed: "minutes beside ranking=least_used:LEVEL",
        // The first is enough: what all of them lack is the ranking.
        asked: |config| {
            let entitles = config.ranking().columns().entitled;
            let given = config.accounts.iter().find(|row| row.minutes.is_some());
            given.filter(|_| !entitles).into_iter().collect()
        },
    },
    AccountLack {
        key: "plan",
        by: BOTH,
        allowed: "beside a window or total of usage=: total:DATE, or the one window that there is",
        asked: |config| {
            let plans = config.accounts.iter().map(|row| row.plan);
            let mut models = [Some(config.usage())].into_iter().chain(plans).flatten();
            let window = models.find_map(window_secs);
            let fits = |plan: UsageModel| match plan {
                UsageModel::HalfLife => false,
                UsageModel::Total { .. } => !decays(config),
                UsageModel::Window { length_secs } => {
                    !decays(config) && window == Some(length_secs)
                }
            };
            let accounts = config.accounts.iter();
            let unfit = accounts.filter(|row| row.plan.is_some_and(|plan| !fits(plan)));
            unfit.collect()
        },
    },
];

/// The length of a window, seconds; `None` for what is not a window.
fn window_secs(model: UsageModel) -> Option<u32> {
    match model {
        UsageModel::Window { length_secs } => Some(length_secs),
        UsageModel::HalfLife | UsageModel::Total { .. } => None,
    }
}

fn decays(config: &Config) -> bool {
    config.usage() == UsageModel::HalfLife
}

impl Config {
    /// The refusals of what a host does not carry out yet.
    pub(super) fn not_carried_out(&self, host: Program) -> Vec<ConfigError> {
        let (name, has) = (host.name(), |by: &[Program]| by.contains(&host));
        let refused = |allowed: &str, written: &str, setting: String| {
            let allowed = format!("{allowed}: {name} does not carry out the others yet");
            ValueError::new(written, allowed).of(setting)
        };
        let keys = LACKING
            .iter()
            .filter(|lack| has(lack.by) && (lack.asked)(self));
        let mut found: Vec<ConfigError> = keys
            .map(|lack| {
                let written = self.parameters.written(lack.key);
                refused(
                    lack.allowed,
                    &written,
                    format!("PriorityParameters {}", lack.key),
                )
            })
            .collect();
        for lack in LACKING_OF_ACCOUNTS.iter().filter(|lack| has(lack.by)) {
            found.extend((lack.asked)(self).into_iter().map(|row| {
                let mut error = refused(lack.allowed, row.written(lack.key), row.setting(lack.key));
                error.place = Some(row.place.clone());
                error
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PolicyFile, PriorityParameters};

    /// One value for each kind of value that each key has, a flag, and what accounts may have.
    const VALUES: [&str; 21] = [
        "compat=slurm",
        "calc_period=30",
        "max_lock_ms=20",
        "usage=window:28-0",
        "usage=total:2026-01-01",
        "resolution=1-0",
        "ranking=fair_tree",
        "ranking=difference",
        "ranking=least_used:2",
        "order=strict",
        "order=interleaved",
        "counts=COMPLETED",
        "scope=all_clusters",
        "expect=history",
        "tiers=qos",
        "policy=/etc/slurm/fairtree.toml",
        "accounts.a.minutes = 400",
        "accounts.a.plan = 'total:2026-01-01'",
        "accounts.a.plan = 'window:28-0'",
        "NO_FAIR_TREE",
        "minutes=shares",
    ];

    /// x: refused beside the value of the column, which are the rows from the left; on the diagonal,
    /// alone. -: both are of one key. From the tables and sentences of docs/administrator.md.
    const PLUGIN: [&str; 21] = [
        "...xxx.xxxxxxxxx....x",
        ".....................",
        ".....................",
        "....-................",
        "...-.................",
        "xxx..xxxxxxxxxxxxxxxx",
        ".......--..........x.",
        "x.....-.-..........x.",
        "x.....--...........x.",
        ".......x..-........x.",
        ".......x.-.........x.",
        "xxx..xxxxxxxxxxxxxxxx",
        "xxx..xxxxxxxxxxxxxxxx",
        "xxxxxxxxxx.xxxxxxxxxx",
        "xxxxxxxxx..xxxxxxxxxx",
        ".....................",
        "xxxxxxxx.xxxxxxxxxxxx",
        "xxx..xxxxxxxxxxxxx-xx",
        "xxx..xxxxxxxxxxxx-xxx",
        ".....................",
        "xxxxxxxx.xxxxxxxxxxxx",
    ];

    /// The same for a C program: it has no orders, no history and no other clusters, and what
    /// `ft_config_load_policy` reads is not a file.
    const ENGINE: [&str; 21] = [
        "...xxx.xxxxxxxxx....x",
        ".....................",
        ".....................",
        "....-................",
        "...-.................",
        "xxx..xxxxxxxxxxxxxxxx",
        ".......--............",
        "......-.-............",
        "......--.............",
        "xxxxxxxxxx-xxxxxxxxxx",
        "xxxxxxxxx-xxxxxxxxxxx",
        "xxx..xxxxxxxxxxxxxxxx",
        "xxxxxxxxxxxxxxxxxxxxx",
        "xxxxxxxxxxxxxxxxxxxxx",
        "xxxxxxxxxxxxxxxxxxxxx",
        "xxxxxxxxxxxxxxxxxxxxx",
        "xxxxxxxx.xxxxxxxxxxxx",
        "xxx..xxxxxxxxxxxxx-xx",
        "xxx..xxxxxxxxxxxx-xxx",
        ".....................",
        "xxxxxxxx.xxxxxxxxxxxx",
    ];

    /// The settings of two values; `None`: both are of one key.
    fn beside(values: [&str; 2]) -> Option<Config> {
        let mut config = Config::default();
        let (mut keys, mut accounts) = (Vec::new(), Vec::new());
        for value in values {
            if value == "NO_FAIR_TREE" {
                config.priority_flags.no_fair_tree = true;
            } else if value.starts_with("accounts") {
                accounts.push(value);
            } else {
                keys.push(value);
            }
        }
        keys.dedup();
        accounts.dedup();
        let parameters = PriorityParameters::parse(&keys.join(","), None).ok()?;
        let policy = PolicyFile::parse(&accounts.join("\n"), "policy.toml", None).ok()?;
        config.take(parameters);
        config.accounts = policy.accounts;
        Some(config)
    }

    /// The name of a value in messages, and the value as it is written.
    fn setting(value: &str) -> (String, &str) {
        let (key, written) = value.split_once('=').unwrap_or((value, ""));
        let written = written.trim().trim_matches('\'');
        match key.trim() {
            account if account.starts_with("accounts") => (account.to_owned(), written),
            key => (format!("PriorityParameters {key}"), written),
        }
    }

    fn matrix(host: Program) -> Vec<String> {
        let cell = |row: &str, column: &str| {
            let Some(config) = beside([row, column]) else {
                return '-';
            };
            let (setting, written) = setting(row);
            let refusals = config.refusals(host);
            let refused = refusals.iter().find(|error| error.setting == setting);
            match refused {
                None => '.',
                Some(error) => {
                    assert_eq!(error.value, written, "{row} beside {column}");
                    'x'
                }
            }
        };
        let row = |row: &&str| VALUES.iter().map(|column| cell(row, column)).collect();
        VALUES.iter().map(row).collect()
    }

    #[test]
    fn every_key_beside_every_other_key() {
        for (host, expected) in [(Program::Plugin, PLUGIN), (Program::Engine, ENGINE)] {
            for ((found, expected), row) in matrix(host).iter().zip(expected).zip(VALUES) {
                assert_eq!(found, expected, "{host:?}: {row}");
            }
        }
        // The command reads every policy; stock's lacks hold for it, too, and minutes that no ranking
        // looks at.
        for ((row, command), plugin) in VALUES.iter().zip(matrix(Program::Command)).zip(PLUGIN) {
            let expected = match *row {
                "compat=slurm" | "minutes=shares" | "accounts.a.minutes = 400" => plugin.to_owned(),
                _ => plugin.replace('x', "."),
            };
            assert_eq!(command, expected, "{row}");
        }
    }

    #[test]
    fn every_lack_is_in_the_matrix() {
        let keys = LACKING.iter().map(|lack| lack.key);
        let accounts = LACKING_OF_ACCOUNTS.iter().map(|lack| lack.key);
        for key in keys.chain(accounts) {
            let is = |value: &&str| {
                let (setting, _) = setting(value);
                setting.ends_with(key)
            };
            let rows = VALUES.iter().zip(PLUGIN.iter().zip(ENGINE));
            let mut rows = rows.filter(|(value, _)| is(value));
            let refused = |(_, (plugin, engine)): (&&str, (&&str, &str))| {
                plugin.contains('x') || engine.contains('x')
            };
            assert!(rows.any(refused), "{key}");
        }
    }

    #[test]
    fn a_second_window_and_one_shorter_than_a_bucket_are_refused() {
        let policy = "accounts.a.plan = 'window:7-0'\naccounts.b.plan = 'total:2026-01-01'\n\
                      accounts.c.plan = 'window:0:10:00'";
        let policy = PolicyFile::parse(policy, "p.toml", None).unwrap();
        let parameters = PriorityParameters::parse("usage=window:7-0", None).unwrap();
        let config = Config {
            accounts: policy.accounts,
            parameters,
            ..Config::default()
        };
        let found: Vec<String> = config
            .refusals(Program::Plugin)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        let place = "p.toml:3:10: accounts.c.plan: found \"window:0:10:00\", allowed is ";
        assert!(found[0].starts_with(&format!("{place}a window of 1:00:00, the default")));
        assert!(
            found[1].starts_with(&format!("{place}beside a window")),
            "{found:?}"
        );
    }
}
