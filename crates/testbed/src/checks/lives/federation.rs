//! A federation of two clusters: each slurmctld prices its copy of a job, one of them runs it, and
//! only that one charges it.

use anyhow::{Context, Result, ensure};

use super::Life;
use super::plans;
use super::watch::{self, Look};
use crate::checks::fixture::{self, DEADLINE, job};
use crate::cluster::client::NewJob;
use crate::cluster::table::Table;
use crate::wait;

/// Plays all scenes.
pub fn play(life: &mut Life) -> Result<()> {
    life.check.step("a federation of two clusters");
    let plan = plans::with_limits(life.check, life.under);
    life.cluster.federate(&plan.accounting)?;
    waiting(life)?;
    running(life)?;
    ensure_no_usage_there(life)
}

/// A job that any node of either cluster may run.
fn free(cpus: u32) -> NewJob<'static> {
    NewJob {
        cpus,
        ..job("dan", "free", 3600)
    }
}

/// The job in the second cluster; `None` if it is not there (any more).
fn there(life: &Life, id: u32) -> Result<Option<Look>> {
    let words = ["scontrol", "--local", "--oneliner", "show", "job"];
    let jobs = Table::parse_pairs(&life.cluster.run_in_sibling(&words)?);
    match jobs.find("JobId", &id.to_string()) {
        Ok(row) => Look::of(row).map(Some),
        Err(_) => Ok(None),
    }
}

/// A job that waits in both clusters: priorities from the passes of each.
fn waiting(life: &mut Life) -> Result<()> {
    fixture::stop_partitions(life.cluster)?;
    let id = life.cluster.submit(&free(3))?;
    let copy = wait::until("both clusters have it", DEADLINE, || there(life, id))?;
    let origin = watch::look(life.cluster, id)?;
    for (whose, look) in [("origin", &origin), ("sibling", &copy)] {
        life.tell(format!("{whose}: {} {}", look.state, look.priority > 0));
    }
    fixture::next_pass(life.cluster)?;
    for (whose, text) in [
        ("origin", sprio(life, false, id)?),
        ("sibling", sprio(life, true, id)?),
    ] {
        life.tell(format!("{whose}: {text}"));
    }
    let word = id.to_string();
    life.cluster.run(&["scancel", &word])?;
    let end = watch::becomes(life.cluster, id, "is over", Look::is_over)?;
    life.tell(format!("cancelled: {}", end.state));
    gone_there(life, id)?;
    fixture::start_partitions(life.cluster)
}

/// Terms of the job's priority that do not change with time.
fn sprio(life: &Life, sibling: bool, id: u32) -> Result<String> {
    let word = id.to_string();
    let words = [
        "sprio",
        "--local",
        "--noheader",
        "--format=%J %P %Q %N %T",
        "--jobs",
        &word,
    ];
    let text = match sibling {
        true => life.cluster.run_in_sibling(&words)?,
        false => life.cluster.run(&words)?,
    };
    let terms: Vec<&str> = text.split_whitespace().collect();
    ensure!(!terms.is_empty(), "sprio does not tell of job {id}");
    Ok(terms.join(" "))
}

/// Waits until the second cluster has revoked or forgotten the job.
fn gone_there(life: &mut Life, id: u32) -> Result<()> {
    wait::until_true("the second cluster has given it up", DEADLINE, || {
        let copy = there(life, id)?;
        Ok(copy.is_none_or(|copy| copy.is_over() || copy.state.contains("REVOKED")))
    })
    .with_context(|| format!("last seen: {:?}", there(life, id)))
}

/// A job that runs in the first cluster.
fn running(life: &mut Life) -> Result<()> {
    let id = life.cluster.submit(&free(4))?;
    watch::has_run(life.cluster, id)?;
    gone_there(life, id)?;
    life.tell("runs in the first cluster alone");
    fixture::next_pass(life.cluster)?;
    watch::cancel(life.cluster, &[id])?;
    let end = watch::look(life.cluster, id)?;
    life.tell(format!("ended: {}", end.state));
    Ok(())
}

/// Fails if the second cluster was charged for jobs of the first.
fn ensure_no_usage_there(life: &Life) -> Result<()> {
    let words = [
        "sshare",
        "--all",
        "--parsable2",
        "--format=Account,User,RawUsage",
    ];
    let table = Table::parse(&life.cluster.run_in_sibling(&words)?)?;
    for row in table.rows() {
        let usage: u64 = row.get("RawUsage")?;
        ensure!(usage == 0, "the second cluster charges: {row:?}");
    }
    let log = life.cluster.sibling_log()?;
    let complaint = log
        .lines()
        .find(|line| line.contains("error:") && line.contains("priority/"));
    ensure!(complaint.is_none(), "{complaint:?}");
    Ok(())
}
