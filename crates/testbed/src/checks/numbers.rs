//! sshare, sprio and squeue print the numbers that the engine computes from the same inputs.

use anyhow::{Context, Result, ensure};
use fairtree::compat::Compat;
use fairtree::config::Config;

use super::Check;
use super::compare::{self, Printed};
use super::fixture::{self, DEADLINE, job, now};
use super::model::{Model, SSHARE_COLUMNS};
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::table::Table;
use crate::cluster::{Cluster, Plan};
use crate::facts::engine_release;
use crate::wait;

/// Our plugin with its defaults, also with accounts that tie.
pub fn documented(check: &Check) -> Result<()> {
    let plan = fixture::with_tied_accounts(fixture::plan(check.release, PriorityType::Fairtree));
    compare(check, plan, None)
}

/// Our plugin with `compat=slurm`.
pub fn compat_slurm(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    let parameters = format!("calc_period={},compat=slurm", fixture::PERIOD);
    plan.settings.push(("PriorityParameters", parameters));
    compare(check, plan, Some(stock_compat(check)))
}

/// Classic fair share.
pub fn classic(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.settings
        .push(("PriorityFlags", "NO_FAIR_TREE".to_owned()));
    plan.settings
        .push(("FairShareDampeningFactor", "2".to_owned()));
    compare(check, plan, None)
}

/// Rankings that stock does not have, changed by reconfigure.
pub fn rankings(check: &Check) -> Result<()> {
    let mut plan = fixture::with_leaf_account(fixture::plan(check.release, PriorityType::Fairtree));
    let parameters = |ranking| format!("calc_period={},ranking={ranking}", fixture::PERIOD);
    let [first, later @ ..] = RANKINGS;
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    plan.settings
        .push(("PriorityParameters", parameters(first)));
    check.in_cluster(&plan, |cluster| {
        // A reconfigure opens a stopped partition, but leaves a drained node drained.
        let (submitted, earliest) = use_and_wait(check, cluster, fixture::drain_nodes)?;
        for ranking in std::iter::once(first).chain(later) {
            check.step(ranking);
            let conf = cluster.conf_mut();
            conf.set("PriorityParameters", parameters(ranking));
            cluster.reconfigure()?;
            // A pass that was already running may have the old settings.
            fixture::next_pass(cluster)?;
            fixture::next_pass(cluster)?;
            let config = Config::from_slurm_conf(&cluster.conf().render(), "slurm.conf")?;
            compare_all(cluster, config, &submitted, earliest)
                .with_context(|| format!("ranking={ranking}"))?;
        }
        Ok(())
    })
}

/// The last is the same as the first: factors change in both directions.
const RANKINGS: [&str; 6] = [
    "least_used:2",
    "least_used:leaf",
    "weighted_walk",
    "difference",
    "fair_tree",
    "least_used:2",
];

/// The stock plugin itself, compared with the engine in its stock mode.
pub fn stock(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Multifactor);
    compare(check, plan, Some(stock_compat(check)))
}

/// The engine's setting for following the stock plugin of the release.
pub fn stock_compat(check: &Check) -> Compat {
    Compat::Slurm(engine_release(check.release))
}

/// `compat`: the engine's setting, if slurm.conf does not give the exact release.
fn compare(check: &Check, plan: Plan, compat: Option<Compat>) -> Result<()> {
    check.in_cluster(&plan, |cluster| {
        let (submitted, first) = use_and_wait(check, cluster, fixture::stop_partitions)?;
        check.step("waiting for a pass over the pending jobs");
        fixture::next_pass(cluster)?;
        let text = cluster.conf().render();
        let mut config = if compat.is_none() {
            Config::from_slurm_conf(&text, "slurm.conf")?
        } else {
            Config::from_slurm_conf(&without_parameters(&text), "slurm.conf")?
        };
        if let Some(compat) = compat {
            config.compat = compat;
        }
        compare_all(cluster, config, &submitted, first)
    })
}

