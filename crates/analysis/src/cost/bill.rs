//! The bill: resources, weights, and what of them counts.

use serde::Serialize;

use super::Request;
use fairtree::usage::{BillingRule, TresKind, billable_tres};
use fairtree_model::cluster::Cluster;

/// A resource on the bill.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BillLine {
    /// Name.
    pub tres: String,
    /// How much; memory in mebibytes.
    pub count: u64,
    /// Its weight per unit; 0 where it has none.
    pub weight: f64,
    /// `count * weight`.
    pub weighted: f64,
    /// True if it is in the billing: under `MAX_TRES` only the largest of some kinds is.
    pub counts: bool,
}

/// The amounts billed per second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bill {
    /// `cpus`: CPUs are billed, without weights; `hidden`: the same, as weights are hidden; `sum`, `max_tres` or `max_tres_gres`: how the
    /// weighted resources are put together (`PriorityFlags`).
    pub rule: &'static str,
    /// The resources; those without a count are left out.
    pub lines: Vec<BillLine>,
    /// Billing TRES.
    pub billing: f64,
    /// `UsageFactor` of the QOS.
    pub usage_factor: f64,
}

/// Bills a request, and says what was taken for granted.
pub(super) fn of(cluster: &Cluster, request: &Request, said: &mut Vec<String>) -> Bill {
    let tres = completed(request, said);
    let names: Vec<String> = tres.iter().map(|(name, _)| name.clone()).collect();
    let counts: Vec<u64> = tres.iter().map(|(_, count)| *count).collect();
    let kinds: Vec<TresKind> = names.iter().map(|name| TresKind::of(name)).collect();
    let weights = weights(cluster, request, &names);
    let rule = BillingRule::from_flags(&cluster.config.priority_flags);
    let cpus = tres
        .iter()
        .find(|(name, _)| name == "cpu")
        .map_or(0, |(_, count)| *count);
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX);
    let billing = billable_tres(Some(&counts), weights.as_deref(), &kinds, rule, cpus);
    let unknown = match cluster.hidden.partitions {
        true => Some("TRESBillingWeights of partitions are hidden"),
        false => cluster
            .partitions
            .is_empty()
            .then_some("no partition is known"),
    };
    if let Some(unknown) = unknown.filter(|_| request.weights.is_none()) {
        said.push(format!(
            "{unknown}, so CPUs are billed; --weights gives weights"
        ));
    }
    Bill {
        rule: match (&weights, rule) {
            (None, _) if cluster.hidden.partitions => "hidden",
            (None, _) => "cpus",
            (Some(_), BillingRule::Sum) => "sum",
            (Some(_), BillingRule::MaxTres) => "max_tres",
            (Some(_), BillingRule::MaxTresGres) => "max_tres_gres",
        },
        lines: lines(&tres, weights.as_deref(), &kinds, rule),
        billing,
        usage_factor: usage_factor(cluster, request, said),
    }
}

/// The resources of the request, and those that Slurm adds: a node, a CPU, and `gres/gpu` beside
/// `gres/gpu:TYPE`.
fn completed(request: &Request, said: &mut Vec<String>) -> Vec<(String, u64)> {
    let mut tres = request.tres.clone();
    for name in ["cpu", "node"] {
        if !tres.iter().any(|(known, _)| known == name) {
            said.push(format!("{name}=1, as none is given"));
            tres.push((name.to_owned(), 1));
        }
    }
    let typed: Vec<(String, u64)> = tres
        .iter()
        .filter_map(|(name, count)| Some((name.split_once(':')?.0.to_owned(), *count)))
        .collect();
    for (name, count) in typed {
        match tres.iter_mut().find(|(known, _)| *known == name) {
            Some(_) if request.tres.iter().any(|(known, _)| *known == name) => {}
            Some((_, sum)) => *sum += count,
            None => tres.push((name, count)),
        }
    }
    tres
}

/// The weight of each of `names`; `None`: CPUs are billed.
fn weights(cluster: &Cluster, request: &Request, names: &[String]) -> Option<Vec<f64>> {
    if let Some(given) = &request.weights {
        let weight = |name: &String| {
            let last = given
                .iter()
                .rev()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            last.map_or(0.0, |(_, weight)| *weight)
        };
        return Some(names.iter().map(weight).collect());
    }
    let own = cluster.partitions[request.partition?]
        .billing_weights
        .as_deref()?;
    let weight = |name: &String| {
        let at = cluster
            .tables
            .tres_names
            .iter()
            .position(|known| known == name);
        at.map_or(0.0, |at| own[at])
    };
    Some(names.iter().map(weight).collect())
}

fn usage_factor(cluster: &Cluster, request: &Request, said: &mut Vec<String>) -> f64 {
    match (request.usage_factor, request.qos) {
        (Some(factor), _) => factor,
        (None, Some(qos)) => cluster.qos[qos].usage_factor,
        (None, None) => {
            said.push("UsageFactor 1, as no QOS is known".to_owned());
            1.0
        }
    }
}

fn lines(
    tres: &[(String, u64)],
    weights: Option<&[f64]>,
    kinds: &[TresKind],
    rule: BillingRule,
) -> Vec<BillLine> {
    let weight = |at: usize| match weights {
        Some(weights) => weights[at],
        None => f64::from(u8::from(kinds[at] == TresKind::Cpu)),
    };
    let weighted = |at: usize| tres[at].1 as f64 * weight(at);
    let competes = |at: usize| rule.takes_largest(kinds[at]) && weights.is_some();
    let largest = (0..tres.len())
        .filter(|at| competes(*at))
        .fold(None, |largest, at| {
            let beaten = |best: usize| weighted(at) > weighted(best);
            match largest {
                Some(best) if !beaten(best) => Some(best),
                _ if weighted(at) > 0.0 => Some(at),
                none => none,
            }
        });
    (0..tres.len())
        .map(|at| BillLine {
            tres: tres[at].0.clone(),
            count: tres[at].1,
            weight: weight(at),
            weighted: weighted(at),
            counts: weighted(at) != 0.0
                && kinds[at] != TresKind::Billing
                && (!competes(at) || largest == Some(at)),
        })
        .collect()
}
