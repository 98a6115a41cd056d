//! A heterogeneous job: its components have different sizes. They are submitted, priced and charged
//! one by one, and started together, only by the backfill scheduler.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result};

use super::Life;
use super::plans::ARENA;
use super::watch::{self, Look};
use crate::checks::fixture::{self, DEADLINE};
use crate::wait;

/// CPUs of the components.
const CPUS: [u32; 3] = [2, 3, 5];

/// Plays all scenes.
pub fn play(life: &mut Life) -> Result<()> {
    life.check.step("heterogeneous jobs");
    waiting(life)?;
    running(life)
}

/// Submits a heterogeneous job, and returns the ids of its components.
fn submit(life: &Life) -> Result<[u32; CPUS.len()]> {
    let script = life.cluster.path().join("het.sh");
    fs::write(&script, "#!/bin/sh\nsleep 3600\n")?;
    fs::set_permissions(&script, Permissions::from_mode(0o755))?;
    let script = script.display().to_string();
    let exclude = format!("--exclude={ARENA}");
    let sizes = CPUS.map(|cpus| format!("--ntasks={cpus}"));
    let mut words = vec!["sbatch", "--parsable", "--chdir=/", "--output=/dev/null"];
    for (at, size) in sizes.iter().enumerate() {
        if at > 0 {
            words.push(":");
        }
        words.extend(["--account=free", "--partition=main", "--qos=normal"]);
        words.extend(["--nodes=1", "--time=20", &exclude, size]);
    }
    words.push(&script);
    let answer = life.cluster.run_as(life.cluster.user("dan")?, &words)?;
    let leader: u32 = answer.trim().parse().context("a number")?;
    let mut ids = [0; CPUS.len()];
    for (at, id) in ids.iter_mut().enumerate() {
        *id = leader + u32::try_from(at)?;
    }
    Ok(ids)
}

/// A job that waits: priorities of its components from passes and hooks.
fn waiting(life: &mut Life) -> Result<()> {
    fixture::stop_partitions(life.cluster)?;
    let ids = submit(life)?;
    fixture::next_pass(life.cluster)?;
    tell_terms(life, "waiting", &ids)?;
    let words = ids.map(|id| id.to_string());
    life.cluster.run(&["scontrol", "hold", &words[0]])?;
    tell_states(life, "held", &ids)?;
    life.cluster.run(&["scontrol", "release", &words[0]])?;
    tell_states(life, "released", &ids)?;
    tell_terms(life, "released", &ids)?;
    life.cluster.run(&["scancel", &words[0]])?;
    for id in ids {
        let end = watch::becomes(life.cluster, id, "is over", Look::is_over)?;
        life.tell(format!("a component that waited: {}", end.state));
    }
    fixture::start_partitions(life.cluster)
}

/// Adds to the story the terms of each component's priority that do not change with time, and
/// whether all components have the same fair share.
fn tell_terms(life: &mut Life, when: &str, ids: &[u32]) -> Result<()> {
    // A released job is not listed at once.
    let table = wait::until("sprio lists all components", DEADLINE, || {
        let table = life.cluster.sprio()?;
        let listed = |id: &u32| table.find("JOBID", &id.to_string()).is_ok();
        let all = ids.iter().all(listed);
        Ok(all.then_some(table))
    })?;
    let mut shares = Vec::new();
    for id in ids {
        let row = table.find("JOBID", &id.to_string())?;
        let terms = ["JOBSIZE", "PARTITION_FACTOR", "QOS", "NICE", "TRES"];
        let terms: Result<Vec<String>> = terms
            .into_iter()
            .map(|name| Ok(format!("{name} {}", row.text(name)?)))
            .collect();
        let terms = terms?.join(", ");
        shares.push(row.text("FAIRSHARE")?.to_owned());
        life.tell(format!("{when}: {terms}"));
    }
    shares.dedup();
    life.tell(format!("{when}: one fair share: {}", shares.len() == 1));
    Ok(())
}

fn tell_states(life: &mut Life, when: &str, ids: &[u32]) -> Result<()> {
    let looks: Result<Vec<Look>> = ids
        .iter()
        .map(|id| watch::look(life.cluster, *id))
        .collect();
    let said: Vec<String> = looks?
        .iter()
        .map(|look| format!("{} {}", look.state, look.priority > 0))
        .collect();
    life.tell(format!("{when}: {}", said.join(", ")));
    Ok(())
}

/// A job that runs: its components start together, and each is charged for its own size.
fn running(life: &mut Life) -> Result<()> {
    let ids = submit(life)?;
    for id in ids {
        watch::has_run(life.cluster, id)?;
    }
    let starts: Result<Vec<i64>> = ids
        .iter()
        .map(|id| Ok(watch::look(life.cluster, *id)?.start))
        .collect();
    let mut starts = starts?;
    starts.dedup();
    life.tell(format!("started at once: {}", starts.len() == 1));
    // Run across a pass, so that both passes and ends charge.
    fixture::next_pass(life.cluster)?;
    life.cluster.run(&["scancel", &ids[0].to_string()])?;
    for id in ids {
        let end = watch::becomes(life.cluster, id, "is over", Look::is_over)?;
        life.tell(format!("a component that ran: {}", end.state));
    }
    wait::until_true("nothing completes", DEADLINE, || {
        let states = life.cluster.squeue("CG")?;
        Ok(states.rows().is_empty())
    })
}
