//! A job as far as its use of resources is concerned, and the period it is charged for.

use crate::priority::TimeLimit;

/// Slurm's base state of a job, as far as usage cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Waiting, or requeued.
    Pending,
    /// Running.
    #[default]
    Running,
    /// Suspended: it keeps what it was allocated.
    Suspended,
    /// Any final state.
    Finished,
}

/// State of a job: base state and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunState {
    /// Base state.
    pub phase: Phase,
    /// `COMPLETING`: ended or requeued, its nodes are being cleaned.
    pub completing: bool,
    /// `RESIZING`: between the end of the old size and the begin of the new one.
    pub resizing: bool,
    /// `POWER_UP_NODE`: allocated, waiting for its nodes to start.
    pub powering_up: bool,
}

impl RunState {
    /// True when the job (or this size of it) is over.
    pub fn is_ending(self) -> bool {
        self.phase == Phase::Finished || self.completing || self.resizing
    }
}

/// A job as far as its use of resources is concerned. Times are seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// State now.
    pub state: RunState,
    /// When it started; 0: it has not.
    pub start_time: i64,
    /// When it ended, or, as long as it has not, when it should end; 0: not known.
    pub end_time: i64,
    /// When it should end; `None`: its end has been charged.
    pub end_time_exp: Option<i64>,
    /// Time limit.
    pub time_limit: TimeLimit,
    /// Billing TRES per second (see [`crate::usage::billable_tres`]).
    pub billable_tres: f64,
    /// `UsageFactor` of the job's QOS, from 0 up; 1 without QOS. Negative (unset) or NaN: 1.
    pub usage_factor: f64,
    /// Documented: use before this moment was charged although no pass has run since: the
    /// moment of the last resize whose end was charged. `None`: no such resize.
    ///
    /// slurmctld stores a resize's time before it reports the end of the old size, so for that
    /// end the host has to remember the resize before.
    pub charged_until: Option<i64>,
    /// Documented: the last pass that charged the run, where that is not the last of all: after
    /// the clock stepped back, runs that began since are charged by passes behind the last one.
    /// The run's start if no pass has charged it. `None`: that of the [`Period`].
    pub passed: Option<i64>,
    /// Documented: since the last pass the whole time limit was added to the run seconds again,
    /// as happens after a resize.
    pub run_secs_renewed: bool,
}

impl Run {
    /// The usage factor, made sound: 1 where none is set.
    pub(crate) fn factor(&self) -> f64 {
        if self.usage_factor >= 0.0 {
            self.usage_factor
        } else {
            1.0
        }
    }

    /// The time limit in seconds, as slurmctld multiplies it: "unlimited" and "unset" are the
    /// two largest numbers of minutes.
    pub(super) fn limit_secs(&self) -> u64 {
        let minutes = match self.time_limit {
            TimeLimit::Unset => u32::MAX - 1,
            TimeLimit::Unlimited => u32::MAX,
            TimeLimit::Minutes(minutes) => minutes,
        };
        u64::from(minutes) * 60
    }

    /// Run seconds used up to `until`, counted as slurmctld counts the whole time limit at the
    /// start of the job: multiplied by the usage factor, then truncated.
    pub(super) fn run_secs_until(&self, until: i64) -> u64 {
        let secs = u64::try_from(until.saturating_sub(self.start_time)).unwrap_or(0);
        scaled(secs.min(self.limit_secs()), self.factor())
    }

    /// True when backfill plays the end of a job through that never ran, to see whether limits
    /// would let it start. It looks like a run of no length; but a real one, however early it
    /// ended, was expected to end with its time limit.
    pub(crate) fn is_rehearsal(&self) -> bool {
        let limit_ends = i64::try_from(self.limit_secs())
            .map_or(i64::MAX, |limit| self.start_time.saturating_add(limit));
        self.state.phase == Phase::Finished
            && self.end_time == self.start_time
            && self.end_time_exp.is_some_and(|end| end < limit_ends)
    }

    pub(super) fn run_secs_in_all(&self) -> u64 {
        scaled(self.limit_secs(), self.factor())
    }
}

/// `secs * factor` in `f64`, truncated; saturates.
pub(super) fn scaled(secs: u64, factor: f64) -> u64 {
    (secs as f64 * factor) as u64
}

/// The time that a charge is about, seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The last pass; `None`: there was none.
    pub last_ran: Option<i64>,
    /// Now.
    pub now: i64,
    /// The moment that the usage which is charged is worth its number
    /// (see [`crate::usage::Decay::weight`]); Slurm's formulas do not look at it.
    pub valued_at: i64,
}

impl Period {
    /// A pass at `now`: all usage has decayed up to `now`, or up to the last pass where the clock
    /// is behind that.
    pub fn pass(last_ran: Option<i64>, now: i64) -> Period {
        Period {
            last_ran,
            now,
            valued_at: last_ran.map_or(now, |last_ran| last_ran.max(now)),
        }
    }

    /// A charge between two passes, at `now`: usage is still worth what it was at `last_ran`.
    pub fn between_passes(last_ran: Option<i64>, now: i64) -> Period {
        Period {
            last_ran,
            now,
            valued_at: last_ran.unwrap_or(now),
        }
    }
}
