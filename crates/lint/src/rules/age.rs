//! Age and size: how waiting and asking become points.

use super::words::{duration, looks_like_days};
use crate::effective_settings::{EffectiveSettings, Scope};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::time::INFINITE_SECS;
use fairtree_model::input::slurm::document::Setting;

pub(super) static RULES: [Rule; 5] = [
    Rule {
        id: "max-age-minutes",
        severity: Severity::Warning,
        summary: "a PriorityMaxAge in minutes that looks as if days were meant",
        source: "slurm.conf(5), \"PriorityMaxAge\": a time string, of which a lone number is minutes",
        scope: Scope::Weighted,
        check: max_age_minutes,
    },
    Rule {
        id: "max-age-zero",
        severity: Severity::Warning,
        summary: "PriorityMaxAge=0, at which every job is as old as can be",
        source: "slurm.conf(5), \"PriorityMaxAge\"",
        scope: Scope::Weighted,
        check: max_age_zero,
    },
    Rule {
        id: "max-age-short",
        severity: Severity::Warning,
        summary: "a PriorityMaxAge below an hour",
        source: "slurm.conf(5), \"PriorityMaxAge\": older jobs all have the same age factor",
        scope: Scope::Weighted,
        check: max_age_short,
    },
    Rule {
        id: "max-age-long",
        severity: Severity::Note,
        summary: "a PriorityMaxAge that a week of waiting brings to less than a tenth",
        source: "priority_multifactor.html, \"Age Factor\"",
        scope: Scope::Weighted,
        check: max_age_long,
    },
    Rule {
        id: "favor-small-relative",
        severity: Severity::Warning,
        summary: "PriorityFavorSmall under SMALL_RELATIVE_TO_TIME, where all jobs are small",
        source: "priority_multifactor.html, \"Job Size Factor\": size / minutes / CPUs of the machine",
        scope: Scope::Weighted,
        check: favor_small_relative,
    },
];

const HOUR: u32 = 3600;
const WEEK: u32 = 7 * 86_400;

/// `PriorityMaxAge` where the age factor counts, and its seconds.
fn max_age<'a>(conf: &EffectiveSettings<'a>) -> Option<(&'a Setting, u32)> {
    let counts = conf.config.priority_weight_age > 0;
    let given = conf.last("PriorityMaxAge").filter(|_| counts);
    given.map(|setting| (setting, conf.config.priority_max_age_secs))
}

fn max_age_minutes(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some((setting, secs)) = max_age(conf) else {
        return Vec::new();
    };
    let Some(days) = looks_like_days(&setting.value.text) else {
        return Vec::new();
    };
    let time = duration(secs);
    vec![Hit::new(
        setting.value_spot(),
        format!(
            "a lone number is minutes: jobs that wait longer than {time} are all of the same age"
        ),
        format!("write PriorityMaxAge={days}-0 if days are meant"),
    )]
}

fn max_age_zero(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let zero = max_age(conf).filter(|(_, secs)| *secs == 0);
    zero.map(|(setting, _)| {
        Hit::new(
            setting.value_spot(),
            "every job has the full age factor at once: PriorityWeightAge adds the same to all",
            "set the age at which a job should have all its points, such as 7-0",
        )
    })
    .into_iter()
    .collect()
}

fn max_age_short(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let short = max_age(conf).filter(|(setting, secs)| {
        (1..HOUR).contains(secs) && looks_like_days(&setting.value.text).is_none()
    });
    short
        .map(|(setting, secs)| {
            let time = duration(secs);
            Hit::new(
                setting.value_spot(),
                format!("jobs that wait longer than {time} are all of the same age"),
                "set it to about the longest usual wait, such as 7-0",
            )
        })
        .into_iter()
        .collect()
}

fn max_age_long(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some((setting, secs)) = max_age(conf).filter(|(_, secs)| *secs / 10 > WEEK) else {
        return Vec::new();
    };
    let weight = conf.config.priority_weight_age;
    let points = f64::from(weight) * f64::from(WEEK) / f64::from(secs);
    let end = match secs {
        INFINITE_SECS => "136 years, which is what INFINITE is".to_string(),
        _ => duration(secs),
    };
    vec![Hit::new(
        setting.value_spot(),
        format!(
            "the points of PriorityWeightAge are reached after {end}: a week of waiting gives \
             {points:.0} of {weight}"
        ),
        "set it to about the longest usual wait, such as 7-0",
    )]
}

fn favor_small_relative(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let config = &conf.config;
    let both = config.priority_favor_small && config.priority_flags.small_relative_to_time;
    let given = conf.last("PriorityFavorSmall");
    given
        .filter(|_| both && config.priority_weight_job_size > 0)
        .map(|setting| {
            Hit::new(
                setting.key_spot(),
                "under SMALL_RELATIVE_TO_TIME the factor is 1 - CPUs / minutes / CPUs of the \
                 machine: half the machine for an hour has 0.99, and so has nearly every job",
                "use one of PriorityFavorSmall and SMALL_RELATIVE_TO_TIME",
            )
        })
        .into_iter()
        .collect()
}
