//! The files slurm.conf, slurmdbd.conf and cgroup.conf of a private cluster.

use std::fmt::Write as _;

use super::folder::Folder;
use super::ports::Ports;
use crate::facts::facts;
use xtask::installation::Installation;
use xtask::release::Release;

/// The priority plugin that slurmctld loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PriorityType {
    /// Slurm's own.
    Multifactor,
    /// Ours.
    Fairtree,
}

impl PriorityType {
    /// Its value in slurm.conf.
    pub fn conf(self) -> &'static str {
        match self {
            PriorityType::Multifactor => "priority/multifactor",
            PriorityType::Fairtree => "priority/fairtree",
        }
    }
}

/// The nodes, all alike.
#[derive(Clone, Copy, Debug)]
pub struct Nodes {
    /// Number of nodes.
    pub count: usize,
    /// CPUs that each claims to have; the machine may have fewer.
    pub cpus: u32,
}

/// A partition over all nodes.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Name.
    pub name: &'static str,
    /// `PriorityJobFactor`.
    pub priority_job_factor: u16,
    /// `MaxTime`, as slurm.conf writes it.
    pub max_time: &'static str,
}

/// The cluster's name in accounting.
pub const CLUSTER_NAME: &str = "fairtree";

/// slurm.conf: settings that can be changed one by one, nodes and partitions.
#[derive(Clone, Debug)]
pub struct SlurmConf {
    settings: Vec<(String, String)>,
    nodes: String,
    partitions: Vec<String>,
}

impl SlurmConf {
    /// The settings that make a private cluster of one machine.
    pub fn new(
        folder: &Folder,
        installation: &Installation,
        ports: Ports,
        nodes: Nodes,
        partitions: &[Partition],
    ) -> SlurmConf {
        let mut conf = SlurmConf {
            settings: Vec::new(),
            nodes: node_lines(nodes, ports),
            partitions: partition_lines(partitions),
        };
        let here = |relative: &str| folder.join(relative).display().to_string();
        for (key, value) in [
            ("ClusterName", CLUSTER_NAME.to_owned()),
            ("SlurmctldHost", "localhost".to_owned()),
            ("SlurmctldPort", ports.slurmctld().to_string()),
            ("SlurmUser", "root".to_owned()),
            ("SlurmdUser", "root".to_owned()),
            ("AuthType", "auth/munge".to_owned()),
            ("AuthInfo", format!("socket={}", here("munge/socket"))),
            (
                "PluginDir",
                format!(
                    "{}:{}",
                    here("plugins"),
                    installation.stock_plugins().display()
                ),
            ),
            ("StateSaveLocation", here("state")),
            ("SlurmdSpoolDir", here("spool/%n")),
            ("SlurmctldPidFile", here("run/slurmctld.own-pid")),
            ("SlurmdPidFile", here("run/slurmd-%n.own-pid")),
            ("SlurmctldLogFile", here("log/slurmctld.log")),
            ("SlurmdLogFile", here("log/slurmd-%n.log")),
            ("SlurmctldDebug", "info".to_owned()),
            (
                "AccountingStorageType",
                "accounting_storage/slurmdbd".to_owned(),
            ),
            ("AccountingStorageHost", "127.0.0.1".to_owned()),
            // The counterpart of AuthInfo for commands that talk to slurmdbd.
            (
                "AccountingStoragePass",
                format!("socket={}", here("munge/socket")),
            ),
            ("AccountingStoragePort", ports.slurmdbd().to_string()),
            (
                "AccountingStorageEnforce",
                "associations,limits,qos".to_owned(),
            ),
            ("JobAcctGatherType", "jobacct_gather/none".to_owned()),
            ("ProctrackType", "proctrack/linuxproc".to_owned()),
            ("TaskPlugin", "task/none".to_owned()),
            ("SwitchType", "switch/none".to_owned()),
            ("MpiDefault", "none".to_owned()),
            ("SelectType", "select/cons_tres".to_owned()),
            ("SelectTypeParameters", "CR_CPU".to_owned()),
            // Nodes may claim more than the machine has.
            ("SlurmdParameters", "config_overrides".to_owned()),
            ("PropagateResourceLimits", "NONE".to_owned()),
            ("ReturnToService", "2".to_owned()),
            ("KillWait", "5".to_owned()),
        ] {
            conf.set(key, value);
        }
        conf
    }

