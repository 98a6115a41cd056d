//! slurmctld killed at random moments, in private clusters.
//!
//! Usage does not decay there and is cleared at midnight, so what must have been charged follows
//! from the times that slurmctld gives for its jobs: CPUs times seconds, no more, and no less but
//! for one period. In every other cluster usage is that of a window which nothing leaves meanwhile.

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

/// How many clusters run at a time: they mostly wait.
const CLUSTERS: u32 = 4;

/// A window that is longer than the clock is ever ahead.
const WINDOW: &str = "usage=window:1000-0";

/// How many kills there are between two jobs that slurmctld has written down.
const KILLS_PER_JOB: u32 = 5;

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
    /// Kills slurmctld again and again, in every phase, under a job that runs on and others that
    /// end, before the kill, while there is no slurmctld, or after it.
    ///
    /// # Errors
    /// Usage that is lost or charged twice, with the moment; a slurmctld that does not start; and
    /// whatever a cluster fails with.
    pub fn run(&self, progress: &Progress) -> Result<()> {
        progress.print(format!(
            "{} kills; again: cargo testbed kills --slurm {} --count {} --seed {}",
            self.count, self.release, self.count, self.seed
        ));
        let clusters = CLUSTERS.min(self.count.div_ceil(10)).max(1);
        let each = |number: u32| Kills {
            // The first ones take what remains.
            count: self.count / clusters + u32::from(number < self.count % clusters),
            seed: self.seed.wrapping_mul(u64::from(CLUSTERS)) + u64::from(number),
            release: self.release.clone(),
        };
        // One has failed: the others need not go on.
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

    /// In one cluster, until others have `failed`. `in_window`: usage is that of a window.
    fn of_one(&self, in_window: bool, failed: &AtomicBool, progress: &Progress) -> Result<()> {
        let mut plan = fixture::plan(&self.release, PriorityType::Fairtree);
        // Of a job that ended while there was no slurmctld it may learn late: until then the job
        // keeps its CPUs.
        plan.nodes.cpus = 100;
        plan.partitions[0].max_time = "UNLIMITED";
        for (key, value) in [
            // So that the times of all jobs can be asked for at the end.
            ("MinJobAge", "4000000000"),
            // Or slurmctld would believe that its nodes have not answered while its clock is stepped.
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
                // Killed before, it would not know of the job's start.
                fixture::jobs_are_saved(cluster)?;
            }
            let phase = Phase::ALL[usize::try_from(kill)? % Phase::ALL.len()];
            let when = phase::kill(cluster, phase, clock, &mut draw)
                .with_context(|| format!("kill {kill} of seed {}, {phase:?}", self.seed))?;
            if let (true, Phase::Reset, Some((cleared, _))) = (in_window, phase, &mut clock.cleared)
            {
                // What runs begins anew with the pass that empties the window.
                *cleared = fixture::last_pass(cluster);
            }
            clock.next_pass(cluster)?;
            let model = if in_window { "in a window, " } else { "" };
            let when = format!("kill {kill} of seed {}, {model}{when}", self.seed);
            check(cluster, &jobs, clock, &when, progress)?;
            clock.noon_again(cluster)?;
        }
        for id in jobs.keys() {
            // Also those that slurmctld has not heard of.
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
        // Of a job without limit scontrol tells no end that is ahead of its own clock.
        options: vec!["--time=5000000".to_owned(), "--no-requeue".to_owned()],
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
    fn of(cluster: &Cluster, jobs: &Jobs, clock: &Clock, name: &'static str) -> Result<Account> {
        let passed = fixture::last_pass(cluster);
        let (charged, table) = at_one_moment(cluster, name)?;
        let now = clock.now()?;
        // What was used before usage was cleared does not count; of the pass before that some may.
        let (cleared, before) = clock.cleared.unwrap_or_default();
        let (mut least, mut most, mut running) = (0, 0, 0);
        for row in table.rows() {
            let Some((_, length)) = jobs.get(&row.get("JobId")?).filter(|job| job.0 == name) else {
                continue;
            };
            let (cpus, start, end) = times(row)?;
            most += cpus * (end.unwrap_or(now) - start.max(before)).max(0);
            running += end.map_or(cpus, |_| 0);
            // Of an end while it was not there slurmctld learns late, and may be told another time.
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

/// What an account is charged, and the jobs. No job has ended between the two answers: what it used last
/// could stand in one alone.
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

/// CPUs, start, and end if it has ended.
fn times(row: &Row) -> Result<(i64, i64, Option<i64>)> {
    let runs = row.text("JobState")? == "RUNNING";
    let end = (!runs).then(|| row.get("EndTime")).transpose();
    let end = end.with_context(|| format!("{row:?}"))?;
    Ok((row.get("NumCPUs")?, row.get("StartTime")?, end))
}
