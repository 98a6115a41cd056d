//! The rows of sprio under Slurm's plugin and under ours: between a reconfigure with other weights and
//! the next pass, and of a job in several partitions whose priority an administrator set.

use anyhow::{Result, bail, ensure};

use super::Check;
use super::fixture::{self, job};
use super::lives::watch;
use super::neighbours::start_anew;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, Plan};
use crate::facts::facts;
use crate::under::Under;

/// Weights of TRES, the first of which are those at the start; without any, no TRES is weighed.
const WEIGHTS: [Option<&str>; 3] = [Some("cpu=1300"), Some("cpu=2600"), None];

/// What is compared of a row.
const COLUMNS: [&str; 9] = [
    "PARTITION",
    "PRIORITY",
    "SITE",
    "JOBSIZE",
    "PARTITION_FACTOR",
    "QOS",
    "NICE",
    "TRES",
    "FAIRSHARE",
];

/// The job whose priority is set, by its place among those that are submitted.
const DIRECT: &str = "2";
/// That priority.
const PRIORITY: &str = "5000";

/// Rows right after a reconfigure are those of stock, as long as TRES are weighed at all: without
/// weights stock shows fractions until the next pass, ours the terms of the last one. A priority that
/// was set is in each row, by default.
pub fn after_a_reconfigure(check: &Check) -> Result<()> {
    let plan = plan(check);
    check.in_cluster(&plan, |cluster| {
        fixture::occupy(cluster)?;
        let mut all = Vec::new();
        for under in Under::ALL {
            check.step(under.name());
            all.push(reconfigured(cluster, under)?);
        }
        let [stock, compat, documented] = &all[..] else {
            bail!("three plugins");
        };
        ensure!(
            stock[..2] == compat[..2],
            "stock: {stock:#?}\ncompat=slurm: {compat:#?}"
        );
        for (look, (stock, own)) in stock.iter().zip(documented).enumerate() {
            let others = |rows: &Look| -> Look {
                let rows = rows.iter().filter(|row| row[0] != DIRECT);
                rows.cloned().collect()
            };
            let same = others(stock) == others(own) || WEIGHTS[look].is_none();
            ensure!(same, "stock: {stock:#?}\nby default: {own:#?}");
            let direct = own.iter().filter(|row| row[0] == DIRECT);
            let right = direct.filter(|row| row[2] == PRIORITY && row[3] == "0");
            ensure!(right.count() == 2, "the priority that was set: {own:#?}");
        }
        // Without weights nothing changes until the next pass, unless the reconfigure makes one.
        let restarts = facts(check.release).reconfigure_restarts;
        let tres = |rows: &Look| -> Vec<String> {
            rows.iter()
                .map(|row| row[COLUMNS.len() - 1].clone())
                .collect()
        };
        ensure!(
            restarts || tres(&documented[2]) == tres(&documented[0]),
            "{documented:#?}"
        );
        Ok(())
    })
}

/// Rows of sprio: the place of the job among those that are submitted, then the columns.
type Look = Vec<Vec<String>>;

/// A site whose passes are an hour apart, without terms that depend on the moment.
fn plan(check: &Check) -> Plan {
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    for (key, value) in [
        ("PriorityCalcPeriod", "60"),
        ("PriorityWeightAge", "0"),
        ("PriorityWeightFairshare", "0"),
    ] {
        plan.settings.push((key, value.to_owned()));
    }
    plan
}

/// The rows with each of the weights, without a pass in between.
fn reconfigured(cluster: &mut Cluster, under: Under) -> Result<Vec<Look>> {
    set_weights(cluster, WEIGHTS[0]);
    start_anew(cluster, under)?;
    let one = job("ann", "left", 60);
    let ids = [
        cluster.submit(&NewJob {
            cpus: 3,
            ..one.clone()
        })?,
        cluster.submit(&NewJob {
            cpus: 3,
            partition: "main,debug",
            ..one.clone()
        })?,
    ];
    let direct = NewJob {
        cpus: 3,
        partition: "main,debug",
        ..one
    };
    let direct = cluster.submit(&direct)?;
    let name = format!("jobid={direct}");
    cluster.run(&["scontrol", "update", &name, &format!("priority={PRIORITY}")])?;
    let ids = [&ids[..], &[direct]].concat();
    start_anew(cluster, under)?;
    let mut looks = vec![look(cluster, &ids)?];
    for weights in &WEIGHTS[1..] {
        set_weights(cluster, *weights);
        cluster.reconfigure()?;
        looks.push(look(cluster, &ids)?);
    }
    watch::cancel(cluster, &ids)?;
    Ok(looks)
}

fn set_weights(cluster: &mut Cluster, weights: Option<&str>) {
    match weights {
        Some(weights) => cluster.conf_mut().set("PriorityWeightTRES", weights),
        None => cluster.conf_mut().unset("PriorityWeightTRES"),
    }
}

/// sprio's rows of some jobs.
fn look(cluster: &Cluster, ids: &[u32]) -> Result<Look> {
    let sprio = cluster.sprio()?;
    let mut rows = Vec::new();
    for (at, id) in ids.iter().enumerate() {
        let id = id.to_string();
        for row in sprio.rows() {
            if row.text("JOBID")?.trim() != id {
                continue;
            }
            let cells = COLUMNS.map(|column| row.text(column).map(|text| text.trim().to_owned()));
            let cells = cells.into_iter().collect::<Result<Vec<String>>>()?;
            rows.push([vec![at.to_string()], cells].concat());
        }
    }
    Ok(rows)
}
