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
mod tests {
    use super::super::{Site, read};
    use super::*;

    fn site(text: &str) -> Result<Site, InputError> {
        read("f", text.as_bytes())
    }

    const NODES: &str = "[[nodes]]\nname = 'n[1-2]'\ncpus = 8\nthreads_per_core = 2\n\
        [[nodes]]\nname = 'g1'\nsockets = 2\ncores_per_socket = 4\nreal_memory = '2G'\n\
        gres = 'gpu:a100:2'\nfeatures = 'fast, big'\nweight = 3\nstate = 'drain'\n\
        [partitions.main]\nnodes = 'ALL'\nmax_time = '1-0'\ndef_mem_per_cpu = 500\n\
        [partitions.gpu]\nnodes = 'g1'\nmax_nodes = 1\nover_subscribe = 'exclusive'\npriority_tier = 4\n";

    // By hand, from slurm.conf(5): CPUs=8 ThreadsPerCore=2 are four cores of two threads.
    #[test]
    fn nodes_and_partitions() {
        let text = format!("settings.SchedulerParameters = 'bf_interval=60'\n{NODES}");
        let site = site(&text).unwrap();
        let machine = site.machine.unwrap();
        let names: Vec<&str> = machine.nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(names, ["n1", "n2", "g1"]);
        assert_eq!((machine.nodes[0].cores, machine.nodes[0].threads), (4, 2));
        let last = &machine.nodes[2];
        assert_eq!((last.cpus(), last.memory_mb, last.weight), (8, 2048, 3));
        assert_eq!(
            (last.gres[0].kind.as_str(), last.gres[0].count),
            ("a100", 2)
        );
        assert_eq!(last.features, ["fast", "big"]);
        assert!(machine.nodes[0].is_up && !last.is_up);
        assert!(machine.scheduling.has_memory);
        assert_eq!(machine.scheduling.interval, 60);
        // In the order of their names, as the rows of the site have them.
        let [gpu, main] = &machine.partitions[..] else {
            panic!("{machine:?}")
        };
        assert_eq!((gpu.nodes.as_slice(), gpu.max_nodes), (&[2][..], Some(1)));
        assert!(gpu.is_exclusive && gpu.priority_tier == 4 && !gpu.is_default);
        assert_eq!(main.nodes, [0, 1, 2]);
        assert_eq!(main.max_time_mins, Some(1440));
        assert_eq!(main.default_memory, Some(Memory::Cpu(500)));
        let queued = site.queued.unwrap();
        assert_eq!((queued.nodes.nodes, queued.nodes.cpus), (3, 24));
        let tres = queued.partitions[0].tres.as_ref().unwrap();
        assert!(tres.contains(&("cpu".to_owned(), 8)), "{tres:?}");
    }

    #[test]
    fn requests_of_jobs() {
        let text = format!(
            "now = 2026-03-08T12:00:00Z\n{NODES}[accounts.a]\nusers.ann = {{}}\n[[jobs]]\nid = 7\n\
             user = 'ann'\naccount = 'a'\npartition = 'main'\nstate = 'RUNNING'\nnode_list = 'n[1-2]'\n\
             submit_time = 2026-03-08T11:00:00Z\nstart_time = 2026-03-08T11:30:00Z\n\
             tres = 'cpu=10,mem=3000M,node=2'\n"
        );
        let site = site(&text).unwrap();
        let job = &site.requests[0];
        assert_eq!(job.nodes, ["n1", "n2"]);
        assert_eq!((job.allocated_cpus, job.request.nodes), (10, Some((2, 2))));
        // 3000 MB on two nodes.
        assert_eq!(job.request.memory, Some(Memory::Node(1500)));
        assert_eq!(job.start_ms, Some(1_772_969_400_000));
    }

    /// A site with jobs that run on the nodes.
    fn running(jobs: &[&str]) -> Result<Site, InputError> {
        let mut text =
            format!("now = 2026-03-08T12:00:00Z\n{NODES}[accounts.a]\nusers.ann = {{}}\n");
        for (at, job) in jobs.iter().enumerate() {
            text += &format!(
                "[[jobs]]\nid = {}\nuser = 'ann'\naccount = 'a'\npartition = 'main'\n\
                 state = 'RUNNING'\nstart_time = 2026-03-08T11:30:00Z\n{job}\n",
                at + 1
            );
        }
        site(&text)
    }

