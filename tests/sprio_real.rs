//! Output of sprio at real sites: jobs rebuilt from the printed columns get the printed priorities.
//!
//! A printed column is a weighted factor rounded to a whole number, and PRIORITY is the truncated
//! sum of the factors themselves. So the two may differ by half a point per column and by one for
//! the truncation (the collection's README; e.g. 1486 = 1000 + 487).

mod common;

use common::data::data_text;
use fairtree::config::Config;
use fairtree::priority::{AssocFactors, Index, Job, JobTables, Partition, Pricer, Qos};
use fairtree::tree::AssocIndex;

const NOW: i64 = 1_700_000_000;

/// A weight for each column.
#[derive(Clone, Copy)]
struct Weights {
    age: u32,
    assoc: u32,
    fairshare: u32,
    job_size: u32,
    partition: u32,
    qos: u32,
}

/// The rows of sprio's table: column headings with numbers, all columns of one job.
fn rows(text: &str) -> Vec<Vec<(String, f64)>> {
    let mut header: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.first() == Some(&"JOBID") {
            header = fields.iter().map(|field| field.to_string()).collect();
        } else if fields.len() == header.len() && fields[0].parse::<u32>().is_ok() {
            let numbers = header.iter().zip(&fields).filter_map(|(name, field)| {
                let number: f64 = field.parse().ok()?;
                Some((name.clone(), number))
            });
            rows.push(numbers.collect());
        }
    }
    rows
}

/// Prices a row and compares with its PRIORITY.
fn check(row: &[(String, f64)], weights: Weights, max_age_secs: u32) {
    // The second PARTITION is the number; the first is the name.
    let column = |name: &str| row.iter().find(|(n, _)| n == name).map_or(0.0, |(_, v)| *v);
    let factor = |name: &str, weight: u32| column(name) / f64::from(weight);
    let age_secs = (factor("AGE", weights.age) * f64::from(max_age_secs)).round();
    let site = JobTables {
        partitions: vec![Partition {
            priority_job_factor: 1,
            norm_priority: factor("PARTITION", weights.partition),
            max_time_mins: None,
            tres: None,
        }],
        qos: vec![Qos {
            priority: 1,
            norm_priority: factor("QOS", weights.qos),
        }],
        assocs: vec![AssocFactors {
            fs_factor: factor("FAIRSHARE", weights.fairshare),
            priority: 1,
            norm_priority: factor("ASSOC", weights.assoc),
        }],
        cluster_nodes: weights.job_size,
        cluster_cpus: 1,
        ..JobTables::default()
    };
    let config = Config::builder()
        .priority_weight_age(weights.age)
        .priority_weight_assoc(weights.assoc)
        .priority_weight_fairshare(weights.fairshare)
        .priority_weight_job_size(weights.job_size)
        .priority_weight_partition(weights.partition)
        .priority_weight_qos(weights.qos)
        .priority_max_age_secs(max_age_secs)
        .build()
        .unwrap();
    let job = Job {
        assoc: Some(AssocIndex::new(0)),
        partition: Some(Index::new(0)),
        qos: Some(Index::new(0)),
        accrue_time: NOW - age_secs as i64,
        nodes: column("JOBSIZE") as u32,
        nice: column("NICE") as i32,
        site_factor: column("SITE") as i32,
        ..Job::new(column("JOBID") as u32)
    };
    let priced = Pricer::new(&config, &site, NOW).unwrap().price(&job);
    let apart = f64::from(priced.priority) - column("PRIORITY");
    assert!((-2.0..=2.0).contains(&apart), "{row:?}: {priced:?}");
}

// The weights are on the page of the output.
#[test]
fn tursa() {
    let Some(text) = data_text("slurm/sprio/tursa-sprio.txt") else {
        return;
    };
    let weights = Weights {
        age: 672,
        assoc: 1,
        fairshare: 300,
        job_size: 374,
        partition: 1,
        qos: 10_000,
    };
    let rows = rows(&text);
    assert_eq!(rows.len(), 9);
    for row in rows {
        check(&row, weights, 14 * 86_400);
    }
}

// The weights of these sites are unknown; any weights larger than the columns work.
#[test]
fn npad_and_ilifu() {
    for (file, count) in [("npad-sprio-l.txt", 24), ("ilifu-sprio.txt", 5)] {
        let Some(text) = data_text(&format!("slurm/sprio/{file}")) else {
            return;
        };
        let weights = Weights {
            age: 1000,
            assoc: 1000,
            fairshare: 100_000,
            job_size: 1000,
            partition: 100_000,
            qos: 100_000,
        };
        let rows = rows(&text);
        assert_eq!(rows.len(), count, "{file}");
        for row in rows {
            check(&row, weights, 7 * 86_400);
        }
    }
}
