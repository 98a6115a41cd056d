//! What slurmctld is about when it is killed.

use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use crate::checks::fixture::{self, DEADLINE, PERIOD};
use crate::cluster::Cluster;
use crate::twin::Draw;
use crate::wait;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Seconds before midnight at which the clock is put for a reset.
const BEFORE_MIDNIGHT: i64 = 5;
/// How long a sync takes while saves are to be met.
const SYNC: Duration = Duration::from_millis(500);

/// What slurmctld is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A pass is due or under way.
    Pass,
    /// Usage of a pass is being written.
    Save,
    /// It reads slurm.conf anew.
    Reconfigure,
    /// Usage is cleared, as a day begins.
    Reset,
    /// It was told to end.
    Shutdown,
    /// It starts.
    Start,
    /// It runs, and has not dumped usage since its start: it does so every five minutes.
    FirstMinutes,
}

impl Phase {
    /// All of them.
    pub const ALL: [Phase; 7] = [
        Phase::Pass,
        Phase::Save,
        Phase::Reconfigure,
        Phase::Reset,
        Phase::Shutdown,
        Phase::Start,
        Phase::FirstMinutes,
    ];
}

/// The clock of a slurmctld that resets usage at midnight, UTC.
#[derive(Debug)]
pub struct Clock {
    ahead: i64,
    /// Usage was cleared at this midnight, or with the pass of this time, and what was charged then
    /// began at that time at the earliest: at the pass before.
    pub cleared: Option<(i64, i64)>,
}

impl Clock {
    /// It is noon.
    pub fn new(cluster: &Cluster) -> Result<Clock> {
        let mut clock = Clock {
            ahead: 0,
            cleared: None,
        };
        clock.set(cluster, DAY / 2)?;
        Ok(clock)
    }

    /// The time that it shows, seconds since 1970.
    pub fn now(&self) -> Result<i64> {
        Ok(fixture::now()? + self.ahead)
    }

    /// Puts it to a second of the day, today or tomorrow; never back.
    fn set(&mut self, cluster: &Cluster, of_day: i64) -> Result<()> {
        self.ahead += (of_day - self.now()?).rem_euclid(DAY);
        cluster.set_clock_ahead(self.ahead)
    }

    /// Waits until a pass has begun and ended after this call.
    pub fn next_pass(&self, cluster: &Cluster) -> Result<()> {
        fixture::pass_after(cluster, self.now()?)
    }

    /// Noon again, where midnight is near.
    pub fn noon_again(&mut self, cluster: &Cluster) -> Result<()> {
        if (self.now()?.rem_euclid(DAY) - DAY / 2).abs() > DAY / 4 {
            self.set(cluster, DAY / 2)?;
            self.next_pass(cluster)?;
        }
        Ok(())
    }
}

/// Kills slurmctld in a phase, and starts it again. Says when it was.
pub fn kill(
    cluster: &mut Cluster,
    phase: Phase,
    clock: &mut Clock,
    draw: &mut Draw,
) -> Result<String> {
    let (moment, asked) = match phase {
        Phase::Pass => {
            clock.next_pass(cluster)?;
            let around = i64::from(PERIOD) * 1000;
            (pause(draw, around - 150, around + 150)?, None)
        }
        Phase::Save => {
            cluster.slow_disk_down(SYNC)?;
            let file = cluster.state_file("priority_fairtree_state.new");
            wait::until_true("usage is saved", DEADLINE, || Ok(file.exists()))?;
            (pause(draw, 0, 2000)?, None)
        }
        Phase::Reconfigure => {
            let asked = cluster.begin(&["scontrol", "reconfigure"])?;
            (pause(draw, 0, 600)?, Some(asked))
        }
        Phase::Reset => {
            clock.set(cluster, DAY - BEFORE_MIDNIGHT)?;
            clock.next_pass(cluster)?;
            let before = fixture::last_pass(cluster);
            let midnight = before - before.rem_euclid(DAY) + DAY;
            clock.cleared = Some((midnight, before));
            (pause(draw, 0, 5000)?, None)
        }
        Phase::Shutdown => {
            cluster.slow_disk_down(SYNC / 2)?;
            let asked = cluster.begin(&["scontrol", "shutdown", "slurmctld"])?;
            (pause(draw, 0, 1500)?, Some(asked))
        }
        Phase::Start => {
            cluster.kill_slurmctld()?;
            cluster.launch_slurmctld()?;
            (pause(draw, 0, 1200)?, None)
        }
        Phase::FirstMinutes => (pause(draw, 0, 4000)?, None),
    };
    cluster.kill_slurmctld()?;
    cluster.slow_disk_down(Duration::ZERO)?;
    cluster.start_slurmctld()?;
    asked.map(|mut asked: Child| asked.wait()).transpose()?;
    if phase == Phase::Reset {
        let (midnight, _) = clock.cleared.unwrap_or_default();
        fixture::pass_after(cluster, midnight)?;
    }
    Ok(format!("{phase:?}, {moment} ms"))
}

/// Lets some milliseconds pass, and says how many.
fn pause(draw: &mut Draw, least: i64, most: i64) -> Result<i64> {
    let moment = draw.between(least, most);
    sleep(Duration::from_millis(u64::try_from(moment)?));
    Ok(moment)
}
