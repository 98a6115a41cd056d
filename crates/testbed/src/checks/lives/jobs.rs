//! Events in the life of a job: held and released, requeued, suspended, resized, preempted; and an
//! array with all its tasks.

use anyhow::{Result, ensure};

use super::Life;
use super::plans::ARENA;
use super::watch::{self, Look};
use crate::checks::fixture::{self, DEADLINE, job};
use crate::cluster::client::NewJob;
use crate::wait;

/// Plays all scenes, one after the other.
pub fn play(life: &mut Life) -> Result<()> {
    life.check
        .step("arrays, held, requeued, suspended, resized and preempted jobs");
    array(life)?;
    held(life)?;
    requeued(life)?;
    suspended(life)?;
    resized(life)?;
    preempted(life)
}

/// A job of the account without limits.
fn free(user: &str, cpus: u32, secs: u32) -> NewJob<'_> {
    NewJob {
        cpus,
        options: vec!["--time=20".to_owned(), format!("--exclude={ARENA}")],
        ..job(user, "free", secs)
    }
}

/// Waits for a later second: times are recorded in whole seconds.
fn next_seconds() -> Result<()> {
    let second = fixture::now()?;
    wait::until_true("another second", DEADLINE, || {
        Ok(fixture::now()? > second + 1)
    })
}

fn array(life: &mut Life) -> Result<()> {
    let mut new = free("dan", 2, 1);
    new.options.push("--array=0-4%2".to_owned());
    let id = life.cluster.submit(&new)?;
    let tasks = wait::until("the array is over", DEADLINE, || {
        let tasks = watch::tasks(life.cluster, id)?;
        Ok((tasks.len() == 5 && tasks.iter().all(Look::is_over)).then_some(tasks))
    })?;
    let in_order = tasks.is_sorted_by_key(|task| task.start);
    let states: Vec<&str> = tasks.iter().map(|task| task.state.as_str()).collect();
    life.tell(format!("array: in order {in_order}, {}", states.join(" ")));
    Ok(())
}

fn held(life: &mut Life) -> Result<()> {
    let mut new = free("eve", 1, 1);
    new.options.push("--hold".to_owned());
    let id = life.cluster.submit(&new)?;
    let held = watch::look(life.cluster, id)?;
    life.tell(format!("held: {} {}", held.priority, held.reason));
    life.cluster
        .run(&["scontrol", "release", &id.to_string()])?;
    let end = watch::becomes(life.cluster, id, "is over", Look::is_over)?;
    life.tell(format!("released: {}", end.state));
    Ok(())
}

fn requeued(life: &mut Life) -> Result<()> {
    let id = life.cluster.submit(&free("dan", 3, 3600))?;
    watch::has_run(life.cluster, id)?;
    let word = id.to_string();
    life.cluster.run(&["scontrol", "requeue", &word])?;
    let again = watch::becomes(life.cluster, id, "waits again", |job| {
        job.state == "PENDING" && job.restarts == 1
    })?;
    ensure!(again.priority > 0, "requeued with priority 0");
    // Otherwise Slurm waits two minutes for all credentials to expire; credentials of a later
    // second are valid.
    next_seconds()?;
    let name = format!("jobid={id}");
    life.cluster
        .run(&["scontrol", "update", &name, "starttime=now"])?;
    watch::has_run(life.cluster, id)?;
    watch::cancel(life.cluster, &[id])?;
    let end = watch::look(life.cluster, id)?;
    life.tell(format!("requeued: {} of run {}", end.state, end.restarts));
    Ok(())
}

fn suspended(life: &mut Life) -> Result<()> {
    let id = life.cluster.submit(&free("eve", 2, 3600))?;
    watch::has_run(life.cluster, id)?;
    let word = id.to_string();
    life.cluster.run(&["scontrol", "suspend", &word])?;
    watch::in_state(life.cluster, id, "SUSPENDED")?;
    next_seconds()?;
    life.tell("suspended");
    life.cluster.run(&["scontrol", "resume", &word])?;
    watch::in_state(life.cluster, id, "RUNNING")?;
    watch::cancel(life.cluster, &[id])?;
    life.tell("resumed and cancelled");
    Ok(())
}

fn resized(life: &mut Life) -> Result<()> {
    let mut new = NewJob {
        nodes: 2,
        ..free("eve", 4, 3600)
    };
    new.options.push("--ntasks-per-node=2".to_owned());
    let id = life.cluster.submit(&new)?;
    watch::has_run(life.cluster, id)?;
    let before = watch::look(life.cluster, id)?;
    let name = format!("jobid={id}");
    let rest = format!("nodelist={}", before.batch_host);
    life.cluster.run(&["scontrol", "update", &name, &rest])?;
    let after = watch::becomes(life.cluster, id, "is smaller", |job| {
        job.cpus != before.cpus
    })?;
    next_seconds()?;
    life.tell(format!("resized: {} to {} CPUs", before.cpus, after.cpus));
    watch::cancel(life.cluster, &[id])
}

fn preempted(life: &mut Life) -> Result<()> {
    life.sacctmgr(&["modify", "qos", "high", "set", "preempt=low"])?;
    let whole = |user, qos| NewJob {
        qos,
        cpus: 8,
        options: vec!["--time=20".to_owned(), format!("--nodelist={ARENA}")],
        ..job(user, "free", 3600)
    };
    let low = life.cluster.submit(&whole("dan", "low"))?;
    watch::has_run(life.cluster, low)?;
    let high = life.cluster.submit(&whole("eve", "high"))?;
    watch::in_state(life.cluster, high, "RUNNING")?;
    let gone = watch::becomes(life.cluster, low, "waits again", |job| {
        job.state == "PENDING" && job.restarts == 1
    })?;
    life.tell(format!("preempted, and waits with run {}", gone.restarts));
    watch::cancel(life.cluster, &[high, low])
}
