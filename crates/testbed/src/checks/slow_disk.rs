//! slurmctld's disk is very slow for the files of the priority plugin, or fails at random: only the
//! plugin waits for it, no request does; nothing is lost, and nothing is charged twice.
//!
//! Every limit here is a share of the delay of one sync (a save has three syncs), or it is a
//! comparison with stock's time. The comparison is repeated until it holds: other work on the
//! machine delays it sometimes, but a command that waits for the disk would never pass.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE, job};
use super::settings::reconfigure_restarts;
use super::steady::Steady;
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::facts::{facts, loses_files_where_renames_fail};
use crate::wait;

/// Duration of a sync on the slow disk.
const SYNC: Duration = Duration::from_secs(20);
/// A command that takes less time has not waited for a sync.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Steps the clock far enough that slurmctld dumps its state.
const DUMP_PERIOD: i64 = 310;
/// Allowed extra time of a command compared with stock.
const ALLOWANCE: Duration = Duration::from_millis(100);
/// Number of calls for measuring each command.
const CALLS: usize = 5;
/// Commands that answer at once; for `sbatch` see [`submit`].
const COMMANDS: [&[&str]; 4] = [
    &["squeue"],
    &["sprio"],
    &["sshare", "-a"],
    &["scontrol", "reconfigure"],
];
/// Message of our plugin at a pass. It logs the first half again when slurmctld ends.
const LATE: &str = "cannot save state: save not complete after 5 s; usage continues in memory";

/// Commands, slurmctld's dump and its end, with Slurm's plugin on a good disk and with ours on a
/// disk that is slow for our plugin.
pub fn slow(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    plan.partitions[0].max_time = "UNLIMITED";
    // Otherwise slurmctld would mark its nodes as not responding when its clock steps.
    plan.settings.push(("SlurmdTimeout", "0".to_owned()));
    check.in_cluster(&plan, |cluster| {
        cluster.stop_slurmctld()?;
        cluster.give_slow_disk()?;
        cluster.start_slurmctld()?;
        check.step("stock, on a good disk");
        let mut ahead = 0;
        all_at_once(cluster, "stock", &mut ahead)?;
        ended_within(cluster, AT_ONCE, "stock")?;

        let parameters = format!("calc_period={}", fixture::PERIOD);
        cluster.conf_mut().set("PriorityParameters", &parameters);
        cluster.conf_mut().set("PriorityType", "priority/fairtree");
        cluster.write_conf()?;
        cluster.set_clock_ahead(0)?;
        forget_usage(cluster)?;
        match facts(check.release).needs_usage_file {
            true => cluster.start_slurmctld_despite_its_files()?,
            false => cluster.start_slurmctld()?,
        }
        let steady = Steady::start(cluster)?;

        check.step("ours, on a slow disk");
        let before = cluster.slurmctld_log()?.len();
        let starts = cluster.slurmctld_starts()?;
        cluster.slow_disk_down(SYNC)?;
        wait::until_true("it is told that the disk is slow", DEADLINE, || {
            Ok(told(cluster, before)? > 0)
        })?;
        let charged = steady.charged(cluster)?;
        wait::until_true("passes go on", DEADLINE, || {
            Ok(steady.charged(cluster)? > charged)
        })?;
        let mut ahead = 0;
        all_at_once(cluster, "ours", &mut ahead)?;
        let now = move || Ok(fixture::now()? + ahead);
        steady.ensure_charged(cluster, now, "a slow disk")?;
        // Each slurmctld logs it once; a reconfigure may have started a new one.
        let most = 1 + cluster.slurmctld_starts()? - starts;
        let told = told(cluster, before)?;
        ensure!((1..=most).contains(&told), "told {told} times of {most}");

        check.step("ours, on a slow disk, beside stock");
        let plan = fixture::plan(check.release, PriorityType::Multifactor);
        let beside = check.part("stock");
        beside.in_cluster(&plan, |stock| as_fast_as_stock(check, stock, cluster))?;

        check.step("the end of slurmctld, on a slow disk");
        // Five seconds for the save, and two for running hooks.
        ended_within(cluster, AT_ONCE + Duration::from_secs(7), "ours")?;
        cluster.slow_disk_down(Duration::ZERO)?;
        cluster.start_slurmctld()?;
        next_pass(cluster, ahead)?;
        steady.ensure_charged(cluster, now, "an end on a slow disk")?;

        check.step("a kill on a slow disk");
        cluster.slow_disk_down(SYNC)?;
        wait::until_true("the disk is busy", DEADLINE, || Ok(is_busy(cluster)))?;
        cluster.kill_slurmctld()?;
        cluster.slow_disk_down(Duration::ZERO)?;
        cluster.start_slurmctld()?;
        next_pass(cluster, ahead)?;
        steady.ensure_charged(cluster, now, "a kill on a slow disk")
    })
}

