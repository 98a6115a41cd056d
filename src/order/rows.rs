//! Rows from which an order is made.

use super::ratio::Entitled;

/// Submit time and id, which decide when nothing else distinguishes two jobs.
pub(super) type Stamp = (i64, u64);

/// A competitor: an association below the root that has shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Node {
    /// Position of the node above; `None`: the root.
    pub parent: Option<u32>,
    /// Use by the node and all below it, in whole units.
    pub used: u128,
    /// Its entitlement, in the same unit.
    pub entitled: Entitled,
}

/// Rows of nodes from columns of equal length.
pub(crate) fn nodes(parents: &[Option<u32>], entitled: &[Entitled], used: &[u128]) -> Vec<Node> {
    let rows = parents.iter().zip(entitled).zip(used);
    let node = |((&parent, &entitled), &used)| Node {
        parent,
        used,
        entitled,
    };
    rows.map(node).collect()
}

/// A waiting job.
///
/// Within a node, jobs of a higher tier come first, then jobs with a lower nice value, then older
/// jobs, then jobs with a lower id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Job {
    /// Position of the node to which it is charged, usually one without others below it.
    pub node: u32,
    /// Compared before all else, the highest first: the priority of a QOS or partition, or always
    /// 0.
    pub tier: i64,
    /// Nice value: a user adds it to let the job come later.
    pub nice: i64,
    /// Submit time, in any unit.
    pub submit: i64,
    /// Unique among the jobs.
    pub id: u64,
    /// Expected use, in the unit of the nodes.
    pub expected: u128,
}

impl Job {
    pub(super) fn stamp(&self) -> Stamp {
        (self.submit, self.id)
    }

    /// Sort key within a node.
    pub(super) fn within(&self) -> (i64, Stamp) {
        (self.nice, self.stamp())
    }
}

/// Nodes that compete over the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nodes of this depth, where 1 is directly below the root, and all nodes of smaller depth with
    /// jobs of their own. 0 is the same as 1.
    Depth(u32),
    /// All nodes with jobs of their own.
    Leaf,
}

/// Reasons why rows have no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// The node of a job is unknown.
    #[error("job {id}: node {node} is not among the {nodes} nodes")]
    UnknownNode {
        /// The job's id.
        id: u64,
        /// Its node.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A parent is unknown.
    #[error("node {node}: its parent {parent} is not among the {nodes} nodes")]
    UnknownParent {
        /// The node.
        node: u32,
        /// Its parent.
        parent: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A node is above itself.
    #[error("node {node} is its own ancestor")]
    Cycle {
        /// A node on the cycle or below it.
        node: u32,
    },
    /// There are more rows than positions.
    #[error("{rows} rows: at most {limit} can be ordered")]
    TooManyRows {
        /// Number of rows.
        rows: usize,
        /// Maximum.
        limit: usize,
    },
}

/// A job in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The job. In an order by present ratios its expected use is 0.
    pub job: Job,
    /// Its number; larger comes first. 0: it has none yet.
    pub number: u32,
}

/// Numbers of the jobs before and after a place; `None` if there is no job on that side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neighbours {
    pub(super) above: Option<u32>,
    pub(super) below: Option<u32>,
}
