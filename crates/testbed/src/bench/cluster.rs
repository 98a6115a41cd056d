//! The real slurmctld of a private cluster with a long queue, as its clients see it with either
//! plugin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use crate::cluster::accounting::{Account, Accounting, FairShare};
use crate::cluster::client::NewJob;
use crate::cluster::conf::{Nodes, Partition, PriorityType};
use crate::cluster::{Cluster, Plan};
use crate::wait;
use xtask::command::checked;
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::project;
use xtask::release::Release;

use super::table::{Measurement, Table, Unit};
use super::workload::count;
use super::{Bench, median};

/// Tasks of one array; all except the last get separate records.
pub(super) const TASKS: usize = 1_001;
const ARRAYS: usize = 100;
/// Duration of a measurement.
const WATCH: Duration = Duration::from_secs(30);
/// Time limit until every job is in the database.
const PATIENCE: Duration = Duration::from_secs(900);

/// Measurements of one watch.
struct Seen {
    /// Seconds of each command, one list per command.
    show_job: Vec<f64>,
    squeue: Vec<f64>,
    /// Mean microseconds of an RPC in slurmctld, as sdiag counts them.
    rpc_micros: f64,
    /// Seconds of processor time that slurmctld used, per second.
    load: f64,
    passes: usize,
}

/// A table for the cluster.
///
/// # Errors
/// Fails if the cluster does not start, or if a command fails.
pub fn measure(bench: &Bench, progress: &Progress) -> Result<Table> {
    let arrays = if bench.quick { ARRAYS / 10 } else { ARRAYS };
    let mut cluster = Cluster::start(&plan(&bench.release), progress)?;
    progress.step(format!("cluster: {} jobs", count((arrays * TASKS) as u64)));
    let ids = submit(&cluster, arrays)?;
    wait_for_database(&cluster)?;
    let preload = build_preload(cluster.path())?.display().to_string();
    cluster.set_slurmctld_variable("LD_PRELOAD", Some(&preload));
    let mut watch = |priority: PriorityType| -> Result<Seen> {
        progress.step(format!("cluster: clients with {}", priority.conf()));
        cluster.switch_to(priority)?;
        watch(&cluster, &ids)
    };
    let stock = watch(PriorityType::Multifactor)?;
    let ours = watch(PriorityType::Fairtree)?;
    for (name, seen) in [("stock", &stock), ("ours", &ours)] {
        ensure!(seen.passes > 0, "{name} made no pass while clients asked");
    }
    Ok(Table {
        title: format!("{} waiting jobs", count((arrays * TASKS) as u64)),
        heads: ("ours", "stock"),
        rows: rows(&ours, &stock),
    })
}

/// One node that never gets work: the partition takes jobs and starts none.
pub(super) fn plan(release: &Release) -> Plan {
    let settings = [
        ("PriorityWeightFairshare", "100000"),
        ("PriorityWeightAge", "1000"),
        ("PriorityWeightJobSize", "1000"),
        ("PriorityWeightPartition", "5000"),
        ("PriorityWeightQOS", "10000"),
        ("PriorityDecayHalfLife", "7-0"),
        // This makes our plugin wait a second between passes; `often.c` does so for stock.
        ("PriorityParameters", "calc_period=1"),
        ("PriorityCalcPeriod", "1"),
        ("MaxJobCount", "200000"),
        ("MaxArraySize", "2000"),
        // Measure the pass, not the scheduler.
        (
            "SchedulerParameters",
            "defer,sched_interval=3600,bf_interval=3600,default_queue_depth=1",
        ),
    ];
    let users = ["anna", "bert", "cleo", "dora"].map(|name| (name, FairShare::Raw(1)));
    Plan {
        release: release.clone(),
        priority: PriorityType::Multifactor,
        nodes: Nodes { count: 1, cpus: 4 },
        partitions: vec![Partition {
            name: "main",
            priority_job_factor: 10,
            max_time: "1-0",
        }],
        accounting: Accounting {
            accounts: vec![Account {
                name: "physics",
                parent: None,
                fair_share: FairShare::Raw(1),
                users: users.to_vec(),
            }],
            qos: vec![],
        },
        settings: settings.map(|(key, value)| (key, value.to_owned())).into(),
    }
}

