//! `[[nodes]]` and what partitions say of them: the machine of a site, for simulations.

use std::collections::HashMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::file::{File, Partition as PartitionLine, parse_as};
use super::place::Text;
use super::{settings, value};
use crate::input::error::{InputError, Problem};
use crate::input::slurm::count::megabytes;
use crate::input::slurm::hostlist::expand;
use crate::input::slurm::machine::{cores, gres, set_scheduling};
use crate::machine::{Machine, Memory, Node, Partition};
use fairtree::priority::TimeLimit;

/// The nodes of a file.
#[derive(Deserialize)]
struct Listed {
    nodes: Vec<NodeLine>,
}

/// `[[nodes]]`: nodes that are alike.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeLine {
    name: Spanned<String>,
    cpus: Option<Spanned<Value>>,
    sockets: Option<Spanned<Value>>,
    cores_per_socket: Option<Spanned<Value>>,
    threads_per_core: Option<Spanned<Value>>,
    real_memory: Option<Spanned<Value>>,
    gres: Option<Spanned<String>>,
    features: Option<Spanned<String>>,
    weight: Option<Spanned<Value>>,
    state: Option<Spanned<String>>,
}

/// The largest count of a key.
const COUNTS: std::ops::RangeInclusive<i64> = 1..=u16::MAX as i64;
/// Memory of a node that does not limit its jobs, megabytes.
const PLENTY_MB: u64 = u32::MAX as u64;

/// Returns true if a file lists its nodes.
pub(super) fn is_listed(file: &File) -> bool {
    let nodes = file.nodes.as_ref();
    nodes.is_some_and(|nodes| matches!(nodes.get_ref(), Value::Array(_)))
}

/// The machine; `None` where the file lists no nodes.
pub(super) fn read(text: &Text<'_>, file: &File) -> Result<Option<Machine>, InputError> {
    if !is_listed(file) {
        let named = file.partitions.values().find_map(|one| one.nodes.as_ref());
        return match named {
            None => Ok(None),
            Some(named) => Err(text
                .value(
                    &named.span(),
                    "nodes",
                    "names of [[nodes]], and the file has none",
                )
                .hint("describe them: [[nodes]] with name = \"n[1-4]\" and cpus = 64")),
        };
    }
    let listed: Listed = parse_as(text)?;
    let mut machine = Machine::default();
    machine.scheduling.has_memory = listed.nodes.iter().any(|one| one.real_memory.is_some());
    let mut known: HashMap<String, usize> = HashMap::new();
    for about in &listed.nodes {
        let node = node(text, about)?;
        let list = about.name.get_ref();
        let names = expand(list).filter(|names| !names.is_empty() && !list.trim().is_empty());
        let odd = |name: &String| {
            name.is_empty() || name.contains(|c: char| c.is_whitespace() || "[],".contains(c))
        };
        let names = names.filter(|names| !names.iter().any(odd));
        let names = names.ok_or_else(|| {
            text.value(
                &about.name.span(),
                "name",
                "names of nodes, as n1 or n[1-4],big[1-2]",
            )
        })?;
        for name in names {
            if known.insert(name.clone(), machine.nodes.len()).is_some() {
                let why = format!("node {name} is listed twice");
                return Err(text.error(about.name.span().start, Problem::Structure(why)));
            }
            machine.nodes.push(Node {
                name,
                ..node.clone()
            });
        }
        if machine.nodes.len() > Machine::MOST_NODES {
            break;
        }
    }
    if let Some(why) = machine.excess() {
        let at = file.nodes.as_ref().map_or(0, |nodes| nodes.span().start);
        return Err(text.error(at, Problem::Structure(why)));
    }
    for (key, value) in &file.settings {
        if settings::is_scheduler(key.get_ref()) {
            let written = settings::text(text, key.get_ref(), value)?;
            set_scheduling(&mut machine.scheduling, key.get_ref(), &written)
                .map_err(|why| text.error(value.span().start, Problem::Structure(why)))?;
        }
    }
    for (name, about) in &file.partitions {
        let partition = partition(text, name, about, &known, file.partitions.len() == 1)?;
        machine.partitions.push(partition);
    }
    if machine.partitions.is_empty() {
        let at = file.nodes.as_ref().map_or(0, |nodes| nodes.span().start);
        let why = "the file lists [[nodes]], but no partition has them".to_owned();
        return Err(text
            .error(at, Problem::Structure(why))
            .hint("describe one: [partitions.main] with nodes = \"ALL\""));
    }
    Ok(Some(machine))
}

fn count(
    text: &Text<'_>,
    value: &Option<Spanned<Value>>,
    what: &str,
) -> Result<Option<u32>, InputError> {
    let whole = |value| value::whole(text, value, what, COUNTS);
    value.as_ref().map(whole).transpose()
}

