//! Settings: a reconfigure applies new ones, and bad ones are refused.

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, PERIOD, job};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::facts::facts;
use crate::wait;
use xtask::release::Release;

/// A pending job in the partition with the largest factor.
fn waiting_job(cluster: &Cluster) -> Result<u32> {
    fixture::occupy(cluster)?;
    let debug = NewJob {
        partition: "debug",
        ..job("ann", "left", 60)
    };
    cluster.submit(&debug)
}

/// Points of one of sprio's columns for the job.
fn points(cluster: &Cluster, id: u32, column: &str) -> Result<u64> {
    cluster.sprio()?.find("JOBID", &id.to_string())?.get(column)
}

/// Weights and flags change at `scontrol reconfigure`, without a restart.
pub fn reconfigure(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        let id = waiting_job(cluster)?;
        let becomes = |cluster: &Cluster, expected: u64| {
            let what = format!("the partition's points become {expected}");
            wait::until_true(&what, DEADLINE, || {
                Ok(points(cluster, id, "PARTITION_FACTOR")? == expected)
            })
        };
        becomes(cluster, 5000)?;
        check.step("another weight");
        cluster.conf_mut().set("PriorityWeightPartition", "7000");
        cluster.reconfigure()?;
        becomes(cluster, 7000)?;
        check.step("another flag");
        // The partition's own factor (70) instead of the normalised one.
        cluster.conf_mut().set("PriorityFlags", "NO_NORMAL_PART");
        cluster.reconfigure()?;
        becomes(cluster, 490_000)?;
        cluster.conf_mut().unset("PriorityFlags");
        cluster.reconfigure()?;
        becomes(cluster, 7000)
    })
}

/// Returns true if a reconfigure restarts slurmctld, instead of reading slurm.conf into the running
/// process.
pub fn reconfigure_restarts(release: &Release) -> bool {
    facts(release).reconfigure_restarts
}

/// With bad `PriorityParameters` a reconfigure keeps the old settings, and a start fails.
pub fn bad_parameters(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        let id = waiting_job(cluster)?;
        fixture::next_pass(cluster)?;

        check.step("reconfiguring with bad parameters");
        let good = format!("calc_period={PERIOD}");
        cluster
            .conf_mut()
            .set("PriorityParameters", "compat=sideways");
        cluster.conf_mut().set("PriorityWeightPartition", "9000");
        // The command may report the refusal or not; slurmctld must log it either way.
        let _ = cluster.reconfigure();
        old_settings_stay(cluster, id, 1)?;
        check.step("once more");
        // A restarted slurmctld has read only bad settings.
        let _ = cluster.reconfigure();
        old_settings_stay(cluster, id, 2)?;
        cluster.stop_slurmctld()?;

        check.step("starting with bad parameters");
        let log = cluster.start_slurmctld_in_vain()?;
        ensure!(names_the_fault(&log, "sideways"), "not named in:\n{log}");
        let unknown = format!("{good},frobnicate=1");
        cluster.conf_mut().set("PriorityParameters", unknown);
        cluster.write_conf()?;
        let log = cluster.start_slurmctld_in_vain()?;
        ensure!(names_the_fault(&log, "frobnicate"), "not named in:\n{log}");

        check.step("starting with good ones again");
        cluster.conf_mut().set("PriorityParameters", good);
        cluster.write_conf()?;
        cluster.start_slurmctld()?;
        wait::until_true("the new weight counts", DEADLINE, || {
            Ok(points(cluster, id, "PARTITION_FACTOR").context("sprio")? == 9000)
        })
    })
}

/// Waits until `refusals` refusals are logged and passes continue with the old weight.
fn old_settings_stay(cluster: &Cluster, id: u32, refusals: usize) -> Result<()> {
    wait::until_true("the refusal is logged", DEADLINE, || {
        let log = cluster.slurmctld_log()?;
        let lines = log.lines().filter(|line| names_the_fault(line, "sideways"));
        Ok(lines.count() >= refusals)
    })?;
    fixture::next_pass(cluster)?;
    let found = points(cluster, id, "PARTITION_FACTOR")?;
    ensure!(
        found == 5000,
        "refused settings were taken: {found} instead of 5000 points"
    );
    Ok(())
}

/// The same under systemd, where a reconfigure hands over to a new process.
pub fn bad_parameters_under_systemd(check: &Check) -> Result<()> {
    if !reconfigure_restarts(check.release) {
        // In these releases it is the same process as without systemd.
        return Ok(());
    }
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        let id = waiting_job(cluster)?;
        fixture::next_pass(cluster)?;
        cluster.stop_slurmctld()?;
        let systemd = cluster.start_slurmctld_under_systemd()?;
        let first = systemd.main_pid()?;

        check.step("reconfiguring with bad parameters");
        let good = format!("calc_period={PERIOD}");
        let conf = cluster.conf_mut();
        conf.set("PriorityParameters", "compat=sideways");
        conf.set("PriorityWeightPartition", "9000");
        let _ = cluster.reconfigure();
        let second = systemd.main_pid()?;
        ensure!(first != second, "{first} is still slurmctld");
        old_settings_stay(cluster, id, 1)?;

        check.step("reconfiguring with good ones");
        cluster.conf_mut().set("PriorityParameters", good);
        let _ = cluster.reconfigure();
        let third = systemd.main_pid()?;
        ensure!(second != third, "{second} is still slurmctld");
        wait::until_true("the new weight counts", DEADLINE, || {
            Ok(points(cluster, id, "PARTITION_FACTOR").context("sprio")? == 9000)
        })
    })
}

/// Returns true if an error line names the setting and the bad value.
fn names_the_fault(log: &str, found: &str) -> bool {
    log.lines().any(|line| {
        line.contains("error:") && line.contains("PriorityParameters") && line.contains(found)
    })
}
