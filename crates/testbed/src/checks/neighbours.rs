//! The interfaces of other parts of Slurm to a priority plugin: the factors of a site factor
//! plugin, and usage thresholds. And a Slurm without one such part, slurmdbd.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, job};
use super::lives::watch;
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::table::Row;
use crate::storm::lines;
use crate::under::Under;
use crate::wait;

/// The weight of fair share in the check of thresholds.
const WEIGHT: &str = "1000";
/// A threshold between the weighted factors of the heaviest user and of an unused one.
const THRESHOLD: &str = "UsageThreshold=500";
/// The reason of a job that is below the threshold of its QOS.
const BELOW: &str = "QOSUsageThreshold";

/// Waiting jobs: user, account, CPUs, QOS, and site factor.
const WAITING: [(&str, &str, u32, &str, i64); 4] = [
    ("ann", "left", 2, "normal", 200),
    ("ann", "left", 3, "normal", -21),
    ("eve", "lower", 4, "high", 400),
    ("ann", "left", 6, "high", 600),
];

/// sprio shows site factors, and a QOS holds the jobs of users below its threshold, with Slurm's
/// plugin and with ours.
pub fn factors_and_thresholds(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    // The compared numbers must not depend on submit times.
    plan.settings.push(("PriorityWeightAge", "0".to_owned()));
    plan.settings
        .push(("PriorityWeightFairshare", WEIGHT.to_owned()));
    // Reasons must not wait for a round of the scheduler.
    let scheduler = "sched_interval=1,bf_interval=1".to_owned();
    plan.settings.push(("SchedulerParameters", scheduler));
    check.in_cluster(&plan, |cluster| {
        cluster.give_site_factors()?;
        let flags = "flags=EnforceUsageThreshold";
        cluster.sacctmgr(&["modify", "qos", "high", "set", THRESHOLD, flags])?;
        fixture::occupy(cluster)?;
        let mut rows = Vec::new();
        for under in Under::ALL {
            check.step(under.name());
            rows.push(waiting(cluster, under)?);
        }
        for (under, rows_under) in Under::ALL.iter().zip(&rows).skip(1) {
            ensure!(
                *rows_under == rows[0],
                "stock: {:#?}\n{}: {rows_under:#?}",
                rows[0],
                under.name()
            );
        }
        Ok(())
    })
}

/// Submits jobs under a plugin, waits until each has its expected reason, and returns sprio's rows.
fn waiting(cluster: &mut Cluster, under: Under) -> Result<Vec<Vec<String>>> {
    start_anew(cluster, under)?;
    let ids = WAITING
        .map(|(user, account, cpus, qos, _)| {
            cluster.submit(&NewJob {
                cpus,
                nodes: 2,
                qos,
                ..job(user, account, 60)
            })
        })
        .into_iter()
        .collect::<Result<Vec<u32>>>()?;
    // A start brings a pass, also with stock, whose other passes are a minute apart.
    start_anew(cluster, under)?;
    for (id, (user, _, _, qos, site)) in ids.iter().zip(WAITING) {
        let site = site.to_string();
        wait::until_true("the site factor is there", DEADLINE, || {
            let sprio = cluster.sprio()?;
            Ok(sprio.find("JOBID", &id.to_string())?.text("SITE")?.trim() == site)
        })?;
        let below = qos == "high" && user == "ann";
        // The rest wait for nodes, for which Slurm has several reasons.
        let wanted = |look: &watch::Look| look.reason != "None" && (look.reason == BELOW) == below;
        watch::becomes(cluster, *id, "waits for what it should", wanted)?;
    }
    let sprio = cluster.sprio()?;
    let row = |id: &u32| -> Result<Vec<String>> {
        let row = sprio.find("JOBID", &id.to_string())?;
        let columns = ["PRIORITY", "SITE", "FAIRSHARE", "QOS", "JOBSIZE", "TRES"];
        columns
            .iter()
            .map(|column| Ok(row.text(column)?.trim().to_owned()))
            .collect()
    };
    let rows = ids.iter().map(row).collect();
    watch::cancel(cluster, &ids)?;
    rows
}

/// Restarts slurmctld under a plugin, and waits for the first pass.
pub(super) fn start_anew(cluster: &mut Cluster, under: Under) -> Result<()> {
    let called = fixture::now()?;
    // slurmctld may start in less than a second, and later passes may be an hour away.
    wait::until_true("the next second", DEADLINE, || Ok(fixture::now()? > called))?;
    restart(cluster, under)?;
    fixture::pass_after(cluster, called)
}

fn restart(cluster: &mut Cluster, under: Under) -> Result<()> {
    match under.parameters() {
        Some(parameters) => cluster.conf_mut().set("PriorityParameters", parameters),
        None => cluster.conf_mut().unset("PriorityParameters"),
    }
    cluster.switch_to(under.priority())
}