/// Builds it in the cluster's folder, which slurmctld sees in any root folder.
fn build_preload(folder: &Path) -> Result<PathBuf> {
    let library = folder.join("often.so");
    let source = project::root().join("benches/c/often.c");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2"]);
    gcc.args(["-shared", "-fPIC", "-o"]).arg(&library);
    checked(gcc.arg(source))?;
    Ok(library)
}

/// Submits arrays, then changes all tasks of each except the last: slurmctld makes a record for
/// every changed task. Returns the ids of the arrays.
pub(super) fn submit(cluster: &Cluster, arrays: usize) -> Result<Vec<u32>> {
    cluster.run(&["scontrol", "update", "PartitionName=main", "State=DOWN"])?;
    let users = ["anna", "bert", "cleo", "dora"];
    let mut ids = vec![];
    for number in 0..arrays {
        interrupt::check()?;
        let id = cluster.submit(&NewJob {
            user: users[number % users.len()],
            account: "physics",
            partition: "main",
            qos: "normal",
            cpus: 1 + number as u32 % 4,
            nodes: 1,
            secs: 1,
            options: vec![format!("--array=0-{}", TASKS - 1)],
        })?;
        let tasks = format!("JobId={id}_[0-{}]", TASKS - 2);
        cluster.run(&["scontrol", "update", &tasks, "Nice=1"])?;
        ids.push(id);
    }
    let lines = cluster.run(&["scontrol", "--oneliner", "show", "job"])?;
    let (found, wanted) = (lines.lines().count(), arrays * TASKS);
    ensure!(found == wanted, "{found} records of jobs, not {wanted}");
    Ok(ids)
}

/// slurmctld sends every record to slurmdbd, which would be busy during the measurement.
pub(super) fn wait_for_database(cluster: &Cluster) -> Result<()> {
    wait::until("slurmdbd to know all jobs", PATIENCE, || {
        let text = cluster.run(&["sdiag"])?;
        let queue = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("DBD Agent queue size:"));
        Ok(queue.is_none_or(|size| size.trim() == "0").then_some(()))
    })
}

/// Runs two kinds of commands for a while.
fn watch(cluster: &Cluster, ids: &[u32]) -> Result<Seen> {
    wait_for_database(cluster)?;
    // The first passes differ from later ones.
    thread::sleep(Duration::from_secs(5));
    cluster.run(&["sdiag", "--reset"])?;
    let (cpu, start) = (cpu_secs(cluster)?, Instant::now());
    let stop = AtomicBool::new(false);
    let ask = |words: fn(u32) -> Vec<String>| -> Result<Vec<f64>> {
        let mut secs = vec![];
        for turn in 0.. {
            if stop.load(Ordering::Relaxed) || start.elapsed() > WATCH {
                break;
            }
            interrupt::check()?;
            let id = ids[turn % ids.len()];
            let words = words(id);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let asked = Instant::now();
            cluster.run(&words).inspect_err(|_| {
                stop.store(true, Ordering::Relaxed);
            })?;
            secs.push(asked.elapsed().as_secs_f64());
        }
        Ok(secs)
    };
    let (show_job, squeue, passes) = thread::scope(|scope| {
        let passes = scope.spawn(|| count_passes(cluster, || start.elapsed() > WATCH));
        let other = scope.spawn(|| ask(|id| words(&["squeue", "--noheader", "--job"], id)));
        let mine = ask(|id| words(&["scontrol", "--oneliner", "show", "job"], id));
        (mine, other.join(), passes.join())
    });
    let passes = passes.map_err(|_| anyhow!("the counter of passes panicked"))?;
    let squeue = squeue.map_err(|_| anyhow!("a client panicked"))??;
    let load = (cpu_secs(cluster)? - cpu) / start.elapsed().as_secs_f64();
    let rpc_micros = rpc_micros(&cluster.run(&["sdiag"])?)?;
    Ok(Seen {
        show_job: show_job?,
        squeue,
        rpc_micros,
        load,
        passes,
    })
}

