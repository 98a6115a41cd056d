//! `cargo testbed storm`: a cluster under four random clients at once.
//!
//! The clients submit, cancel, hold and change jobs, accounts and slurm.conf at random while passes
//! run every second. Stock runs the same storm at the same time in a second cluster. Our plugin
//! must not end slurmctld, log an error that stock would not log, or keep memory or threads that
//! stock would not keep.

mod client;
mod deeds;
pub mod lines;
mod watch;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use libtest_mimic::Trial;

use crate::checks::fixture;
use crate::cluster::conf::{Nodes, Partition, PriorityType};
use crate::cluster::{Cluster, Plan};
use crate::harness::{self, Bed};
use crate::wait;
use xtask::every::Every;
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::release::Release;

use client::DeedCounts;
use watch::{Record, Watch};

/// Number of clients.
const CLIENTS: u64 = 4;

/// The length of a storm as a test, in `make test` and in `make test-all`.
const LENGTHS: [Duration; 2] = [Duration::from_secs(20), Duration::from_secs(60)];

/// Far longer than any expected event takes.
const DEADLINE: Duration = Duration::from_secs(240);

/// A storm, drawn from a seed.
#[derive(Clone, Debug)]
pub struct Storm {
    /// Slurm's release.
    pub release: Release,
    /// Duration.
    pub length: Duration,
    /// Seed of the clients' deeds.
    pub seed: u64,
}

/// Results of a storm.
struct Aftermath {
    record: Record,
    ledger: DeedCounts,
    shapes: BTreeSet<String>,
}

/// A storm as a test.
pub fn tests(bed: &'static Bed) -> Vec<Trial> {
    let storm = harness::test(bed, "a_storm_does_what_it_does_to_stock", |bed| {
        let storm = Storm {
            release: bed.release.clone(),
            length: LENGTHS[usize::from(bed.takes(Every::Night))],
            seed: bed.seed()?,
        };
        storm.run(&bed.progress)
    });
    vec![storm]
}

impl Storm {
    /// Runs the storm with both plugins, and compares the results.
    ///
    /// # Errors
    /// Fails if a cluster does not start, and if ours did something that stock would not do.
    pub fn run(&self, progress: &Progress) -> Result<()> {
        let secs = self.length.as_secs();
        progress.print(format!(
            "storm of {secs} s; again: cargo testbed storm --slurm {} --seconds {secs} --seed {}",
            self.release, self.seed
        ));
        let both = [PriorityType::Multifactor, PriorityType::Fairtree];
        let clusters = both.map(|priority| Cluster::start(&self.plan(priority), progress));
        let [stock, ours] = clusters;
        let mut clusters = [("stock", stock?), ("ours", ours?)];
        progress.step(format!("{CLIENTS} clients at each of two clusters"));
        let left = thread::scope(|scope| {
            let each = clusters.each_mut().map(|(name, cluster)| {
                scope.spawn(move || {
                    let weathered = self.weather(cluster);
                    // Kept in any case, because the other log is compared with it.
                    let log = save_log(cluster, name);
                    weathered.with_context(|| format!("{name}: {log}"))
                })
            });
            each.map(|one| one.join().map_err(|_| anyhow!("a storm panicked"))?)
        });
        interrupt::check()?;
        let [stock, ours] = left;
        let (stock, ours) = (stock?, ours?);
        for (name, left) in [("stock", &stock), ("ours", &ours)] {
            progress.print(format!("{name:>5}: {}", left.ledger));
            progress.print(format!("{name:>5}: {}", left.record));
        }
        judge(&stock, &ours).context("the logs are in target/cluster-logs")
    }