/// A third of all disk operations of slurmctld and of the plugin fail while slurmctld ends and is
/// killed.
pub fn random_errors(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.partitions[0].max_time = "UNLIMITED";
    check.in_cluster(&plan, |cluster| {
        cluster.stop_slurmctld()?;
        cluster.give_slow_disk()?;
        cluster.start_slurmctld()?;
        let steady = Steady::start(cluster)?;
        for round in 0..8 {
            let kills = round % 2 == 1;
            let when = format!("round {round}: errors at random, then a kill: {kills}");
            check.step(&when);
            cluster.fail_disk_at_random(350)?;
            let charged = steady.charged(cluster)?;
            let several = 4 * (steady.until(i64::from(fixture::PERIOD)) - steady.until(0));
            wait::until_true("passes go on", DEADLINE, || {
                Ok(steady.charged(cluster)? > charged + several)
            })?;
            steady.ensure_charged(cluster, fixture::now, &when)?;
            let loses_files = loses_files_where_renames_fail(check.release);
            match loses_files {
                true => answer_at_once(cluster, &when, but_reconfigure())?,
                false => answers_at_once(cluster, &when)?,
            }
            match kills {
                true => cluster.kill_slurmctld()?,
                false => cluster.stop_slurmctld()?,
            }
            cluster.fail_disk_at_random(0)?;
            if loses_files {
                put_old_files_back(cluster)?;
            }
            cluster.start_slurmctld()?;
            fixture::next_pass(cluster)?;
            steady.ensure_charged(cluster, fixture::now, &when)?;
        }
        Ok(())
    })
}

/// Runs commands, then slurmctld's dump with commands at the same time. Leaves the clock ahead.
fn all_at_once(cluster: &Cluster, whose: &str, ahead: &mut i64) -> Result<()> {
    // No reconfigure: where that restarts slurmctld, a step of the clock right after it would come
    // before the five minutes until the next dump begin.
    answer_at_once(cluster, whose, but_reconfigure())?;
    let dump = cluster.state_file("assoc_usage");
    let written = || fs::metadata(&dump).and_then(|data| data.modified()).ok();
    let before = written();
    *ahead += DUMP_PERIOD;
    cluster.set_clock_ahead(*ahead)?;
    let called = SystemTime::now();
    within(AT_ONCE, &format!("{whose}: the dump"), || {
        wait::until_true("slurmctld dumps usage", DEADLINE, || {
            let now = written();
            Ok(now != before && now.is_some_and(|at| at >= called - Duration::from_secs(1)))
        })
    })?;
    answers_at_once(cluster, whose)
}

/// Fails if the median of a command is more than a tenth of a second above stock's.
fn as_fast_as_stock(check: &Check, stock: &Cluster, ours: &Cluster) -> Result<()> {
    let commands = COMMANDS.iter().map(Some).chain([None]);
    for command in commands {
        let what = command.map_or("sbatch".to_owned(), |words| words.join(" "));
        // In these releases a reconfigure ends slurmctld, which waits some seconds for a save.
        if what == "scontrol reconfigure" && reconfigure_restarts(check.release) {
            continue;
        }
        let call = |cluster: &Cluster| match command {
            Some(words) => cluster.run(words).map(drop),
            None => submit(cluster),
        };
        wait::until_true(&format!("{what} is as fast as at stock"), DEADLINE, || {
            let [theirs, own] = medians([stock, ours], call)?;
            check.step(&format!("{what}: {own:.3?}, at stock {theirs:.3?}"));
            Ok(own <= theirs + ALLOWANCE)
        })?;
    }
    Ok(())
}

