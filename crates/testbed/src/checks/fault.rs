//! A fault inside the plugin: slurmctld continues with the previous priorities.

use anyhow::{Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, job};
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::wait;

/// The variable that makes the plugin fail, read once when it is loaded.
const VARIABLE: &str = "FAIRTREE_FAULT";

/// The steps of a pass, and the hook that prices a new job, panic in turn.
pub fn survives(check: &Check) -> Result<()> {
    let plan = fixture::plan(check.release, PriorityType::Fairtree);
    check.in_cluster(&plan, |cluster| {
        fixture::use_every_account(cluster)?;
        fixture::occupy(cluster)?;
        for (user, account) in [("ann", "left"), ("bob", "left"), ("eve", "lower")] {
            cluster.submit(&job(user, account, 60))?;
        }
        fixture::next_pass(cluster)?;
        for step in ["snapshot", "compute", "prices"] {
            check.step(&format!("passes that panic in: {step}"));
            passes_fail(cluster, &format!("{step}:panic"))?;
        }
        check.step("pricing that panics");
        restart_with(cluster, Some("set:panic"))?;
        let lines = fault_lines(cluster)?;
        cluster.submit(&job("cyd", "right", 60))?;
        let new = fault_lines(cluster)? - lines;
        ensure!(new == 1, "{new} lines of the log tell of one fault");

        check.step("one fault only");
        let lines = fault_lines(cluster)?;
        restart_with(cluster, Some("compute:panic:1"))?;
        let held = priorities(cluster)?;
        wait::until_true("priorities move again", DEADLINE, || {
            Ok(priorities(cluster)? != held)
        })?;
        let new = fault_lines(cluster)? - lines;
        ensure!(new == 1, "{new} lines of the log tell of one fault");
        Ok(())
    })
}

/// Two passes fail; slurmctld answers and no priority has changed.
fn passes_fail(cluster: &mut Cluster, fault: &str) -> Result<()> {
    cluster.stop_slurmctld()?;
    let lines = fault_lines(cluster)?;
    cluster.set_slurmctld_variable(VARIABLE, Some(fault));
    cluster.start_slurmctld()?;
    let before = priorities(cluster)?;
    wait::until_true("two passes have failed", DEADLINE, || {
        Ok(fault_lines(cluster)? >= lines + 2)
    })?;
    let after = priorities(cluster)?;
    ensure!(
        before == after,
        "priorities changed: {before:?} became {after:?}"
    );
    Ok(())
}

fn restart_with(cluster: &mut Cluster, fault: Option<&str>) -> Result<()> {
    cluster.stop_slurmctld()?;
    cluster.set_slurmctld_variable(VARIABLE, fault);
    cluster.start_slurmctld()
}

/// Job ids and priorities.
fn priorities(cluster: &Cluster) -> Result<Vec<String>> {
    let table = cluster.squeue("PD")?;
    table
        .rows()
        .iter()
        .map(|row| Ok(format!("{}: {}", row.text("JOBID")?, row.text("PRIORITY")?)))
        .collect()
}

fn fault_lines(cluster: &Cluster) -> Result<usize> {
    let log = cluster.slurmctld_log()?;
    let tells = |line: &&str| {
        line.contains("error:")
            && line.contains("priority/fairtree: ")
            && line.contains("internal error")
    };
    Ok(log.lines().filter(tells).count())
}