/// Produces usage and jobs that still wait after the cluster is stopped; returns these jobs, and
/// the time before their submission.
fn use_and_wait(
    check: &Check,
    cluster: &Cluster,
    stop: fn(&Cluster) -> Result<()>,
) -> Result<(Vec<u32>, i64)> {
    let (bob, cyd) = (
        cluster.user("bob")?.name.clone(),
        cluster.user("cyd")?.name.clone(),
    );
    cluster.sacctmgr(&["modify", "user", &bob, "set", "priority=30"])?;
    cluster.sacctmgr(&["modify", "user", &cyd, "set", "priority=100"])?;
    check.step("running jobs that leave usage");
    fixture::use_every_account(cluster)?;
    stop(cluster)?;
    let first = now()?;
    let submitted = submit_waiting(cluster)?;
    all_age(cluster)?;
    Ok((submitted, first))
}

/// slurm.conf's text without the line with `compat=slurm`: that means the release of the running
/// slurmctld, and this process has none.
pub fn without_parameters(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("PriorityParameters="))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Jobs that differ in every factor.
fn submit_waiting(cluster: &Cluster) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    let mut submit = |new: &NewJob, options: &[&str]| -> Result<()> {
        let mut new = new.clone();
        new.options
            .extend(options.iter().map(|option| (*option).to_owned()));
        ids.push(cluster.submit(&new)?);
        Ok(())
    };
    for (user, account) in [
        ("ann", "left"),
        ("bob", "left"),
        ("cyd", "right"),
        ("dan", "right"),
        ("eve", "lower"),
        ("ann", "lower"),
    ] {
        let plain = job(user, account, 60);
        submit(&plain, &[])?;
        submit(
            &NewJob {
                cpus: 5,
                nodes: 2,
                ..plain.clone()
            },
            &["--nice=137"],
        )?;
        submit(
            &NewJob {
                partition: "debug",
                qos: "low",
                ..plain.clone()
            },
            &[],
        )?;
        submit(
            &NewJob {
                qos: "high",
                cpus: 3,
                ..plain.clone()
            },
            &[],
        )?;
        submit(
            &NewJob {
                partition: "main,debug",
                ..plain
            },
            &[],
        )?;
    }
    Ok(ids)
}

/// Waits until slurmctld has decided for every job from which time on it ages; only then its age
/// and the time that scontrol shows agree.
fn all_age(cluster: &Cluster) -> Result<()> {
    wait::until_true("all jobs age", DEADLINE, || {
        let jobs = cluster.show("job")?;
        let mut pending = jobs
            .rows()
            .iter()
            .filter(|job| job.text("JobState").is_ok_and(|state| state == "PENDING"));
        Ok(pending.all(|job| job.get::<i64>("AccrueTime").is_ok()))
    })
}

/// Records all numbers between two passes, and compares them.
fn compare_all(cluster: &Cluster, config: Config, submitted: &[u32], earliest: i64) -> Result<()> {
    let (sshare, sprio, squeue) = wait::until("two equal looks", DEADLINE, || {
        let before = cluster.sprio()?;
        let (sshare, squeue) = (cluster.sshare(SSHARE_COLUMNS)?, cluster.squeue("PD")?);
        let same = cluster.sprio()?.rows() == before.rows();
        Ok(same.then_some((sshare, before, squeue)))
    })?;
    let latest = now()?;
    let mut model = Model::of(cluster, config, &sshare)?;
    compare::shares(&model, &sshare)?;
    let jobs = cluster.show("job")?;
    let printed = printed_jobs(&mut model, &jobs, &sprio, &squeue)?;
    for id in submitted {
        ensure!(
            printed.iter().any(|entry| entry.job.id == *id),
            "sprio has no job {id}"
        );
    }
    compare::priorities(&model, &printed, earliest, latest)
}

fn printed_jobs<'a>(
    model: &mut Model,
    jobs: &Table,
    sprio: &'a Table,
    squeue: &Table,
) -> Result<Vec<Printed<'a>>> {
    let mut printed = Vec::new();
    for row in sprio.rows() {
        let id = row.text("JOBID")?.trim();
        let job = jobs.find("JobId", id)?;
        let in_several = job.text("Partition")?.contains(',');
        let priority = squeue.find("JOBID", id)?.get("PRIORITY");
        printed.push(Printed {
            job: model.job(job, row.text("PARTITION")?.trim())?,
            sprio: row,
            squeue: if in_several {
                None
            } else {
                Some(priority.context("squeue")?)
            },
        });
    }
    Ok(printed)
}
