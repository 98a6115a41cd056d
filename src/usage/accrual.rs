//! The charge of one job for one period.
//!
//! A pass charges every running job for the time since the previous pass; the end of a job charges
//! the rest. Both are pure functions of a row of numbers.
//!
//! Usage is charged from the last pass (or the job's start) to now (or the job's end). The
//! *run seconds* are counted separately: when a job starts, slurmctld adds its whole time limit to
//! the counters of `GrpTRESRunMins` and similar limits, and each charge subtracts the used part,
//! so that the counter holds what running jobs may still use.
//!
//! | | documented | `compat=slurm` (priority/multifactor) |
//! |---|---|---|
//! | decay within the period | exact integral | as if all use came at its start |
//! | run seconds | telescoping: what is taken away over a job's life is exactly what was added | truncated per pass; a fractional `UsageFactor` leaves a remainder for ever |
//! | resize | the time before it is charged once; counters end at zero | charged again by the next pass; counters keep a remainder |
//! | negative billing (negative `TRESBillingWeights`) | usage 0: a running job never reduces usage | usage is subtracted |
//! | end of a job that never started (simulations of slurmctld) | nothing used, and all run seconds that its start added are taken | usage charged in 26.05; a pass between the planned start and the simulation leaves run seconds for ever |
//! | run seconds used before a restart | running and suspended jobs, at most the time limit | running jobs only, without bound |
//!
//! Suspended jobs accrue in both, as they keep memory and licenses; a job over its time limit
//! accrues usage but no run seconds. Source: slurm.conf(5), sacctmgr(1) (`UsageFactor`), and
//! `_apply_new_usage`, `_init_grp_used_tres_run_secs` of priority/multifactor.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::usage::quirks::Quirks;
use crate::usage::run::scaled;
use crate::usage::{Decay, Period, Phase, Run, RunState, Use};

/// Wall time and billable usage of one charge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// Seconds, times usage factor (for `grp_used_wall`).
    pub wall_secs: f64,
    /// Billing-TRES-seconds (raw usage).
    pub usage: f64,
}

impl Amounts {
    /// Of use that counts for `secs` seconds. Slurm multiplies in this order; only there can
    /// negative billing be a refund.
    pub(crate) fn of(secs: f64, used: &Use<'_>, quirks: Quirks) -> Amounts {
        let usage = secs * used.billing * used.factor;
        let refund = usage < 0.0 && !quirks.refunds;
        Amounts {
            wall_secs: secs * used.factor,
            usage: if refund { 0.0 } else { usage },
        }
    }

    /// Usage of a TRES of which the job has `alloc`: TRES-seconds.
    pub fn tres(&self, alloc: u64) -> Extended {
        let wall = Extended::from_f64(self.wall_secs).unwrap_or(Extended::ZERO);
        wall * Extended::from_u64(alloc)
    }
}

/// What one job is charged for one period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    /// Decayed: for associations, and QOS whose usage decays.
    pub decayed: Amounts,
    /// In full: for QOS with `NoDecay`.
    pub undecayed: Amounts,
    /// Seconds to take from the run seconds, times the allocated count of each TRES but energy
    /// (see [`Charge::tres_run_secs`]).
    pub run_secs: u64,
}

impl Charge {
    /// The amounts for a QOS with or without `NoDecay`.
    pub fn amounts(&self, no_decay: bool) -> Amounts {
        if no_decay {
            self.undecayed
        } else {
            self.decayed
        }
    }

    /// Run seconds of a TRES of which the job has `alloc`. Wraps like the addition at the
    /// start of the job, which slurmctld does in 64 bits.
    pub fn tres_run_secs(&self, alloc: u64) -> u64 {
        self.run_secs.wrapping_mul(alloc)
    }
}

/// Whether a pass charges a job in this state at all; the host adds "has an association".
///
/// Pending jobs never under documented; under Slurm with `CALCULATE_RUNNING`, where one with an
/// estimated start in the past adds wall time.
pub fn accrues(compat: Compat, calculate_running: bool, state: RunState, start_time: i64) -> bool {
    if state.phase == Phase::Finished || state.completing || state.powering_up || start_time == 0 {
        return false;
    }
    state.phase != Phase::Pending || (Quirks::of(compat).charges_pending && calculate_running)
}

/// What a job is charged for `period`; with `at_end`, for all that was not charged yet.
///
/// `None`: leave the job alone, its end was charged before, or (documented) it never started.
/// After a charge `at_end` the host marks the end as charged (`end_time_exp`). A period that
/// lies before the job or is empty charges no usage, but an end still settles the run seconds.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::priority::TimeLimit;
/// use fairtree::usage::{charge, Decay, Period, Run, RunState};
/// let run = Run {
///     state: RunState::default(),
///     start_time: 1_000,
///     end_time: 0,
///     end_time_exp: Some(1_000 + 3_600),
///     time_limit: TimeLimit::Minutes(60),
///     billable_tres: 8.0,
///     usage_factor: 0.5,
///     charged_until: None,
///     passed: None,
///     run_secs_renewed: false,
/// };
/// let never = Decay::new(0, Compat::Documented);
/// let charge = charge(&never, &run, &Period::pass(Some(900), 1_200), false).unwrap();
/// assert_eq!(charge.decayed.usage, 200.0 * 8.0 * 0.5);
/// assert_eq!(charge.tres_run_secs(8), 100 * 8);
/// ```
pub fn charge(decay: &Decay, run: &Run, period: &Period, at_end: bool) -> Option<Charge> {
    let compat = decay.compat();
    let due = due(compat, run, period, at_end)?;
    let secs = decay.weight(due.from, due.to, period.valued_at);
    let counted = Amounts::of(secs, &due.used(run, &[]), Quirks::of(compat));
    Some(due.charge(run, counted, compat))
}

