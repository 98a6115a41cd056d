//! The requests of `[[jobs]]`, as a scheduler looks at them.

use toml::{Spanned, Value};

use super::file::Job;
use super::place::Text;
use crate::input::error::{InputError, Problem};
use crate::input::recorded::RecordedJob;
use crate::input::slurm::hostlist::expand;
use crate::input::slurm::job::JobRow;
use crate::machine::{GresRequest, Machine, Memory, Request};
use fairtree::priority::TimeLimit;

/// A job on a machine, by its keys and its row.
pub(super) fn request(
    text: &Text<'_>,
    machine: &Machine,
    job: &Job,
    row: &JobRow,
) -> Result<RecordedJob, InputError> {
    let runs = *row.state != *"PENDING";
    let mut nodes = Vec::new();
    if let Some(list) = &job.node_list {
        if !runs {
            let why = "node_list is the nodes of a job that runs";
            return Err(text.error(list.span().start, Problem::Structure(why.to_owned())));
        }
        nodes = expand(list.get_ref()).unwrap_or_default();
        if nodes.is_empty() || nodes.iter().any(|name| machine.node(name).is_none()) {
            let allowed = "names of [[nodes]], as n[1-4]";
            return Err(text.value(&list.span(), "node_list", allowed));
        }
    }
    if runs {
        check_size(text, machine, job, row, &nodes)?;
    }
    let tres = row.tres.as_deref().unwrap_or_default();
    let count = |name: &str| tres.iter().find(|(known, _)| known == name);
    // A job has all the nodes of its list.
    let listed = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let least = row.nodes.max(listed).max(1);
    let held = row.priority == 0;
    Ok(RecordedJob {
        id: row.id,
        task: None,
        request: Request {
            user: Some(row.user.to_string()),
            account: row.account.as_ref().map(ToString::to_string),
            partitions: row.partitions.iter().map(ToString::to_string).collect(),
            qos: row.qos.first().map(ToString::to_string),
            tasks: Some(row.cpus),
            nodes: (least > 1).then_some((least, least)),
            memory: count("mem").map(|(_, mb)| Memory::Node(mb.div_ceil(u64::from(least)))),
            limit_mins: match row.time_limit {
                TimeLimit::Minutes(minutes) => Some(minutes),
                _ => None,
            },
            gres: GresRequest::of_tres(tres, None),
            exclusive: job.exclusive,
            nice: row.nice,
            held,
            ..Request::default()
        },
        submit_ms: row.submit_time * 1000,
        eligible_ms: Some(row.eligible_time.max(row.submit_time) * 1000),
        start_ms: runs.then_some(row.start_time * 1000),
        end_ms: None,
        nodes,
        allocated_cpus: row.cpus,
        billing: None,
        state: row.state.to_string(),
        first_priority: None,
        held_ms: if held {
            vec![(0, i64::MAX)]
        } else {
            Vec::new()
        },
        backfilled: None,
    })
}

/// Refuses a running job that is larger than its nodes, or than all nodes where they are not given.
fn check_size(
    text: &Text<'_>,
    machine: &Machine,
    job: &Job,
    row: &JobRow,
    nodes: &[String],
) -> Result<(), InputError> {
    let list = job.node_list.as_ref().map(Spanned::get_ref);
    let whose = list.map_or("all nodes", String::as_str);
    let (most_nodes, most_cpus) = match list {
        Some(_) => (nodes.len(), cpus_of(machine, nodes)),
        None => (machine.nodes.len(), u64::from(machine.cpus())),
    };
    let tres = job.tres.as_ref().map(Spanned::span);
    let span = |own: &Option<Spanned<Value>>| own.as_ref().map(Spanned::span).or(tres.clone());
    if row.nodes as usize > most_nodes {
        let span = span(&job.nodes).unwrap_or(job.id.span());
        let allowed = format!("up to {most_nodes}, the nodes of {whose}");
        return Err(text.value(&span, "nodes", allowed));
    }
    if u64::from(row.cpus) > most_cpus {
        let span = span(&job.cpus).unwrap_or(job.id.span());
        let allowed = format!("up to {most_cpus}, the CPUs of {whose}");
        return Err(text.value(&span, "cpus", allowed));
    }
    Ok(())
}

fn cpus_of(machine: &Machine, nodes: &[String]) -> u64 {
    let nodes = nodes.iter().filter_map(|name| machine.node(name));
    nodes.map(|at| u64::from(machine.nodes[at].cpus())).sum()
}
