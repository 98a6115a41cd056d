//! Plans and choices of nodes against naive models: a plan as a list of intervals of each node, a
//! choice as sums over nodes.

use fairtree_model::machine::{Machine, Memory, Node, Partition, Request, Scheduling};
use fairtree_sim::slurm::ask::{Ask, Asker};
use fairtree_sim::slurm::node_set::NodeSet;
use fairtree_sim::slurm::plan::Plan;
use fairtree_sim::slurm::select::{NodeCounts, Question, Weights};
use fairtree_sim::slurm::usage::{NodeUse, Uses};
use proptest::prelude::*;

const NODES: usize = 5;
const RESOLUTION: i64 = 60;
const WINDOW: i64 = 3600;

/// A plan of one job: nodes, start, length.
fn planned() -> impl Strategy<Value = (Vec<usize>, i64, i64)> {
    let nodes = prop::collection::vec(0..NODES, 1..=NODES);
    (nodes, 0..WINDOW + 600, 0..1800_i64)
}

proptest! {
    /// A node is free from a start to an end if no interval of a plan meets them. Intervals are cut
    /// down to the resolution on the wall clock, and last one of it at least.
    #[test]
    fn slots_are_intervals(
        now in 1_000_000..1_000_200_i64,
        plans in prop::collection::vec(planned(), 0..12),
        (from, length) in (0..WINDOW, 0..1800_i64),
    ) {
        let all = NodeSet::all(NODES);
        let down = |time: i64| time / RESOLUTION * RESOLUTION;
        let window_end = down(now + WINDOW);
        let mut plan = Plan::new(now, WINDOW, RESOLUTION, all.clone());
        let mut intervals: Vec<(usize, i64, i64)> = Vec::new();
        for (job, (nodes, start, length)) in plans.iter().enumerate() {
            let set = NodeSet::of(NODES, nodes.iter().copied());
            let (start, end) = (now + start, now + start + length);
            plan.take(job, &set, start, end);
            let cut = (down(start), down(end).max(down(start) + RESOLUTION));
            if cut.0 < window_end {
                intervals.extend(set.iter().map(|node| (node, cut.0, cut.1.min(window_end))));
            }
        }
        let (start, end) = (now + from, now + from + length);
        let offered = plan.offered(&all, start, end);
        for node in 0..NODES {
            let mut own = intervals.iter().filter(|one| one.0 == node);
            let meets = own.any(|(_, from, to)| *to > start && *from <= end);
            prop_assert_eq!(offered.free.contains(node), !meets, "node {}", node);
            let mut own = intervals.iter().filter(|one| one.0 == node);
            // A job lasts a minute or more. Between two equal moments the answer of slurmctld depends on
            // where its slots begin.
            let (start, end) = (down(start), down(end).max(down(start) + RESOLUTION));
            let meets = own.any(|(_, from, to)| *to > start && *from < end);
            let one = NodeSet::of(NODES, [node]);
            prop_assert_eq!(plan.overlaps(&one, start, end), meets, "node {}", node);
        }
    }

    /// A job without bounds of nodes fits if the CPUs that all nodes offer suffice, and it gets no
    /// more than they have, and as many CPUs as it asked for.
    #[test]
    fn nodes_suffice_if_their_sum_does(
        nodes in prop::collection::vec((1..9_u32, 0..9_u32, 1..9_u64), 1..NODES + 1),
        tasks in 1..24_u32,
        memory in 0..3_u64,
    ) {
        let machine = machine(&nodes);
        let size = machine.nodes.len();
        let mut uses = Uses::none(&machine);
        for (node, (cores, used, _)) in nodes.iter().enumerate() {
            let cores = (*used).min(*cores);
            uses.set(&machine, node, NodeUse { cores, ..NodeUse::default() });
        }
        let request = Request {
            tasks: Some(tasks),
            memory: Some(Memory::Cpu(memory)),
            ..Request::default()
        };
        let who = Asker { user: 0, assoc: None, qos: None };
        let ask = Ask::new(&machine, &request, (1, None), 0, who).unwrap();
        let counts = NodeCounts::of(&machine, &ask, 0).unwrap();
        let question = Question { machine: &machine, ask: &ask, partition: 0, counts };
        let mut weights = Weights::new(&machine);
        let found = question.choose(&NodeSet::all(size), &uses, &mut weights);
        let offers = machine.nodes.iter().enumerate().map(|(at, node)| {
            let free = node.cores - uses[at].cores;
            let by_memory = node.memory_mb.checked_div(memory).unwrap_or(u64::MAX);
            free.min(u32::try_from(by_memory).unwrap_or(u32::MAX))
        });
        let offers: Vec<u32> = offers.collect();
        prop_assert_eq!(found.is_some(), offers.iter().sum::<u32>() >= tasks);
        if let Some(found) = found {
            prop_assert_eq!(found.cpus(), tasks);
            for part in &found.parts {
                prop_assert!(part.cpus >= 1 && part.cpus <= offers[part.node]);
            }
            // One node is taken where one is enough and it is not cut off by others of a run.
            let run_of_one = offers.len() == 1;
            prop_assert!(!run_of_one || found.parts.len() == 1);
        }
    }
}

fn machine(nodes: &[(u32, u32, u64)]) -> Machine {
    let node = |(at, (cores, _, memory_mb)): (usize, &(u32, u32, u64))| Node {
        name: format!("n{at}"),
        cores: *cores,
        memory_mb: *memory_mb,
        ..Node::default()
    };
    Machine {
        nodes: nodes.iter().enumerate().map(node).collect(),
        partitions: vec![Partition {
            name: "p".to_owned(),
            nodes: (0..nodes.len()).collect(),
            is_default: true,
            ..Partition::default()
        }],
        scheduling: Scheduling {
            has_memory: true,
            ..Scheduling::default()
        },
        not_modelled: Vec::new(),
        outages: Vec::new(),
    }
}
