//! slurmctld's disk is full or read-only: slurmctld continues, nothing is lost, one line reports
//! it.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, PERIOD};
use super::steady::Steady;
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::cluster::disk::Trouble;
use crate::facts::facts;
use crate::wait;

/// Large enough for everything that slurmctld saves here, and quickly filled.
const KIB: u32 = 8 * 1024;

/// Messages of our plugin while it cannot save its state, with the file's name.
const BEGINS: &str = "cannot save state: ";
const ENDS: &str = "state is saved again";

/// Each fault for some passes, then again with a killed slurmctld; then damaged files.
pub fn bad(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.partitions[0].max_time = "UNLIMITED";
    check.in_cluster(&plan, |cluster| {
        cluster.stop_slurmctld()?;
        cluster.put_state_on_disk(KIB)?;
        cluster.start_slurmctld()?;
        let steady = Steady::start(cluster)?;
        for (trouble, reason) in [
            (Trouble::Full, "No space left on device (os error 28)"),
            (Trouble::ReadOnly, "Read-only file system (os error 30)"),
        ] {
            check.step(&format!("{trouble:?}, for a while"));
            for_a_while(cluster, &steady, trouble, reason)?;
            check.step(&format!("{trouble:?}, and slurmctld is killed"));
            under_a_kill(cluster, &steady, trouble)?;
        }
        check.step("files of usage that are emptied");
        emptied(cluster, &steady)
    })
}

fn for_a_while(
    cluster: &mut Cluster,
    steady: &Steady,
    trouble: Trouble,
    reason: &str,
) -> Result<()> {
    let when = format!("{trouble:?}");
    let before = cluster.slurmctld_log()?.len();
    cluster.spoil_disk(trouble)?;
    passes_go_on(cluster, steady, before).context("the disk is bad")?;
    steady.ensure_charged(cluster, fixture::now, &when)?;
    cluster.mend_disk(trouble)?;
    fixture::next_pass(cluster)?;
    wait::until_true("the end is told", DEADLINE, || {
        Ok(!ours(cluster, before, ENDS)?.is_empty())
    })?;
    steady.ensure_charged(cluster, fixture::now, &when)?;
    let lines = ours(cluster, before, "")?;
    let state = cluster.path().join("state/priority_fairtree_state");
    let begins = format!("{BEGINS}{}: {reason}", state.display());
    let clear = lines.len() == 2 && lines[0].contains(&begins) && lines[1].contains(ENDS);
    ensure!(
        clear,
        "not one line of the begin and one of the end: {lines:#?}"
    );
    Ok(())
}

/// The next slurmctld charges once again what was charged since the disk failed.
fn under_a_kill(cluster: &mut Cluster, steady: &Steady, trouble: Trouble) -> Result<()> {
    let before = cluster.slurmctld_log()?.len();
    cluster.spoil_disk(trouble)?;
    passes_go_on(cluster, steady, before).context("the disk is bad")?;
    cluster.kill_slurmctld()?;
    cluster.mend_disk(trouble)?;
    cluster.start_slurmctld()?;
    fixture::next_pass(cluster)?;
    steady.ensure_charged(cluster, fixture::now, &format!("{trouble:?} and a kill"))?;
    let lines = ours(cluster, before, "error:")?;
    ensure!(
        lines.len() == 1 && lines[0].contains(BEGINS),
        "not one line: {lines:#?}"
    );
    Ok(())
}

/// Waits until the log reports that state is not saved, and until usage has grown for some more
/// passes.
fn passes_go_on(cluster: &Cluster, steady: &Steady, before: usize) -> Result<()> {
    wait::until_true("the trouble is told", DEADLINE, || {
        Ok(!ours(cluster, before, BEGINS)?.is_empty())
    })?;
    let wanted = steady.charged(cluster)? + 3 * steady_per_pass(steady);
    wait::until_true("passes go on", DEADLINE, || {
        Ok(steady.charged(cluster)? >= wanted)
    })
}

fn steady_per_pass(steady: &Steady) -> i64 {
    steady.until(i64::from(PERIOD)) - steady.until(0)
}

/// Kills slurmctld and empties its own files: our file counts.
fn emptied(cluster: &mut Cluster, steady: &Steady) -> Result<()> {
    cluster.kill_slurmctld()?;
    let before = cluster.slurmctld_log()?.len();
    let files = ["assoc_usage", "qos_usage"];
    for name in files {
        fs::write(cluster.state_file(name), "")?;
    }
    if facts(cluster.release()).needs_usage_file {
        // slurmctld may refuse the file, or take the previous one.
        cluster.start_slurmctld_despite_its_files()?;
    } else {
        cluster.start_slurmctld()?;
    }
    fixture::next_pass(cluster)?;
    steady.ensure_charged(cluster, fixture::now, "emptied files")?;
    let lines = ours(cluster, before, "error:")?;
    let told = |name| {
        let line = format!("{name} is damaged (it is empty); using priority_fairtree_state");
        lines.iter().filter(|found| found.contains(&line)).count() == 1
    };
    ensure!(
        lines.len() == files.len() && files.iter().all(told),
        "not one line for each file: {lines:#?}"
    );
    Ok(())
}

/// Our plugin's lines after the first `before` bytes of the log that contain `words`.
fn ours(cluster: &Cluster, before: usize, words: &str) -> Result<Vec<String>> {
    let log = cluster.slurmctld_log()?;
    let new = log.get(before..).unwrap_or_default();
    let is_ours = |line: &&str| {
        let told = line.contains("error:") || line.contains(ENDS);
        told && line.contains("priority/fairtree: ") && line.contains(words)
    };
    Ok(new.lines().filter(is_ours).map(str::to_owned).collect())
}
