//! The machine of a Slurm cluster, and the requests of its jobs, as values.
//!
//! | module | noun |
//! |---|---|
//! | [`node`] | a node: cores, memory, generic resources, features, weight |
//! | [`partition`] | a partition: its nodes and limits |
//! | [`request`] | the resources and conditions that a job asked for |
//! | [`scheduling`] | the settings of the main and the backfill scheduler |
//! | [`limits`] | limits of associations and QOS |

pub mod limits;
pub mod node;
pub mod partition;
pub mod request;
pub mod scheduling;

pub use limits::{Limits, QosLimits, Tres};
pub use node::{Gres, Node};
pub use partition::Partition;
pub use request::{Dependency, Features, GresRequest, Memory, Request, Until};
pub use scheduling::Scheduling;

/// The nodes, partitions and settings of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// The nodes, in the order of slurm.conf.
    pub nodes: Vec<Node>,
    /// The partitions, in the order of slurm.conf.
    pub partitions: Vec<Partition>,
    /// The settings of the schedulers.
    pub scheduling: Scheduling,
    /// Settings that a simulation does not follow, one sentence each.
    pub not_modelled: Vec<String>,
    /// Times in which nodes are not for jobs.
    pub outages: Vec<Outage>,
}

/// Why nodes are not for jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    /// They are down or drained: nothing starts there, and nobody knew before.
    Down,
    /// They are reserved: jobs that would run into it do not start there.
    Reserved,
}

/// A time in which nodes are not for jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Positions of the nodes, ascending.
    pub nodes: Vec<usize>,
    /// Begin, seconds since 1970.
    pub from: i64,
    /// End, seconds since 1970.
    pub to: i64,
    /// Why.
    pub kind: OutageKind,
}

impl Machine {
    /// Position of a partition.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|known| known.name == name)
    }

    /// Position of a node.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|known| known.name == name)
    }

    /// Most nodes.
    pub const MOST_NODES: usize = 1_000_000;
    /// Most CPUs of a node, as slurmctld counts them.
    pub const MOST_CPUS: u32 = 65_535;

    /// Why it is too large, a sentence: more nodes, or a node of more CPUs, than there can be; 4294967296 CPUs or
    /// more in all. `None`: it is not.
    pub fn excess(&self) -> Option<String> {
        let (nodes, most) = (self.nodes.len(), Machine::MOST_NODES);
        if nodes > most {
            return Some(format!("there are {nodes} nodes; allowed are up to {most}"));
        }
        let large = self
            .nodes
            .iter()
            .find(|node| node.cpus() > Machine::MOST_CPUS);
        if let Some(node) = large {
            let most = Machine::MOST_CPUS;
            let name = &node.name;
            return Some(format!(
                "node {name} has more than {most} CPUs; allowed are up to {most}"
            ));
        }
        let all: u64 = self.nodes.iter().map(|node| u64::from(node.cpus())).sum();
        let most = u32::MAX;
        (all > u64::from(most))
            .then(|| format!("all nodes have {all} CPUs; allowed are up to {most}"))
    }

    /// CPUs of all nodes; those of a machine without [`Machine::excess`].
    pub fn cpus(&self) -> u32 {
        self.nodes.iter().map(Node::cpus).sum()
    }
}
