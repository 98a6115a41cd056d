//! A small site for tests, with numbers that are easy to add.

use super::{AssocFactors, Index, Job, JobTables, Partition, Qos, Span, TimeLimit};
use crate::config::Config;
use crate::tree::AssocIndex;

/// The time at which the sample job is 100 of 1000 seconds old.
pub(super) const NOW: i64 = 1_000_100;

/// Weights that give the sample job 100 for age, 200 for its association, 300 for fair share and
/// 400 for size. In partition 0 it gets 2000 and 500 for TRES, in partition 1 it gets 1000 and 250.
/// QOS 0 gives 4000.
pub(super) fn config() -> Config {
    Config::builder()
        .priority_max_age_secs(1000)
        .priority_weight_age(1000)
        .priority_weight_assoc(1000)
        .priority_weight_fairshare(600)
        .priority_weight_job_size(3200)
        .priority_weight_partition(2000)
        .priority_weight_qos(4000)
        .priority_weight_tres([("cpu", 1000.0)])
        .build()
        .expect("a sound configuration")
}

/// Two partitions, two QOS (the second of priority 0), one association; 10 nodes with 160 CPUs.
pub(super) fn tables() -> JobTables {
    let partition = |factor: u16, tres: usize| Partition {
        priority_job_factor: factor,
        norm_priority: f64::from(factor) / 200.0,
        max_time_mins: None,
        tres: Some(Index::new(tres)),
    };
    let qos = |priority: u32| Qos {
        priority,
        norm_priority: f64::from(priority) / 40.0,
    };
    JobTables {
        partitions: vec![partition(200, 0), partition(100, 2)],
        qos: vec![qos(40), qos(0)],
        partition_lists: vec![Index::new(0), Index::new(1)],
        qos_lists: vec![Index::new(0), Index::new(1)],
        tres_names: vec!["cpu".to_string(), "mem".to_string()],
        tres_counts: vec![80, 1000, 160, 1000, 40, 100],
        assocs: vec![AssocFactors {
            fs_factor: 0.5,
            priority: 20,
            norm_priority: 0.2,
        }],
        cluster_cpus: 160,
        cluster_nodes: 10,
    }
}

/// The sample job in partition 0, with QOS 0 and a quarter of the CPUs (size factor 0.125): 7500.
pub(super) fn job() -> Job {
    job_in(0)
}

/// The sample job in a given partition.
pub(super) fn job_in(partition: usize) -> Job {
    Job {
        assoc: Some(AssocIndex::new(0)),
        partition: Some(Index::new(partition)),
        qos: Some(Index::new(0)),
        partitions: Span::default(),
        qos_list: Span::default(),
        accrue_time: NOW - 100,
        cpus: 40,
        nodes: 0,
        time_limit: TimeLimit::Minutes(60),
        tres: Some(Index::new(4)),
        priority: 1,
        ..Job::new(1)
    }
}
