//! A site with jobs, in numbers that add up in the head.

#![allow(dead_code)] // Each test program uses a part of this.

use super::stage::{NOW, Stage};
use crate::common::Site;
use fairtree::config::Config;
use fairtree::priority::{Index, Job, JobTables, Partition, Qos, TimeLimit};
use fairtree_analysis::explain::{JobExplanation, Term, explain_job};

/// Four users: ranks 4 (u), 3 (v), 2 (w), 1 (x), factors 1, 0.75, 0.5, 0.25.
pub const USERS: &str = "
u 1 100
v 1 200
w 1 300
x 1 400
";

pub fn config() -> Config {
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

/// Two partitions with 80 and 160 CPUs, two QOS, 10 nodes with 160 CPUs.
pub fn site() -> JobTables {
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
        qos: vec![qos(20), qos(40)],
        partition_lists: vec![Index::new(0), Index::new(1)],
        qos_lists: Vec::new(),
        tres_names: vec!["cpu".to_owned(), "mem".to_owned()],
        tres_counts: vec![80, 1000, 160, 1000, 40, 100],
        assocs: Vec::new(),
        cluster_cpus: 160,
        cluster_nodes: 10,
    }
}

pub fn stage_with(config: Config) -> Stage {
    let mut stage = Stage::with_site(config, &Site::parse(USERS), site());
    for (at, assoc) in stage.tables.assocs.iter_mut().enumerate() {
        assoc.priority = 10 * at as u32;
        assoc.norm_priority = at as f64 / 4.0;
    }
    stage
}

pub fn stage() -> Stage {
    stage_with(config())
}

/// Age 100, assoc 500, fairshare 450, size 400 ((0/10 + 40/160)/2 = 0.125), partition 2000, QOS
/// 2000 and TRES 500 points: 5950.
pub fn job(stage: &Stage) -> Job {
    Job {
        assoc: Some(stage.index("v")),
        partition: Some(Index::new(0)),
        qos: Some(Index::new(0)),
        accrue_time: NOW - 100,
        cpus: 40,
        time_limit: TimeLimit::Minutes(60),
        tres: Some(Index::new(4)),
        ..Job::new(11)
    }
}

pub fn explained(stage: &Stage, job: &Job) -> JobExplanation {
    explain_job(&stage.ranked(), stage, job).expect("a job of the site")
}

pub fn term<'a>(job: &'a JobExplanation, name: &str) -> &'a Term {
    let mut terms = job.terms.iter();
    let found = terms.find(|term| term.name.to_string() == name);
    found.expect("a term of that name")
}
