//! Limits that are reached or kept because of what a pass counts.

use anyhow::{Result, ensure};

use super::Life;
use super::plans::ARENA;
use super::watch::{self, Look};
use crate::checks::fixture::{self, job};
use crate::cluster::client::NewJob;
use crate::facts::facts;

/// `GrpTRESMins=cpu=1` and `GrpWall=1`, in seconds.
const MINUTE: i64 = 60;
/// `GrpTRESRunMins=cpu=10`, minutes.
const RUN_MINS: i64 = 10;
/// Time limits of two jobs that cannot run together at first, minutes.
const LONG: i64 = 8;
const SHORT: i64 = 3;

/// Jobs that wait for passes.
pub struct Waiting {
    /// The CPUs and the job that exceeds `GrpTRESMins` of an account.
    mins: (u32, u32),
    /// Jobs that together exceed `GrpWall` of a QOS.
    walls: [u32; 2],
    /// Pairs: the second job waits until the first has fewer minutes left.
    pairs: Vec<(&'static str, u32, u32)>,
}

/// Sets the limits and submits the jobs.
pub fn submit(life: &mut Life) -> Result<Waiting> {
    for words in [
        ["account", "mins", "GrpTRESMins=cpu=1"],
        ["account", "runmins", "GrpTRESRunMins=cpu=10"],
        ["qos", "wall", "GrpWall=1"],
        ["qos", "runs", "GrpTRESRunMins=cpu=10"],
        ["qos", "each", "MaxTRESRunMinsPU=cpu=10"],
    ] {
        life.sacctmgr(&["modify", words[0], words[1], "set", words[2]])?;
    }
    let cpus = 4;
    let mins = submit_one(life, "ann", "mins", "normal", cpus, 20)?;
    let walls = [(); 2].map(|()| submit_one(life, "cyd", "walls", "wall", 1, 20));
    let [first, second] = walls;
    let mut pairs = Vec::new();
    for (limit, user, account, qos) in [
        ("AssocGrpCPURunMinutesLimit", "bob", "runmins", "normal"),
        ("QOSGrpCPURunMinutesLimit", "cyd", "walls", "runs"),
        ("MaxCpuRunMinsPerUser", "cyd", "walls", "each"),
    ] {
        // Releases before 24.05 know this limit, but do not count its usage.
        if qos == "each" && !facts(life.check.release).run_secs_each {
            continue;
        }
        let long = submit_one(life, user, account, qos, 1, LONG)?;
        fixture::started(life.cluster, long)?;
        let short = submit_one(life, user, account, qos, 1, SHORT)?;
        watch::waits_for(life.cluster, short, limit)?;
        life.tell(format!("a job waits: {limit}"));
        pairs.push((limit, long, short));
    }
    Ok(Waiting {
        mins: (cpus, mins),
        walls: [first?, second?],
        pairs,
    })
}

fn submit_one(
    life: &Life,
    user: &str,
    account: &str,
    qos: &str,
    cpus: u32,
    limit_mins: i64,
) -> Result<u32> {
    let new = NewJob {
        qos,
        cpus,
        options: vec![
            format!("--time={limit_mins}"),
            format!("--exclude={ARENA}"),
            "--no-requeue".to_owned(),
        ],
        ..job(user, account, 3600)
    };
    life.cluster.submit(&new)
}

/// Account for the reset of usage to 0.
pub const RESET: &str = "mins";

/// Plays the limits; returns the time at which usage of [`RESET`] was set to 0.
pub fn play(life: &mut Life, waiting: Waiting) -> Result<i64> {
    life.check.step("waiting for the passes that reach limits");
    over_minutes(life, waiting.mins)?;
    over_wall(life, waiting.walls)?;
    for (limit, long, short) in &waiting.pairs {
        released(life, limit, *long, *short)?;
    }
    life.check.step("held by limits, released by RawUsage=0");
    let held = [
        ("ann", "mins", "normal", "AssocGrpCPUMinutesLimit"),
        ("cyd", "walls", "wall", "QOSGrpWallLimit"),
    ];
    let mut ids = Vec::new();
    for (user, account, qos, reason) in held {
        let id = submit_one(life, user, account, qos, 1, SHORT)?;
        watch::waits_for(life.cluster, id, reason)?;
        life.tell(format!("a new job waits: {reason}"));
        ids.push(id);
    }
    let reset = fixture::now()?;
    life.sacctmgr(&["modify", "account", RESET, "set", "RawUsage=0"])?;
    life.sacctmgr(&["modify", "qos", "wall", "set", "RawUsage=0"])?;
    for id in &ids {
        watch::in_state(life.cluster, *id, "RUNNING")?;
        life.tell("RawUsage=0 lets it run");
        watch::has_run(life.cluster, *id)?;
    }
    ids.extend(waiting.pairs.iter().flat_map(|(_, a, b)| [*a, *b]));
    watch::cancel(life.cluster, &ids)?;
    Ok(reset)
}

/// A job of `cpus` that has used more than its account's GrpTRESMins.
fn over_minutes(life: &mut Life, (cpus, id): (u32, u32)) -> Result<()> {
    let end = watch::becomes(life.cluster, id, "is over", Look::is_over)?;
    let used = |pass: i64| (pass - end.start).max(0) * i64::from(cpus);
    watch::first_pass(&life.passes.all(), end.end, |pass| used(pass) >= MINUTE)?;
    life.tell(format!("over GrpTRESMins: {} {}", end.state, end.reason));
    Ok(())
}

/// Two jobs that together have run longer than their QOS's GrpWall.
fn over_wall(life: &mut Life, ids: [u32; 2]) -> Result<()> {
    let mut ends = Vec::new();
    for id in ids {
        ends.push(watch::becomes(life.cluster, id, "is over", Look::is_over)?);
    }
    let wall = |pass: i64| -> i64 { ends.iter().map(|job| (pass - job.start).max(0)).sum() };
    for end in &ends {
        watch::first_pass(&life.passes.all(), end.end, |pass| wall(pass) >= MINUTE)?;
        life.tell(format!("over GrpWall: {} {}", end.state, end.reason));
    }
    Ok(())
}

/// A job that starts after a pass has counted enough of the time limit of another job.
fn released(life: &mut Life, limit: &str, long: u32, short: u32) -> Result<()> {
    let second = watch::in_state(life.cluster, short, "RUNNING")?;
    let first = watch::look(life.cluster, long)?;
    ensure!(first.state == "RUNNING", "{first:?}");
    // slurmctld compares whole minutes.
    let left = |pass: i64| (LONG * MINUTE - (pass - first.start).max(0)) / MINUTE;
    watch::first_pass(&life.passes.all(), second.start, |pass| {
        left(pass) + SHORT <= RUN_MINS
    })?;
    life.tell(format!("a pass releases the job that waited: {limit}"));
    Ok(())
}
