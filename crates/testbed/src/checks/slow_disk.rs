//! slurmctld's disk takes very long for what a priority plugin writes, or fails at random: no request
//! waits for it but the plugin, nothing is lost, and nothing is charged twice.
//!
//! Every limit here is a share of the delay of one sync, and a save has three of them; or it is what
//! stock takes beside ours. That comparison is made again until it holds: a machine that has other
//! things to do delays it, and a command that waits for the disk would never hold.

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

/// What a sync takes on the slow disk.
const SYNC: Duration = Duration::from_secs(20);
/// What takes less time has not waited for a sync.
const AT_ONCE: Duration = Duration::from_secs(10);
/// More than what the clock has to be ahead for slurmctld to dump its state.
const DUMP_PERIOD: i64 = 310;
/// By how much a command may be slower than at stock.
const ALLOWANCE: Duration = Duration::from_millis(100);
/// How often each command is called to find how long it takes.
const CALLS: usize = 5;
/// Commands that answer at once; of `sbatch` see [`submit`].
const COMMANDS: [&[&str]; 4] = [
    &["squeue"],
    &["sprio"],
    &["sshare", "-a"],
    &["scontrol", "reconfigure"],
];
/// What our plugin says of it at a pass. At the end of slurmctld it says the first half again.
const LATE: &str = "state is not saved: not on disk after 5 s; usage goes on in memory";

/// Commands, slurmctld's dump and its end, under Slurm's plugin on a good disk and under ours on one
/// that is slow for ours.
pub fn slow(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Multifactor);
    plan.partitions[0].max_time = "UNLIMITED";
    // Or slurmctld would believe that its nodes have not answered while its clock is stepped.
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
        // Each slurmctld tells it once; a reconfigure may have begun another one.
        let most = 1 + cluster.slurmctld_starts()? - starts;
        let told = told(cluster, before)?;
        ensure!((1..=most).contains(&told), "told {told} times of {most}");

        check.step("ours, on a slow disk, beside stock");
        let plan = fixture::plan(check.release, PriorityType::Multifactor);
        let beside = check.part("stock");
        beside.in_cluster(&plan, |stock| as_fast_as_stock(check, stock, cluster))?;

        check.step("the end of slurmctld, on a slow disk");
        // Five seconds for the save, and two for hooks that are under way.
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

/// A third of all that is done on the disk fails, of slurmctld as of the plugin, while it ends and
/// is killed.
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

/// Commands, and then slurmctld's dump with commands beside it. The clock is ahead afterwards.
fn all_at_once(cluster: &Cluster, whose: &str, ahead: &mut i64) -> Result<()> {
    // No reconfigure: where that restarts slurmctld, a step of the clock right after it comes before the
    // five minutes to the next dump begin.
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

/// No command takes longer than at stock and a tenth of a second, by the medians of several calls.
fn as_fast_as_stock(check: &Check, stock: &Cluster, ours: &Cluster) -> Result<()> {
    let commands = COMMANDS.iter().map(Some).chain([None]);
    for command in commands {
        let what = command.map_or("sbatch".to_owned(), |words| words.join(" "));
        // There a reconfigure ends slurmctld, which waits for a save for some seconds.
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

/// How long a call takes at each, called in turns.
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

/// A job that is held.
fn submit(cluster: &Cluster) -> Result<()> {
    let mut held = job("bob", "left", 60);
    held.options.push("--hold".to_owned());
    cluster.submit(&held).map(drop)
}

fn answers_at_once(cluster: &Cluster, whose: &str) -> Result<()> {
    let before = cluster.slurmctld_starts()?;
    answer_at_once(cluster, whose, &COMMANDS)?;
    // The last one was a reconfigure.
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

/// What an administrator does where slurmctld has lost files of its own: those of before are put back.
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

/// A save is under way.
fn is_busy(cluster: &Cluster) -> bool {
    cluster.state_file("priority_fairtree_state.new").exists()
}

/// How often the plugin told of a disk that is slow, behind the first `before` bytes of the log.
fn told(cluster: &Cluster, before: usize) -> Result<usize> {
    let log = cluster.slurmctld_log()?;
    let new = log.get(before..).unwrap_or_default();
    Ok(new.matches(LATE).count())
}

fn next_pass(cluster: &Cluster, ahead: i64) -> Result<()> {
    fixture::pass_after(cluster, fixture::now()? + ahead)
}

/// slurmctld begins as a new one: its clock was ahead.
fn forget_usage(cluster: &Cluster) -> Result<()> {
    for name in ["priority_last_decay_ran", "assoc_usage", "qos_usage"] {
        for name in [name.to_owned(), format!("{name}.old")] {
            let _ = fs::remove_file(cluster.state_file(&name));
        }
    }
    Ok(())
}
