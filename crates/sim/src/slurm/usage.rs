//! Resources of nodes that are in use.

use fairtree_model::machine::{GresRequest, Machine};

use super::node_set::NodeSet;

/// Resources in use on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeUse {
    /// Cores.
    pub cores: u32,
    /// Memory, megabytes.
    pub memory_mb: u64,
    /// Count of each generic resource of the node, in its order.
    pub gres: Vec<u32>,
    /// Jobs.
    pub jobs: u32,
    /// A job has all of it.
    pub whole: bool,
}

/// A job's part of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Position of the node.
    pub node: usize,
    /// CPUs.
    pub cpus: u32,
    /// Cores.
    pub cores: u32,
    /// Memory, megabytes.
    pub memory_mb: u64,
    /// Count of each generic resource of the node, in its order; empty: none.
    pub gres: Vec<u32>,
}

/// Resources of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// Its part of each of its nodes, ascending.
    pub parts: Vec<Part>,
    /// Whole nodes.
    pub whole: bool,
}

impl Allocation {
    /// The nodes, of `size` nodes.
    pub fn nodes(&self, size: usize) -> NodeSet {
        NodeSet::of(size, self.parts.iter().map(|part| part.node))
    }

    /// CPUs on all nodes.
    pub fn cpus(&self) -> u32 {
        self.parts.iter().map(|part| part.cpus).sum()
    }

    /// Memory on all nodes, megabytes.
    pub fn memory_mb(&self) -> u64 {
        self.parts.iter().map(|part| part.memory_mb).sum()
    }

    /// Generic resources of a name on all nodes.
    pub fn gres(&self, machine: &Machine, name: &str) -> u64 {
        let of = |part: &Part| -> u64 {
            let own = machine.nodes[part.node].gres.iter().zip(&part.gres);
            own.filter(|(gres, _)| gres.name == name)
                .map(|(_, count)| u64::from(*count))
                .sum()
        };
        self.parts.iter().map(of).sum()
    }
}

impl NodeUse {
    /// No use of the nodes of a machine.
    pub fn none(machine: &Machine) -> Vec<NodeUse> {
        let nodes = machine.nodes.iter();
        let none = nodes.map(|node| NodeUse {
            gres: vec![0; node.gres.len()],
            ..NodeUse::default()
        });
        none.collect()
    }

    /// Generic resources of a node that are free for a request.
    pub fn free_gres(&self, machine: &Machine, node: usize, request: &GresRequest) -> u32 {
        let own = machine.nodes[node].gres.iter().zip(&self.gres);
        own.filter(|(gres, _)| {
            gres.name == request.name && (request.kind.is_empty() || gres.kind == request.kind)
        })
        .map(|(gres, used)| gres.count.saturating_sub(*used))
        .sum()
    }
}

/// Adds the parts of a job to nodes.
pub fn occupy(uses: &mut [NodeUse], allocation: &Allocation) {
    for part in &allocation.parts {
        let node = &mut uses[part.node];
        node.cores += part.cores;
        node.memory_mb += part.memory_mb;
        node.jobs += 1;
        node.whole |= allocation.whole;
        for (own, more) in node.gres.iter_mut().zip(&part.gres) {
            *own += more;
        }
    }
}

/// Takes the parts of a job from nodes.
pub fn release(uses: &mut [NodeUse], allocation: &Allocation) {
    for part in &allocation.parts {
        let node = &mut uses[part.node];
        node.cores = node.cores.saturating_sub(part.cores);
        node.memory_mb = node.memory_mb.saturating_sub(part.memory_mb);
        node.jobs = node.jobs.saturating_sub(1);
        node.whole &= !allocation.whole;
        for (own, less) in node.gres.iter_mut().zip(&part.gres) {
            *own = own.saturating_sub(*less);
        }
    }
}
