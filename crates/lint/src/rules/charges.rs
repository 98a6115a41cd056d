//! Resources that jobs use and are not charged for: GPUs and other generic resources of nodes, licences,
//! and weights that partitions over the same nodes do not share.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::words::entries;
use crate::effective_settings::{EffectiveSettings, Scope, has_gres};
use crate::rule::{Hit, Rule, Severity};
use fairtree::config::tres_weights::parse_tres_weights;
use fairtree_model::input::slurm::document::{Setting, Spot};
use fairtree_model::input::slurm::hostlist;

pub(super) static RULES: [Rule; 2] = [
    Rule {
        id: "resource-not-charged",
        severity: Severity::Note,
        summary: "a resource that jobs can have and that no billing weight charges",
        source: "slurm.conf(5), \"TRESBillingWeights\": without it a job is billed its CPUs; only \
                 TRES of AccountingStorageTRES can have a weight",
        scope: Scope::Weighted,
        check: resource_not_charged,
    },
    Rule {
        id: "billing-differs",
        severity: Severity::Note,
        summary: "a billing weight that another partition over the same nodes has",
        source: "slurm.conf(5), \"TRESBillingWeights\": a job is billed by the weights of its partition",
        scope: Scope::Weighted,
        check: billing_differs,
    },
];

/// The lines of a list such as `NodeName`.
fn lines<'a>(conf: &EffectiveSettings<'a>, list: &str) -> impl Iterator<Item = &'a Setting> {
    let settings = conf.document.settings.iter();
    settings.filter(move |line| line.is(list))
}

/// True for the line whose values hold for those after it.
fn is_default(line: &Setting) -> bool {
    line.value.text.eq_ignore_ascii_case("DEFAULT")
}

/// A generic resource of a node: its name and type, in lower case; no type: empty.
type Gres = (String, String);

/// The generic resources of a value of `Gres=`, such as `gpu:l40s:4,shard:8`; none of which there are 0.
fn gres(text: &str) -> impl Iterator<Item = Gres> {
    text.split(',').filter_map(|entry| {
        let entry = entry.split('(').next().unwrap_or_default().trim();
        let mut parts = entry.split(':');
        let name = parts.next().filter(|name| !name.is_empty())?;
        let (mut kind, mut count) = ("", "1");
        for part in parts.filter(|part| *part != "no_consume") {
            // MIG types such as 3g.20gb begin with a digit.
            let digits = part.trim_end_matches(|unit: char| "kKmMgGtT".contains(unit));
            match !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                true => count = part,
                false => kind = part,
            }
        }
        let is_there = !count.trim_start_matches('0').is_empty();
        is_there.then(|| (name.to_ascii_lowercase(), kind.to_ascii_lowercase()))
    })
}

/// At most this many nodes of lines and partitions are looked at, all together.
const MOST_NODES: usize = 4_000_000;

/// At most this many steps are taken to compare partitions.
const MOST_STEPS: usize = 100_000_000;

/// Values of the line of a node.
#[derive(Clone, Default)]
struct NodeLine {
    gres: Rc<BTreeSet<Gres>>,
    features: Rc<BTreeSet<String>>,
}

/// Contents of the lines of nodes; a line with a list that cannot be read is skipped.
#[derive(Default)]
struct Nodes {
    /// The position of each node in `line_of`, by its name.
    index: HashMap<String, u32>,
    /// The position of each node's line in `lines`.
    line_of: Vec<usize>,
    lines: Vec<NodeLine>,
    /// The nodes of each `NodeSet`.
    sets: HashMap<String, BTreeSet<u32>>,
    /// Nodes that were looked at.
    seen: usize,
}

