//! A node: cores, memory, generic resources, features, weight.

/// Generic resources of one kind in a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gres {
    /// Name, as `gpu`.
    pub name: String,
    /// Type, as `a100`; empty without one.
    pub kind: String,
    /// Number of them.
    pub count: u32,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Cores that jobs can have; CPUs where CPUs are allocated one by one (`CR_CPU`).
    pub cores: u32,
    /// CPUs of each core, from 1.
    pub threads: u32,
    /// Memory that jobs can have, megabytes.
    pub memory_mb: u64,
    /// Generic resources.
    pub gres: Vec<Gres>,
    /// Features.
    pub features: Vec<String>,
    /// `Weight`: nodes with a lower one are taken first.
    pub weight: u32,
    /// False for a node that slurm.conf declares down, drained or future.
    pub is_up: bool,
}

impl Default for Node {
    fn default() -> Node {
        Node {
            name: String::new(),
            cores: 1,
            threads: 1,
            memory_mb: 1,
            gres: Vec::new(),
            features: Vec::new(),
            weight: 1,
            is_up: true,
        }
    }
}

impl Node {
    /// CPUs of the node; the most that a number can have where they are more.
    pub fn cpus(&self) -> u32 {
        self.cores.saturating_mul(self.threads)
    }
}
