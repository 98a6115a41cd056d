//! slurmctld killed at random moments, in private clusters.
//!
//! Usage does not decay there and is cleared at midnight. So the expected charge follows from the
//! times that slurmctld reports for its jobs: CPUs times seconds, never more, and at most one
//! period less. In every second cluster, usage comes from a window so long that nothing leaves it
//! meanwhile.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

use super::phase::{self, Clock, Phase};
use crate::checks::fixture::{self, DEADLINE, PERIOD, job};
use crate::checks::save_logs;
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::table::{Row, Table};
use crate::twin::Draw;
use crate::wait;
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::release::Release;

/// The number of kills as a test, in `make test` and in `make test-all`.
pub const COUNTS: [u32; 2] = [10, 100];

/// Number of clusters that run at a time: they mostly wait.
const CLUSTERS: u32 = 4;

/// A window that is longer than the largest step of the clock.
const WINDOW: &str = "usage=window:1000-0";

/// Number of kills between two jobs that slurmctld has saved.
const KILLS_PER_JOB: u32 = 5;

/// Kills drawn from a seed.
#[derive(Clone, Debug)]
pub struct Kills {
    /// Slurm's release.
    pub release: Release,
    /// Number of kills.
    pub count: u32,
    /// Seed of the random moments and jobs.
    pub seed: u64,
}

/// User and account of a job that runs through all kills, alone in the account: the expected charge
/// is known to the second.
const LONG: (&str, &str) = ("eve", "lower");
/// User and account of the jobs that end.
const SHORT_ONES: (&str, &str) = ("ann", "left");

/// Account and sleep time (seconds) of each job, by job id.
type Jobs = BTreeMap<u32, (&'static str, i64)>;

impl Kills {
    /// Kills slurmctld repeatedly, in every phase, while one job runs all the time and others end
    /// before the kill, while slurmctld is down, or after it.
    ///
    /// # Errors
    /// Fails if usage is lost or charged twice, with the moment; if slurmctld does not start; and
    /// if the cluster fails.
    pub fn run(&self, progress: &Progress) -> Result<()> {
        progress.print(format!(
            "{} kills; again: cargo testbed kills --slurm {} --count {} --seed {}",
            self.count, self.release, self.count, self.seed
        ));
        let clusters = CLUSTERS.min(self.count.div_ceil(10)).max(1);
        let each = |number: u32| Kills {
            // The first clusters take the remainder.
            count: self.count / clusters + u32::from(number < self.count % clusters),
            seed: self.seed.wrapping_mul(u64::from(CLUSTERS)) + u64::from(number),
            release: self.release.clone(),
        };
        // Set when one has failed: the others can stop.
        let failed = AtomicBool::new(false);
        thread::scope(|scope| {
            let failed = &failed;
            let one = |number: u32| {
                let result = each(number).of_one(number % 2 == 1, failed, progress);
                result.inspect_err(|_| failed.store(true, Ordering::Relaxed))
            };
            let running: Vec<_> = (0..clusters)
                .map(|number| scope.spawn(move || one(number)))
                .collect();
            let ended = running.into_iter().map(|one| {
                one.join()
                    .unwrap_or_else(|_| Err(anyhow!("kills panicked")))
            });
            ended
                .collect::<Vec<Result<()>>>()
                .into_iter()
                .collect::<Result<()>>()
        })
    }

    /// Runs in one cluster until others have `failed`. `in_window`: usage comes from a window.
    fn of_one(&self, in_window: bool, failed: &AtomicBool, progress: &Progress) -> Result<()> {
        let mut plan = fixture::plan(&self.release, PriorityType::Fairtree);
        // If a job ends while slurmctld is down, slurmctld may notice it late: until then the job
        // keeps its CPUs.
        plan.nodes.cpus = 100;
        plan.partitions[0].max_time = "UNLIMITED";
        for (key, value) in [
            // Keep all jobs, to read their times at the end.
            ("MinJobAge", "4000000000"),
            // Otherwise slurmctld would mark its nodes as not responding when its clock steps.
            ("SlurmdTimeout", "0"),
            ("PriorityUsageResetPeriod", "DAILY"),
        ] {
            plan.settings.retain(|(known, _)| *known != key);
            plan.settings.push((key, value.to_owned()));
        }
        if in_window {
            let parameters = format!("calc_period={PERIOD},{WINDOW}");
            plan.settings
                .retain(|(known, _)| *known != "PriorityParameters");
            plan.settings.push(("PriorityParameters", parameters));
        }
        let mut cluster = Cluster::start(&plan, progress)?;
        cluster.stop_slurmctld()?;
        cluster.give_slow_disk()?;
        cluster.set_slurmctld_variable("TZ", Some("UTC"));
        let mut clock = Clock::new(&cluster)?;
        cluster.start_slurmctld()?;
        let killed = self.kill_all(&mut cluster, &mut clock, in_window, failed, progress);
        killed.with_context(|| {
            let jobs = cluster.run(&["scontrol", "--oneliner", "show", "job"]);
            let jobs = jobs.unwrap_or_else(|error| format!("{error:#}"));
            let part = format!("seed-{}", self.seed);
            match save_logs(&cluster, "kills", &part) {
                Ok(folder) => format!("the daemons' logs are in {folder}; the jobs:\n{jobs}"),
                Err(error) => format!("the daemons' logs could not be saved ({error:#})"),
            }
        })
    }

    fn kill_all(
        &self,
        cluster: &mut Cluster,
        clock: &mut Clock,
        in_window: bool,
        failed: &AtomicBool,
        progress: &Progress,
    ) -> Result<()> {
        let mut draw = Draw::new(self.seed);
        let mut jobs = Jobs::new();
        start(cluster, &mut jobs, LONG, 2, 10_000_000)?;
        for kill in 0..self.count {
            interrupt::check()?;
            if failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            if kill % KILLS_PER_JOB == 0 {
                let cpus = u32::try_from(draw.between(1, 4))?;
                start(cluster, &mut jobs, SHORT_ONES, cpus, draw.between(1, 15))?;
                // If it was killed before, it would not know that the job has started.
                fixture::jobs_are_saved(cluster)?;
            }
            let phase = Phase::ALL[usize::try_from(kill)? % Phase::ALL.len()];
            let when = phase::kill(cluster, phase, clock, &mut draw)
                .with_context(|| format!("kill {kill} of seed {}, {phase:?}", self.seed))?;
            if let (true, Phase::Reset, Some((cleared, _))) = (in_window, phase, &mut clock.cleared)
            {
                // Running jobs count from zero after the pass that empties the window.
                *cleared = fixture::last_pass(cluster);
            }
            clock.next_pass(cluster)?;
            let model = if in_window { "in a window, " } else { "" };
            let when = format!("kill {kill} of seed {}, {model}{when}", self.seed);
            check(cluster, &jobs, clock, &when, progress)?;
            clock.noon_again(cluster)?;
        }
        for id in jobs.keys() {
            // Also jobs whose end slurmctld has not noticed.
            cluster.run(&["scancel", &id.to_string()])?;
            fixture::over(cluster, *id)?;
        }
        clock.next_pass(cluster)?;
        let when = format!("after {} kills of seed {}", self.count, self.seed);
        check(cluster, &jobs, clock, &when, progress)
    }
}

fn check(
    cluster: &Cluster,
    jobs: &Jobs,
    clock: &Clock,
    when: &str,
    progress: &Progress,
) -> Result<()> {
    for (_, name) in [LONG, SHORT_ONES] {
        let account = Account::of(cluster, jobs, clock, name)?;
        progress.step(format!("{when}: {account}"));
        account.check().with_context(|| when.to_owned())?;
    }
    Ok(())
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
        // Without a time limit, scontrol shows no end that is ahead of its own clock.
        options: vec!["--time=5000000".to_owned(), "--no-requeue".to_owned()],
        ..job(user, account, u32::try_from(secs)?)
    };
    let id = cluster.submit(&new)?;
    fixture::started(cluster, id)?;
    jobs.insert(id, (account, secs));
    Ok(())
}

