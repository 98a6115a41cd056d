//! Nodes, partitions and scheduler settings of a slurm.conf.
//!
//! Source: slurm.conf(5) of 22.05: NodeName, PartitionName, SchedulerParameters, SelectTypeParameters.

use std::collections::HashMap;

use fairtree::config::time::{Time, parse_time};

use super::conf::refused;
use super::document::{Document, Pair, Setting};
use super::hostlist::expand;
use crate::input::error::{InputError, Problem};
use crate::machine::{Gres, Machine, Memory, Node, Partition, Scheduling};

/// The machine that a slurm.conf describes. A scheduler parameter that cannot be read counts as not
/// set, as slurmctld does it, with a sentence in [`Machine::not_modelled`].
///
/// # Errors
/// Lists of nodes and numbers that slurmctld would not take; a partition with a node that no line
/// declares; no node at all; more nodes or CPUs than there can be ([`Machine::excess`]).
pub fn read(document: &Document, name: &str) -> Result<Machine, InputError> {
    let mut machine = Machine::default();
    machine.scheduling = scheduling(document, &mut machine.not_modelled);
    let cores_alone = last(document, "SelectTypeParameters").is_some_and(|text| {
        let words = || text.split(',').map(|word| word.trim().to_ascii_uppercase());
        words().any(|word| word.starts_with("CR_CPU"))
    });
    nodes(document, cores_alone, &mut machine)?;
    if machine.nodes.is_empty() {
        let why = "declares no node: lines with NodeName= are needed".to_owned();
        return Err(InputError::new(name, Problem::Structure(why)));
    }
    if let Some(why) = machine.excess() {
        return Err(InputError::new(name, Problem::Structure(why)));
    }
    partitions(document, &mut machine)?;
    not_modelled(document, &mut machine);
    Ok(machine)
}

fn last(document: &Document, key: &str) -> Option<String> {
    document.last(key).map(|setting| setting.value.text.clone())
}

/// A number of a pair, or an error with its place.
fn number<T: std::str::FromStr>(
    document: &Document,
    line: &Setting,
    pair: &Pair,
    allowed: &str,
) -> Result<T, InputError> {
    pair.value.parse().map_err(|_| {
        let what = format!("{} of {}", pair.key, line.value.text);
        let spot = document.place(&line.pair_values(pair));
        let problem = Problem::Value {
            what,
            found: pair.value.clone(),
            allowed: allowed.to_owned(),
        };
        InputError::new(&spot.file, problem)
            .at_line(spot.line, document.line(&line.pair_values(pair)))
            .at_column(spot.column)
    })
}

const WHOLE: &str = "a whole number from 0 to 4294967295";

/// The numbers of a node line, before cores are known.
#[derive(Clone, Default)]
struct NodeLine {
    cpus: Option<u32>,
    boards: u32,
    sockets: Option<u32>,
    cores: Option<u32>,
    threads: Option<u32>,
    reserved_cores: u32,
    reserved_mb: u64,
    node: Node,
}

