//! Functions that look at jobs and wait for changes.

use anyhow::{Context, Result, ensure};

use super::super::fixture::{self, DEADLINE};
use crate::cluster::Cluster;
use crate::cluster::table::Row;
use crate::wait;

/// A job as `scontrol show job` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// `JobState`.
    pub state: String,
    /// `Reason`.
    pub reason: String,
    /// `StartTime`, seconds since 1970; 0 if none.
    pub start: i64,
    /// `EndTime`.
    pub end: i64,
    /// `Restarts`.
    pub restarts: u32,
    /// `NumCPUs`.
    pub cpus: String,
    /// `BatchHost`; empty before it has run.
    pub batch_host: String,
    /// `Priority`.
    pub priority: u64,
}

impl Look {
    /// Reads a row.
    ///
    /// # Errors
    /// Fails if a column is missing or is not a number.
    pub fn of(row: &Row) -> Result<Look> {
        let time = |name| -> Result<i64> { Ok(row.get(name).unwrap_or(0)) };
        Ok(Look {
            state: row.text("JobState")?.to_owned(),
            reason: row.text("Reason")?.to_owned(),
            start: time("StartTime")?,
            end: time("EndTime")?,
            restarts: row.get("Restarts")?,
            cpus: row.text("NumCPUs")?.to_owned(),
            batch_host: row.text("BatchHost").unwrap_or_default().to_owned(),
            priority: row.get("Priority")?,
        })
    }

    /// Returns true if the job has ended.
    pub fn is_over(&self) -> bool {
        ["COMPLETED", "CANCELLED", "TIMEOUT", "FAILED", "NODE_FAIL"].contains(&self.state.as_str())
    }
}

/// Returns the current state of a job.
pub fn look(cluster: &Cluster, id: u32) -> Result<Look> {
    let jobs = cluster.show("job")?;
    Look::of(jobs.find("JobId", &id.to_string())?)
}

/// The tasks of an array, by task number; those that have not started yet may be one row.
pub fn tasks(cluster: &Cluster, id: u32) -> Result<Vec<Look>> {
    let jobs = cluster.show("job")?;
    let id = id.to_string();
    let mut tasks: Vec<(u32, Look)> = jobs
        .rows()
        .iter()
        .filter(|row| row.text("ArrayJobId").is_ok_and(|array| array == id))
        .filter_map(|row| Some((row.get("ArrayTaskId").ok()?, Look::of(row).ok()?)))
        .collect();
    tasks.sort_by_key(|(number, _)| *number);
    Ok(tasks.into_iter().map(|(_, look)| look).collect())
}

/// Waits until a job meets a condition.
pub fn becomes(
    cluster: &Cluster,
    id: u32,
    what: &str,
    wanted: impl Fn(&Look) -> bool,
) -> Result<Look> {
    let mut last = None;
    wait::until(&format!("job {id} {what}"), DEADLINE, || {
        let now = look(cluster, id)?;
        last = Some(now.clone());
        Ok(wanted(&now).then_some(now))
    })
    .with_context(|| format!("last seen: {last:?}"))
}

/// Waits until a job is in a state.
pub fn in_state(cluster: &Cluster, id: u32, state: &str) -> Result<Look> {
    becomes(cluster, id, &format!("is {state}"), |job| {
        job.state == state
    })
}

/// Waits until a job waits for a reason.
pub fn waits_for(cluster: &Cluster, id: u32, reason: &str) -> Result<Look> {
    becomes(cluster, id, &format!("waits: {reason}"), |job| {
        job.state == "PENDING" && job.reason == reason
    })
}

/// Waits until a job runs, has used some seconds, and slurmdbd knows it. If a run ends before
/// slurmdbd knows its start, slurmdbd may keep no record.
pub fn has_run(cluster: &Cluster, id: u32) -> Result<()> {
    let start = fixture::started(cluster, id)?;
    let word = format!("--jobs={id}");
    wait::until_true("slurmdbd knows that it runs", DEADLINE, || {
        let words = [
            "sacct",
            "--allocations",
            "--noheader",
            "--format=State",
            &word,
        ];
        Ok(cluster.run(&words)?.contains("RUNNING"))
    })?;
    wait::until_true("some seconds of use", DEADLINE, || {
        Ok(fixture::now()? >= start + 2)
    })
}

/// Cancels jobs and waits until they are over.
pub fn cancel(cluster: &Cluster, ids: &[u32]) -> Result<()> {
    let words: Vec<String> = ids.iter().map(u32::to_string).collect();
    let mut command = vec!["scancel"];
    command.extend(words.iter().map(String::as_str));
    cluster.run(&command)?;
    for id in ids {
        becomes(cluster, *id, "is over", Look::is_over)?;
    }
    Ok(())
}

/// Waits until slurmctld answers; a reconfigure may have restarted it.
pub fn answers(cluster: &Cluster) -> Result<()> {
    wait::until_true("slurmctld answers", DEADLINE, || {
        Ok(cluster
            .run(&["scontrol", "ping"])
            .is_ok_and(|answer| answer.contains("is UP")))
    })
}

/// The first of these passes for which `fulfilled` returns true. There must be one, and at most one
/// more pass may lie between it and `moment`, because slurmctld looks at limits far more often than
/// passes come.
pub fn first_pass(passes: &[i64], moment: i64, fulfilled: impl Fn(i64) -> bool) -> Result<i64> {
    let first = passes.iter().copied().find(|&pass| fulfilled(pass));
    let first = first.with_context(|| format!("no pass explains {moment}; passes: {passes:?}"))?;
    ensure!(
        first <= moment,
        "it happened at {moment}, before the pass at {first} that allows it"
    );
    let between = passes
        .iter()
        .filter(|&&pass| pass > first && pass < moment)
        .count();
    ensure!(
        between <= 1,
        "it happened at {moment}, {between} passes after the one at {first}"
    );
    Ok(first)
}
