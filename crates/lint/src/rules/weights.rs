//! The weights against each other.

use crate::effective_settings::{EffectiveSettings, Scope};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::Config;

pub(super) static RULES: [Rule; 7] = [
    Rule {
        id: "weights-all-zero",
        severity: Severity::Warning,
        summary: "no weight at all, so that every job has priority 1",
        source: "priority_multifactor.html, \"Job Priority Factors In General\"",
        scope: Scope::Weighted,
        check: weights_all_zero,
    },
    Rule {
        id: "weights-overflow",
        severity: Severity::Warning,
        summary: "weights that add up to more than a priority can hold",
        source: "priority_multifactor.html, \"Job Priority Factors In General\": at most 4294967295",
        scope: Scope::Weighted,
        check: weights_overflow,
    },
    Rule {
        id: "raw-priority-overflow",
        severity: Severity::Warning,
        summary: "a large weight on priorities that are not normalised",
        source: "slurm.conf(5), \"PriorityFlags\", NO_NORMAL_ASSOC and NO_NORMAL_QOS",
        scope: Scope::Weighted,
        check: raw_priority_overflow,
    },
    Rule {
        id: "weights-small",
        severity: Severity::Warning,
        summary: "weights so small that different factors give the same points",
        source: "priority_multifactor.html, \"IMPORTANT\": start around 1000",
        scope: Scope::Weighted,
        check: weights_small,
    },
    Rule {
        id: "fairshare-drowned",
        severity: Severity::Warning,
        summary: "a weight of at least ten times that of fair share",
        source: "priority_multifactor.html, \"Job Priority Factors In General\": a weighted sum",
        scope: Scope::Weighted,
        check: fairshare_drowned,
    },
    Rule {
        id: "fairshare-weight-below-users",
        severity: Severity::Warning,
        summary: "a fair-share weight below the number of users under Fair Tree",
        source: "fair_tree.html: the factor is rank / number of users; priorities are whole numbers",
        scope: Scope::Weighted,
        check: fairshare_weight_below_users,
    },
    Rule {
        id: "setting-without-weight",
        severity: Severity::Warning,
        summary: "a setting that shapes a factor whose weight is 0",
        source: "priority_multifactor.html, \"Job Priority Factors In General\"",
        scope: Scope::Weighted,
        check: setting_without_weight,
    },
];

/// Others are drowned by a weight of this many times theirs.
const DROWNING: f64 = 10.0;

/// Slurm's documentation: start around this weight.
const ENOUGH: u32 = 1000;

/// Raw priorities of associations and QOS that are commonly given.
const COMMON_RAW_PRIORITY: u32 = 1000;

fn weights_all_zero(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let by_site = conf.last("PrioritySiteFactorPlugin").is_some();
    let given = conf.last("PriorityType");
    given
        .filter(|_| !by_site && conf.complete() && conf.is_all_weightless())
        .map(|setting| {
            Hit::new(
                setting.value_spot(),
                "every weight is 0, their default: all jobs get priority 1, nice and site factor apart",
                "set PriorityWeightFairshare or another weight",
            )
        })
        .into_iter()
        .collect()
}

/// The most that a partition's term can be, and the least.
fn partition_points(conf: &EffectiveSettings<'_>) -> Option<(f64, f64)> {
    let factors = conf.partitions.iter().map(|p| f64::from(p.job_factor));
    let most = factors.clone().reduce(f64::max)?;
    let least = factors.reduce(f64::min)?;
    let weight = f64::from(conf.config.priority_weight_partition);
    let whole = if conf.config.priority_flags.no_normal_part {
        1.0
    } else {
        most.max(1.0)
    };
    Some((weight * (most / whole), weight * (least / whole)))
}

/// Sum of the positive TRES weights; 0 where counts are not normalised and the sum is not known.
fn tres_points(config: &Config) -> f64 {
    if config.priority_flags.no_normal_tres {
        return 0.0;
    }
    let weights = config.priority_weight_tres.iter();
    weights.map(|(_, weight)| weight.max(0.0)).sum()
}

fn weights_overflow(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let weights = conf.weights();
    let mut sum = tres_points(&conf.config);
    for (key, weight, _) in &weights {
        let points = partition_points(conf).filter(|_| *key == "PriorityWeightPartition");
        sum += points.map_or(f64::from(*weight), |(most, _)| most);
    }
    let largest = weights.into_iter().max_by_key(|(_, weight, _)| *weight);
    let Some((_, _, setting)) = largest.filter(|_| sum > f64::from(u32::MAX)) else {
        return Vec::new();
    };
    vec![Hit::new(
        setting.value_spot(),
        format!(
            "the weights add up to {sum:.0}, and a priority ends at 4294967295: jobs above it are all equal"
        ),
        "divide all weights by the same number",
    )]
}