fn nodes(document: &Document, cpus_alone: bool, machine: &mut Machine) -> Result<(), InputError> {
    let mut default = NodeLine {
        boards: 1,
        ..NodeLine::default()
    };
    let mut known: HashMap<String, usize> = HashMap::new();
    for setting in document.settings.iter().filter(|one| one.is("NodeName")) {
        let mut line = default.clone();
        for pair in setting.pairs() {
            let is = |keys: &[&str]| keys.iter().any(|key| pair.key.eq_ignore_ascii_case(key));
            let whole = || number::<u32>(document, setting, &pair, WHOLE);
            if is(&["CPUs", "Procs"]) {
                line.cpus = Some(whole()?);
            } else if is(&["Boards"]) {
                line.boards = whole()?.max(1);
            } else if is(&["Sockets", "SocketsPerBoard"]) {
                line.sockets = Some(whole()?);
            } else if is(&["CoresPerSocket"]) {
                line.cores = Some(whole()?);
            } else if is(&["ThreadsPerCore"]) {
                line.threads = Some(whole()?);
            } else if is(&["CoreSpecCount"]) {
                line.reserved_cores = whole()?;
            } else if is(&["RealMemory"]) {
                line.node.memory_mb = u64::from(whole()?);
            } else if is(&["MemSpecLimit"]) {
                line.reserved_mb = u64::from(whole()?);
            } else if is(&["Weight"]) {
                line.node.weight = whole()?;
            } else if is(&["Feature", "Features"]) {
                let names = pair.value.split(',').filter(|name| !name.is_empty());
                line.node.features = names.map(str::to_owned).collect();
            } else if is(&["Gres"]) {
                line.node.gres = gres(&pair.value).ok_or_else(|| {
                    let what = format!("Gres of {}", setting.value.text);
                    refused(
                        document,
                        setting,
                        what,
                        "gpu:2, gpu:a100:2 and the like".to_owned(),
                    )
                })?;
            } else if is(&["State"]) {
                let word = pair.value.to_ascii_uppercase();
                let away = ["DOWN", "DRAIN", "FAIL", "FUTURE"];
                line.node.is_up = !away.iter().any(|state| word.starts_with(state));
            }
        }
        let list = &setting.value.text;
        if list.eq_ignore_ascii_case("DEFAULT") {
            default = line;
            continue;
        }
        let Some(names) = expand(list) else {
            let allowed = "a list of names as n[1-4],login".to_owned();
            return Err(refused(document, setting, "NodeName".to_owned(), allowed));
        };
        let mut node = line.node.clone();
        (node.cores, node.threads) = line.cores(cpus_alone);
        node.memory_mb = node.memory_mb.saturating_sub(line.reserved_mb);
        for name in names {
            let own = Node {
                name: name.clone(),
                ..node.clone()
            };
            if known.insert(name, machine.nodes.len()).is_none() {
                machine.nodes.push(own);
            }
        }
    }
    Ok(())
}

impl NodeLine {
    /// Cores for jobs, and CPUs of each.
    fn cores(&self, cpus_alone: bool) -> (u32, u32) {
        let threads = self.threads.unwrap_or(1).max(1);
        let sockets = self.sockets.unwrap_or(1).max(1);
        let sockets = sockets.saturating_mul(self.boards);
        let cores = match (self.cores, self.sockets, self.cpus) {
            (None, None, Some(cpus)) => (cpus / threads).max(1),
            (None, Some(_), Some(cpus)) => (cpus / threads).max(sockets),
            _ => sockets.saturating_mul(self.cores.unwrap_or(1).max(1)),
        };
        // As many CPUs as cores: its threads are not allocated one by one.
        let threads = if self.cpus == Some(cores) { 1 } else { threads };
        let cores = cores.saturating_sub(self.reserved_cores).max(1);
        match cpus_alone {
            true => (cores.saturating_mul(threads), 1),
            false => (cores, threads),
        }
    }
}

/// Cores for jobs of a node with these numbers, and CPUs of each core.
pub(in crate::input) fn cores(
    cpus: Option<u32>,
    sockets: Option<u32>,
    cores: Option<u32>,
    threads: Option<u32>,
) -> (u32, u32) {
    let line = NodeLine {
        cpus,
        boards: 1,
        sockets,
        cores,
        threads,
        ..NodeLine::default()
    };
    line.cores(false)
}

