//! Usage: its decay, when it is cleared, and what is computed from it.

use super::words::{duration, looks_like_days};
use crate::effective_settings::{EffectiveSettings, Scope};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::ResetPeriod;
use fairtree::config::time::{INFINITE_SECS, parse_minutes_as_secs};
use fairtree_model::input::slurm::document::Setting;

pub(super) static RULES: [Rule; 9] = [
    Rule {
        id: "half-life-refused",
        severity: Severity::Error,
        summary: "PriorityDecayHalfLife=0 without PriorityUsageResetPeriod",
        source: "slurm.conf(5), \"PriorityDecayHalfLife\": \"If set to 0 PriorityUsageResetPeriod \
                 must be set to some interval\"",
        scope: Scope::Always,
        check: half_life_refused,
    },
    Rule {
        id: "usage-never-decays",
        severity: Severity::Warning,
        summary: "usage that neither decays nor is cleared",
        source: "slurm.conf(5), \"PriorityDecayHalfLife\" and \"PriorityUsageResetPeriod\"",
        scope: Scope::Weighted,
        check: usage_never_decays,
    },
    Rule {
        id: "half-life-minutes",
        severity: Severity::Warning,
        summary: "a PriorityDecayHalfLife in minutes that looks as if days were meant",
        source: "slurm.conf(5), \"PriorityDecayHalfLife\": a time string, of which a lone number is \
                 minutes",
        scope: Scope::Weighted,
        check: half_life_minutes,
    },
    Rule {
        id: "half-life-short",
        severity: Severity::Warning,
        summary: "a PriorityDecayHalfLife below an hour",
        source: "slurm.conf(5), \"PriorityDecayHalfLife\"",
        scope: Scope::Weighted,
        check: half_life_short,
    },
    Rule {
        id: "half-life-beside-reset",
        severity: Severity::Warning,
        summary: "usage that decays and is cleared as well",
        source: "priority_multifactor.html, \"PriorityUsageResetPeriod\"; the half-life's default is 7-0",
        scope: Scope::Weighted,
        check: half_life_beside_reset,
    },
    Rule {
        id: "reset-now",
        severity: Severity::Warning,
        summary: "PriorityUsageResetPeriod=NOW left in the file",
        source: "slurm.conf(5), \"PriorityUsageResetPeriod\", NOW: \"Executed at startup and \
                 reconfiguration time\"",
        scope: Scope::Weighted,
        check: reset_now,
    },
    Rule {
        id: "reset-dst",
        severity: Severity::Note,
        summary: "a daily or weekly reset, which daylight saving time moves off midnight",
        source: "priority/multifactor adds 86400 or 604800 seconds to find the next reset",
        scope: Scope::Stock,
        check: reset_dst,
    },
    Rule {
        id: "calc-period-long",
        severity: Severity::Warning,
        summary: "a PriorityCalcPeriod of an hour or more, or of half the half-life",
        source: "slurm.conf(5), \"PriorityCalcPeriod\": in minutes, 5 by default",
        scope: Scope::Weighted,
        check: calc_period_long,
    },
    Rule {
        id: "dampening-with-fair-tree",
        severity: Severity::Warning,
        summary: "FairShareDampeningFactor under Fair Tree, which does not look at it",
        source: "slurm.conf(5), \"FairShareDampeningFactor\"; classic_fair_share.html and \
                 fair_tree.html: only the former's formula has it",
        scope: Scope::Weighted,
        check: dampening_with_fair_tree,
    },
];

const HOUR: u32 = 3600;

/// `PriorityDecayHalfLife` and its seconds, where it is given and can be read.
fn half_life<'a>(conf: &EffectiveSettings<'a>) -> Option<(&'a Setting, u32)> {
    let setting = conf.last("PriorityDecayHalfLife")?;
    let secs = parse_minutes_as_secs(&setting.value.text).ok()?;
    Some((setting, secs))
}

/// `PriorityUsageResetPeriod` and its value, where it is given and can be read.
fn reset_period<'a>(conf: &EffectiveSettings<'a>) -> Option<(&'a Setting, ResetPeriod)> {
    let setting = conf.last("PriorityUsageResetPeriod")?;
    let period = ResetPeriod::parse(&setting.value.text).ok()?;
    Some((setting, period))
}

fn half_life_refused(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let given = conf.last("PriorityUsageResetPeriod").is_some();
    let zero = half_life(conf).filter(|(_, secs)| *secs == 0 && !given && conf.complete());
    zero.map(|(setting, _)| {
        Hit::new(
            setting.value_spot(),
            "usage would never decay nor be cleared, and slurmctld refuses that",
            "set PriorityUsageResetPeriod as well, such as MONTHLY, or a half-life above 0",
        )
    })
    .into_iter()
    .collect()
}

