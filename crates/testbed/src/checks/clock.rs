//! slurmctld's clock steps back and forward by days: no second is charged twice, and none is lost.

use std::fs;
use std::time::SystemTime;

use anyhow::{Result, ensure};

use super::Check;
use super::fixture::{self, DEADLINE};
use super::steady::Steady;
use crate::cluster::Cluster;
use crate::cluster::conf::PriorityType;
use crate::wait;

const DAYS: i64 = 2 * 86_400;

/// Steps back and to the correct time; then forward, back from there, a crash, and forward again.
pub fn steps(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.partitions[0].max_time = "UNLIMITED";
    // Otherwise slurmctld would believe that its nodes have not answered for days.
    plan.settings.push(("SlurmdTimeout", "0".to_owned()));
    check.in_cluster(&plan, |cluster| {
        cluster.stop_slurmctld()?;
        cluster.give_clock()?;
        cluster.start_slurmctld()?;
        let steady = Steady::start(cluster)?;
        let before = cluster.slurmctld_log()?.len();
        let stepped = Stepped {
            steady: &steady,
            before,
        };

        check.step("days back");
        cluster.set_clock_ahead(-DAYS)?;
        stepped.nothing_is_charged(cluster, 1)?;
        check.step("and to where it was");
        stepped.time_is_charged(cluster, 0)?;
        check.step("days forth");
        stepped.time_is_charged(cluster, DAYS)?;
        check.step("and back");
        cluster.set_clock_ahead(0)?;
        stepped.nothing_is_charged(cluster, 2)?;
        check.step("a crash then");
        cluster.kill_slurmctld()?;
        cluster.start_slurmctld()?;
        // One slurmctld reports it, and the next one does, too.
        stepped.nothing_is_charged(cluster, 3)?;
        check.step("days forth again");
        stepped.time_is_charged(cluster, DAYS)?;
        stepped.told(cluster, 3)
    })
}

struct Stepped<'a> {
    steady: &'a Steady,
    /// Bytes of the log before the first step.
    before: usize,
}

impl Stepped<'_> {
    /// The clock has stepped back: passes continue, and the charged usage stays exact to the
    /// second.
    fn nothing_is_charged(&self, cluster: &Cluster, told: usize) -> Result<()> {
        wait::until_true("the clock is told of", DEADLINE, || {
            Ok(self.lines(cluster)?.len() >= told)
        })?;
        passes(cluster, 2)?;
        let charged = self.steady.charged(cluster)?;
        passes(cluster, 2)?;
        let later = self.steady.charged(cluster)?;
        ensure!(
            charged == later,
            "charged while the clock is behind: {charged} became {later}"
        );
        // Neither lost nor charged twice: everything up to the last pass is charged.
        let most = self.steady.until(fixture::last_pass(cluster));
        ensure!(charged == most, "charged {charged}, not {most}");
        self.told(cluster, told)?;
        fixture::ensure_numbers(cluster)
    }

    /// The clock is `ahead` seconds ahead: every second that it has shown is charged once.
    fn time_is_charged(&self, cluster: &Cluster, ahead: i64) -> Result<()> {
        cluster.set_clock_ahead(ahead)?;
        let stepped = fixture::now()? + ahead;
        fixture::pass_after(cluster, stepped)?;
        let now = || Ok(fixture::now()? + ahead);
        let when = format!("the clock is {ahead} s ahead");
        self.steady.ensure_charged(cluster, now, &when)
    }

    fn told(&self, cluster: &Cluster, times: usize) -> Result<()> {
        let lines = self.lines(cluster)?;
        let clear = lines.iter().all(|line| line.contains("the clock is "));
        ensure!(
            clear && lines.len() == times,
            "not {times} lines about the clock: {lines:#?}"
        );
        Ok(())
    }

    /// Errors of our plugin since the first step.
    fn lines(&self, cluster: &Cluster) -> Result<Vec<String>> {
        let log = cluster.slurmctld_log()?;
        let new = log.get(self.before..).unwrap_or_default();
        let ours = |line: &&str| line.contains("error:") && line.contains("priority/fairtree: ");
        Ok(new.lines().filter(ours).map(str::to_owned).collect())
    }
}

/// Waits until `count` passes have ended: each writes its file at any clock time.
fn passes(cluster: &Cluster, count: u32) -> Result<()> {
    let file = cluster.state_file("priority_last_decay_ran");
    let written = || -> Option<SystemTime> { fs::metadata(&file).ok()?.modified().ok() };
    for _ in 0..count {
        let before = written();
        wait::until_true("the next pass", DEADLINE, || Ok(written() > before))?;
    }
    Ok(())
}
