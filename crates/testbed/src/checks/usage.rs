//! Usage survives restarts, crashes and a change of plugin.
//!
//! Without decay, the usage of a job is its CPUs times its running seconds: the expected usage is
//! known at any moment, and lost usage never comes back.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture::{self, CPUS, DEADLINE, PERIOD, job, now, total_usage};
use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, Plan};
use crate::wait;

/// Running time of a job before slurmctld is stopped, seconds: far more than may be lost.
const RUN: i64 = 8 * PERIOD as i64;

/// Stops and kills slurmctld, during a running job and after it.
pub fn restarts_lose_nothing(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    restarts_lose_nothing_of(check, &plan)
}

/// The same in a cluster whose usage does not decay, with any model.
pub fn restarts_lose_nothing_of(check: &Check, plan: &Plan) -> Result<()> {
    check.in_cluster(plan, |cluster| {
        let id = fixture::occupy(cluster)?;
        let start = fixture::started(cluster, id)?;
        all_usage_is_there(cluster, start, RUN)?;

        check.step("restarting slurmctld");
        cluster.stop_slurmctld()?;
        cluster.start_slurmctld()?;
        all_usage_is_there(cluster, start, RUN)?;

        for run in 2..=3 {
            check.step("killing slurmctld");
            all_usage_is_there(cluster, start, RUN * run)?;
            cluster.kill_slurmctld()?;
            cluster.start_slurmctld()?;
            all_usage_is_there(cluster, start, RUN * run)?;
        }

        check.step("killing slurmctld after the job");
        cluster.run(&["scancel", &id.to_string()])?;
        let (start, end) = fixture::ended(cluster, id)?;
        fixture::jobs_are_saved(cluster)?;
        fixture::next_pass(cluster)?;
        let used = u64::from(CPUS) * u64::try_from(end - start)?;
        ensure_usage(cluster, used, "after the job's end")?;
        cluster.kill_slurmctld()?;
        cluster.start_slurmctld()?;
        ensure_usage(cluster, used, "after slurmctld was killed")?;
        fixture::next_pass(cluster)?;
        ensure_usage(cluster, used, "after the first pass of the new slurmctld")
    })
}

/// Kills slurmctld after it has saved the end of a job, but before any pass has saved the job's
/// usage: the next slurmctld charges it, and only once.
pub fn a_crash_between_passes_loses_no_end(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    // No pass except the one at the start.
    plan.settings
        .retain(|(key, _)| *key != "PriorityParameters");
    plan.settings
        .push(("PriorityParameters", "calc_period=86400".to_owned()));
    a_crash_loses_no_end_of(check, &plan)
}

/// The same in a cluster without other passes, with any model.
pub fn a_crash_loses_no_end_of(check: &Check, plan: &Plan) -> Result<()> {
    check.in_cluster(plan, |cluster| {
        let id = fixture::occupy(cluster)?;
        let start = fixture::started(cluster, id)?;
        wait::until_true("the job has run for a while", DEADLINE, || {
            Ok(now()? - start >= RUN)
        })?;
        cluster.run(&["scancel", &id.to_string()])?;
        let (start, end) = fixture::ended(cluster, id)?;
        let used = u64::from(CPUS) * u64::try_from(end - start)?;
        ensure_usage(cluster, used, "after the job's end")?;
        fixture::jobs_are_saved(cluster)?;
        for _ in 0..2 {
            check.step("killing slurmctld");
            let killed = now()?;
            cluster.kill_slurmctld()?;
            // The pass at the start must have a different time.
            thread::sleep(Duration::from_secs(1));
            cluster.start_slurmctld()?;
            fixture::pass_after(cluster, killed)?;
            ensure_usage(cluster, used, "after slurmctld was killed")?;
        }
        Ok(())
    })
}

/// Waits until the job has run `secs` and its usage is complete except for two periods: the one
/// that is being counted and the one that a crash may lose.
///
/// More usage than the job can have made is an error at once.
fn all_usage_is_there(cluster: &Cluster, start: i64, secs: i64) -> Result<()> {
    let allowance = 2 * i64::from(PERIOD);
    wait::until_true("all usage is there", DEADLINE, || {
        let before = now()? - start;
        let usage = i64::try_from(total_usage(cluster)?)?;
        let after = now()? - start;
        let most = after * i64::from(CPUS);
        ensure!(
            usage <= most,
            "{usage} TRES-seconds are charged, only {most} can have been used"
        );
        let least = (before - allowance) * i64::from(CPUS);
        Ok(before >= secs && usage >= least)
    })
    .with_context(|| format!("a job that has run since {start}"))
}

/// Switches to the stock plugin and back: each finds the usage that the other left.
pub fn switching_keeps_usage(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        fixture::use_every_account(cluster)?;
        fixture::next_pass(cluster)?;
        let first = usages(cluster)?;
        ensure!(total_usage(cluster)? > 0, "no usage to keep");

        check.step("switching to priority/multifactor");
        cluster.switch_to(PriorityType::Multifactor)?;
        ensure_same(
            &first,
            &usages(cluster)?,
            "after the switch to priority/multifactor",
        )?;
        run_one(cluster)?;
        let second = usages(cluster)?;
        ensure!(second != first, "priority/multifactor charged nothing");

        check.step("switching back to priority/fairtree");
        cluster.switch_to(PriorityType::Fairtree)?;
        ensure_same(
            &second,
            &usages(cluster)?,
            "after the switch to priority/fairtree",
        )?;
        fixture::next_pass(cluster)?;
        ensure_same(&second, &usages(cluster)?, "after its first pass")?;
        run_one(cluster)?;
        ensure!(
            usages(cluster)? != second,
            "priority/fairtree charged nothing"
        );
        Ok(())
    })
}

/// A job that is charged when it ends.
pub fn run_one(cluster: &Cluster) -> Result<()> {
    let before = total_usage(cluster)?;
    let id = cluster.submit(&job("eve", "lower", 3))?;
    fixture::ended(cluster, id)?;
    wait::until_true("the job is charged", DEADLINE, || {
        Ok(total_usage(cluster)? > before)
    })
}

/// Account, user and raw usage of every association.
pub fn usages(cluster: &Cluster) -> Result<Vec<String>> {
    let table = cluster.sshare("Account,User,RawUsage")?;
    table
        .rows()
        .iter()
        .map(|row| {
            let account = row.text("Account")?.trim();
            Ok(format!(
                "{account} {}: {}",
                row.text("User")?,
                row.text("RawUsage")?
            ))
        })
        .collect()
}

/// # Errors
/// Fails if usage has changed.
pub fn ensure_same(expected: &[String], found: &[String], when: &str) -> Result<()> {
    ensure!(
        expected == found,
        "usage changed {when}:\n{}\nbecame\n{}",
        expected.join("\n"),
        found.join("\n")
    );
    Ok(())
}

fn ensure_usage(cluster: &Cluster, expected: u64, when: &str) -> Result<()> {
    let found = total_usage(cluster)?;
    ensure!(
        found == expected,
        "{when}: {found} TRES-seconds, {expected} were used"
    );
    Ok(())
}