fn usage_never_decays(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let period = reset_period(conf).map(|(_, period)| period);
    // Without a period a half-life of 0 is refused, which a different rule reports.
    let cleared =
        period.is_some_and(|period| !matches!(period, ResetPeriod::None | ResetPeriod::Now));
    let endless = half_life(conf).filter(|(_, secs)| match secs {
        0 => period.is_some(),
        secs => *secs == INFINITE_SECS,
    });
    endless
        .filter(|_| !cleared && conf.complete() && conf.config.priority_weight_fairshare > 0)
        .map(|(setting, _)| {
            Hit::new(
                setting.value_spot(),
                "usage never decays and is never cleared: users who used much in the first year \
                 stay behind for ever",
                "set a half-life such as 7-0, or a PriorityUsageResetPeriod such as YEARLY",
            )
        })
        .into_iter()
        .collect()
}

fn half_life_minutes(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some((setting, secs)) = half_life(conf) else {
        return Vec::new();
    };
    let Some(days) = looks_like_days(&setting.value.text) else {
        return Vec::new();
    };
    let time = duration(secs);
    vec![Hit::new(
        setting.value_spot(),
        format!("a lone number is minutes: half of all usage has decayed after {time}"),
        format!("write PriorityDecayHalfLife={days}-0 if days are meant"),
    )]
}

fn half_life_short(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let short = half_life(conf).filter(|(setting, secs)| {
        (1..HOUR).contains(secs) && looks_like_days(&setting.value.text).is_none()
    });
    short
        .map(|(setting, secs)| {
            let time = duration(secs);
            Hit::new(
                setting.value_spot(),
                format!("half of all usage has decayed after {time}, before most jobs end"),
                "take a half-life of days, such as 7-0",
            )
        })
        .into_iter()
        .collect()
}

fn half_life_beside_reset(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let secs = conf.config.priority_decay_half_life_secs;
    let unread = conf.last("PriorityDecayHalfLife").is_some() && half_life(conf).is_none();
    let period = reset_period(conf)
        .filter(|(_, period)| !matches!(period, ResetPeriod::None | ResetPeriod::Now));
    let both = period.filter(|_| !unread && secs != 0 && secs != INFINITE_SECS && conf.complete());
    both.map(|(setting, period)| {
        let given = match half_life(conf) {
            Some(_) => "the half-life",
            None => "the half-life, not given and so its default,",
        };
        Hit::new(
            setting.value_spot(),
            format!(
                "usage is cleared {} and also decays: {given} of {} has halved it before",
                period.name(),
                duration(secs)
            ),
            "set PriorityDecayHalfLife=0 if usage should count in full until it is cleared, or \
             remove the reset",
        )
    })
    .into_iter()
    .collect()
}

fn reset_now(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let now = reset_period(conf).filter(|(_, period)| *period == ResetPeriod::Now);
    now.map(|(setting, _)| {
        Hit::new(
            setting.value_spot(),
            "all usage is cleared again at every start and reconfiguration of slurmctld",
            "set it back to NONE once usage has been cleared",
        )
    })
    .into_iter()
    .collect()
}

fn reset_dst(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let fixed = reset_period(conf)
        .filter(|(_, period)| matches!(period, ResetPeriod::Daily | ResetPeriod::Weekly));
    fixed
        .map(|(setting, period)| {
            Hit::new(
                setting.value_spot(),
                format!(
                    "priority/multifactor counts {} resets in days of 86400 seconds: where clocks \
                     change, a reset comes an hour before or after midnight",
                    period.name()
                ),
                "use MONTHLY, run slurmctld in UTC, or use PriorityType=priority/fairtree",
            )
        })
        .into_iter()
        .collect()
}

fn calc_period_long(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let secs = conf.config.priority_calc_period_secs;
    let half_life = conf.config.priority_decay_half_life_secs;
    let coarse = half_life > 0 && secs > half_life / 2;
    let given = conf.last("PriorityCalcPeriod");
    given
        .filter(|_| secs >= HOUR || coarse)
        .map(|setting| {
            let time = duration(secs);
            let reason = if secs >= HOUR {
                format!(
                    "the period counts minutes: new usage and age reach priorities every {time} only"
                )
            } else {
                format!("usage is halved every {}, and counted every {time} only", duration(half_life))
            };
            Hit::new(setting.value_spot(), reason, "take 5, the default, or less")
        })
        .into_iter()
        .collect()
}

fn dampening_with_fair_tree(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let dampens = conf.config.fair_share_dampening_factor != 1;
    let given = conf.last("FairShareDampeningFactor").filter(|_| dampens);
    given
        .filter(|_| conf.config.ranking().dampening().is_none() && conf.complete())
        .map(|setting| {
            Hit::new(
                setting.key_spot(),
                "Fair Tree, the default since Slurm 19.05, ranks users and has no dampening",
                "remove it, or set PriorityFlags=NO_FAIR_TREE if classic fair share is meant",
            )
        })
        .into_iter()
        .collect()
}