    /// The settings of a second cluster with these partitions. Its only node is down, and has the
    /// size of all nodes of this cluster.
    pub fn with_a_node_that_is_down(&self, nodes: Nodes) -> SlurmConf {
        let cpus = nodes.cpus * u32::try_from(nodes.count).unwrap_or(1);
        let node = format!(
            "NodeName=s0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=1 CPUs={cpus} \
             RealMemory=1000 State=DOWN Reason=none\n"
        );
        SlurmConf {
            settings: self.settings.clone(),
            nodes: node,
            partitions: self.partitions.clone(),
        }
    }

    /// Sets a setting.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        match self
            .settings
            .iter_mut()
            .find(|(known, _)| known.eq_ignore_ascii_case(key))
        {
            Some((_, old)) => *old = value,
            None => self.settings.push((key.to_owned(), value)),
        }
    }

    /// Sets all values of a setting that may appear several times.
    pub fn set_lines(&mut self, key: &str, values: &[String]) {
        self.unset(key);
        let lines = values.iter().map(|value| (key.to_owned(), value.clone()));
        self.settings.extend(lines);
    }

    /// The value of a setting; `None`: Slurm's default.
    pub fn get(&self, key: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        let found = settings.find(|(known, _)| known.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value.as_str())
    }

    /// Replaces what each node has besides its CPUs, in their order: memory, generic resources, features.
    pub fn set_node_options(&mut self, options: &[String]) {
        let lines = self.nodes.lines().zip(options);
        let lines = lines.map(|(line, options)| {
            let (own, _) = line.split_once(" RealMemory=").unwrap_or((line, ""));
            format!("{own} {options}\n")
        });
        self.nodes = lines.collect();
    }

    /// Replaces the partitions; each text is what follows `PartitionName=`.
    pub fn set_partitions(&mut self, partitions: Vec<String>) {
        self.partitions = partitions;
    }

    /// Removes a setting, so that Slurm's default applies.
    pub fn unset(&mut self, key: &str) {
        self.settings
            .retain(|(known, _)| !known.eq_ignore_ascii_case(key));
    }

    /// Returns true if slurmctld uses slurmdbd.
    pub fn has_slurmdbd(&self) -> bool {
        let slurmdbd = ("AccountingStorageType", "accounting_storage/slurmdbd");
        let mut settings = self.settings.iter();
        settings.any(|(key, value)| (key.as_str(), value.as_str()) == slurmdbd)
    }

    /// The file's text.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.settings {
            let _ = writeln!(text, "{key}={value}");
        }
        text += &self.nodes;
        for partition in &self.partitions {
            let _ = writeln!(text, "PartitionName={partition}");
        }
        text
    }
}

fn node_lines(nodes: Nodes, ports: Ports) -> String {
    let mut text = String::new();
    for (index, port) in ports.slurmd(nodes.count).enumerate() {
        let _ = writeln!(
            text,
            "NodeName={} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={} RealMemory=1000",
            node_name(index),
            nodes.cpus
        );
    }
    text
}

fn partition_lines(partitions: &[Partition]) -> Vec<String> {
    let lines = partitions.iter().enumerate().map(|(index, partition)| {
        format!(
            "{} Nodes=ALL Default={} MaxTime={} PriorityJobFactor={} State=UP",
            partition.name,
            if index == 0 { "YES" } else { "NO" },
            partition.max_time,
            partition.priority_job_factor
        )
    });
    lines.collect()
}

/// The name of the node with this index.
pub fn node_name(index: usize) -> String {
    format!("n{index}")
}

/// cgroup.conf for releases whose slurmd requires cgroups by default; `None` for releases that do
/// not know the setting.
pub fn cgroup(release: &Release) -> Option<&'static str> {
    let wanted = facts(release).slurmd_wants_cgroups;
    wanted.then_some("CgroupPlugin=disabled\n")
}

/// slurmdbd.conf; `password`: that of MariaDB's user `slurm`.
pub fn slurmdbd(
    folder: &Folder,
    installation: &Installation,
    ports: Ports,
    password: &str,
) -> String {
    let here = |relative: &str| folder.join(relative).display().to_string();
    format!(
        "DbdHost=localhost\n\
         DbdAddr=127.0.0.1\n\
         DbdPort={}\n\
         SlurmUser=root\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={}\n\
         PluginDir={}\n\
         PidFile={}\n\
         LogFile={}\n\
         DebugLevel=info\n\
         StorageType=accounting_storage/mysql\n\
         StorageHost=127.0.0.1\n\
         StoragePort={}\n\
         StorageUser=slurm\n\
         StoragePass={password}\n\
         StorageLoc=slurm\n",
        ports.slurmdbd(),
        here("munge/socket"),
        installation.stock_plugins().display(),
        here("run/slurmdbd.own-pid"),
        here("log/slurmdbd.log"),
        ports.database(),
    )
}
