//! Resources of a job on nodes that it is known to have.

use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::node_set::NodeSet;
use super::select::{NodeCounts, Question};
use super::state::State;
use super::usage::{Allocation, Part};

/// Resources on exactly the nodes that a job has; CPUs evenly over them where its request does not fit
/// there beside the others. `cpus`: CPUs that it has.
pub fn placed(
    machine: &Machine,
    ask: &Ask,
    partition: usize,
    nodes: &NodeSet,
    cpus: u32,
    state: &State,
) -> Allocation {
    let mut own = ask.clone();
    let count = u32::try_from(nodes.len()).unwrap_or(1);
    own.required = Some(nodes.clone());
    let counts = NodeCounts {
        least: count,
        most: count,
        wanted: count,
    };
    let question = Question {
        machine,
        ask: &own,
        partition,
        counts,
    };
    let mut weights = state.weights.clone();
    let found = question.choose(nodes, &state.uses, &mut weights);
    found.unwrap_or_else(|| even(machine, ask, nodes, cpus))
}

/// CPUs evenly over nodes.
fn even(machine: &Machine, ask: &Ask, nodes: &NodeSet, cpus: u32) -> Allocation {
    let count = u32::try_from(nodes.len()).unwrap_or(1).max(1);
    let cpus = cpus.max(ask.cpus);
    let parts = nodes.iter().zip(0_u32..).map(|(node, at)| {
        let cpus = cpus / count + u32::from(at < cpus % count);
        Part {
            node,
            cpus,
            cores: cpus.div_ceil(machine.nodes[node].threads),
            memory_mb: 0,
            gres: Vec::new(),
        }
    });
    Allocation {
        parts: parts.collect(),
        whole: ask.exclusive,
    }
}