    /// Runs the storm in one cluster, waits for calm, and stops slurmctld.
    fn weather(&self, cluster: &mut Cluster) -> Result<Aftermath> {
        let watch = Watch::new(cluster)?;
        let over = AtomicBool::new(false);
        let deeds = deeds::Deeds::new(cluster, &self.release)?;
        let (record, ledgers) = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| {
                    let (deeds, over) = (&deeds, &over);
                    let seed = self.seed.wrapping_mul(CLIENTS).wrapping_add(number);
                    scope.spawn(move || client::live(deeds, seed, over))
                })
                .collect();
            let record = watch.until(Instant::now() + self.length);
            over.store(true, Ordering::Relaxed);
            let ledgers: Vec<_> = clients
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect();
            (record, ledgers)
        });
        let mut record = record?;
        let mut ledger = DeedCounts::default();
        for one in ledgers {
            ledger.add(&one.map_err(|_| anyhow!("a client panicked"))?);
        }
        calm(cluster)?;
        fixture::ensure_numbers(cluster)?;
        record.end(cluster, &watch, DEADLINE)?;
        cluster
            .stop_slurmctld()
            .context("slurmctld does not stop after the storm")?;
        let shapes = lines::shapes(&cluster.slurmctld_log()?);
        Ok(Aftermath {
            record,
            ledger,
            shapes,
        })
    }

    fn plan(&self, priority: PriorityType) -> Plan {
        let mut settings: Vec<(&'static str, String)> = [
            ("PriorityDecayHalfLife", "0-1"),
            ("PriorityCalcPeriod", "1"),
            ("PriorityMaxAge", "1-0"),
            ("PriorityWeightAge", "1000000"),
            ("PriorityWeightAssoc", "3000"),
            ("PriorityWeightFairshare", "100000"),
            ("PriorityWeightJobSize", "7000"),
            ("PriorityWeightPartition", "5000"),
            ("PriorityWeightQOS", "11000"),
            ("PriorityWeightTRES", "cpu=1300"),
            // Ended jobs are purged soon, so that their number stays constant.
            ("MinJobAge", "5"),
        ]
        .map(|(key, value)| (key, value.to_owned()))
        .into();
        if priority == PriorityType::Fairtree {
            settings.push(("PriorityParameters", "calc_period=1".to_owned()));
        }
        Plan {
            release: self.release.clone(),
            priority,
            nodes: Nodes { count: 2, cpus: 8 },
            partitions: vec![
                Partition {
                    name: "main",
                    priority_job_factor: 30,
                    max_time: "1-0",
                },
                Partition {
                    name: "debug",
                    priority_job_factor: 70,
                    max_time: "30",
                },
            ],
            accounting: fixture::accounting(),
            settings,
        }
    }
}

/// Fails if ours did something that stock would not do.
fn judge(stock: &Aftermath, ours: &Aftermath) -> Result<()> {
    ensure!(
        ours.ledger.done() > 0 && ours.record.passes() > 1,
        "no storm at all"
    );
    let known = lines::known_of_stock();
    let by_stock = |line: &String| stock.shapes.contains(line) || known.contains(line.as_str());
    let alien =
        |line: &&String| lines::is_ours(line) || !(by_stock(line) || lines::is_harmless(line));
    let own: Vec<&String> = ours.shapes.iter().filter(alien).collect();
    if !own.is_empty() {
        let lines: Vec<&str> = own.iter().map(|line| line.as_str()).collect();
        bail!("lines that stock does not log:\n{}", lines.join("\n"));
    }
    ours.record.compare(&stock.record)
}

/// Ends all jobs and waits until slurmctld has purged them.
fn calm(cluster: &Cluster) -> Result<()> {
    wait::until_true("no job is left", DEADLINE, || {
        for state in ["pending", "running", "suspended"] {
            // Some jobs may end by themselves meanwhile.
            let _ = cluster.run(&["scancel", "--quiet", &format!("--state={state}")]);
        }
        // slurmctld may still be busy with the storm.
        let queue = cluster.run(&["squeue", "--noheader", "--format=%i"]);
        Ok(queue.is_ok_and(|jobs| jobs.trim().is_empty()))
    })
}

/// Saves a cluster's slurmctld.log; returns its path.
fn save_log(cluster: &Cluster, name: &str) -> String {
    let folder = xtask::project::root().join("target/cluster-logs");
    let file = folder.join(format!("storm-{name}.log"));
    let slurmdbd = folder.join(format!("storm-{name}-slurmdbd.log"));
    // Only slurmctld's log is essential.
    let _ = std::fs::copy(cluster.path().join("log/slurmdbd.log"), slurmdbd);
    let saved = std::fs::create_dir_all(&folder)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(std::fs::write(&file, cluster.slurmctld_log()?)?));
    match saved {
        Ok(()) => format!("slurmctld's log is in {}", file.display()),
        Err(error) => format!("slurmctld's log could not be saved ({error:#})"),
    }
}
