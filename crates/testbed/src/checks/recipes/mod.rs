//! The recipes: pages of `docs/policies/` for the administrators of different kinds of sites, each
//! with a tree, slurm.conf and a policy. The check reads all of that from the page, and computes
//! the order of job starts with a few lines of its own.

mod least_used;
mod on_demand;
mod page;
mod shares;

use anyhow::{Result, ensure};

use super::fixture::{self, DEADLINE};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::wait;

pub use least_used::{hubs, instances};
pub use on_demand::on_demand;
pub use shares::by_shares;

/// A job of a minute at most.
fn job<'a>(user: &'a str, account: &'a str, cpus: u32, secs: u32) -> NewJob<'a> {
    NewJob {
        cpus,
        options: vec!["--time=1".to_owned()],
        ..fixture::job(user, account, secs)
    }
}

/// Drains the nodes: no job starts until [`resume`].
fn drain(cluster: &Cluster) -> Result<()> {
    let words = [
        "scontrol",
        "update",
        "nodename=n0",
        "state=drain",
        "reason=test",
    ];
    cluster.run(&words).map(drop)
}

fn resume(cluster: &Cluster) -> Result<()> {
    fixture::resume_node(cluster, "n0")
}

/// Waits until the priorities give waiting jobs this order.
fn waits_in_order(cluster: &Cluster, expected: &[u32]) -> Result<()> {
    let mut found = Vec::new();
    let result = wait::until_true("the order of waiting jobs", DEADLINE, || {
        found = waiting(cluster)?;
        Ok(found == expected)
    });
    ensure!(result.is_ok(), "{found:?} instead of {expected:?}");
    Ok(())
}

/// Waiting jobs that are not held, the highest priority first, then the oldest.
fn waiting(cluster: &Cluster) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for row in cluster.squeue("PD")?.rows() {
        found.push((row.get::<u32>("PRIORITY")?, row.get::<u32>("JOBID")?));
    }
    found.retain(|(priority, _)| *priority > 0);
    found.sort_unstable_by_key(|(priority, id)| (std::cmp::Reverse(*priority), *id));
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// Waits until all these jobs have ended; returns them in the order of their starts.
fn starts(cluster: &Cluster, ids: &[u32]) -> Result<Vec<u32>> {
    let mut starts = Vec::new();
    for id in ids {
        starts.push((fixture::ended(cluster, *id)?.0, *id));
    }
    starts.sort_unstable();
    Ok(starts.into_iter().map(|(_, id)| id).collect())
}
