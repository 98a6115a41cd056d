//! The rows that an order is made from.

use super::ratio::Entitled;

/// A competitor: an association below the root that has shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Node {
    /// The position of the node above; `None`: the root.
    pub parent: Option<u32>,
    /// What it and all below it used, in whole units.
    pub used: u128,
    /// What it is entitled to, in the same unit.
    pub entitled: Entitled,
}

/// Rows of nodes from their columns, of one length.
pub(crate) fn nodes(parents: &[Option<u32>], entitled: &[Entitled], used: &[u128]) -> Vec<Node> {
    let rows = parents.iter().zip(entitled).zip(used);
    let node = |((&parent, &entitled), &used)| Node {
        parent,
        used,
        entitled,
    };
    rows.map(node).collect()
}

/// A job that waits.
///
/// Within a node the jobs of a higher tier come first, then those of a lower nice value, then
/// the older ones, then those with the lower id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Job {
    /// The position of the node that it is charged to, usually one without others below.
    pub node: u32,
    /// Before all else, the highest first: the priority of a QOS or partition, or always 0.
    pub tier: i64,
    /// Added by the user to come later.
    pub nice: i64,
    /// When it was submitted, in any unit.
    pub submit: i64,
    /// Unique among the jobs.
    pub id: u64,
    /// What it is expected to use, in the unit of the nodes.
    pub expected: u128,
}

/// Who competes over the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The nodes of this depth, 1 being those directly below the root, and all nodes of smaller
    /// depth with jobs of their own. 0 is as 1.
    Depth(u32),
    /// All nodes with jobs of their own.
    Leaf,
}

/// Why rows have no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// A job of a node that is not there.
    #[error("job {id}: node {node} is not among the {nodes} nodes")]
    UnknownNode {
        /// The job's id.
        id: u64,
        /// Its node.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A parent that is not there.
    #[error("node {node}: its parent {parent} is not among the {nodes} nodes")]
    UnknownParent {
        /// The node.
        node: u32,
        /// Its parent.
        parent: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// A node that is above itself.
    #[error("node {node} is its own ancestor")]
    Cycle {
        /// One on the cycle or below it.
        node: u32,
    },
    /// More rows than positions.
    #[error("{rows} rows: at most {limit} can be ordered")]
    TooManyRows {
        /// How many there are.
        rows: usize,
        /// The most.
        limit: usize,
    },
}