fn raw_priority_overflow(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let flags = conf.config.priority_flags;
    let raw = [
        (
            flags.no_normal_assoc,
            "PriorityWeightAssoc",
            "an association",
        ),
        (flags.no_normal_qos, "PriorityWeightQOS", "a QOS"),
    ];
    let weights = conf
        .weights()
        .into_iter()
        .filter_map(|(key, weight, setting)| {
            let (_, _, whose) = raw.iter().find(|(raw, name, _)| *raw && *name == key)?;
            Some((u32::MAX / weight, *whose, setting))
        });
    weights
        .filter(|(most, _, _)| *most < COMMON_RAW_PRIORITY)
        .map(|(most, whose, setting)| {
            Hit::new(
                setting.value_spot(),
                format!(
                    "this weight is multiplied by the priority of {whose} as it is (NO_NORMAL), and \
                     one above {most} exceeds 4294967295, the end of priorities"
                ),
                "take a small weight, such as 1, or normalise",
            )
        })
        .collect()
}

fn weights_small(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let flags = conf.config.priority_flags;
    let raw = flags.no_normal_assoc || flags.no_normal_part || flags.no_normal_qos;
    let tres = conf.config.priority_weight_tres.iter();
    let tres = tres.fold(0.0, |most: f64, (_, weight)| most.max(weight.abs()));
    let largest = conf
        .weights()
        .into_iter()
        .max_by_key(|(_, weight, _)| *weight);
    let small =
        largest.filter(|(_, weight, _)| !raw && conf.complete() && *weight < ENOUGH && tres == 0.0);
    small
        .map(|(key, weight, setting)| {
            Hit::new(
                setting.value_spot(),
                format!(
                    "priorities are whole numbers, and {key} is the largest weight: factors closer \
                     than 1/{weight} come out the same"
                ),
                "multiply all weights alike until the largest is well above 1000",
            )
        })
        .into_iter()
        .collect()
}

fn fairshare_drowned(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let weights = conf.weights();
    let fairshare = weights
        .iter()
        .find(|(key, _, _)| *key == "PriorityWeightFairshare");
    let Some((name, own, setting)) = fairshare else {
        return Vec::new();
    };
    let range = |key: &str, weight: u32| match partition_points(conf) {
        Some((most, least)) if key == "PriorityWeightPartition" && conf.complete() => most - least,
        _ => f64::from(weight),
    };
    let others = weights
        .iter()
        .map(|(key, weight, _)| (*key, range(key, *weight)));
    let largest = others.max_by(|(_, a), (_, b)| a.total_cmp(b));
    largest
        .filter(|(key, range)| key != name && *range >= DROWNING * f64::from(*own))
        .map(|(key, range)| {
            let times = range / f64::from(*own);
            Hit::new(
                setting.value_spot(),
                format!(
                    "{key} can make {times:.0} times the difference that fair share can: where it \
                     differs by more than 1/{times:.0}, fair share no longer matters"
                ),
                format!("raise {name} or lower {key}, unless {key} is meant to decide alone"),
            )
        })
        .into_iter()
        .collect()
}

fn fairshare_weight_below_users(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let weight = conf.config.priority_weight_fairshare;
    let users = conf.options.users.unwrap_or(0);
    let given = conf.last("PriorityWeightFairshare");
    let ranked = conf.config.ranking().is_ranked();
    given
        .filter(|_| ranked && weight > 0 && weight < users)
        .map(|setting| {
            Hit::new(
                setting.value_spot(),
                format!(
                    "Fair Tree gives {users} users up to {users} ranks, but only {weight} points are \
                     there to tell them apart: neighbours in rank get the same priority"
                ),
                format!("take a weight of at least {users}, and the other weights in proportion"),
            )
        })
        .into_iter()
        .collect()
}

fn setting_without_weight(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if conf.is_all_weightless() {
        return Vec::new();
    }
    let dampens = conf.config.ranking().dampening().is_some();
    let shaping = [
        ("PriorityMaxAge", true, "PriorityWeightAge"),
        (
            "PriorityFavorSmall",
            conf.config.priority_favor_small,
            "PriorityWeightJobSize",
        ),
        // Under Fair Tree it has a rule of its own.
        (
            "FairShareDampeningFactor",
            dampens && conf.config.fair_share_dampening_factor != 1,
            "PriorityWeightFairshare",
        ),
    ];
    let idle = shaping
        .into_iter()
        .filter(|(_, set, weight)| *set && conf.is_weightless(weight));
    idle.filter_map(|(key, _, weight)| {
        let setting = conf.last(key)?;
        Some(Hit::new(
            setting.key_spot(),
            format!("{key} shapes a factor that does not count: {weight} is 0 or not given"),
            format!("set {weight}, or remove {key}"),
        ))
    })
    .collect()
}