/// Generic resources of a node line: `gpu:2,gpu:a100:1`; a suffix `(S:0)` and the word `no_consume`
/// are passed over.
pub(in crate::input) fn gres(text: &str) -> Option<Vec<Gres>> {
    let terms = text
        .split(',')
        .map(str::trim)
        .filter(|term| !term.is_empty());
    terms
        .map(|term| {
            let term = term.split('(').next().unwrap_or(term);
            let mut parts: Vec<&str> = term.split(':').collect();
            parts.retain(|part| *part != "no_consume");
            let (name, kind, count) = match parts[..] {
                [name] => (name, "", "1"),
                [name, second] if starts_with_digit(second) => (name, "", second),
                [name, kind] => (name, kind, "1"),
                [name, kind, count] => (name, kind, count),
                _ => return None,
            };
            Some(Gres {
                name: name.to_owned(),
                kind: kind.to_owned(),
                count: u32::try_from(super::count::count(count)?).ok()?,
            })
        })
        .collect()
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

fn partitions(document: &Document, machine: &mut Machine) -> Result<(), InputError> {
    let mut default = Partition::default();
    let memory = |key: &str| -> Option<u64> { last(document, key)?.parse().ok() };
    default.default_memory = match (memory("DefMemPerCPU"), memory("DefMemPerNode")) {
        (Some(mb), _) => Some(Memory::Cpu(mb)),
        (None, Some(mb)) => Some(Memory::Node(mb)),
        (None, None) => None,
    };
    let place: HashMap<String, usize> = machine
        .nodes
        .iter()
        .enumerate()
        .map(|(at, node)| (node.name.clone(), at))
        .collect();
    let sets = node_sets(document, machine);
    let lines = document.settings.iter();
    for setting in lines.filter(|one| one.is("PartitionName")) {
        let mut partition = default.clone();
        for pair in setting.pairs() {
            let is = |key: &str| pair.key.eq_ignore_ascii_case(key);
            let yes = || pair.value.eq_ignore_ascii_case("YES");
            let whole = || number::<u32>(document, setting, &pair, WHOLE);
            let count = || match pair.value.to_ascii_uppercase().as_str() {
                "UNLIMITED" | "INFINITE" => Ok(None),
                _ => whole().map(Some),
            };
            let minutes = || match parse_time(&pair.value) {
                Ok(Time::Infinite) => Ok(None),
                Ok(Time::Secs(secs)) => Ok(Some(secs.div_ceil(60))),
                Err(error) => Err(refused(
                    document,
                    setting,
                    format!("{} of partition {}", pair.key, setting.value.text),
                    error.allowed,
                )),
            };
            if is("Nodes") {
                partition.nodes = members(&pair.value, &place, &sets).map_err(|found| {
                    let what = format!("node {found} of partition {}", setting.value.text);
                    refused(
                        document,
                        setting,
                        what,
                        "nodes that NodeName= declares".to_owned(),
                    )
                })?;
            } else if is("Default") {
                partition.is_default = yes();
            } else if is("State") {
                let word = pair.value.to_ascii_uppercase();
                partition.is_up = matches!(word.as_str(), "UP" | "DRAIN");
            } else if is("MaxTime") {
                partition.max_time_mins = minutes()?;
            } else if is("DefaultTime") {
                partition.default_time_mins = minutes()?;
            } else if is("MinNodes") {
                partition.min_nodes = whole()?.max(1);
            } else if is("MaxNodes") {
                partition.max_nodes = count()?;
            } else if is("PriorityTier") || is("Priority") {
                partition.priority_tier = whole()?;
            } else if is("DefMemPerCPU") {
                partition.default_memory = Some(Memory::Cpu(u64::from(whole()?)));
            } else if is("DefMemPerNode") {
                partition.default_memory = Some(Memory::Node(u64::from(whole()?)));
            } else if is("OverSubscribe") || is("Shared") {
                partition.is_exclusive = pair.value.to_ascii_uppercase().starts_with("EXCLUSIVE");
            } else if is("QOS") {
                partition.qos = Some(pair.value.clone());
            }
        }
        let name = &setting.value.text;
        if name.eq_ignore_ascii_case("DEFAULT") {
            default = partition;
            continue;
        }
        for name in name.split(',') {
            let own = Partition {
                name: name.to_owned(),
                ..partition.clone()
            };
            match machine.partition(name) {
                Some(at) => machine.partitions[at] = own,
                None => machine.partitions.push(own),
            }
        }
    }
    Ok(())
}

/// The nodes of each `NodeSet=`: those with a feature, and those that it lists.
fn node_sets(document: &Document, machine: &Machine) -> HashMap<String, Vec<String>> {
    let lines = document.settings.iter().filter(|one| one.is("NodeSet"));
    let sets = lines.map(|line| {
        let mut names = Vec::new();
        for pair in line.pairs() {
            if pair.key.eq_ignore_ascii_case("Feature") {
                let nodes = machine.nodes.iter();
                let with = nodes.filter(|node| node.features.contains(&pair.value));
                names.extend(with.map(|node| node.name.clone()));
            } else if pair.key.eq_ignore_ascii_case("Nodes") {
                names.extend(expand(&pair.value).unwrap_or_default());
            }
        }
        (line.value.text.clone(), names)
    });
    sets.collect()
}

/// Positions of the nodes of a list, ascending; the name that is no node.
fn members(
    list: &str,
    place: &HashMap<String, usize>,
    sets: &HashMap<String, Vec<String>>,
) -> Result<Vec<usize>, String> {
    let mut found = Vec::new();
    for name in expand(list).ok_or_else(|| list.to_owned())? {
        if name.eq_ignore_ascii_case("ALL") {
            found.extend(place.values());
        } else if let Some(names) = sets.get(&name) {
            found.extend(names.iter().filter_map(|name| place.get(name)));
        } else if !name.is_empty() && !name.eq_ignore_ascii_case("(null)") {
            found.push(*place.get(&name).ok_or(name)?);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// What `SchedulerParameters` has and no simulation follows.
#[derive(Default)]
struct Unfollowed {
    /// Names that are not followed.
    names: Vec<String>,
    /// `name=value` of values that are not numbers from 0: these names have their default.
    values: Vec<String>,
}

/// Sets the parameters of `SchedulerParameters`; what cannot be read has its default.
fn parameters(text: &str, found: &mut Scheduling) -> Unfollowed {
    let mut unfollowed = Unfollowed::default();
    // Slurm looks for each name in the text: `==bf_...`, as one site writes it, works too.
    let parameters = text.trim_start_matches('=').split(',').map(str::trim);
    for parameter in parameters {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = value.trim_start_matches('=');
        let key = key.to_ascii_lowercase();
        let count: Option<i64> = value.parse().ok().filter(|count| *count >= 0);
        let size = count.and_then(|count| usize::try_from(count).ok());
        let set = |to: &mut usize| *to = size.unwrap_or(*to);
        let time = |to: &mut i64| *to = count.unwrap_or(*to);
        match key.as_str() {
            "sched_interval" => time(&mut found.sched_interval),
            "default_queue_depth" => set(&mut found.queue_depth),
            "partition_job_depth" => set(&mut found.partition_depth),
            "batch_sched_delay" => time(&mut found.batch_delay),
            "sched_max_job_start" => set(&mut found.max_main_starts),
            "bf_interval" => time(&mut found.interval),
            "bf_resolution" => found.resolution = count.filter(|n| *n > 0).unwrap_or(60),
            "bf_window" => found.window = count.filter(|n| *n > 0).map_or(86_400, |n| n * 60),
            "bf_max_job_test" => set(&mut found.max_tests),
            "bf_max_job_user" => set(&mut found.max_user),
            "bf_max_job_assoc" => set(&mut found.max_assoc),
            "bf_max_job_part" => set(&mut found.max_partition),
            "bf_max_job_user_part" => set(&mut found.max_user_partition),
            "bf_max_job_start" => set(&mut found.max_starts),
            "bf_max_job_array_resv" => set(&mut found.max_array_plans),
            "bf_node_space_size" => set(&mut found.max_slots),
            "bf_min_prio_reserve" => {
                found.least_priority = count.and_then(|n| n.try_into().ok()).unwrap_or(0);
            }
            "bf_min_age_reserve" => time(&mut found.least_age),
            "bf_job_part_count_reserve" => set(&mut found.partition_plans),
            "bf_window_linear" => time(&mut found.window_step),
            "bf_max_time" => time(&mut found.max_time),
            _ => {
                match key.as_str() {
                    "assoc_limit_stop" => found.limits_block = true,
                    "bf_one_resv_per_job" => found.one_plan = true,
                    "bf_busy_nodes" => found.busy_nodes = true,
                    "bf_running_job_reserve" => found.reserve_running = true,
                    "" => {}
                    _ => unfollowed.names.push(key),
                }
                continue;
            }
        }
        if count.is_none() {
            unfollowed.values.push(format!("{key}={value}"));
        }
    }
    if !text.contains("bf_max_time=") {
        found.max_time = found.interval;
    }
    if !text.contains("bf_node_space_size=") || found.max_slots < 2 {
        found.max_slots = found.max_tests;
    }
    unfollowed
}

/// Names in `SchedulerParameters` that change what slurmctld does while it is busy, which a simulation
/// is not.
const HARMLESS: [&str; 6] = [
    "bf_continue",
    "bf_yield_interval",
    "bf_yield_sleep",
    "defer",
    "max_rpc_cnt",
    "sched_min_interval",
];

/// Settings of the schedulers that can be changed one by one.
pub const SCHEDULER_KEYS: [&str; 2] = ["SchedulerParameters", "SchedulerType"];

/// Changes one of [`SCHEDULER_KEYS`]: all that it sets, and what the value does not name has its default.
///
/// # Errors
/// A sentence: another key, or a parameter that a simulation does not follow.
pub fn set_scheduling(found: &mut Scheduling, key: &str, value: &str) -> Result<(), String> {
    let is = |name: &str| key.eq_ignore_ascii_case(name);
    if is("SchedulerType") {
        found.has_backfill = value.eq_ignore_ascii_case("sched/backfill");
        if !found.has_backfill && !value.eq_ignore_ascii_case("sched/builtin") {
            let why = "allowed is sched/backfill or sched/builtin";
            return Err(format!("SchedulerType: found {value:?}, {why}"));
        }
        return Ok(());
    }
    if !is("SchedulerParameters") {
        let keys = SCHEDULER_KEYS.join(", ");
        return Err(format!("found {key:?}, allowed is one of {keys}"));
    }
    let mut fresh = Scheduling {
        has_backfill: found.has_backfill,
        kill_wait: found.kill_wait,
        over_limit: found.over_limit,
        has_memory: found.has_memory,
        enforces_partitions: found.enforces_partitions,
        enforces_limits: found.enforces_limits,
        complete_wait: found.complete_wait,
        ..Scheduling::default()
    };
    let Unfollowed { names, values } = parameters(value, &mut fresh);
    if let Some(pair) = values.first() {
        return Err(format!(
            "SchedulerParameters: found {pair:?}, allowed is a whole number from 0"
        ));
    }
    match names.iter().find(|name| !HARMLESS.contains(&name.as_str())) {
        Some(name) => Err(format!(
            "SchedulerParameters: {name} is not simulated; docs/simulate.md lists those that are"
        )),
        None => {
            *found = fresh;
            Ok(())
        }
    }
}

/// The settings of the schedulers. A parameter that cannot be read has its default, and a sentence in
/// `not_followed`, as those have that no simulation follows.
fn scheduling(document: &Document, not_followed: &mut Vec<String>) -> Scheduling {
    let mut found = Scheduling::default();
    let text = last(document, "SchedulerParameters").unwrap_or_default();
    let Unfollowed { names, values } = parameters(&text, &mut found);
    let names = names.into_iter();
    let names = names.filter(|name| !HARMLESS.contains(&name.as_str()));
    let names = names.map(|name| format!("SchedulerParameters={name}"));
    not_followed.extend(names);
    let values = values.iter().map(|pair| {
        format!("SchedulerParameters={pair} (no whole number from 0: its default counts)")
    });
    not_followed.extend(values);
    let word = |key: &str| last(document, key).unwrap_or_default().to_ascii_lowercase();
    found.has_backfill = matches!(word("SchedulerType").as_str(), "" | "sched/backfill");
    let secs = |key: &str, default: i64| word(key).parse().unwrap_or(default);
    found.kill_wait = secs("KillWait", 30);
    found.complete_wait = secs("CompleteWait", 0);
    found.over_limit = match word("OverTimeLimit").as_str() {
        "unlimited" | "infinite" => None,
        text => Some(text.parse::<i64>().unwrap_or(0) * 60),
    };
    found.has_memory = word("SelectTypeParameters").contains("_memory");
    found.enforces_partitions = !matches!(word("EnforcePartLimits").as_str(), "" | "no");
    let enforce = word("AccountingStorageEnforce");
    found.enforces_limits = enforce
        .split(',')
        .any(|word| matches!(word.trim(), "limits" | "safe" | "qos" | "all" | "1"));
    found
}

/// Names what a simulation does not follow.
fn not_modelled(document: &Document, machine: &mut Machine) {
    let word = |key: &str| last(document, key).unwrap_or_default().to_ascii_lowercase();
    let mut note = |text: String| machine.not_modelled.push(text);
    let preempt = word("PreemptType");
    if !matches!(preempt.as_str(), "" | "preempt/none") {
        note(format!("preemption (PreemptType={preempt})"));
    }
    let topology = word("TopologyPlugin");
    if !matches!(topology.as_str(), "" | "topology/none" | "topology/default") {
        note(format!("network topology (TopologyPlugin={topology})"));
    }
    if !word("Licenses").is_empty() {
        note("licences (Licenses=)".to_owned());
    }
    if !word("BurstBufferType").is_empty() {
        note("burst buffers (BurstBufferType=)".to_owned());
    }
    let select = word("SelectType");
    if !matches!(
        select.as_str(),
        "select/cons_tres" | "select/cons_res" | "select/linear" | ""
    ) {
        note(format!("SelectType={select}"));
    }
}

#[cfg(test)]
mod tests;
