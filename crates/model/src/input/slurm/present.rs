//! The machine of a live cluster, by `scontrol show node`, `partition` and `config`.
//!
//! scontrol prints the values of slurm.conf in words of its own: they are written as lines of a
//! slurm.conf, which [`super::machine`] reads.

use std::collections::HashSet;
use std::fmt::Write;

use super::config::pairs;
use super::document::Document;
use super::hostlist::expand;
use super::record::{Record, no_end, records};
use super::snapshot::{Answer, Answers, Source};
use super::{count, machine};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::machine::Machine;

/// The settings of `scontrol show config` by which jobs start.
pub const SETTINGS: [&str; 15] = [
    "AccountingStorageEnforce",
    "BurstBufferType",
    "CompleteWait",
    "DefMemPerCPU",
    "DefMemPerNode",
    "EnforcePartLimits",
    "KillWait",
    "Licenses",
    "OverTimeLimit",
    "PreemptType",
    "SchedulerParameters",
    "SchedulerType",
    "SelectType",
    "SelectTypeParameters",
    "TopologyPlugin",
];

/// The machine that the answers of a capture, called `name`, describe.
///
/// # Errors
/// Answers that are missing, or that an anonymised capture of an earlier version has without the nodes
/// of partitions; values that slurm.conf would not take.
pub fn read(name: &str, answers: &Answers) -> Result<Machine, InputError> {
    let get = |source: Source| answers.get(&source).ok_or_else(|| source.missing(name));
    let (config, nodes, partitions) = (
        get(Source::Config)?,
        get(Source::Nodes)?,
        get(Source::Partitions)?,
    );
    let mut conf = settings(&config.text);
    let (mut known, mut left) = (HashSet::new(), LeftOut::default());
    for record in records(&nodes.name, &nodes.text, "NodeName", &no_end, &mut left)? {
        node(&record, &mut conf);
        known.insert(record.name());
    }
    let mut any_nodes = false;
    let of = |answer: &'_ Answer| (answer.name.clone(), answer.text.clone());
    let (file, text) = of(partitions);
    for record in records(&file, &text, "PartitionName", &no_end, &mut left)? {
        any_nodes |= partition(&record, &known, &mut conf);
    }
    if !any_nodes {
        let why = "does not say which nodes a partition has".to_owned();
        return Err(InputError::new(&file, Problem::Absent(why)).hint(
            "captures that earlier versions made with --anonymise do not have them; make another",
        ));
    }
    let made = format!("{name}: nodes and partitions as slurm.conf");
    let document = Document::read(&conf, &made, &mut |_| Err("not included".to_owned()));
    machine::read(&document, &made)
}

/// Settings as lines of slurm.conf.
fn settings(text: &str) -> String {
    let mut conf = String::new();
    for (key, value) in pairs(text) {
        let is_said = !value.is_empty() && !matches!(value, "(null)" | "N/A" | "NONE");
        if !SETTINGS.contains(&key) || !is_said {
            continue;
        }
        // `5 sec`, `0 min`.
        let value = value
            .strip_suffix(" sec")
            .or(value.strip_suffix(" min"))
            .unwrap_or(value);
        if !(key.starts_with("DefMem") && value == "UNLIMITED") {
            line(&mut conf, key, value);
            conf.push('\n');
        }
    }
    conf
}

/// Adds `Key=Value`, in quotes where it has blanks.
fn line(conf: &mut String, key: &str, value: &str) {
    let value = value.replace(['"', '#', '\n'], " ");
    let quote = if value.contains(' ') { "\"" } else { "" };
    // A string takes any text.
    let _ = write!(conf, "{key}={quote}{value}{quote} ");
}

