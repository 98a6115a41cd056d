//! A partition: its nodes and limits.

use super::Memory;

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Name.
    pub name: String,
    /// Positions of its nodes, ascending.
    pub nodes: Vec<usize>,
    /// Jobs that name no partition go there.
    pub is_default: bool,
    /// Its jobs can start: `State=UP` or `DRAIN`.
    pub is_up: bool,
    /// `MaxTime`, minutes; `None`: unlimited.
    pub max_time_mins: Option<u32>,
    /// `DefaultTime`, minutes; `None`: that of `MaxTime`.
    pub default_time_mins: Option<u32>,
    /// `MinNodes`.
    pub min_nodes: u32,
    /// `MaxNodes`; `None`: unlimited.
    pub max_nodes: Option<u32>,
    /// `PriorityTier`: jobs of a higher one come first.
    pub priority_tier: u32,
    /// Memory of a job that asks for none; `None`: all of each node.
    pub default_memory: Option<Memory>,
    /// Every job has its nodes for itself: `OverSubscribe=EXCLUSIVE`.
    pub is_exclusive: bool,
    /// The QOS of the partition.
    pub qos: Option<String>,
}

impl Default for Partition {
    fn default() -> Partition {
        Partition {
            name: String::new(),
            nodes: Vec::new(),
            is_default: false,
            is_up: true,
            max_time_mins: None,
            default_time_mins: None,
            min_nodes: 1,
            max_nodes: None,
            priority_tier: 1,
            default_memory: None,
            is_exclusive: false,
            qos: None,
        }
    }
}
