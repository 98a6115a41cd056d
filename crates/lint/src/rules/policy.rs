//! Policies: usage in a window, orders, minutes of accounts, and the file that has them.

use std::collections::BTreeMap;

use super::words::{duration, entries};
use crate::effective_settings::{EffectiveSettings, Plugin, Scope};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::{ConfigError, MinutesFrom, Order, Program, UsageModel};
use fairtree_model::input::slurm::document::Spot;

pub(super) static RULES: [Rule; 8] = [
    Rule {
        id: "policy-unread",
        severity: Severity::Error,
        summary: "a policy file that cannot be read",
        source: "fairtree's key policy of PriorityParameters: slurmctld does not start without the file",
        scope: Scope::Always,
        check: policy_unread,
    },
    Rule {
        id: "bad-policy",
        severity: Severity::Error,
        summary: "a policy file that the plugin refuses",
        source: "fairtree's policy file, docs/administrator.md",
        scope: Scope::Always,
        check: bad_policy,
    },
    Rule {
        id: "parameters-refused",
        severity: Severity::Error,
        summary: "a value of PriorityParameters or its policy file that the plugin refuses beside the \
                  others",
        source: "fairtree's keys of PriorityParameters, docs/administrator.md: slurmctld does not start \
                 with it",
        scope: Scope::Always,
        check: parameters_refused,
    },
    Rule {
        id: "window-short",
        severity: Severity::Error,
        summary: "a window that is shorter than a bucket of its ledger",
        source: "fairtree's keys usage and resolution of PriorityParameters",
        scope: Scope::Always,
        check: window_short,
    },
    Rule {
        id: "total-in-future",
        severity: Severity::Warning,
        summary: "a total since a date that is still to come",
        source: "fairtree's key usage of PriorityParameters: total:DATE is what was used since then",
        scope: Scope::Always,
        check: total_in_future,
    },
    Rule {
        id: "order-backfill",
        severity: Severity::Warning,
        summary: "an order of jobs under a scheduler that does not keep it",
        source: "slurm.conf(5), \"SchedulerType\": sched/backfill, the default, starts lower-priority \
                 jobs where that does not delay higher ones' expected start",
        scope: Scope::Always,
        check: order_backfill,
    },
    Rule {
        id: "limits-in-window",
        severity: Severity::Note,
        summary: "limits of minutes beside usage in a window, where they are limits in that window",
        source: "sacctmgr(1), \"GrpTRESMins\" and \"GrpWall\": compared with the usage that decays; with \
                 usage=window that is the window's",
        scope: Scope::Always,
        check: limits_in_window,
    },
    Rule {
        id: "minutes-beyond-parent",
        severity: Severity::Warning,
        summary: "minutes given out beyond those of the account above",
        source: "fairtree's policy file, docs/administrator.md; the accounts are those of --accounts",
        scope: Scope::Always,
        check: minutes_beyond_parent,
    },
];

/// Place of a key of the policy: in PriorityParameters, or in the file named there.
fn spot_of(conf: &EffectiveSettings<'_>, key: &str) -> Option<Spot> {
    let setting = conf.last("PriorityParameters")?;
    let given = entries(&setting.value.text);
    let find = |key: &str| {
        given.iter().find(|(_, entry)| {
            let name = entry.split('=').next().unwrap_or_default();
            name.trim().eq_ignore_ascii_case(key)
        })
    };
    let found = find(key).or_else(|| find("policy"));
    Some(match found {
        Some((offset, entry)) => {
            let blanks = entry.chars().take_while(|c| c.is_whitespace()).count();
            setting.value_part(offset + blanks, entry.trim().chars().count())
        }
        None => setting.value_spot(),
    })
}

/// One hit at a key of the policy, under the plugin that reads it.
fn hit(
    conf: &EffectiveSettings<'_>,
    key: &str,
    reason: impl Into<String>,
    remedy: impl Into<String>,
) -> Vec<Hit> {
    let spot = spot_of(conf, key).filter(|_| conf.plugin == Plugin::Fairtree);
    spot.map(|spot| Hit::new(spot, reason, remedy))
        .into_iter()
        .collect()
}

/// The hit of a refusal, at its key, or at the policy file that has it.
fn refused(conf: &EffectiveSettings<'_>, error: &ConfigError) -> Vec<Hit> {
    let place = error.place.as_ref();
    let place = place.map_or(String::new(), |place| format!("{place}: "));
    let value = error.value.escape_debug();
    let key = error.setting.strip_prefix("PriorityParameters ");
    hit(
        conf,
        key.unwrap_or("policy"),
        format!("{place}{} does not take \"{value}\"", error.setting),
        format!("allowed is {}", error.allowed),
    )
}

fn policy_unread(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let unread = conf.bad_policy.iter().filter(|error| is_unread(error));
    let mut hits: Vec<Hit> = unread.flat_map(|error| refused(conf, error)).collect();
    for hit in &mut hits {
        hit.remedy += "; if only slurmctld's host has the file, use --allow policy-unread";
    }
    hits
}

/// True where the file itself is missing.
fn is_unread(error: &ConfigError) -> bool {
    error.setting == "PriorityParameters policy"
}