/// Refuses `cpus` that the other numbers do not multiply to. CPUs are all threads, or all cores, as in slurm.conf;
/// without `cores_per_socket` each socket has the same number of whole cores.
fn check_cpus(
    text: &Text<'_>,
    about: &NodeLine,
    numbers: [Option<u32>; 4],
) -> Result<(), InputError> {
    let [Some(cpus), sockets, cores, threads] = numbers else {
        return Ok(());
    };
    let number = |number: Option<u32>| u64::from(number.unwrap_or(1));
    let (cpus, sockets, threads) = (u64::from(cpus), number(sockets), number(threads));
    let all = sockets * number(cores) * threads;
    let (fits, allowed) = match cores {
        None => (
            cpus == sockets || cpus % all == 0,
            format!("a multiple of {all}, as sockets and threads multiply to it"),
        ),
        Some(_) if threads == 1 => (
            cpus == all,
            format!("{all}, as sockets and cores multiply to it, or no cpus"),
        ),
        Some(_) => (
            [all / threads, all].contains(&cpus),
            format!(
                "{} (all cores) or {all} (all threads), or no cpus",
                all / threads
            ),
        ),
    };
    if fits {
        return Ok(());
    }
    let span = about.cpus.as_ref().map_or(0..0, Spanned::span);
    Err(text.value(&span, "cpus", allowed))
}

fn node(text: &Text<'_>, about: &NodeLine) -> Result<Node, InputError> {
    let numbers = [
        count(text, &about.cpus, "cpus")?,
        count(text, &about.sockets, "sockets")?,
        count(text, &about.cores_per_socket, "cores_per_socket")?,
        count(text, &about.threads_per_core, "threads_per_core")?,
    ];
    check_cpus(text, about, numbers)?;
    let [cpus, sockets, per_socket, threads] = numbers;
    let (cores, threads) = cores(cpus, sockets, per_socket, threads);
    let own = about.gres.as_ref().map(|own| {
        let found = gres(own.get_ref()).filter(|found| !found.is_empty());
        found.ok_or_else(|| text.value(&own.span(), "gres", "gpu:2, gpu:a100:2 and the like"))
    });
    let features = about.features.as_ref().map_or("", |own| own.get_ref());
    let features = features.split(',').map(str::trim);
    Ok(Node {
        name: String::new(),
        cores,
        threads,
        memory_mb: match &about.real_memory {
            Some(own) => memory(text, own, "real_memory")?,
            None => PLENTY_MB,
        },
        gres: own.transpose()?.unwrap_or_default(),
        features: features
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        weight: match &about.weight {
            Some(weight) => value::whole(text, weight, "weight", 0..=i64::from(u32::MAX) - 1)?,
            None => 1,
        },
        is_up: is_one_of(
            text,
            &about.state,
            "state",
            ("UP", &["UP", "DOWN", "DRAIN"]),
        )? == "UP",
    })
}

/// Memory in megabytes: a number of them, or `256G`.
fn memory(text: &Text<'_>, value: &Spanned<Value>, what: &str) -> Result<u64, InputError> {
    let found = match value.get_ref() {
        Value::Integer(mb) => u64::try_from(*mb).ok(),
        Value::String(written) => megabytes(written),
        _ => None,
    };
    found
        .filter(|mb| (1..=1 << 40).contains(mb))
        .ok_or_else(|| {
            let allowed = "memory above 0, as 256000 (megabytes) or \"256G\"";
            text.value(&value.span(), what, allowed)
        })
}