    // By hand: n1, n2 and g1 have eight CPUs each, 24 in all. Of 10 CPUs on two nodes of 8 each has at least 2.
    #[test]
    fn running_jobs_fit_on_their_nodes() {
        for taken in [
            &["cpus = 8\nnode_list = 'n1'", "cpus = 8\nnode_list = 'n2'"][..],
            &[
                "cpus = 10\nnode_list = 'n[1-2]'",
                "cpus = 6\nnode_list = 'n1'",
            ],
            &["cpus = 24"],
        ] {
            running(taken).unwrap_or_else(|error| panic!("{taken:?}: {error}"));
        }
        for (jobs, words) in [
            (
                &["cpus = 9\nnode_list = 'n1'"][..],
                "cpus \"9\" is not allowed: allowed is up to 8, the CPUs of n1",
            ),
            (
                &["tres = 'cpu=17'\nnode_list = 'n[1-2]'"],
                "allowed is up to 16, the CPUs of n[1-2]",
            ),
            (&["cpus = 25"], "allowed is up to 24, the CPUs of all nodes"),
            (
                &["nodes = 3\nnode_list = 'n[1-2]'"],
                "nodes \"3\" is not allowed: allowed is up to 2, the nodes of n[1-2]",
            ),
            (
                &["cpus = 5\nnode_list = 'n1'", "cpus = 4\nnode_list = 'n1'"],
                "job 2 does not fit: jobs that run on n1 have 9 CPUs or more there, allowed is up to 8",
            ),
            (
                &[
                    "cpus = 10\nnode_list = 'n[1-2]'",
                    "cpus = 7\nnode_list = 'n1'",
                ],
                "jobs that run on n1 have 9 CPUs or more there, allowed is up to 8",
            ),
        ] {
            let error = running(jobs).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn errors_name_place_value_and_what_is_allowed() {
        let with = |edit: (&str, &str)| {
            assert!(NODES.contains(edit.0), "{}", edit.0);
            site(&NODES.replace(edit.0, edit.1)).unwrap_err()
        };
        for (from, to, words, line) in [
            (
                "cpus = 8",
                "cpus = 0",
                "cpus \"0\" is not allowed: allowed is a whole number",
                3,
            ),
            ("'n[1-2]'", "'n[1-'", "allowed is names of nodes", 2),
            ("name = 'g1'", "name = 'n2'", "node n2 is listed twice", 6),
            (
                "'2G'",
                "'lots'",
                "\"lots\" is not allowed: allowed is memory above 0",
                9,
            ),
            ("'gpu:a100:2'", "'gpu:a:b:c:d'", "allowed is gpu:2", 10),
            (
                "'drain'",
                "'gone'",
                "\"gone\" is not allowed: allowed is one of UP",
                13,
            ),
            ("'ALL'", "'n[1-3]'", "n3 is not there", 15),
            ("nodes = 'g1'\n", "", "does not say which nodes", 18),
            ("'exclusive'", "'maybe'", "allowed is one of NO", 21),
            (
                "max_nodes = 1",
                "max_nodes = -1",
                "allowed is a whole number",
                20,
            ),
            ("weight = 3", "weigth = 3", "weigth", 12),
            // By hand: two sockets of four cores are eight CPUs.
            (
                "sockets = 2",
                "cpus = 9\nsockets = 2",
                "cpus \"9\" is not allowed: allowed is 8,",
                7,
            ),
            // By hand: two sockets of whole cores of two threads have four CPUs, or eight, or twelve.
            (
                "cpus = 8",
                "cpus = 9\nsockets = 2",
                "cpus \"9\" is not allowed: allowed is a multiple of 4,",
                3,
            ),
            (
                "max_time = '1-0'",
                "max_time = '1-0'\ndefault_time = 'UNLIMITED'",
                "is not allowed: allowed is up to max_time, 1440 minutes",
                17,
            ),
            (
                "max_nodes = 1",
                "min_nodes = 2\nmax_nodes = 1",
                "min_nodes \"2\" is not allowed: allowed is up to max_nodes, 1",
                20,
            ),
            (
                "max_time = '1-0'",
                "max_time = '1-0'\ndefault_time = '2-0'",
                "is not allowed: allowed is up to max_time, 1440 minutes",
                17,
            ),
            ("'n[1-2]'", "'n 1'", "allowed is names of nodes", 2),
            ("'n[1-2]'", "'n1]'", "allowed is names of nodes", 2),
            ("'n[1-2]'", "' '", "allowed is names of nodes", 2),
        ] {
            let error = with((from, to));
            let text = error.to_string();
            assert!(text.contains(words), "{from}: {text}");
            assert_eq!(error.line, Some(line), "{text}");
        }
        for (text, words) in [
            ("[partitions.p]\nnodes = 'n1'\n", "the file has none"),
            ("[[nodes]]\nname = 'n1'\n", "no partition has them"),
            (
                "[[nodes]]\nname = 'n1'\nsockets = 65535\ncores_per_socket = 65535\n\
                 threads_per_core = 65535\n[partitions.p]\nnodes = 'n1'\n",
                "node n1 has more than 65535 CPUs",
            ),
            (
                "[[nodes]]\nname = 'n[1-65538]'\ncpus = 65535\n[partitions.p]\nnodes = 'n1'\n",
                "all nodes have 4295032830 CPUs; allowed are up to 4294967295",
            ),
            (
                "settings.SchedulerType = 'sched/magic'\n[[nodes]]\nname = 'n1'\n",
                "sched/backfill or sched/builtin",
            ),
        ] {
            let error = site(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