fn bad_policy(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let read = conf.bad_policy.iter().filter(|error| !is_unread(error));
    let mut hits: Vec<Hit> = read.flat_map(|error| refused(conf, error)).collect();
    let Some(above) = &conf.options.accounts else {
        return hits;
    };
    let is_known = |account: &str| {
        let account = account.to_ascii_lowercase();
        above.contains_key(&account) || above.values().any(|name| *name == account)
    };
    let accounts = conf.config.accounts.iter();
    let unknown = accounts.filter(|row| !is_known(&row.account));
    hits.extend(unknown.flat_map(|row| refused(conf, &row.unknown())));
    hits
}

fn parameters_refused(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if conf.bad_policy.is_some() {
        return Vec::new();
    }
    // Those have a rule of their own.
    let short = conf.config.short_windows();
    let refusals = conf.config.refusals(Program::Plugin).into_iter();
    let others = refusals.filter(|error| !short.contains(error));
    others.flat_map(|error| refused(conf, &error)).collect()
}

/// The usage models of the policy, with whose they are.
fn models<'a>(
    conf: &'a EffectiveSettings<'_>,
) -> impl Iterator<Item = (Option<&'a str>, UsageModel)> {
    let accounts = conf.config.accounts.iter();
    let plans = accounts.filter_map(|row| Some((Some(row.account.as_str()), row.plan?)));
    [(None, conf.config.usage())].into_iter().chain(plans)
}

fn window_short(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let short = conf.config.short_windows().into_iter();
    let hits = short.flat_map(|error| {
        let mut hits = refused(conf, &error);
        for hit in &mut hits {
            hit.reason += ": it is shorter than a bucket of the ledger";
            hit.remedy += "; or a shorter resolution, such as resolution=1";
        }
        hits
    });
    hits.collect()
}

fn total_in_future(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some(now) = conf.options.now else {
        return Vec::new();
    };
    let mut hits = Vec::new();
    for (account, model) in models(conf) {
        let UsageModel::Total { since } = model else {
            continue;
        };
        if since > now {
            let whose = account.map_or(String::new(), |account| format!(" of account {account}"));
            hits.extend(hit(
                conf,
                if account.is_some() { "policy" } else { "usage" },
                format!(
                    "the total{whose} begins on {}, which is still to come: until then nobody has \
                     any usage",
                    since.strftime("%Y-%m-%d %H:%M:%S")
                ),
                "write a date in the past, or wait with this setting until then",
            ));
        }
    }
    hits
}

fn order_backfill(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let scheduler = conf.last("SchedulerType").map(|it| it.value.text.as_str());
    let keeps = scheduler.is_some_and(|text| text.eq_ignore_ascii_case("sched/builtin"));
    let known = scheduler.is_some() || conf.is_whole();
    if conf.config.order() == Order::Weighted || keeps || !known {
        return Vec::new();
    }
    let scheduler = scheduler
        .unwrap_or("sched/backfill, the default,")
        .escape_debug();
    hit(
        conf,
        "order",
        format!(
            "{scheduler} starts jobs behind others that do not fit yet: with unknown run times \
             that is not this order"
        ),
        "set SchedulerType=sched/builtin where the order must be kept, or order=weighted",
    )
}

fn limits_in_window(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let model = models(conf).find(|(_, model)| *model != UsageModel::HalfLife);
    let Some((_, model)) = model.filter(|_| conf.enforces_limits()) else {
        return Vec::new();
    };
    let time = match model {
        UsageModel::Window { length_secs } => format!("within {}", duration(length_secs)),
        _ => "since the date".to_owned(),
    };
    hit(
        conf,
        "usage",
        format!(
            "GrpTRESMins and GrpWall of associations and QOS count what was used {time}, not what \
             has not decayed yet"
        ),
        "check these limits: sacctmgr show assoc format=account,user,grptresmins,grpwall",
    )
}

fn minutes_beyond_parent(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some(above) = &conf.options.accounts else {
        return Vec::new();
    };
    let from_shares = conf.config.minutes() == MinutesFrom::Shares;
    let minutes: BTreeMap<String, u64> = match from_shares {
        true => conf.options.shares.clone(),
        false => {
            let accounts = conf.config.accounts.iter();
            let minutes =
                accounts.filter_map(|row| Some((row.account.to_ascii_lowercase(), row.minutes?)));
            minutes.collect()
        }
    };
    let mut given_out: BTreeMap<&str, u128> = BTreeMap::new();
    for (account, own) in &minutes {
        // The nearest account above with minutes; a chain is not longer than all there are.
        let mut at = account.as_str();
        for _ in 0..above.len() {
            let Some(next) = above.get(at) else { break };
            at = next;
            if minutes.contains_key(at) {
                *given_out.entry(at).or_default() += u128::from(*own);
                break;
            }
        }
    }
    let mut hits = Vec::new();
    for (account, sum) in given_out {
        let own = minutes[account];
        if sum > own.into() {
            let (key, then) = match from_shares {
                true => (
                    "minutes",
                    "; until then each of these has its part of {own} minutes",
                ),
                false => ("policy", ""),
            };
            let then = then.replace("{own}", &own.to_string());
            hits.extend(hit(
                conf,
                key,
                format!("account {account} has {own} minutes, and accounts below it have {sum}"),
                format!("give {account} at least {sum} minutes, or those below it fewer{then}"),
            ));
        }
    }
    hits
}