impl Nodes {
    fn of(conf: &EffectiveSettings<'_>) -> Nodes {
        let mut nodes = Nodes::default();
        let mut default = NodeLine::default();
        for line in lines(conf, "NodeName") {
            let mut given = default.clone();
            for pair in line.pairs() {
                match pair.key.to_ascii_lowercase().as_str() {
                    "gres" => given.gres = Rc::new(gres(&pair.value).collect()),
                    "feature" | "features" => {
                        let features = pair.value.split(',');
                        given.features =
                            Rc::new(features.map(|feature| feature.trim().to_owned()).collect());
                    }
                    _ => {}
                }
            }
            if is_default(line) {
                default = given;
                continue;
            }
            for name in nodes.names(&line.value.text) {
                let next = u32::try_from(nodes.line_of.len()).unwrap_or(u32::MAX);
                nodes.index.insert(name, next);
                nodes.line_of.push(nodes.lines.len());
            }
            nodes.lines.push(given);
        }
        for line in lines(conf, "NodeSet") {
            let mut set = BTreeSet::new();
            for pair in line.pairs() {
                match pair.key.to_ascii_lowercase().as_str() {
                    "nodes" => set.extend(nodes.named(&pair.value)),
                    "feature" => set.extend(nodes.with_feature(&pair.value)),
                    _ => {}
                }
            }
            nodes.sets.insert(line.value.text.clone(), set);
        }
        nodes
    }

    /// The names of a list; none where it cannot be read or there were too many before.
    fn names(&mut self, list: &str) -> Vec<String> {
        if self.seen > MOST_NODES {
            return Vec::new();
        }
        let names = hostlist::expand(list);
        self.seen += names.as_ref().map_or(hostlist::MOST, Vec::len);
        names.unwrap_or_default()
    }

    /// The nodes with a feature.
    fn with_feature(&mut self, feature: &str) -> Vec<u32> {
        if self.seen > MOST_NODES {
            return Vec::new();
        }
        self.seen += self.line_of.len();
        let has = |line: &usize| self.lines[*line].features.contains(feature);
        let all = (0..).zip(&self.line_of);
        all.filter(|(_, line)| has(line))
            .map(|(at, _)| at)
            .collect()
    }

    /// The nodes of a partition's `Nodes=`, as far as they have a line.
    fn named(&mut self, list: &str) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for name in self.names(list) {
            if self.seen > MOST_NODES {
                return BTreeSet::new();
            }
            if name.eq_ignore_ascii_case("ALL") {
                self.seen += self.index.len();
                found.extend(self.index.values());
            } else if let Some(set) = self.sets.get(&name) {
                self.seen += set.len();
                found.extend(set);
            } else {
                found.extend(self.index.get(&name));
            }
        }
        found
    }

    /// The lines of these nodes.
    fn lines_of(&self, nodes: &BTreeSet<u32>) -> impl Iterator<Item = &NodeLine> {
        let lines: BTreeSet<usize> = nodes.iter().map(|at| self.line_of[*at as usize]).collect();
        lines.into_iter().map(|line| &self.lines[line])
    }
}

/// The billing weights of a partition.
#[derive(Clone, Default)]
struct Weights {
    /// The TRES with a weight other than 0, in lower case; without weights those are the CPUs.
    weighs: Rc<BTreeSet<String>>,
    /// True where there are weights, of its own line or a `DEFAULT` line.
    given: bool,
    /// Spot of the weights on its own line.
    spot: Option<Spot>,
    /// True where they cannot be read.
    bad: bool,
}

impl Weights {
    fn of(text: &str, spot: Option<Spot>) -> Weights {
        let read = parse_tres_weights(text);
        let bad = read.is_err();
        let weights = read.unwrap_or_default();
        let weighs = weights.iter().filter(|(_, weight)| *weight != 0.0);
        let mut weighs: BTreeSet<String> =
            weighs.map(|(name, _)| name.to_ascii_lowercase()).collect();
        if text.is_empty() {
            weighs.insert("cpu".into());
        }
        Weights {
            weighs: Rc::new(weighs),
            given: !text.is_empty(),
            spot,
            bad,
        }
    }
}

/// A partition and what jobs in it are charged.
struct Charged {
    name: String,
    /// Its weights, or its name where its line has none.
    spot: Spot,
    nodes: BTreeSet<u32>,
    weights: Weights,
}

