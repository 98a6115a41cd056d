//! Weights without data, and usage that is not counted.

use super::words::entries;
use crate::effective_settings::{EffectiveSettings, Scope, has_gres};
use crate::rule::{Hit, Rule, Severity};
use fairtree_model::input::slurm::document::Spot;

pub(super) static RULES: [Rule; 5] = [
    Rule {
        id: "weight-without-accounting",
        severity: Severity::Warning,
        summary: "a weight whose factor comes from an accounting database that is not there",
        source: "slurm.conf(5), PriorityWeightAge and PriorityWeightFairshare: \"Requires \
                 AccountingStorageType=accounting_storage/slurmdbd\"; sacctmgr(1) for QOS and associations",
        scope: Scope::Weighted,
        check: weight_without_accounting,
    },
    Rule {
        id: "partition-weight-constant",
        severity: Severity::Warning,
        summary: "a partition weight where all partitions have the same factor",
        source: "priority_multifactor.html, \"Partition Factor\"; slurm.conf(5), \"PriorityJobFactor\"",
        scope: Scope::Weighted,
        check: partition_weight_constant,
    },
    Rule {
        id: "tres-not-tracked",
        severity: Severity::Error,
        summary: "a weight of a TRES that the site does not track",
        source: "slurm.conf(5), \"PriorityWeightTRES\": \"if AccountingStorageTRES is configured \
                 with each TRES Type\"",
        scope: Scope::Weighted,
        check: tres_not_tracked,
    },
    Rule {
        id: "gres-without-type",
        severity: Severity::Warning,
        summary: "a weight of a generic resource that no node can have",
        source: "slurm.conf(5), \"GresTypes\": the generic resources to be managed",
        scope: Scope::Weighted,
        check: gres_without_type,
    },
    Rule {
        id: "usage-tails-lost",
        severity: Severity::Note,
        summary: "fair share without enforced limits, where the end of each job is not charged",
        source: "slurmctld tells its priority plugin of a job's end only if \
                 AccountingStorageEnforce includes limits",
        scope: Scope::Stock,
        check: usage_tails_lost,
    },
];

fn weight_without_accounting(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if !conf.is_whole() || conf.has_slurmdbd() {
        return Vec::new();
    }
    let weights = conf.weights().into_iter().filter_map(|(key, _, setting)| {
        let why = match key {
            "PriorityWeightAge" | "PriorityWeightFairshare" => {
                "without slurmdbd slurmctld takes this weight as 0"
            }
            "PriorityWeightAssoc" => "associations and their priorities live in slurmdbd",
            "PriorityWeightQOS" => "QOS and their priorities live in slurmdbd",
            _ => return None,
        };
        Some((why, setting))
    });
    weights
        .map(|(why, setting)| {
            Hit::new(
                setting.key_spot(),
                format!("{why}, and AccountingStorageType does not name it"),
                "set AccountingStorageType=accounting_storage/slurmdbd, or remove the weight",
            )
        })
        .collect()
}

fn partition_weight_constant(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some((first, others)) = conf.partitions.split_first() else {
        return Vec::new();
    };
    let same = others
        .iter()
        .all(|partition| partition.job_factor == first.job_factor);
    let weight = conf.config.priority_weight_partition;
    let given = conf.last("PriorityWeightPartition");
    let Some(setting) = given.filter(|_| weight > 0 && same && conf.complete()) else {
        return Vec::new();
    };
    let tiers = conf.partitions.iter().any(|partition| partition.tier_given);
    let which = match (others.is_empty(), tiers) {
        (true, _) => "there is one partition only".to_string(),
        (false, true) => {
            "no partition has a PriorityJobFactor of its own, and PriorityTier is no factor"
                .to_string()
        }
        (false, false) => format!("every partition has PriorityJobFactor {}", first.job_factor),
    };
    vec![Hit::new(
        setting.key_spot(),
        format!("{which}: every job gets the same points from PriorityWeightPartition"),
        "give partitions different PriorityJobFactor, or remove the weight",
    )]
}

fn tres_not_tracked(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some(setting) = conf.last("PriorityWeightTRES").filter(|_| conf.is_whole()) else {
        return Vec::new();
    };
    let entries = entries(&setting.value.text).into_iter();
    entries
        .filter_map(|(offset, entry)| {
            let (name, _) = entry.split_once('=')?;
            let spot = setting.value_part(offset, name.chars().count());
            (!name.is_empty() && !conf.tracks(name)).then(|| untracked(spot, name))
        })
        .collect()
}

fn gres_without_type(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some(setting) = conf.last("PriorityWeightTRES").filter(|_| conf.is_whole()) else {
        return Vec::new();
    };
    let entries = entries(&setting.value.text).into_iter();
    entries
        .filter_map(|(offset, entry)| {
            let (tres, weight) = entry.split_once('=')?;
            let counts = weight.parse() != Ok(0.0);
            let (kind, name) = tres.split_once('/')?;
            let name = name.split(':').next().unwrap_or_default();
            let idle = counts && kind.eq_ignore_ascii_case("gres") && !has_gres(conf, name);
            // What is not tracked has a finding already.
            (idle && conf.tracks(tres)).then(|| {
                let name = name.escape_debug();
                Hit::new(
                    setting.value_part(offset, tres.chars().count()),
                    format!(
                        "GresTypes does not name {name}, so no job can have any and the factor is 0"
                    ),
                    format!("add {name} to GresTypes, or remove the weight"),
                )
            })
        })
        .collect()
}

/// The finding for a TRES that slurmctld looks for in vain.
pub(super) fn untracked(spot: Spot, name: &str) -> Hit {
    let name = name.escape_debug().to_string();
    let remedy = if name.eq_ignore_ascii_case("gpu") || name.eq_ignore_ascii_case("gpus") {
        "write gres/gpu, and add it to AccountingStorageTRES".to_string()
    } else if name.eq_ignore_ascii_case("memory") {
        "write mem".to_string()
    } else if name.contains('/') {
        format!("add {} to AccountingStorageTRES", name.to_ascii_lowercase())
    } else {
        "use cpu, mem, node, energy or billing, or type/name of one in AccountingStorageTRES"
            .to_string()
    };
    Hit::new(
        spot,
        format!("{name} is not among the TRES that this site tracks, and slurmctld stops at it"),
        remedy,
    )
}

fn usage_tails_lost(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let counts = conf.config.priority_weight_fairshare > 0 && conf.has_slurmdbd();
    if !counts || conf.enforces_limits() || !conf.complete() {
        return Vec::new();
    }
    let enforce = conf.last("AccountingStorageEnforce");
    let spot = match (enforce, conf.last("PriorityWeightFairshare")) {
        (Some(setting), _) => setting.value_spot(),
        (None, Some(setting)) => setting.key_spot(),
        (None, None) => return Vec::new(),
    };
    let minutes = conf.config.priority_calc_period_secs / 60;
    vec![Hit::new(
        spot,
        format!(
            "AccountingStorageEnforce does not include limits, so what a job uses after the last \
             pass before its end is never charged: up to {minutes} minutes of every job, and short \
             jobs may cost nothing"
        ),
        "add limits to AccountingStorageEnforce, or use PriorityType=priority/fairtree",
    )]
}
