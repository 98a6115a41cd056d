//! Partitions that can never run a job as it was submitted.

use serde::Serialize;

use super::limit::count;
use fairtree::priority::{Index, Job, TimeLimit};
use fairtree_model::cluster::{Cluster, Names};

/// A partition, and the request that it can never grant; nothing where it may.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Never {
    /// The partition.
    pub partition: String,
    /// `nodes`, `cpus` or `minutes`; `None`: it can run the job.
    pub what: Option<&'static str>,
    /// How much the job asks for.
    pub asked: u64,
    /// The most that the partition grants.
    pub most: u64,
}

impl Never {
    /// Returns true if the partition can never run the job.
    pub(super) fn is_certain(&self) -> bool {
        self.what.is_some()
    }
}

/// One for each partition that a job asks for.
///
/// `refused`: slurmctld says that a partition refuses it, or gives no reason. Otherwise a QOS may lift the
/// limits of partitions, and only nodes and CPUs that are not there count.
pub(super) fn partitions(cluster: &Cluster, job: &Job, refused: bool) -> Vec<Never> {
    let lists = &cluster.tables.partition_lists;
    let list = job.partitions;
    let several = lists
        .get(list.start as usize..(list.start + list.len) as usize)
        .unwrap_or_default();
    match several.is_empty() {
        true => job
            .partition
            .iter()
            .map(|at| of(cluster, job, *at, refused))
            .collect(),
        false => several
            .iter()
            .map(|at| of(cluster, job, *at, refused))
            .collect(),
    }
}

/// What a partition would never grant a job.
pub(super) fn of(cluster: &Cluster, job: &Job, at: Index, refused: bool) -> Never {
    let (row, about) = (
        &cluster.tables.partitions[at.get()],
        &cluster.partitions[at.get()],
    );
    let has = |name: &str| {
        let position = cluster.tables.tres_names.iter().position(|n| n == name)?;
        let counts = &cluster.tables.tres_counts;
        counts.get(row.tres?.get() + position).copied()
    };
    let minutes = match job.time_limit {
        TimeLimit::Minutes(minutes) => u64::from(minutes),
        TimeLimit::Unset | TimeLimit::Unlimited => 0,
    };
    let most_nodes = about.max_nodes.map(u64::from).filter(|_| refused);
    let nodes = [has("node"), most_nodes];
    let most_minutes = row.max_time_mins.map(u64::from).filter(|_| refused);
    let checks = [
        (
            "nodes",
            u64::from(job.nodes),
            nodes.into_iter().flatten().min(),
        ),
        ("cpus", count(cluster, job, "cpu").unwrap_or(0), has("cpu")),
        ("minutes", minutes, most_minutes),
    ];
    let found = checks.into_iter().find_map(|(what, asked, most)| {
        let most = most.filter(|most| asked > *most)?;
        Some((what, asked, most))
    });
    let (what, asked, most) = match found {
        Some((what, asked, most)) => (Some(what), asked, most),
        None => (None, 0, 0),
    };
    Never {
        partition: cluster.partition(at),
        what,
        asked,
        most,
    }
}