/// One of some words, in any case; the first part of `words` without a value.
fn is_one_of(
    text: &Text<'_>,
    value: &Option<Spanned<String>>,
    what: &str,
    (default, words): (&'static str, &'static [&'static str]),
) -> Result<&'static str, InputError> {
    let Some(value) = value else {
        return Ok(default);
    };
    let found = words
        .iter()
        .find(|word| word.eq_ignore_ascii_case(value.get_ref()));
    found.copied().ok_or_else(|| {
        let allowed = format!("one of {}", words.join(", "));
        text.value(&value.span(), what, allowed)
    })
}

/// A limit, and its minutes; the first `None`: it is not given; the second: unlimited, or not given.
fn minutes(
    text: &Text<'_>,
    value: &Option<Spanned<Value>>,
    what: &str,
) -> Result<(Option<TimeLimit>, Option<u32>), InputError> {
    let limit = value.as_ref().map(|own| value::limit(text, own, what));
    let limit = limit.transpose()?;
    let minutes = match limit {
        Some(TimeLimit::Minutes(minutes)) => Some(minutes),
        _ => None,
    };
    Ok((limit, minutes))
}

fn partition(
    text: &Text<'_>,
    name: &Spanned<String>,
    about: &PartitionLine,
    known: &HashMap<String, usize>,
    is_only: bool,
) -> Result<Partition, InputError> {
    let Some(list) = &about.nodes else {
        let why = format!(
            "partition {} does not say which nodes it has",
            name.get_ref()
        );
        return Err(text
            .error(name.span().start, Problem::Structure(why))
            .hint("say so: nodes = \"n[1-4]\", or nodes = \"ALL\""));
    };
    let mut nodes: Vec<usize> = Vec::new();
    match list.get_ref().eq_ignore_ascii_case("ALL") {
        true => nodes.extend(known.values()),
        false => {
            let names = expand(list.get_ref()).unwrap_or_default();
            let unknown = names.iter().find(|name| !known.contains_key(*name));
            if names.is_empty() || unknown.is_some() {
                let which = unknown.map_or(String::new(), |name| format!(": {name} is not there"));
                let allowed = format!("names of [[nodes]], as n[1-4], or ALL{which}");
                return Err(text.value(&list.span(), "nodes", allowed));
            }
            nodes.extend(names.iter().filter_map(|name| known.get(name)));
        }
    }
    nodes.sort_unstable();
    nodes.dedup();
    let per_cpu = about.def_mem_per_cpu.as_ref();
    let per_node = about.def_mem_per_node.as_ref();
    let default_memory = match (per_cpu, per_node) {
        (Some(own), None) => Some(Memory::Cpu(memory(text, own, "def_mem_per_cpu")?)),
        (None, Some(own)) => Some(Memory::Node(memory(text, own, "def_mem_per_node")?)),
        (None, None) => None,
        (Some(_), Some(second)) => {
            let why = "def_mem_per_cpu and def_mem_per_node are both given, allowed is one";
            return Err(text.error(second.span().start, Problem::Structure(why.to_owned())));
        }
    };
    let shared = ("NO", &["NO", "YES", "EXCLUSIVE"][..]);
    let states = ("UP", &["UP", "DOWN", "DRAIN", "INACTIVE"][..]);
    let tier = about.priority_tier.as_ref();
    let tier = tier.map(|own| value::whole(text, own, "priority_tier", 0..=65_533));
    let (_, max_time_mins) = minutes(text, &about.max_time, "max_time")?;
    let (default_time, default_time_mins) = minutes(text, &about.default_time, "default_time")?;
    let min_nodes = count(text, &about.min_nodes, "min_nodes")?.unwrap_or(1);
    let max_nodes = count(text, &about.max_nodes, "max_nodes")?;
    if let (Some(most), Some(own)) = (max_nodes.filter(|most| min_nodes > *most), &about.min_nodes)
    {
        let allowed = format!("up to max_nodes, {most}");
        return Err(text.value(&own.span(), "min_nodes", allowed));
    }
    let is_above = |most: &u32| match default_time {
        Some(TimeLimit::Unlimited) => true,
        _ => default_time_mins > Some(*most),
    };
    let too_long = max_time_mins.filter(is_above);
    if let (Some(most), Some(own)) = (too_long, &about.default_time) {
        let allowed = format!("up to max_time, {most} minutes");
        return Err(text.value(&own.span(), "default_time", allowed));
    }
    Ok(Partition {
        name: name.get_ref().clone(),
        nodes,
        is_default: about.default || is_only,
        is_up: matches!(
            is_one_of(text, &about.state, "state", states)?,
            "UP" | "DRAIN"
        ),
        max_time_mins,
        default_time_mins,
        min_nodes,
        max_nodes,
        priority_tier: tier.transpose()?.unwrap_or(1),
        default_memory,
        is_exclusive: is_one_of(text, &about.over_subscribe, "over_subscribe", shared)?
            == "EXCLUSIVE",
        qos: None,
    })
}

/// The resources of a partition, of those that the site tracks; memory where it is known.
pub(super) fn resources(machine: &Machine, at: usize, tracked: &[String]) -> Vec<(String, u64)> {
    let partition = &machine.partitions[at];
    let nodes = || partition.nodes.iter().map(|node| &machine.nodes[*node]);
    let of = |name: &String| {
        let count: u64 = match name.as_str() {
            "cpu" => nodes().map(|node| u64::from(node.cpus())).sum(),
            "node" => partition.nodes.len() as u64,
            "mem" if machine.scheduling.has_memory => nodes().map(|node| node.memory_mb).sum(),
            name => {
                let own = nodes().flat_map(|node| &node.gres);
                let own = own.filter(|gres| name == format!("gres/{}", gres.name));
                own.map(|gres| u64::from(gres.count)).sum()
            }
        };
        (count > 0).then(|| (name.clone(), count))
    };
    tracked.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests;
