//! A job as the schedulers see it: its request, with names resolved.

use fairtree::tree::AssocIndex;
use fairtree_model::machine::{GresRequest, Machine, Memory, Request};

use super::node_set::NodeSet;

/// A job, or a task of an array.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Its number.
    pub id: u32,
    /// Its array and task.
    pub task: Option<(u32, u32)>,
    /// Most tasks of its array that run at a time.
    pub array_running: Option<u32>,
    /// Submission, seconds since 1970.
    pub submit: i64,
    /// Positions of its partitions.
    pub partitions: Vec<usize>,
    /// Number of the user.
    pub user: u32,
    /// Its association; `None`: not known.
    pub assoc: Option<AssocIndex>,
    /// Position of its QOS.
    pub qos: Option<usize>,
    /// Least nodes.
    pub least_nodes: u32,
    /// Most nodes; `None`: not said.
    pub most_nodes: Option<u32>,
    /// Least CPUs.
    pub cpus: u32,
    /// Tasks; 0: not said.
    pub tasks: u32,
    /// CPUs of each task, from 1.
    pub cpus_per_task: u32,
    /// Tasks on each node; 0: not said.
    pub tasks_per_node: u32,
    /// Memory; `None`: the partition's default.
    pub memory: Option<Memory>,
    /// Time limit, seconds; `None`: the partition's.
    pub limit_secs: Option<i64>,
    /// `--time-min`, seconds.
    pub least_secs: Option<i64>,
    /// Generic resources.
    pub gres: Vec<GresRequest>,
    /// Nodes that have its features and are not excluded.
    pub usable: NodeSet,
    /// Alternatives of which all its nodes must be; empty: none.
    pub same: Vec<NodeSet>,
    /// Nodes that must be among its nodes.
    pub required: Option<NodeSet>,
    /// It wants whole nodes.
    pub exclusive: bool,
    /// Nodes must be neighbours.
    pub contiguous: bool,
    /// Nice value.
    pub nice: i32,
    /// A priority that stays as it is; `None`: it is computed.
    pub fixed: Option<u32>,
}

/// Names of a request that the machine does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

/// Who asks, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    /// Number of the user.
    pub user: u32,
    /// Association.
    pub assoc: Option<AssocIndex>,
    /// QOS.
    pub qos: Option<usize>,
}

impl Ask {
    /// The job of a request.
    ///
    /// # Errors
    /// A partition or a node that the machine does not have; no partition at all.
    pub fn new(
        machine: &Machine,
        request: &Request,
        (id, task): (u32, Option<(u32, u32)>),
        submit: i64,
        who: Asker,
    ) -> Result<Ask, Unknown> {
        let size = machine.nodes.len();
        let mut partitions = Vec::new();
        for name in &request.partitions {
            let found = machine.partition(name);
            partitions.push(found.ok_or_else(|| Unknown(format!("partition {name}")))?);
        }
        if partitions.is_empty() {
            let default = machine.partitions.iter().position(|one| one.is_default);
            partitions.push(default.ok_or_else(|| Unknown("default partition".to_owned()))?);
        }
        let nodes = |names: &[String]| -> Result<NodeSet, Unknown> {
            let mut set = NodeSet::empty(size);
            for name in names {
                let found = machine.node(name);
                set.insert(found.ok_or_else(|| Unknown(format!("node {name}")))?);
            }
            Ok(set)
        };
        let with = |fits: &dyn Fn(&[String]) -> bool| {
            let all = machine.nodes.iter().enumerate();
            NodeSet::of(
                size,
                all.filter(|(_, node)| fits(&node.features))
                    .map(|(at, _)| at),
            )
        };
        let mut usable = match &request.features {
            Some(features) => with(&|has| features.hold(has)),
            None => NodeSet::all(size),
        };
        usable.take(&nodes(&request.excluded)?);
        let same = request.features.iter().flat_map(|features| &features.same);
        let same = same.map(|name| with(&|has| has.contains(name))).collect();
        let required = match &request.node_list[..] {
            [] => None,
            names => Some(nodes(names)?),
        };
        let (mut least, mut most) = match request.nodes {
            Some((least, most)) => (least.max(1), Some(most.max(1))),
            None => (1, None),
        };
        if let Some(required) = &required {
            least = least.max(u32::try_from(required.len()).unwrap_or(u32::MAX));
            most = most.map(|most| most.max(least));
        }
        Ok(Ask {
            id,
            task,
            array_running: request.array_running,
            submit,
            partitions,
            user: who.user,
            assoc: who.assoc,
            qos: who.qos,
            least_nodes: least,
            most_nodes: most,
            cpus: request.cpus(),
            tasks: request.tasks.unwrap_or(0),
            cpus_per_task: request.cpus_per_task.unwrap_or(1).max(1),
            tasks_per_node: request.tasks_per_node.unwrap_or(0),
            memory: request.memory,
            limit_secs: request.limit_mins.map(|mins| i64::from(mins) * 60),
            least_secs: request.least_mins.map(|mins| i64::from(mins) * 60),
            gres: request.gres.clone(),
            usable,
            same,
            required,
            exclusive: request.exclusive,
            contiguous: request.contiguous,
            nice: request.nice,
            fixed: None,
        })
    }

    /// Number of the array, or of the job: ties of priority and submission are by this.
    pub fn group(&self) -> u32 {
        self.task.map_or(self.id, |(array, _)| array)
    }

    /// Least CPUs on each of its nodes.
    pub fn cpus_per_node(&self) -> u32 {
        self.cpus_per_task * self.tasks_per_node.max(1)
    }

    /// Memory in a partition; `None`: all of each node.
    pub fn memory_in(&self, machine: &Machine, partition: usize) -> Option<Memory> {
        let own = self.memory.or(machine.partitions[partition].default_memory);
        own.filter(|memory| *memory != Memory::Node(0))
    }

    /// Time limit in a partition, seconds; a year where both are unlimited.
    pub fn limit_in(&self, machine: &Machine, partition: usize) -> i64 {
        const YEAR: i64 = 365 * 86_400;
        let partition = &machine.partitions[partition];
        let most = partition.max_time_mins.map(|mins| i64::from(mins) * 60);
        match (self.limit_secs, most) {
            (Some(own), Some(most)) => own.min(most),
            (Some(own), None) => own,
            (None, Some(most)) => most,
            (None, None) => YEAR,
        }
    }

    /// Time limit of a run in a partition: `DefaultTime` for a job that says none.
    pub fn run_limit_in(&self, machine: &Machine, partition: usize) -> i64 {
        let default = machine.partitions[partition].default_time_mins;
        match (self.limit_secs, default) {
            (None, Some(mins)) => i64::from(mins) * 60,
            _ => self.limit_in(machine, partition),
        }
    }
}
