//! The lines of partitions: their priorities and what they bill.

use super::accounting::untracked;
use super::words::entries;
use crate::effective_settings::{EffectiveSettings, Scope};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::tres_weights::parse_tres_weights;
use fairtree_model::input::slurm::document::{Pair, Setting};

pub(super) static RULES: [Rule; 4] = [
    Rule {
        id: "partition-priority-old",
        severity: Severity::Warning,
        summary: "the old key Priority, which sets two things at once",
        source: "slurm.conf(5), \"PriorityJobFactor\" and \"PriorityTier\", which replaced it in 16.05",
        scope: Scope::Always,
        check: partition_priority_old,
    },
    Rule {
        id: "job-factor-without-weight",
        severity: Severity::Warning,
        summary: "a PriorityJobFactor where PriorityWeightPartition is 0",
        source: "slurm.conf(5), \"PriorityWeightPartition\" and \"PriorityJobFactor\"",
        scope: Scope::Weighted,
        check: job_factor_without_weight,
    },
    Rule {
        id: "bad-billing-weights",
        severity: Severity::Error,
        summary: "TRESBillingWeights that cannot be read, or of a TRES that is not tracked",
        source: "slurm.conf(5), \"TRESBillingWeights\"",
        scope: Scope::Always,
        check: bad_billing_weights,
    },
    Rule {
        id: "memory-billed-per-megabyte",
        severity: Severity::Warning,
        summary: "a billing weight of memory without a unit, which is per megabyte",
        source: "slurm.conf(5), \"TRESBillingWeights\": mem=.25 bills 2048 for 8 GB, mem=.25G bills 2",
        scope: Scope::Always,
        check: memory_billed_per_megabyte,
    },
];

/// A gibibyte of memory that is billed like this many CPUs is more than sites mean to.
const MOST_CPUS_PER_GIB: f64 = 10.0;

/// The pairs with that key of all partition lines.
fn pairs<'a>(
    conf: &EffectiveSettings<'a>,
    key: &'static str,
) -> impl Iterator<Item = (&'a Setting, Pair)> {
    conf.partition_lines().flat_map(move |line| {
        let pairs = line.pairs().into_iter();
        let wanted = pairs.filter(move |pair| pair.key.eq_ignore_ascii_case(key));
        wanted.map(move |pair| (line, pair))
    })
}

fn partition_priority_old(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    pairs(conf, "Priority")
        .map(|(line, pair)| {
            let value = pair.value.escape_debug();
            Hit::new(
                line.pair_key(&pair),
                format!(
                    "Priority sets both PriorityJobFactor and PriorityTier to {value}, whatever they \
                     say themselves; jobs of a higher tier come first whatever their priority"
                ),
                "write PriorityJobFactor for a factor of priorities, PriorityTier for a strict order",
            )
        })
        .collect()
}

fn job_factor_without_weight(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let weightless = conf.is_weightless("PriorityWeightPartition") && !conf.is_all_weightless();
    if !weightless {
        return Vec::new();
    }
    pairs(conf, "PriorityJobFactor")
        .map(|(line, pair)| {
            Hit::new(
                line.pair_key(&pair),
                "PriorityJobFactor is multiplied by PriorityWeightPartition, which is 0 or not given",
                "set PriorityWeightPartition, or remove the factor",
            )
        })
        .collect()
}

fn bad_billing_weights(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (line, pair) in pairs(conf, "TRESBillingWeights") {
        if let Err(error) = parse_tres_weights(&pair.value) {
            let length = error.value.chars().count();
            let value = error.value.escape_debug();
            hits.push(Hit::new(
                line.pair_value(&pair, error.offset, length),
                format!("TRESBillingWeights does not take \"{value}\""),
                format!("allowed is {}, without blanks", error.allowed),
            ));
            continue;
        }
        for (offset, entry) in entries(&pair.value) {
            let name = entry.split('=').next().unwrap_or_default();
            if conf.complete() && !conf.tracks(name) {
                let spot = line.pair_value(&pair, offset, name.chars().count());
                hits.push(untracked(spot, name));
            }
        }
    }
    hits
}

fn memory_billed_per_megabyte(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (line, pair) in pairs(conf, "TRESBillingWeights") {
        let Ok(weights) = parse_tres_weights(&pair.value) else {
            continue;
        };
        let cpu = weights
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("cpu"));
        let cpu = cpu.map_or(1.0, |(_, weight)| *weight);
        for (offset, entry) in entries(&pair.value) {
            let Some((name, number)) = entry.split_once('=') else {
                continue;
            };
            let Ok(weight) = number.parse::<f64>() else {
                continue; // With a unit.
            };
            let per_gib = weight * 1024.0;
            if name.eq_ignore_ascii_case("mem") && cpu > 0.0 && per_gib >= MOST_CPUS_PER_GIB * cpu {
                hits.push(Hit::new(
                    line.pair_value(&pair, offset, entry.chars().count()),
                    format!(
                        "memory is billed per megabyte: 1 GB costs {:.0}, as much as {:.0} CPUs",
                        per_gib,
                        per_gib / cpu
                    ),
                    format!("write {entry}G if the weight is per gigabyte"),
                ));
            }
        }
    }
    hits
}
