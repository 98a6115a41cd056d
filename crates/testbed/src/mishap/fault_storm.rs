//! `cargo testbed faults`: everything that slurmctld depends on fails at random, several things at
//! once: its disk is slow or bad, its clock steps, its memory is short, slurmdbd is down, it is
//! killed or stopped. After each round the faults end, and every second of a job that ran through
//! all of it must be charged exactly once.

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;

use crate::checks::fixture::{self, job};
use crate::checks::steady::Steady;
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::harness::{self, Bed};
use crate::twin::Draw;
use xtask::command::checked;
use xtask::interrupt;
use xtask::progress::Progress;
use xtask::release::Release;

/// The length of the storm of `make test-all`.
const LENGTH: Duration = Duration::from_secs(60);

/// Faults drawn from a seed.
#[derive(Clone, Debug)]
pub struct FaultStorm {
    /// Slurm's release.
    pub release: Release,
    /// Duration.
    pub length: Duration,
    /// Seed of the random faults.
    pub seed: u64,
}

/// The faults of a round.
#[derive(Clone, Debug, Default)]
struct Round {
    /// Extra time of a sync.
    sync: Duration,
    /// Failing disk calls per thousand.
    bad: i64,
    /// Step of the clock back for a while, seconds.
    back: i64,
    /// Step of the clock forward after that, seconds.
    forth: i64,
    /// slurmdbd is down.
    without_slurmdbd: bool,
    /// slurmctld gets no more memory.
    without_memory: bool,
    /// The way in which slurmctld ends.
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Kill,
    Shutdown,
}

impl Round {
    fn draw(draw: &mut Draw) -> Result<Round> {
        let mut round = Round::default();
        if draw.chance(50) {
            let millis = draw.one_of(&[100, 1000, 8000]);
            round.sync = Duration::from_millis(millis);
        }
        if draw.chance(40) {
            round.bad = draw.between(50, 500);
        }
        if draw.chance(40) {
            (round.back, round.forth) = (draw.between(0, 5000), draw.between(0, 1000));
        }
        round.without_slurmdbd = draw.chance(25);
        round.without_memory = draw.chance(25);
        if draw.chance(60) {
            round.end = Some(draw.one_of(&[End::Kill, End::Shutdown]));
        }
        Ok(round)
    }
}

/// The storm of `make test` as a test.
pub fn tests(bed: &'static Bed) -> Vec<Trial> {
    let storm = harness::test(bed, "a_storm_of_faults_loses_no_usage", |bed| {
        let storm = FaultStorm {
            release: bed.release.clone(),
            length: LENGTH,
            seed: bed.seed()?,
        };
        storm.run(&bed.progress)
    });
    vec![storm]
}

impl FaultStorm {
    /// Runs the storm in a cluster.
    ///
    /// # Errors
    /// Fails if usage is lost or charged twice, if slurmctld ends by itself although it has memory,
    /// or does not start, and if the cluster fails.
    pub fn run(&self, progress: &Progress) -> Result<()> {
        let secs = self.length.as_secs();
        progress.print(format!(
            "faults for {secs} s; again: cargo testbed faults --slurm {} --seconds {secs} --seed {}",
            self.release, self.seed
        ));
        let mut plan = fixture::plan(&self.release, PriorityType::Fairtree);
        plan.partitions[0].max_time = "UNLIMITED";
        // Otherwise slurmctld would mark its nodes as not responding when its clock steps.
        plan.settings.push(("SlurmdTimeout", "0".to_owned()));
        let mut cluster = Cluster::start(&plan, progress)?;
        cluster.stop_slurmctld()?;
        cluster.give_slow_disk()?;
        cluster.start_slurmctld()?;
        let steady = Steady::start(&cluster)?;
        let mut draw = Draw::new(self.seed);
        let (mut ahead, mut rounds, mut out_of_memory) = (0, 0, 0);
        let end = Instant::now() + self.length;
        while Instant::now() < end {
            interrupt::check()?;
            let round = Round::draw(&mut draw)?;
            rounds += 1;
            let when = format!("round {rounds} of seed {}: {round:?}", self.seed);
            progress.step(&when);
            let survived = suffer(&mut cluster, &round, &mut ahead, &mut draw)
                .and_then(|survived| calm(&mut cluster, ahead).map(|()| survived))
                .with_context(|| when.clone())?;
            out_of_memory += usize::from(!survived);
            let now = || Ok(fixture::now()? + ahead);
            steady.ensure_charged(&cluster, now, &when)?;
        }
        progress.print(format!(
            "{rounds} rounds; slurmctld ended {out_of_memory} times for want of memory"
        ));
        Ok(())
    }
}

/// Plays a round. Returns true if slurmctld ended as requested, or not at all; false if it ended
/// for lack of memory.
fn suffer(cluster: &mut Cluster, round: &Round, ahead: &mut i64, draw: &mut Draw) -> Result<bool> {
    cluster.slow_disk_down(round.sync)?;
    cluster.fail_disk_at_random(round.bad)?;
    if round.without_slurmdbd {
        cluster.stop_slurmdbd()?;
    }
    cluster.set_clock_ahead(*ahead - round.back)?;
    if round.without_memory {
        limit_memory(cluster, draw)?;
    }
    let end = Instant::now() + Duration::from_millis(u64::try_from(draw.between(500, 5000))?);
    while Instant::now() < end {
        // Slurm may refuse the job now.
        let _ = cluster.submit(&job("ann", "left", 1));
        let _ = cluster.run(&["squeue"]);
        sleep(Duration::from_millis(100));
    }
    *ahead += round.forth;
    cluster.set_clock_ahead(*ahead)?;
    let survived = !cluster.slurmctld_has_ended()?;
    ensure!(
        survived || round.without_memory,
        "slurmctld has ended by itself"
    );
    if survived {
        match round.end {
            Some(End::Kill) => cluster.kill_slurmctld()?,
            // Give it memory for the shutdown.
            Some(End::Shutdown) => {
                set_memory(cluster, "unlimited")?;
                cluster.stop_slurmctld()?;
            }
            None => set_memory(cluster, "unlimited")?,
        }
    }
    Ok(survived)
}

/// Ends all faults.
fn calm(cluster: &mut Cluster, ahead: i64) -> Result<()> {
    cluster.slow_disk_down(Duration::ZERO)?;
    cluster.fail_disk_at_random(0)?;
    if cluster.pid("slurmdbd").is_err() {
        cluster.start_slurmdbd_again()?;
    }
    if cluster.slurmctld_has_ended()? {
        cluster.start_slurmctld()?;
    }
    // Passes are due again after the clock has passed the time of the last one.
    fixture::pass_after(cluster, fixture::now()? + ahead)
}

/// Limits slurmctld's memory to a little more than it has.
fn limit_memory(cluster: &Cluster, draw: &mut Draw) -> Result<()> {
    let status = format!("/proc/{}/status", cluster.slurmctld_pid()?);
    let status = fs::read_to_string(status)?;
    let size = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))
        .and_then(|rest| rest.split_whitespace().next())
        .context("the size of slurmctld")?;
    let bytes = size.parse::<i64>()? * 1024 + draw.between(0, 4 << 20);
    set_memory(cluster, &bytes.to_string())
}

fn set_memory(cluster: &Cluster, most: &str) -> Result<()> {
    let mut command = Command::new("prlimit");
    command.arg(format!("--pid={}", cluster.slurmctld_pid()?));
    // Set only the soft limit, which can be raised again.
    checked(command.arg(format!("--as={most}:"))).map(drop)
}
