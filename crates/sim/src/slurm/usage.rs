//! Resources of nodes that are in use.

use std::ops::Index;

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

/// Resources in use on all nodes of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    nodes: Vec<NodeUse>,
    /// Nodes with an idle core that no job has for itself.
    idle: NodeSet,
    /// Nodes that a job has for itself.
    whole: NodeSet,
}

impl Index<usize> for Uses {
    type Output = NodeUse;

    fn index(&self, node: usize) -> &NodeUse {
        &self.nodes[node]
    }
}

impl Uses {
    /// No use of any node.
    pub fn none(machine: &Machine) -> Uses {
        let size = machine.nodes.len();
        let nodes = machine.nodes.iter();
        let none = nodes.map(|node| NodeUse {
            gres: vec![0; node.gres.len()],
            ..NodeUse::default()
        });
        let cores = |at: &usize| machine.nodes[*at].cores > 0;
        Uses {
            nodes: none.collect(),
            idle: NodeSet::of(size, (0..size).filter(cores)),
            whole: NodeSet::empty(size),
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the machine has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Nodes with an idle core that no job has for itself.
    pub fn idle(&self) -> &NodeSet {
        &self.idle
    }

    /// Nodes that a job has for itself.
    pub fn whole(&self) -> &NodeSet {
        &self.whole
    }

    /// Sets the use of a node.
    pub fn set(&mut self, machine: &Machine, node: usize, used: NodeUse) {
        self.nodes[node] = used;
        self.sort_in(machine, node);
    }

    /// Adds the parts of a job.
    pub fn occupy(&mut self, machine: &Machine, allocation: &Allocation) {
        for part in &allocation.parts {
            let node = &mut self.nodes[part.node];
            node.cores += part.cores;
            node.memory_mb += part.memory_mb;
            node.jobs += 1;
            node.whole |= allocation.whole;
            for (own, more) in node.gres.iter_mut().zip(&part.gres) {
                *own += more;
            }
            self.sort_in(machine, part.node);
        }
    }

    /// Takes the parts of a job away.
    pub fn release(&mut self, machine: &Machine, allocation: &Allocation) {
        for part in &allocation.parts {
            self.release_part(machine, part, allocation.whole);
        }
    }

    /// Takes a job's part of a node away; `whole`: the job has all of the node.
    pub fn release_part(&mut self, machine: &Machine, part: &Part, whole: bool) {
        let node = &mut self.nodes[part.node];
        node.cores = node.cores.saturating_sub(part.cores);
        node.memory_mb = node.memory_mb.saturating_sub(part.memory_mb);
        node.jobs = node.jobs.saturating_sub(1);
        node.whole &= !whole;
        for (own, less) in node.gres.iter_mut().zip(&part.gres) {
            *own = own.saturating_sub(*less);
        }
        self.sort_in(machine, part.node);
    }

    fn sort_in(&mut self, machine: &Machine, node: usize) {
        let NodeUse { cores, whole, .. } = self.nodes[node];
        self.whole.put(node, whole);
        let idle = !whole && cores < machine.nodes[node].cores;
        self.idle.put(node, idle);
    }
}