/// Adds a node as slurm.conf declares it.
fn node(record: &Record<'_>, conf: &mut String) {
    line(conf, "NodeName", record.name());
    let tres = record.said("CfgTRES").and_then(count::tres);
    let configured = |name: &str| {
        let found = tres.iter().flatten().find(|(known, _)| known == name);
        found.map(|(_, count)| *count)
    };
    for (key, of) in [
        ("CPUs", "CPUTot"),
        ("Sockets", "Sockets"),
        ("CoresPerSocket", "CoresPerSocket"),
        ("ThreadsPerCore", "ThreadsPerCore"),
        ("MemSpecLimit", "MemSpecLimit"),
        ("Weight", "Weight"),
    ] {
        if let Some(value) = record.said(of).filter(|value| value.parse::<u32>().is_ok()) {
            line(conf, key, value);
        }
    }
    let number = |key: &str| record.said(key)?.parse::<u32>().ok();
    if let (Some(all), Some(usable)) = (number("CPUTot"), number("CPUEfctv")) {
        let threads = number("ThreadsPerCore").unwrap_or(1).max(1);
        if usable < all {
            line(
                conf,
                "CoreSpecCount",
                &((all - usable) / threads).to_string(),
            );
        }
    }
    let memory = number("RealMemory")
        .map(u64::from)
        .or_else(|| configured("mem"));
    if let Some(memory) = memory {
        line(conf, "RealMemory", &memory.to_string());
    }
    if let Some(features) = record.said("AvailableFeatures") {
        line(conf, "Feature", features);
    }
    let gres = match record.said("Gres") {
        Some(gres) => without_places(gres),
        None => plain_gres(tres.as_deref().unwrap_or_default()),
    };
    if !gres.is_empty() && gres != "N/A" {
        line(conf, "Gres", &gres);
    }
    if record.said("State").is_some_and(is_away) {
        line(conf, "State", "DOWN");
    }
    conf.push('\n');
}

/// `gpu:a100:2(S:0,1)` without the sockets.
fn without_places(gres: &str) -> String {
    let mut depth = 0;
    let kept = gres.chars().filter(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                return false;
            }
            _ => {}
        }
        depth == 0
    });
    kept.collect()
}

/// Generic resources by the counts of `CfgTRES`.
fn plain_gres(tres: &[(String, u64)]) -> String {
    let of = |(name, count): &(String, u64)| {
        let name = name.strip_prefix("gres/").filter(|n| !n.contains(':'))?;
        Some(format!("{name}:{count}"))
    };
    tres.iter().filter_map(of).collect::<Vec<_>>().join(",")
}

/// Returns true for a state in which no job starts on a node, as `IDLE+DRAIN`, `DOWN` or `IDLE*`: a star
/// is a node that does not respond.
fn is_away(state: &str) -> bool {
    let flag = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    let mut words = state.split('+');
    state.contains('*')
        || words.any(|word| {
            [
                "DOWN",
                "DRAIN",
                "DRAINED",
                "DRAINING",
                "ERROR",
                "FAIL",
                "FAILING",
                "FUTURE",
                "INVAL",
                "INVALID_REG",
                "MAINT",
                "MAINTENANCE",
                "NOT_RESPONDING",
                "POWERING_DOWN",
                "REBOOT_ISSUED",
                "UNKNOWN",
            ]
            .contains(&word.trim_end_matches(flag).to_ascii_uppercase().as_str())
        })
}

