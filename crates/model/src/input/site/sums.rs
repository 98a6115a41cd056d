//! The resources of a node that running jobs have together.

use std::collections::{HashMap, HashSet};

use super::file::{File, Job, Partition as PartitionLine};
use super::place::Text;
use crate::input::error::{InputError, Problem};
use crate::input::recorded::RecordedJob;
use crate::machine::{GresRequest, Machine, Memory, Node};

/// Resources of one kind on each node.
struct Kind<'a> {
    /// As a message names it.
    name: String,
    /// Number on a node.
    on: Box<dyn Fn(&Node) -> u64 + 'a>,
    /// By position of the node.
    taken: Vec<u64>,
}

impl<'a> Kind<'a> {
    fn new(machine: &Machine, name: &str, on: impl Fn(&Node) -> u64 + 'a) -> Kind<'a> {
        Kind {
            name: name.to_owned(),
            on: Box::new(on),
            taken: vec![0; machine.nodes.len()],
        }
    }

    /// Adds `count` of a job on `nodes`. It has on a node at least what does not fit on its other nodes.
    ///
    /// # Errors
    /// The first node that has less: a sentence.
    fn take(&mut self, machine: &Machine, nodes: &[usize], count: u64) -> Result<(), String> {
        let on = |at: &usize| (self.on)(&machine.nodes[*at]);
        let all = nodes.iter().map(on).fold(0, u64::saturating_add);
        for &at in nodes {
            let own = (self.on)(&machine.nodes[at]);
            let here = count.saturating_sub(all - own);
            self.add(&machine.nodes[at], at, here)?;
        }
        Ok(())
    }

    /// Adds `count` on one node.
    fn add(&mut self, node: &Node, at: usize, count: u64) -> Result<(), String> {
        let (own, taken) = ((self.on)(node), &mut self.taken[at]);
        *taken = taken.saturating_add(count);
        match count > 0 && *taken > own {
            false => Ok(()),
            true => Err(format!(
                "jobs that run on {} have {taken} {} or more there, allowed is up to {own}",
                node.name, self.name
            )),
        }
    }
}

/// Refuses running jobs that together have more CPUs, memory or generic resources on a node than it has. Suspended jobs
/// leave their CPUs to others, and so do partitions in which jobs share them.
pub(super) fn check_sums(
    text: &Text<'_>,
    machine: &Machine,
    file: &File,
    requests: &[RecordedJob],
) -> Result<(), InputError> {
    let sharing = sharing(file);
    let mut cpus = Kind::new(machine, "CPUs", |node| u64::from(node.cpus()));
    let mut memory = Kind::new(machine, "MB of memory", |node| node.memory_mb);
    let mut gres: HashMap<(&str, &str), Kind<'_>> = HashMap::new();
    for (job, request) in file.jobs.iter().zip(requests) {
        let wanted = &request.request;
        let nodes = request.nodes.iter().filter_map(|name| machine.node(name));
        let nodes: Vec<usize> = nodes.collect();
        let refused = |why| refused(text, job, request, why);
        let mut partitions = wanted.partitions.iter();
        if request.state == "RUNNING" && !partitions.any(|name| sharing.contains(name)) {
            let count = u64::from(request.allocated_cpus);
            cpus.take(machine, &nodes, count).map_err(refused)?;
        }
        if let Some(Memory::Node(count)) = wanted.memory.filter(|_| machine.scheduling.has_memory) {
            for &at in &nodes {
                let added = memory.add(&machine.nodes[at], at, count);
                added.map_err(refused)?;
            }
        }
        for GresRequest {
            name, kind, count, ..
        } in &wanted.gres
        {
            // A type is a part of what the name has.
            let any = (!kind.is_empty()).then_some("");
            for kind in any.into_iter().chain([kind.as_str()]) {
                let taken = gres.entry((name, kind)).or_insert_with(|| {
                    let shown = match kind {
                        "" => format!("gres/{name}"),
                        kind => format!("gres/{name}:{kind}"),
                    };
                    Kind::new(machine, &shown, |node| on(node, name, kind))
                });
                let taken = taken.take(machine, &nodes, u64::from(*count));
                taken.map_err(refused)?;
            }
        }
    }
    Ok(())
}

/// The partitions in which jobs share CPUs.
fn sharing(file: &File) -> HashSet<&String> {
    let shares = |about: &PartitionLine| {
        let word = about.over_subscribe.as_ref();
        word.is_some_and(|word| word.get_ref().eq_ignore_ascii_case("YES"))
    };
    let sharing = file.partitions.iter().filter(|(_, about)| shares(about));
    sharing.map(|(name, _)| name.get_ref()).collect()
}

/// Generic resources of a node by name and type; any type where it is empty.
fn on(node: &Node, name: &str, kind: &str) -> u64 {
    let own = node.gres.iter();
    let own = own.filter(|gres| gres.name == name && (kind.is_empty() || gres.kind == kind));
    own.map(|gres| u64::from(gres.count)).sum()
}

fn refused(text: &Text<'_>, job: &Job, request: &RecordedJob, why: String) -> InputError {
    let why = format!("job {} does not fit: {why}", request.id);
    text.error(job.id.span().start, Problem::Structure(why))
}