/// Median time of a call at each cluster, called in turns.
fn medians(
    clusters: [&Cluster; 2],
    call: impl Fn(&Cluster) -> Result<()>,
) -> Result<[Duration; 2]> {
    let mut times = [[Duration::ZERO; CALLS]; 2];
    for at in 0..CALLS {
        for (cluster, times) in clusters.iter().zip(&mut times) {
            let start = Instant::now();
            call(cluster)?;
            times[at] = start.elapsed();
        }
    }
    Ok(times.map(|mut times| {
        times.sort_unstable();
        times[CALLS / 2]
    }))
}

/// Submits a held job.
fn submit(cluster: &Cluster) -> Result<()> {
    let mut held = job("bob", "left", 60);
    held.options.push("--hold".to_owned());
    cluster.submit(&held).map(drop)
}

fn answers_at_once(cluster: &Cluster, whose: &str) -> Result<()> {
    let before = cluster.slurmctld_starts()?;
    answer_at_once(cluster, whose, &COMMANDS)?;
    // The last command was a reconfigure.
    cluster.await_reconfigured(before)
}

fn answer_at_once(cluster: &Cluster, whose: &str, commands: &[&[&str]]) -> Result<()> {
    within(AT_ONCE, &format!("{whose}: sbatch"), || submit(cluster))?;
    for words in commands {
        within(AT_ONCE, &format!("{whose}: {}", words.join(" ")), || {
            cluster.run(words).map(drop)
        })?;
    }
    Ok(())
}

fn but_reconfigure() -> &'static [&'static [&'static str]] {
    let [but_reconfigure @ .., _] = &COMMANDS;
    but_reconfigure
}

/// Restores older files where slurmctld has lost its own, as an administrator would do.
fn put_old_files_back(cluster: &Cluster) -> Result<()> {
    for entry in fs::read_dir(cluster.path().join("state"))?.flatten() {
        let (old, file) = (entry.path(), entry.path().with_extension(""));
        if old.extension().is_some_and(|end| end == "old") && !file.exists() {
            fs::rename(&old, &file)?;
        }
    }
    Ok(())
}

fn ended_within(cluster: &mut Cluster, limit: Duration, whose: &str) -> Result<()> {
    within(limit, &format!("{whose}: the end"), || {
        cluster.run(&["scontrol", "shutdown", "slurmctld"])?;
        cluster.await_end_of_slurmctld()
    })
}

fn within(limit: Duration, what: &str, body: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    body().with_context(|| what.to_owned())?;
    let took = start.elapsed();
    ensure!(
        took < limit,
        "{what} took {:.1} s, a sync {} s",
        took.as_secs_f64(),
        SYNC.as_secs()
    );
    Ok(())
}

/// Returns true while a save is running.
fn is_busy(cluster: &Cluster) -> bool {
    cluster.state_file("priority_fairtree_state.new").exists()
}

/// Number of the plugin's messages about a slow disk after the first `before` bytes of the log.
fn told(cluster: &Cluster, before: usize) -> Result<usize> {
    let log = cluster.slurmctld_log()?;
    let new = log.get(before..).unwrap_or_default();
    Ok(new.matches(LATE).count())
}

fn next_pass(cluster: &Cluster, ahead: i64) -> Result<()> {
    fixture::pass_after(cluster, fixture::now()? + ahead)
}

/// Removes the usage, because its clock was ahead: slurmctld starts anew.
fn forget_usage(cluster: &Cluster) -> Result<()> {
    for name in ["priority_last_decay_ran", "assoc_usage", "qos_usage"] {
        for name in [name.to_owned(), format!("{name}.old")] {
            let _ = fs::remove_file(cluster.state_file(&name));
        }
    }
    Ok(())
}
