//! The nodes that compete, and in which sequences their jobs stand.

use super::merge;
use super::ratio::{Entitled, Rounding};
use super::rows::{self, Job, Level, Node, OrderError};

/// Nodes that compete, without what they used: it stays as long as shares do.
#[derive(Clone, Debug)]
pub struct Forest {
    pub(super) parents: Vec<Option<u32>>,
    pub(super) entitled: Vec<Entitled>,
    pub(super) roundings: Vec<Rounding>,
    /// 1 directly below the root.
    pub(super) depths: Vec<u32>,
    /// Has the node others below it?
    pub(super) inner: Vec<bool>,
    pub(super) level: Level,
}

/// What a job of some sequence belongs to there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Child {
    /// This node.
    Node(u32),
    /// The parent itself, which has other nodes below it.
    Own,
}

impl Forest {
    /// Of these nodes, whatever they used.
    ///
    /// # Errors
    /// A parent that is not there; a cycle; too many nodes.
    pub fn new(nodes: &[Node], level: Level) -> Result<Forest, OrderError> {
        merge::check(nodes, std::iter::empty())?;
        let entitled = nodes.iter().map(|node| node.entitled);
        Ok(Forest {
            parents: nodes.iter().map(|node| node.parent).collect(),
            entitled: entitled.clone().collect(),
            roundings: entitled.map(Rounding::new).collect(),
            depths: merge::depths(nodes)?,
            inner: merge::inner(nodes),
            level,
        })
    }

    /// On which level nodes compete over the whole tree.
    pub fn level(&self) -> Level {
        self.level
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// No nodes?
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// That the node of a job is there.
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

    /// The nodes, which used so much.
    pub(super) fn nodes(&self, used: &[u128]) -> Vec<Node> {
        rows::nodes(&self.parents, &self.entitled, used)
    }

    /// Whether a node competes with nodes below it, as long as it has jobs of its own.
    pub(super) fn is_mixed(&self, node: u32) -> bool {
        self.inner[node as usize] && self.is_over_all(node, true)
    }

    /// At which step the sequences are merged that a child of `parent` stands in: the deepest first,
    /// that of all last, which is 0.
    pub(super) fn step(&self, child: Child, parent: Option<u32>) -> u32 {
        match (child, parent) {
            (_, None) => 0,
            (Child::Node(node), Some(_)) => self.depths[node as usize],
            (Child::Own, Some(node)) => self.depths[node as usize] + 1,
        }
    }

    /// Whether a node competes over the whole tree; also with those below it, if `above`.
    pub(super) fn is_over_all(&self, node: u32, above: bool) -> bool {
        match self.level {
            Level::Leaf => true,
            Level::Depth(level) => self.depths[node as usize] + u32::from(above) <= level.max(1),
        }
    }

    /// What a job of `node` belongs to in the sequence of `parent`, or of all; `None`: to nothing.
    pub(super) fn child(&self, node: u32, parent: Option<u32>) -> Option<Child> {
        let mut chain = self.chain(node);
        chain.find_map(|(child, of)| (of == parent).then_some(child))
    }

    /// The sequences that a job of `node` stands in, from its own up to that of all.
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
