//! slurmctld killed at random moments, in a private cluster.
//!
//! Usage does not decay there, so what must have been charged follows from the times that
//! slurmctld gives for its jobs: CPUs times seconds, no more, and no less but for one period.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::checks::fixture::{self, PERIOD, job, now};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::table::Row;
use crate::twin::Draw;
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::release::Release;

/// How many kills `make test` takes the time for.
pub const SHORT: u32 = 5;

/// The longest time between a job's start being on disk and the kill, milliseconds.
const LONGEST_MS: i64 = 4000;

/// Kills drawn from a seed.
#[derive(Clone, Debug)]
pub struct Kills {
    /// Slurm's release.
    pub release: Release,
    /// How many.
    pub count: u32,
    /// Moments and jobs are drawn from this.
    pub seed: u64,
}

/// Who runs on through all kills, alone in his account: what he is charged is known to the second.
const LONG: (&str, &str) = ("eve", "lower");
/// Who runs what ends sooner or later.
const SHORT_ONES: (&str, &str) = ("ann", "left");

/// The account of each job and how long it sleeps, by number, seconds.
type Jobs = BTreeMap<u32, (&'static str, i64)>;

impl Kills {
    /// Kills slurmctld again and again, under a job that runs on and others that end, before the
    /// kill, while there is no slurmctld, or after it.
    ///
    /// # Errors
    /// Usage that is lost or charged twice, with the moment, and whatever a cluster fails with.
    pub fn run(&self, progress: &Progress) -> Result<()> {
        progress.print(format!(
            "{} kills; again: cargo testbed kills --slurm {} --count {} --seed {}",
            self.count, self.release, self.count, self.seed
        ));
        let mut plan = fixture::plan(&self.release, PriorityType::Fairtree);
        // Of a job that ended while there was no slurmctld it may learn late: until then the job
        // keeps its CPUs.
        plan.nodes.cpus = 100;
        // So that the times of all jobs can be asked for at the end.
        plan.settings.push(("MinJobAge", "1000000".to_owned()));
        let mut cluster = Cluster::start(&plan, progress)?;
        let mut draw = Draw::new(self.seed);
        let mut jobs = Jobs::new();
        start(&cluster, &mut jobs, LONG, 2, 100_000)?;
        for kill in 1..=self.count {
            interrupt::check()?;
            let cpus = u32::try_from(draw.between(1, 4))?;
            start(&cluster, &mut jobs, SHORT_ONES, cpus, draw.between(1, 8))?;
            // Killed before, it would not know of the job's start.
            fixture::jobs_are_saved(&cluster)?;
            let moment = draw.between(0, LONGEST_MS);
            sleep(Duration::from_millis(u64::try_from(moment)?));
            cluster.kill_slurmctld()?;
            cluster.start_slurmctld()?;
            fixture::next_pass(&cluster)?;
            let when = format!("kill {kill}, {moment} ms after a save");
            self.check(&cluster, &jobs, &when, progress)?;
        }
        for id in jobs.keys() {
            // Also those that slurmctld has not heard of.
            cluster.run(&["scancel", &id.to_string()])?;
            fixture::over(&cluster, *id)?;
        }
        fixture::next_pass(&cluster)?;
        let when = format!("after {} kills", self.count);
        self.check(&cluster, &jobs, &when, progress)
    }

    fn check(&self, cluster: &Cluster, jobs: &Jobs, when: &str, progress: &Progress) -> Result<()> {
        for (_, name) in [LONG, SHORT_ONES] {
            let account = Account::of(cluster, jobs, name)?;
            progress.step(format!("{when}: {account}"));
            account.check().with_context(|| when.to_owned())?;
        }
        Ok(())
    }
}

/// Starts a job of `cpus` that sleeps for `secs`.
fn start(
    cluster: &Cluster,
    jobs: &mut Jobs,
    (user, account): (&'static str, &'static str),
    cpus: u32,
    secs: i64,
) -> Result<()> {
    let new = NewJob {
        cpus,
        options: vec!["--time=1000".to_owned(), "--no-requeue".to_owned()],
        ..job(user, account, u32::try_from(secs)?)
    };
    let id = cluster.submit(&new)?;
    fixture::started(cluster, id)?;
    jobs.insert(id, (account, secs));
    Ok(())
}

/// What an account is charged, and what it may be, TRES-seconds.
#[derive(Clone, Copy, Debug)]
struct Account {
    name: &'static str,
    charged: i64,
    least: i64,
    most: i64,
    /// CPUs of jobs that run by what slurmctld knows.
    running: i64,
}

impl Account {
    fn of(cluster: &Cluster, jobs: &Jobs, name: &'static str) -> Result<Account> {
        let passed = fixture::last_pass(cluster);
        let usage = cluster.sshare("Account,RawUsage")?;
        let charged = usage.find("Account", name)?.get("RawUsage")?;
        let table = cluster.show("job")?;
        let now = now()?;
        let (mut least, mut most, mut running) = (0, 0, 0);
        for row in table.rows() {
            let Some((_, length)) = jobs.get(&row.get("JobId")?).filter(|job| job.0 == name) else {
                continue;
            };
            let (cpus, start, end) = times(row)?;
            most += cpus * (end.unwrap_or(now) - start);
            running += end.map_or(cpus, |_| 0);
            // Of an end while it was not there slurmctld learns late, and may be told another time.
            let end = end.unwrap_or(passed).min(start + length);
            least += cpus * (end - start).max(0);
        }
        Ok(Account {
            name,
            charged,
            least,
            most,
            running,
        })
    }

    /// Nothing is charged twice, and at most one period of what runs is not charged yet.
    fn check(&self) -> Result<()> {
        ensure!(self.charged <= self.most, "charged twice: {self}");
        let allowance = i64::from(PERIOD) * self.running;
        ensure!(self.charged >= self.least - allowance, "lost: {self}");
        Ok(())
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Account {
            name,
            charged,
            least,
            most,
            ..
        } = self;
        write!(
            f,
            "{name} is charged {charged} TRES-seconds and has used {least} to {most}"
        )
    }
}

/// CPUs, start, and end if it has ended.
fn times(row: &Row) -> Result<(i64, i64, Option<i64>)> {
    let runs = row.text("JobState")? == "RUNNING";
    let end = (!runs).then(|| row.get("EndTime")).transpose()?;
    Ok((row.get("NumCPUs")?, row.get("StartTime")?, end))
}