/// Message of our plugin without slurmdbd; stock has a similar message.
const WITHOUT: &str = "priority/fairtree: no slurmdbd: no usage is known";

/// Jobs of a site without slurmdbd.
const PLAIN: [(&str, u32, &str, &str); 3] = [
    ("ann", 1, "main", "--nice=0"),
    ("bob", 5, "debug", "--nice=137"),
    ("cyd", 3, "main,debug", "--nice=-20"),
];

/// Without slurmdbd, slurmctld starts, prices jobs and answers sprio as with stock, and logs
/// nothing that it would not log with stock.
pub fn without_slurmdbd(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    for (key, value) in [
        ("AccountingStorageType", "accounting_storage/none"),
        // With stock it is 0 there.
        ("PriorityWeightAge", "0"),
        // Passes write no file there, only a log line.
        ("SlurmctldDebug", "debug"),
    ] {
        plan.settings.push((key, value.to_owned()));
    }
    check.in_cluster(&plan, |cluster| {
        let occupying = submit_plain(cluster, ("ann", fixture::CPUS, "main", "--nodes=2"), 3600)?;
        fixture::started(cluster, occupying)?;
        let mut told: Option<(Vec<Vec<String>>, BTreeSet<String>)> = None;
        for under in Under::ALL {
            check.step(under.name());
            let before = cluster.slurmctld_log()?.len();
            let rows = plain(cluster, under)?;
            let log = cluster.slurmctld_log()?;
            let shapes = lines::shapes(log.get(before..).context("a log that grows")?);
            let Some((stock_rows, stock_shapes)) = &told else {
                // The first start logs missing files; its lines count for both plugins.
                told = Some((rows, lines::shapes(&log)));
                continue;
            };
            ensure!(
                rows == *stock_rows,
                "stock: {stock_rows:#?}\n{}: {rows:#?}",
                under.name()
            );
            let alien = |line: &&String| !(line.contains(WITHOUT) || lines::is_harmless(line));
            let own: Vec<_> = shapes.difference(stock_shapes).filter(alien).collect();
            if !own.is_empty() {
                bail!("lines that stock does not log: {own:#?}");
            }
        }
        Ok(())
    })
}

/// Message of our plugin after a pass.
const PASS: &str = "priority/fairtree: pass over";

/// Submits jobs under a plugin and returns sprio's rows, with our plugin after a pass.
fn plain(cluster: &mut Cluster, under: Under) -> Result<Vec<Vec<String>>> {
    restart(cluster, under)?;
    let ids = PLAIN
        .map(|new| submit_plain(cluster, new, 60))
        .into_iter()
        .collect::<Result<Vec<u32>>>()?;
    let before = cluster.slurmctld_log()?.len();
    restart(cluster, under)?;
    wait::until_true("a pass", DEADLINE, || {
        let log = cluster.slurmctld_log()?;
        let has_passed = log.get(before..).is_some_and(|log| log.contains(PASS));
        Ok(has_passed || under == Under::Stock)
    })?;
    let sprio = cluster.sprio()?;
    let mut rows = Vec::new();
    for id in &ids {
        let id = id.to_string();
        let of_job = |row: &&_| Row::text(row, "JOBID").is_ok_and(|word| word.trim() == id);
        for row in sprio.rows().iter().filter(of_job) {
            let columns = [
                "PARTITION",
                "USER",
                "PRIORITY",
                "FAIRSHARE",
                "JOBSIZE",
                "NICE",
                "TRES",
            ];
            let row = columns.map(|column| row.text(column).map(|text| text.trim().to_owned()));
            rows.push(row.into_iter().collect::<Result<Vec<String>>>()?);
        }
    }
    ensure!(
        rows.len() > PLAIN.len(),
        "one job is in two partitions: {rows:#?}"
    );
    watch::cancel(cluster, &ids)?;
    Ok(rows)
}

fn submit_plain(
    cluster: &Cluster,
    (user, cpus, partition, option): (&str, u32, &str, &str),
    secs: u32,
) -> Result<u32> {
    let words = [
        "sbatch".to_owned(),
        "--parsable".to_owned(),
        "--chdir=/".to_owned(),
        "--output=/dev/null".to_owned(),
        "--time=20".to_owned(),
        format!("--ntasks={cpus}"),
        format!("--partition={partition}"),
        option.to_owned(),
        format!("--wrap=sleep {secs}"),
    ];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // Only the superuser may set a negative nice.
    let answer = if option.contains("=-") {
        cluster.run(&words)?
    } else {
        cluster.run_as(cluster.user(user)?, &words)?
    };
    answer
        .trim()
        .parse()
        .with_context(|| format!("sbatch answered `{}`", answer.trim()))
}