/// The partitions; one with weights that cannot be read is skipped.
fn partitions(conf: &EffectiveSettings<'_>, nodes: &mut Nodes) -> Vec<Charged> {
    let mut partitions = Vec::new();
    let mut default = (Rc::from(""), Weights::of("", None));
    for line in lines(conf, "PartitionName") {
        let (mut list, mut weights) = default.clone();
        for pair in line.pairs() {
            match pair.key.to_ascii_lowercase().as_str() {
                "nodes" => list = Rc::from(pair.value),
                "tresbillingweights" => {
                    let own = !is_default(line) && !pair.value.is_empty();
                    let spot = own.then(|| line.pair_values(&pair));
                    weights = Weights::of(&pair.value, spot);
                }
                _ => {}
            }
        }
        if is_default(line) {
            default = (list, weights);
        } else if !weights.bad {
            partitions.push(Charged {
                name: line.value.text.clone(),
                spot: weights.spot.unwrap_or_else(|| line.value_spot()),
                nodes: nodes.named(&list),
                weights,
            });
        }
    }
    partitions
}

/// True if usage and its charges matter, and all that is asked for is known.
fn is_charging(conf: &EffectiveSettings<'_>) -> bool {
    conf.complete() && conf.config.priority_weight_fairshare > 0 && conf.has_slurmdbd()
}

/// Generic resources of a partition's nodes without a weight there, as TRES.
fn uncharged_gres(conf: &EffectiveSettings<'_>, nodes: &Nodes, partition: &Charged) -> Vec<String> {
    let there = nodes.lines_of(&partition.nodes).map(|line| &line.gres);
    let there: BTreeSet<&Gres> = there.flat_map(|gres| gres.iter()).collect();
    let names: BTreeSet<&str> = there.iter().map(|(name, _)| name.as_str()).collect();
    let uncharged = names.into_iter().filter(|name| {
        let tres = format!("gres/{name}");
        let mut kinds = there.iter().filter(|(other, _)| other == name);
        let of_kind = |kind: &str| partition.weights.weighs.contains(&format!("{tres}:{kind}"));
        let charged =
            partition.weights.weighs.contains(&tres) || kinds.all(|(_, kind)| of_kind(kind));
        // Among resources that are not tracked, only GPUs are in great demand.
        let counts = has_gres(conf, name) && (*name == "gpu" || conf.tracks(&tres));
        counts && !charged
    });
    uncharged.map(|name| format!("gres/{name}")).collect()
}

/// The licences that the site tracks, as TRES in lower case, each with its place.
fn licences(conf: &EffectiveSettings<'_>) -> Vec<(String, Spot)> {
    let Some(tracked) = conf.last("AccountingStorageTRES") else {
        return Vec::new();
    };
    let entries = entries(&tracked.value.text).into_iter();
    let licences = entries.filter_map(|(offset, entry)| {
        let tres = entry.trim().to_ascii_lowercase();
        let spot = tracked.value_part(offset, entry.chars().count());
        tres.starts_with("license/").then_some((tres, spot))
    });
    licences.collect()
}

fn resource_not_charged(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if !is_charging(conf) {
        return Vec::new();
    }
    let mut nodes = Nodes::of(conf);
    let partitions = partitions(conf, &mut nodes);
    if partitions.is_empty() {
        return Vec::new();
    }
    let (nowhere, somewhere): (Vec<_>, Vec<_>) = licences(conf)
        .into_iter()
        .partition(|(tres, _)| !partitions.iter().any(|it| it.weights.weighs.contains(tres)));
    let mut hits = Vec::new();
    for (tres, spot) in nowhere {
        hits.push(Hit::new(
            spot,
            format!("no partition charges {tres}: in fair share a job with such licences uses as much as one without"),
            remedy(conf, None, &[tres]),
        ));
    }
    for partition in &partitions {
        let mut uncharged = uncharged_gres(conf, &nodes, partition);
        let licences = somewhere.iter().map(|(tres, _)| tres);
        uncharged.extend(
            licences
                .filter(|tres| !partition.weights.weighs.contains(*tres))
                .cloned(),
        );
        if !uncharged.is_empty() {
            hits.push(Hit::new(
                partition.spot,
                format!(
                    "partition {} does not charge {}: in fair share a job with many of them uses as \
                     much as one with none",
                    partition.name.escape_debug(),
                    uncharged.join(", ")
                ),
                remedy(conf, Some(partition), &uncharged),
            ));
        }
    }
    hits
}