/// Adds a partition as slurm.conf declares it; true if its nodes are known.
fn partition(record: &Record<'_>, known: &HashSet<&str>, conf: &mut String) -> bool {
    line(conf, "PartitionName", record.name());
    for (key, of) in [
        ("Default", "Default"),
        ("State", "State"),
        ("MaxTime", "MaxTime"),
        ("DefaultTime", "DefaultTime"),
        ("MinNodes", "MinNodes"),
        ("MaxNodes", "MaxNodes"),
        ("PriorityTier", "PriorityTier"),
        ("DefMemPerCPU", "DefMemPerCPU"),
        ("DefMemPerNode", "DefMemPerNode"),
        ("OverSubscribe", "OverSubscribe"),
        ("QOS", "QoS"),
    ] {
        let said = record.said(of).filter(|value| {
            let unlimited = *value == "UNLIMITED" && key.starts_with("DefMem");
            !unlimited && !matches!(*value, "NONE" | "N/A")
        });
        if let Some(value) = said {
            line(conf, key, value);
        }
    }
    let nodes = record.said("Nodes").and_then(expand);
    let nodes = nodes.map(|names| {
        let names = names.into_iter().filter(|name| known.contains(&**name));
        names.collect::<Vec<_>>().join(",")
    });
    if let Some(nodes) = nodes.as_deref().filter(|nodes| !nodes.is_empty()) {
        line(conf, "Nodes", nodes);
    }
    conf.push('\n');
    nodes.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Memory;

    // Printed by scontrol 22.05.8, shortened; gres and states as scontrol(1) has them.
    const NODES: &str = "NodeName=n0 Arch=x86_64 CoresPerSocket=4  CPUAlloc=3 CPUEfctv=14 CPUTot=16 \
        CPULoad=4.25 AvailableFeatures=big,fast ActiveFeatures=big Gres=gpu:a100:2(S:0,1) OS=Linux 6.18 \
        #1 SMP @0  RealMemory=1000 Sockets=2 Boards=1 State=MIXED ThreadsPerCore=2 Weight=3 \
        CfgTRES=cpu=16,mem=1000M,billing=16\nNodeName=n1 CPUTot=4 State=IDLE+DRAIN \
        CfgTRES=cpu=4,mem=2000M,gres/gpu=1\n";
    const PARTITIONS: &str = "PartitionName=main Default=YES QoS=N/A DefaultTime=NONE MaxNodes=UNLIMITED \
        MaxTime=1-00:00:00 MinNodes=0 Nodes=n[0-3] PriorityTier=2 OverSubscribe=EXCLUSIVE State=UP \
        DefMemPerNode=UNLIMITED\nPartitionName=debug QoS=short DefaultTime=00:10:00 MaxTime=00:30:00 \
        MaxNodes=1 Nodes=n1 State=DOWN DefMemPerCPU=500\n";
    const CONFIG: &str = "Configuration data as of 2026-11-21T10:07:26\nKillWait = 5 sec\n\
        OverTimeLimit           = 2 min\nSchedulerParameters     = bf_interval=60,bf_max_job_user=20\n\
        SchedulerType           = sched/backfill\nSelectTypeParameters    = CR_CORE_MEMORY\n\
        PreemptType             = preempt/none\nTopologyPlugin          = (null)\nLicenses = (null)\n";

    fn of(nodes: &str, partitions: &str) -> Result<Machine, InputError> {
        let answer = |text: &str| Answer {
            name: "f".into(),
            text: text.into(),
        };
        let answers = [
            (Source::Config, answer(CONFIG)),
            (Source::Nodes, answer(nodes)),
            (Source::Partitions, answer(partitions)),
        ];
        read("c", &answers.into_iter().collect())
    }

    #[test]
    fn nodes_partitions_and_settings() {
        let machine = of(NODES, PARTITIONS).unwrap();
        let [first, second] = &machine.nodes[..] else {
            panic!("{machine:?}")
        };
        // Eight cores of two threads, of which one core is the system's.
        assert_eq!((first.cores, first.threads, first.weight), (7, 2, 3));
        assert_eq!(
            (first.gres[0].kind.as_str(), first.gres[0].count),
            ("a100", 2)
        );
        assert_eq!(first.features, ["big", "fast"]);
        assert!(first.is_up && !second.is_up);
        assert_eq!((second.cpus(), second.memory_mb), (4, 2000));
        assert_eq!(second.gres[0].name, "gpu");
        let [main, debug] = &machine.partitions[..] else {
            panic!("{machine:?}")
        };
        assert_eq!(main.nodes, [0, 1]);
        assert!(main.is_default && main.is_exclusive && main.is_up && !debug.is_up);
        assert_eq!(
            (main.max_time_mins, main.default_time_mins),
            (Some(1440), None)
        );
        assert_eq!(
            (debug.max_nodes, debug.default_time_mins),
            (Some(1), Some(10))
        );
        assert_eq!(debug.default_memory, Some(Memory::Cpu(500)));
        assert_eq!(
            (main.qos.as_deref(), debug.qos.as_deref()),
            (None, Some("short"))
        );
        let settings = &machine.scheduling;
        assert_eq!((settings.interval, settings.max_user), (60, 20));
        assert_eq!((settings.kill_wait, settings.over_limit), (5, Some(120)));
        assert!(settings.has_memory && machine.not_modelled.is_empty());
    }

    #[test]
    fn partitions_without_nodes_are_refused() {
        let error = of(NODES, "PartitionName=main State=UP\n").unwrap_err();
        assert!(error.explained().contains("which nodes"), "{error}");
    }

    #[test]
    fn states_in_which_no_job_starts() {
        for state in ["DOWN*", "IDLE+DRAIN", "MIXED+DRAIN", "DOWN+CLOUD", "IDLE*"] {
            assert!(is_away(state), "{state}");
        }
        for state in [
            "IDLE",
            "MIXED",
            "ALLOCATED",
            "IDLE+CLOUD+POWERED_DOWN",
            "IDLE~",
        ] {
            assert!(!is_away(state), "{state}");
        }
    }
}