/// An account's charge, and its allowed range, TRES-seconds.
#[derive(Clone, Copy, Debug)]
struct Account {
    name: &'static str,
    charged: i64,
    least: i64,
    most: i64,
    /// CPUs of jobs that run according to slurmctld.
    running: i64,
}

impl Account {
    fn of(cluster: &Cluster, jobs: &Jobs, clock: &Clock, name: &'static str) -> Result<Account> {
        let passed = fixture::last_pass(cluster);
        let (charged, table) = at_one_moment(cluster, name)?;
        let now = clock.now()?;
        // Usage before the reset does not count; usage since the pass before it may count.
        let (cleared, before) = clock.cleared.unwrap_or_default();
        let (mut least, mut most, mut running) = (0, 0, 0);
        for row in table.rows() {
            let Some((_, length)) = jobs.get(&row.get("JobId")?).filter(|job| job.0 == name) else {
                continue;
            };
            let (cpus, start, end) = times(row)?;
            most += cpus * (end.unwrap_or(now) - start.max(before)).max(0);
            running += end.map_or(cpus, |_| 0);
            // slurmctld notices an end late if it was down then, and may later get a different end
            // time.
            let end = end.unwrap_or(passed).min(start + length);
            least += cpus * (end - start.max(cleared)).max(0);
        }
        Ok(Account {
            name,
            charged,
            least,
            most,
            running,
        })
    }

    /// Fails if something is charged twice, or if more than one period is not charged yet.
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

/// The charge of an account, and the jobs. No job ends between the two answers: otherwise its last
/// usage could appear in only one of them.
fn at_one_moment(cluster: &Cluster, account: &str) -> Result<(i64, Table)> {
    wait::until("no job ends between two answers", DEADLINE, || {
        let before = cluster.show("job")?;
        let usage = cluster.sshare("Account,RawUsage")?;
        let table = cluster.show("job")?;
        let charged = usage.find("Account", account)?.get("RawUsage")?;
        Ok((states(&before)? == states(&table)?).then_some((charged, table)))
    })
}

fn states(table: &Table) -> Result<Vec<(String, String)>> {
    let of = |row: &Row| -> Result<(String, String)> {
        let (id, state) = (row.text("JobId")?, row.text("JobState")?);
        Ok((id.to_owned(), state.to_owned()))
    };
    table.rows().iter().map(of).collect()
}

/// CPUs, start, and the end if the job has ended.
fn times(row: &Row) -> Result<(i64, i64, Option<i64>)> {
    let runs = row.text("JobState")? == "RUNNING";
    let end = (!runs).then(|| row.get("EndTime")).transpose();
    let end = end.with_context(|| format!("{row:?}"))?;
    Ok((row.get("NumCPUs")?, row.get("StartTime")?, end))
}
