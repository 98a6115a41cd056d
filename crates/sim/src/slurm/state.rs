//! The state of a cluster: jobs that run, jobs that wait, nodes in use.

use std::cmp::Reverse;
use std::collections::HashMap;

use fairtree_model::machine::{Machine, OutageKind};

use super::ask::Ask;
use super::limits::Counters;
use super::node_set::NodeSet;
use super::select::Weights;
use super::usage::{Allocation, Uses};

/// A running job.
#[derive(Clone, Debug)]
pub struct Running {
    /// Number of the job in the run.
    pub job: usize,
    /// Position of its partition.
    pub partition: usize,
    /// Start, seconds since 1970.
    pub start: i64,
    /// End by its time limit, seconds since 1970.
    pub limit_end: i64,
    /// Its resources.
    pub allocation: Allocation,
}

/// A waiting job in one of its partitions, with its priority there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InLine {
    /// Number of the job in the run.
    pub job: usize,
    /// Position of the partition.
    pub partition: usize,
    /// Priority.
    pub priority: u32,
    /// When it became eligible, seconds since 1970.
    pub eligible: i64,
}

/// A start that a scheduler decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Number of the job in the run.
    pub job: usize,
    /// Position of the partition.
    pub partition: usize,
    /// Its resources.
    pub allocation: Allocation,
}

/// Why a job does not start in a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is at a limit of its association or its QOS.
    Limit(&'static str),
    /// A job before it in its partition does not fit.
    Blocked {
        /// The job that does not fit.
        by: usize,
    },
    /// Its nodes are not free.
    Resources,
    /// Nodes that are free are planned for these jobs.
    Planned {
        /// The first of them; `None`: not known.
        by: Option<usize>,
    },
    /// It breaks a limit of its partition, or no node can ever have it.
    Never,
    /// Its array is at its limit of running tasks.
    Array,
    /// The cycle ended, or tested as many of its kind as it may, before it was reached.
    NotReached,
}

/// A cluster at a moment.
#[derive(Clone, Debug)]
pub struct State {
    /// Resources in use, by node.
    pub uses: Uses,
    /// Running jobs, in order of their starts.
    pub running: Vec<Running>,
    /// Nodes that are up.
    pub up: NodeSet,
    /// Reserved nodes, from and to, seconds since 1970.
    pub reserved: Vec<(NodeSet, i64, i64)>,
    /// Nodes on which a job has ended and is being cleaned up.
    pub completing: NodeSet,
    /// Weights of nodes.
    pub weights: Weights,
    /// Jobs and resources that count towards limits.
    pub counters: Counters,
    /// Resources of waiting jobs on the machine without any job, by job and partition: each pass asks about the first job
    /// of a partition. With this and the sum of CPUs in `will_run`, 1,500 jobs of Curie from the 150,000th on took 11 s in
    /// place of 19 s; `make bench ONLY=command` replays the first 3,000.
    pub on_empty: HashMap<(usize, usize), Allocation>,
}

impl State {
    /// An empty machine.
    pub fn new(machine: &Machine) -> State {
        let size = machine.nodes.len();
        let up = machine
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.is_up);
        State {
            uses: Uses::none(machine),
            running: Vec::new(),
            up: NodeSet::of(size, up.map(|(at, _)| at)),
            reserved: reserved(machine),
            completing: NodeSet::empty(size),
            weights: Weights::new(machine),
            counters: Counters::default(),
            on_empty: HashMap::new(),
        }
    }

    /// The nodes of an outage are up again at `now`, except those of another one.
    pub fn come_back(&mut self, machine: &Machine, outage: usize, now: i64) {
        let away = |node: &usize| {
            let mut others = machine.outages.iter().enumerate();
            others.any(|(at, other)| {
                at != outage
                    && other.kind == OutageKind::Down
                    && (other.from..other.to).contains(&now)
                    && other.nodes.contains(node)
            })
        };
        for node in &machine.outages[outage].nodes {
            if machine.nodes[*node].is_up && !away(node) {
                self.up.insert(*node);
            }
        }
    }

    /// Takes the nodes away that are reserved at any time from `start` to `end`.
    pub fn take_reserved(&self, nodes: &mut NodeSet, start: i64, end: i64) {
        for (own, from, to) in &self.reserved {
            if *from < end && *to > start {
                nodes.take(own);
            }
        }
    }

    /// A job starts.
    pub fn start(&mut self, machine: &Machine, asks: &[Ask], running: Running) {
        self.uses.occupy(machine, &running.allocation);
        self.counters.start(machine, &asks[running.job], &running);
        for partition in &asks[running.job].partitions {
            self.on_empty.remove(&(running.job, *partition));
        }
        self.running.push(running);
    }

    /// A job ends; its run, or `None` where it does not run.
    pub fn end(&mut self, machine: &Machine, asks: &[Ask], job: usize) -> Option<Running> {
        let at = self.running.iter().position(|running| running.job == job)?;
        let running = self.running.remove(at);
        self.uses.release(machine, &running.allocation);
        self.counters.end(machine, &asks[job], &running);
        Some(running)
    }

    /// Tasks of an array that run.
    pub fn running_tasks(&self, asks: &[Ask], array: u32) -> u32 {
        let tasks = self
            .running
            .iter()
            .filter(|running| asks[running.job].task.is_some_and(|(own, _)| own == array));
        tasks.count() as u32
    }
}

fn reserved(machine: &Machine) -> Vec<(NodeSet, i64, i64)> {
    let size = machine.nodes.len();
    let outages = machine.outages.iter();
    let reserved = outages.filter(|outage| outage.kind == OutageKind::Reserved);
    reserved
        .map(|one| {
            (
                NodeSet::of(size, one.nodes.iter().copied()),
                one.from,
                one.to,
            )
        })
        .collect()
}

/// What a queue is sorted by: tier, priority, submission, number.
type Key = (Reverse<(u32, u32)>, i64, u32, Option<(u32, u32)>);

fn key(machine: &Machine, asks: &[Ask], one: &InLine) -> Key {
    let ask = &asks[one.job];
    let tier = machine.partitions[one.partition].priority_tier;
    (
        Reverse((tier, one.priority)),
        ask.submit,
        ask.group(),
        ask.task,
    )
}

/// Sorts a queue: tier, priority, submission, number.
pub fn sort(machine: &Machine, asks: &[Ask], queue: &mut [InLine]) {
    queue.sort_by_key(|one| key(machine, asks, one));
}

/// Adds a job to a sorted queue, behind its equals.
pub fn insert(machine: &Machine, asks: &[Ask], queue: &mut Vec<InLine>, one: InLine) {
    let own = key(machine, asks, &one);
    let at = queue.partition_point(|other| key(machine, asks, other) <= own);
    queue.insert(at, one);
}
