//! The requests of `[[jobs]]`, as a scheduler looks at them.

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
    let tres = row.tres.as_deref().unwrap_or_default();
    let count = |name: &str| tres.iter().find(|(known, _)| known == name);
    let least = row.nodes.max(1);
    let gres = tres.iter().filter_map(|(name, count)| {
        let name = name.strip_prefix("gres/")?;
        let (name, kind) = name.split_once(':').unwrap_or((name, ""));
        Some(GresRequest {
            name: name.to_owned(),
            kind: kind.to_owned(),
            count: u32::try_from(*count).unwrap_or(u32::MAX),
            in_all: true,
        })
    });
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
            gres: gres.collect(),
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
