//! The activity of slurmctld when it is killed.

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
/// The clock is set to this many seconds before midnight for a reset.
const BEFORE_MIDNIGHT: i64 = 5;
/// Time of a sync when a kill must hit a save.
const SYNC: Duration = Duration::from_millis(500);

/// An activity of slurmctld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A pass is due or running.
    Pass,
    /// Usage of a pass is being written.
    Save,
    /// It reads slurm.conf again.
    Reconfigure,
    /// Usage is cleared at the start of a day.
    Reset,
    /// It is shutting down.
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
    /// Time of the last reset of usage (a midnight, or the pass that cleared it), and the earliest
    /// start of what was charged then: the time of the pass before.
    pub cleared: Option<(i64, i64)>,
}

impl Clock {
    /// Creates a clock that shows noon.
    pub fn new(cluster: &Cluster) -> Result<Clock> {
        let mut clock = Clock {
            ahead: 0,
            cleared: None,
        };
        clock.set(cluster, DAY / 2)?;
        Ok(clock)
    }

    /// The time of the clock, seconds since 1970.
    pub fn now(&self) -> Result<i64> {
        Ok(fixture::now()? + self.ahead)
    }

    /// Sets it to a second of the day, today or tomorrow; never back.
    fn set(&mut self, cluster: &Cluster, of_day: i64) -> Result<()> {
        self.ahead += (of_day - self.now()?).rem_euclid(DAY);
        cluster.set_clock_ahead(self.ahead)
    }

    /// Waits for a whole pass that begins after this call.
    pub fn next_pass(&self, cluster: &Cluster) -> Result<()> {
        fixture::pass_after(cluster, self.now()?)
    }

    /// Sets the clock to noon again if midnight is near.
    pub fn noon_again(&mut self, cluster: &Cluster) -> Result<()> {
        if (self.now()?.rem_euclid(DAY) - DAY / 2).abs() > DAY / 4 {
            self.set(cluster, DAY / 2)?;
            self.next_pass(cluster)?;
        }
        Ok(())
    }
}

/// Kills slurmctld in a phase, and starts it again. Returns a description of the moment.
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

/// Sleeps some milliseconds, and returns how many.
fn pause(draw: &mut Draw, least: i64, most: i64) -> Result<i64> {
    let moment = draw.between(least, most);
    sleep(Duration::from_millis(u64::try_from(moment)?));
    Ok(moment)
}