/// Either plugin writes this file at the end of every pass.
fn count_passes(cluster: &Cluster, enough: impl Fn() -> bool) -> usize {
    let file = cluster.path().join("state/priority_last_decay_ran");
    let written = || fs::metadata(&file).and_then(|data| data.modified()).ok();
    let (mut last, mut passes) = (written(), 0);
    while !enough() {
        thread::sleep(Duration::from_millis(50));
        let now = written();
        passes += usize::from(now.is_some() && now != last);
        last = now.or(last);
    }
    passes
}

/// One task of an array.
fn words(command: &[&str], id: u32) -> Vec<String> {
    let mut words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    words.push(format!("{id}_7"));
    words
}

/// Mean time of the RPC that both commands use.
fn rpc_micros(sdiag: &str) -> Result<f64> {
    let line = sdiag
        .lines()
        .find(|line| line.trim().starts_with("REQUEST_JOB_INFO_SINGLE"));
    let line = line.context("sdiag counts no REQUEST_JOB_INFO_SINGLE")?;
    let mean = line
        .split_whitespace()
        .find_map(|word| word.strip_prefix("ave_time:"));
    mean.and_then(|number| number.parse().ok())
        .with_context(|| format!("sdiag says `{line}`"))
}

/// Processor seconds that slurmctld has used.
fn cpu_secs(cluster: &Cluster) -> Result<f64> {
    let pid = cluster.pid("slurmctld")?;
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"))?;
    // The name in parentheses may hold anything: count from its end.
    let (_, fields) = stat.rsplit_once(')').context("/proc/PID/stat")?;
    let ticks: Vec<f64> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse().ok())
        .collect();
    match ticks[..] {
        // A tick is a hundredth of a second on every Linux.
        [user, system] => Ok((user + system) / 100.0),
        _ => bail!("/proc/{pid}/stat: {stat}"),
    }
}

fn quantile(secs: &[f64], part: f64) -> f64 {
    let mut sorted = secs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (part * sorted.len() as f64) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

fn rows(ours: &Seen, stock: &Seen) -> Vec<Measurement> {
    let ms = |what: &str, of: fn(&Seen) -> f64| {
        Measurement::new(what, Unit::Milliseconds, 1e3 * of(ours)).beside(1e3 * of(stock))
    };
    vec![
        ms("scontrol show job, median", |seen| median(&seen.show_job)),
        ms("p99", |seen| quantile(&seen.show_job, 0.99)),
        ms("longest", |seen| quantile(&seen.show_job, 1.0)),
        ms("squeue --job, median", |seen| median(&seen.squeue)),
        ms("p99", |seen| quantile(&seen.squeue, 0.99)),
        ms("longest", |seen| quantile(&seen.squeue, 1.0)),
        Measurement::new(
            "the RPC of both, mean by sdiag",
            Unit::Microseconds,
            ours.rpc_micros,
        )
        .beside(stock.rpc_micros),
        ms("CPU of slurmctld per second", |seen| seen.load),
        Measurement::new("passes", Unit::Count, ours.passes as f64).beside(stock.passes as f64),
        Measurement::new(
            "commands answered",
            Unit::Count,
            (ours.show_job.len() + ours.squeue.len()) as f64,
        )
        .beside((stock.show_job.len() + stock.squeue.len()) as f64),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sdiag_tells_the_mean_of_an_rpc() {
        let text = "Remote Procedure Call statistics by message type\n\
                    \tREQUEST_PARTITION_INFO ( 2009) count:3 ave_time:140 total_time:421\n\
                    \tREQUEST_JOB_INFO_SINGLE ( 2021) count:52 ave_time:297 total_time:15462\n";
        assert_eq!(rpc_micros(text).ok(), Some(297.0));
        assert!(rpc_micros("").is_err());
    }

    #[test]
    fn quantiles() {
        let secs: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(quantile(&secs, 0.99), 199.0);
        assert_eq!(quantile(&secs, 1.0), 200.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
