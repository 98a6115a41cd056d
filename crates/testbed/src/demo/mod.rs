//! The tour: a private cluster under load, its priorities and shares, the changes of a pass, and what the
//! command shows of them.

mod changes;
mod command;
pub mod plan;
mod queue;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::cluster::conf::PriorityType;
use crate::cluster::{Cluster, Plan};
use crate::wait;
use changes::Shares;
use queue::Queue;
use xtask::progress::Progress;
use xtask::release::Release;

/// Enough to keep the cluster busy for longer than the tour lasts.
const JOBS: u32 = 300;
/// Usage at which the tour looks, TRES-seconds: all CPUs busy for some fifteen seconds.
const USAGE: u64 = 240;
/// Number of printed rows of a long table.
const ROWS: usize = 24;

/// Runs the tour.
///
/// `keep`: leave the cluster running and print how to use it.
pub fn run(
    release: &Release,
    priority: PriorityType,
    keep: bool,
    progress: &Progress,
) -> Result<()> {
    let plan = plan::plan(release, priority);
    let cluster = Cluster::start(&plan, progress)?;
    introduce(&cluster, &plan, progress)?;
    submit(&cluster, progress)?;
    let (shares, queue) = after_first_use(&cluster, priority, progress)?;
    show_now(&cluster, progress)?;
    show_changes(&cluster, priority, &shares, &queue, progress)?;
    command::show(&cluster, progress)?;
    if keep {
        return leave_running(cluster, progress);
    }
    progress.step("taking the cluster down");
    drop(cluster);
    progress.print(format!(
        "\nThe cluster is gone; the tour took {} seconds. `make demo KEEP=1` leaves it running.",
        progress.elapsed().as_secs()
    ));
    Ok(())
}

/// Starts the tour's cluster and holds it until a signal comes.
pub fn hold(release: &Release, priority: PriorityType, progress: &Progress) -> Result<()> {
    let cluster = Cluster::start(&plan::plan(release, priority), progress)?;
    progress.print(format!("folder {}", cluster.path().display()));
    progress.print(format!("user   {}", cluster.user("alice")?.name));
    progress.print(format!(
        "export SLURM_CONF={}",
        cluster.conf_file().display()
    ));
    progress.step("the cluster runs until Ctrl-C");
    wait::until("Ctrl-C", Duration::MAX, || Ok(None))
}

fn introduce(cluster: &Cluster, plan: &Plan, progress: &Progress) -> Result<()> {
    let version = cluster.run(&["scontrol", "--version"])?;
    progress.print(format!(
        "== 1. A private cluster\n\
         {} with PriorityType={}, {} nodes of {} CPUs, in {}\n",
        version.trim(),
        plan.priority.conf(),
        plan.nodes.count,
        plan.nodes.cpus,
        cluster.path().display()
    ));
    progress.print("== 2. Who shares it\n$ sacctmgr show association tree");
    progress.print(cluster.sacctmgr(&[
        "show",
        "association",
        "tree",
        "format=Account%-20,User%12,Share",
    ])?);
    Ok(())
}

fn submit(cluster: &Cluster, progress: &Progress) -> Result<()> {
    let jobs = plan::jobs(JOBS);
    progress.steps(jobs.len(), "submitting jobs");
    for (done, job) in jobs.iter().enumerate() {
        xtask::interrupt::check()?;
        cluster.submit(job)?;
        progress.count(done + 1);
    }
    progress.print(format!(
        "== 3. {JOBS} jobs of six users, in two partitions and three QOS, are submitted\n"
    ));
    Ok(())
}

/// Waits for a pass that has counted some usage, and records its results.
fn after_first_use(
    cluster: &Cluster,
    priority: PriorityType,
    progress: &Progress,
) -> Result<(Shares, Queue)> {
    progress.step("jobs run; waiting until their use shows");
    let shares = wait::until("usage accrues", patience(priority), || {
        let shares = Shares::read(&cluster.sshare(changes::COLUMNS)?)?;
        Ok((shares.is_ranked() && shares.total_usage() >= USAGE).then_some(shares))
    })?;
    Ok((shares, Queue::read(&cluster.sprio()?)?))
}

fn show_now(cluster: &Cluster, progress: &Progress) -> Result<()> {
    progress.print("== 4. Who goes next, and why\n$ sprio -l -S -y");
    let table = cluster.run(&["sprio", "--long", "--sort=-y"])?;
    let rows = table.lines().count().saturating_sub(1);
    let mut shown: Vec<&str> = table.lines().take(ROWS + 1).collect();
    let more = format!("... and {} more", rows.saturating_sub(ROWS));
    if rows > ROWS {
        shown.push(&more);
    }
    progress.print(shown.join("\n"));
    progress.print("\n== 5. Shares and use\n$ sshare -a -l");
    progress.print(cluster.run(&["sshare", "--all", "--long"])?);
    Ok(())
}

/// Waits for a later pass, if possible one that reorders the users, and prints the changes.
fn show_changes(
    cluster: &Cluster,
    priority: PriorityType,
    shares: &Shares,
    queue: &Queue,
    progress: &Progress,
) -> Result<()> {
    progress.step("waiting for a pass that changes who is next");
    let start = Instant::now();
    let later = wait::until("a later pass", patience(priority) * 2, || {
        let later = Shares::read(&cluster.sshare(changes::COLUMNS)?)?;
        let passed = later.total_usage() != shares.total_usage();
        let done = passed
            && (changes::places_changed(shares, &later) || start.elapsed() > patience(priority));
        Ok(done.then_some(later))
    })?;
    progress.print("== 6. What changed between two passes");
    progress.print(changes::describe(shares, &later));
    let later = Queue::read(&cluster.sprio()?)?;
    progress.print(queue::describe(queue, &later));
    Ok(())
}

/// Time for several passes.
fn patience(priority: PriorityType) -> Duration {
    match priority {
        PriorityType::Fairtree => Duration::from_secs(40),
        // Stock passes come once a minute at most.
        PriorityType::Multifactor => Duration::from_secs(150),
    }
}

fn leave_running(cluster: Cluster, progress: &Progress) -> Result<()> {
    let prompt = cluster.prompt();
    let folder = cluster.path().to_path_buf();
    let user = cluster.user("alice")?.name.clone();
    cluster.keep().context("cannot leave the cluster running")?;
    progress.print(format!(
        "The cluster stays. To talk to it:\n\
         \x20 {prompt}\n\
         \x20 sprio -l; sshare -a -l; squeue; scontrol show config | grep Priority\n\
         \x20 runuser -u {user} -- sbatch --chdir=/ --output=/dev/null --account=physics \
         --wrap 'sleep 60'\n\
         \x20 tail -f {folder}/log/slurmctld.log\n\
         To stop it and remove its folder and users:\n\
         \x20 cargo testbed cluster stop {folder}",
        folder = folder.display(),
    ));
    Ok(())
}