/// Advice on charging these TRES: in a partition, or in all.
fn remedy(
    conf: &EffectiveSettings<'_>,
    partition: Option<&Charged>,
    uncharged: &[String],
) -> String {
    let weights: Vec<String> = uncharged
        .iter()
        .map(|tres| match tres.strip_prefix("gres/") {
            Some(name) => format!("GRES/{name}=.."),
            None => format!("{tres}=.."),
        })
        .collect();
    let weights = weights.join(",");
    let mut text = match partition {
        Some(partition) if partition.weights.given => {
            format!("add {weights} to TRESBillingWeights")
        }
        Some(_) => format!("set TRESBillingWeights=\"CPU=..,Mem=..,{weights}\""),
        None => format!("add {weights} to TRESBillingWeights of the partitions"),
    };
    let untracked: Vec<&str> = uncharged
        .iter()
        .map(String::as_str)
        .filter(|tres| !conf.tracks(tres))
        .collect();
    if !untracked.is_empty() {
        text += &format!(", and {} to AccountingStorageTRES", untracked.join(","));
    }
    let weighed = conf
        .config
        .priority_weight_tres
        .iter()
        .any(|(name, weight)| {
            *weight != 0.0 && uncharged.iter().any(|tres| tres.eq_ignore_ascii_case(name))
        });
    if weighed {
        text += "; PriorityWeightTRES raises the priority of such jobs and charges nothing";
    }
    text
}

fn billing_differs(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if !is_charging(conf) {
        return Vec::new();
    }
    let partitions = partitions(conf, &mut Nodes::of(conf));
    let sizes = partitions
        .iter()
        .map(|it| it.nodes.len() + it.weights.weighs.len());
    let size: usize = sizes.sum();
    if size.saturating_mul(partitions.len()) > MOST_STEPS {
        return Vec::new();
    }
    // Those have a rule of their own.
    let is_own = |tres: &&String| !tres.starts_with("gres/") && !tres.starts_with("license/");
    let mut hits = Vec::new();
    for partition in &partitions {
        let mut others = partitions
            .iter()
            .filter(|other| !other.nodes.is_disjoint(&partition.nodes))
            .map(|other| {
                let lacking = other
                    .weights
                    .weighs
                    .difference(&partition.weights.weighs)
                    .filter(is_own);
                (other, lacking.map(String::as_str).collect::<Vec<_>>())
            });
        if let Some((other, lacking)) = others.find(|(_, lacking)| !lacking.is_empty()) {
            hits.push(Hit::new(
                partition.spot,
                format!(
                    "partition {} does not charge {}, and {}, which has some of the same nodes, does",
                    partition.name.escape_debug(),
                    lacking.join(", "),
                    other.name.escape_debug()
                ),
                "give both partitions the same TRESBillingWeights, unless one is meant to be cheaper",
            ));
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: slurm.conf(5), "Gres": name[:type][:no_consume]:number.
    #[test]
    fn generic_resources_of_nodes() {
        let found = |text: &str| {
            let found: Vec<String> = gres(text)
                .map(|(name, kind)| format!("{name}/{kind}"))
                .collect();
            found.join(" ")
        };
        for (text, expected) in [
            ("gpu", "gpu/"),
            ("gpu:2", "gpu/"),
            ("gpu:L40S:4(S:0-1),shard:8", "gpu/l40s shard/"),
            ("gpu:tesla:2,gpu:kepler:2", "gpu/tesla gpu/kepler"),
            ("bandwidth:lustre:no_consume:4G", "bandwidth/lustre"),
            ("gpu:0", ""),
            ("gpu:3g.20gb:2", "gpu/3g.20gb"),
            ("", ""),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