/// The part of a job's life that is due to be charged, and what becomes of its run seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// From the last pass, or the job's start; seconds since 1970.
    pub from: i64,
    /// To now, or the job's end. Not after `from` where nothing is due but run seconds.
    pub to: i64,
    /// As in [`Charge::run_secs`].
    pub run_secs: u64,
}

impl Due {
    /// What was used, as usage models take it. `tres`: the allocated count of each TRES.
    pub fn used<'a>(&self, run: &Run, tres: &'a [u64]) -> Use<'a> {
        Use {
            run: None,
            from: self.from,
            to: self.to,
            billing: run.billable_tres,
            factor: run.factor(),
            tres,
        }
    }

    /// The charge, where use counts for `counted` by now.
    pub(crate) fn charge(&self, run: &Run, counted: Amounts, compat: Compat) -> Charge {
        let secs = self.to.saturating_sub(self.from).max(0) as f64;
        Charge {
            decayed: counted,
            undecayed: Amounts::of(secs, &self.used(run, &[]), Quirks::of(compat)),
            run_secs: self.run_secs,
        }
    }
}

/// Which part of a job's life is due; the first half of [`charge`], with the same `None`. It does
/// not look at [`Period::valued_at`].
pub fn due(compat: Compat, run: &Run, period: &Period, at_end: bool) -> Option<Due> {
    let end_time_exp = run.end_time_exp?;
    let mut to = period.now;
    // Of a job that goes on with another size it is the time when it should end.
    let has_ended = !run.state.resizing || Quirks::of(compat).ends_sizes_by_limit;
    if at_end && run.end_time != 0 && has_ended {
        to = to.min(run.end_time);
    }
    let passed = period.last_ran.unwrap_or(0).max(run.start_time);
    let (from, run_secs) = if Quirks::of(compat).truncates_per_pass {
        let secs = slurm_run_secs(run, passed, to, end_time_exp);
        (passed, scaled(secs, run.factor()))
    } else {
        if run.start_time <= 0 {
            return None;
        }
        let passed = run.passed.unwrap_or(passed).max(run.start_time);
        let from = passed.max(run.charged_until.unwrap_or(passed));
        (from, documented_run_secs(run, passed, to, at_end))
    };
    Some(Due { from, to, run_secs })
}

fn documented_run_secs(run: &Run, passed: i64, to: i64, at_end: bool) -> u64 {
    let taken = if run.run_secs_renewed || run.is_rehearsal() {
        0
    } else {
        run.run_secs_until(passed)
    };
    let due = if at_end || run.state.is_ending() {
        run.run_secs_in_all()
    } else {
        run.run_secs_until(to)
    };
    due.saturating_sub(taken)
}

/// Slurm's own rule, before the usage factor.
fn slurm_run_secs(run: &Run, from: i64, to: i64, end_time_exp: i64) -> u64 {
    // Times are compared unsigned there; none is negative in a real cluster.
    let limit_ends = (run.start_time as u64).wrapping_add(run.limit_secs());
    let start = from as u64;
    if start >= limit_ends {
        0
    } else if run.state.is_ending() {
        limit_ends - start
    } else if to > end_time_exp {
        // The difference is kept in a C int: what does not fit becomes negative, that is 0.
        let left = i32::try_from(end_time_exp.saturating_sub(from)).unwrap_or(0);
        u64::try_from(left).unwrap_or(0)
    } else {
        u64::try_from(to.saturating_sub(from)).unwrap_or(0)
    }
}

/// Run seconds that a job had used by the last pass before a restart.
///
/// After a restart (and after `scontrol reconfigure` of releases that keep the process)
/// slurmctld adds the whole time limit of every running and suspended job again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Consumed {
    /// Documented: seconds as they were added, truncated before the count multiplies them.
    Whole(u64),
    /// Slurm: seconds times usage factor, truncated after the count has multiplied them.
    Scaled(f64),
}

impl Consumed {
    /// Run seconds of a TRES of which the job has `alloc`.
    pub fn tres_run_secs(&self, alloc: u64) -> u64 {
        match *self {
            Consumed::Whole(secs) => secs.wrapping_mul(alloc),
            Consumed::Scaled(secs) => (alloc as f64 * secs) as u64,
        }
    }
}

/// What to take from the run seconds at start-up for a job; `None`: nothing.
///
/// `last_ran`: the last pass before the restart; `None`: not known.
pub fn consumed_at_start(compat: Compat, run: &Run, last_ran: Option<i64>) -> Option<Consumed> {
    run.end_time_exp?;
    if Quirks::of(compat).scales_consumed {
        let last_ran = last_ran.unwrap_or(0);
        if run.state.phase != Phase::Running || run.start_time > last_ran {
            return None;
        }
        let secs = last_ran.saturating_sub(run.start_time) as f64;
        return Some(Consumed::Scaled(run.factor() * secs));
    }
    let counted = matches!(run.state.phase, Phase::Running | Phase::Suspended);
    let secs = run.run_secs_until(run.passed.or(last_ran)?);
    (counted && run.start_time > 0 && secs > 0).then_some(Consumed::Whole(secs))
}

#[cfg(test)]
mod tests;
