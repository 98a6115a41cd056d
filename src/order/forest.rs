//! The nodes that compete, and the sequences to which their jobs belong.

use super::merge;
use super::ratio::Entitled;
use super::rows::{self, Job, Level, Node, OrderError};

/// Competing nodes without their use: remains valid as long as shares do not change.
#[derive(Clone, Debug)]
pub struct Forest {
    pub(super) parents: Vec<Option<u32>>,
    pub(super) entitled: Vec<Entitled>,
    /// Depth by node; 1 directly below the root.
    pub(super) depths: Vec<u32>,
    /// True for nodes that have other nodes below them.
    pub(super) inner: Vec<bool>,
    pub(super) level: Level,
}

/// Competitor to which a job belongs in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Child {
    /// A node.
    Node(u32),
    /// The parent itself, with its own jobs; it has other nodes below it.
    Own,
}

impl Forest {
    /// Forest of these nodes, whatever they used.
    ///
    /// # Errors
    /// Unknown parent; cycle; too many nodes.
    pub fn new(nodes: &[Node], level: Level) -> Result<Forest, OrderError> {
        merge::check(nodes, std::iter::empty())?;
        let entitled = nodes.iter().map(|node| node.entitled);
        Ok(Forest {
            parents: nodes.iter().map(|node| node.parent).collect(),
            entitled: entitled.collect(),
            depths: merge::depths(nodes)?,
            inner: merge::inner(nodes),
            level,
        })
    }

    /// The level on which nodes compete over the whole tree.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Returns true if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Checks that the node of a job exists.
    pub(super) fn check(&self, job: &Job) -> Result<(), OrderError> {
        if (job.node as usize) < self.len() {
            return Ok(());
        }
        Err(OrderError::UnknownNode {
            id: job.id,
            node: job.node,
            nodes: self.len(),
        })
    }

    /// Rows of the nodes with these uses.
    pub(super) fn nodes(&self, used: &[u128]) -> Vec<Node> {
        rows::nodes(&self.parents, &self.entitled, used)
    }

    /// Returns true if a node competes with nodes below it while it has jobs of its own.
    pub(super) fn is_mixed(&self, node: u32) -> bool {
        self.inner[node as usize] && self.is_over_all(node, true)
    }

    /// Step in which the sequences are merged to which a child of `parent` belongs: the deepest
    /// first, the sequence of all jobs last, which is step 0.
    pub(super) fn step(&self, child: Child, parent: Option<u32>) -> u32 {
        match (child, parent) {
            (_, None) => 0,
            (Child::Node(node), Some(_)) => self.depths[node as usize],
            (Child::Own, Some(node)) => self.depths[node as usize] + 1,
        }
    }

    /// Returns true if a node competes over the whole tree; `above`: and its children
    /// do too.
    pub(super) fn is_over_all(&self, node: u32, above: bool) -> bool {
        match self.level {
            Level::Leaf => true,
            Level::Depth(level) => self.depths[node as usize] + u32::from(above) <= level.max(1),
        }
    }

    /// Child to which a job of `node` belongs in the sequence of `parent` (`None`: of all jobs);
    /// `None`: it does not belong to that sequence.
    pub(super) fn child(&self, node: u32, parent: Option<u32>) -> Option<Child> {
        let mut chain = self.chain(node);
        chain.find_map(|(child, of)| (of == parent).then_some(child))
    }

    /// The sequences to which a job of `node` belongs, from its own up to that of all jobs.
    pub(super) fn chain(&self, node: u32) -> impl Iterator<Item = (Child, Option<u32>)> + '_ {
        let over_all = self.is_over_all(node, true);
        let own = !over_all && self.inner[node as usize];
        let mut at = Some(node);
        let nodes = std::iter::from_fn(move || {
            let child = at?;
            let top = over_all || self.is_over_all(child, false);
            let parent = self.parents[child as usize].filter(|_| !top);
            at = parent;
            Some((Child::Node(child), parent))
        });
        own.then_some((Child::Own, Some(node)))
            .into_iter()
            .chain(nodes)
    }
}
