//! A row of slurmctld as the engine's run, and a charge as the shim's row.

use crate::slurm::ledger::seen::{RunEnd, SeenRun, ran_secs};
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::shared::plugin::Shared;
use crate::usage::{Charge, EndState, Phase, Run, RunState};

/// Converts a row of slurmctld to the engine's run.
///
/// `usage_factor`: that of the job's QOS, 1 without a QOS. `passed`: the last pass that charged the
/// run (see [`Shared::passes_charged_until`]); decides if the job's billing is recomputed.
pub(in crate::slurm) fn run_of(
    row: &ffi::shim_accruing,
    usage_factor: f64,
    charged_until: Option<i64>,
    passed: Option<i64>,
) -> Run {
    let from = passed.unwrap_or(0).max(row.start_time);
    Run {
        state: state_of(row),
        start_time: row.start_time,
        end_time: row.end_time,
        end_time_exp: (!row.already_charged).then_some(row.end_time_exp),
        time_limit: host::time_limit(row.time_limit, row.time_limit_infinite, false),
        billable_tres: billable_tres(row, from),
        usage_factor,
        charged_until,
        passed,
        run_secs_renewed: charged_until.is_some_and(|until| passed.is_none_or(|ran| until >= ran)),
    }
}

/// Converts a row of slurmctld, taken with `outcomes` wanted, to a run for the ledger; `None` if it
/// has not started, or never did. `usage_factor`, `passed`: as for [`run_of`]. `now`: the moment of
/// the row.
pub(in crate::slurm) fn seen<'a>(
    snapshot: &'a Snapshot,
    row: &ffi::shim_accruing,
    usage_factor: f64,
    passed: Option<i64>,
    now: i64,
) -> Option<SeenRun<'a>> {
    let run = run_of(row, usage_factor, None, passed);
    let waits = row.pending && !row.completing;
    if row.start_time <= 0 || waits || row.powering_up || run.is_rehearsal() {
        return None;
    }
    let ended = EndState::from_slurm(row.state, row.preempted);
    // The job is pending again: a failed start has no flag of its own.
    let ended = ended.or(row.pending.then_some(EndState::Requeued));
    let ended = ended.filter(|_| row.finished || row.completing);
    // The job never ran on this cluster: it has no allocated TRES. In a federation the record has
    // the times of a run on a different cluster, which cancelled the job while this cluster was
    // away (`_reconcile_fed_job` of slurmctld).
    if ended.is_some() && row.tres == NONE {
        return None;
    }
    let until = match ended {
        Some(_) if row.end_time != 0 => row.end_time.min(now),
        _ if row.suspended && row.suspend_time != 0 => row.suspend_time.min(now),
        _ => now,
    };
    let ran_secs = ran_secs(
        row.start_time,
        until,
        row.ran_before,
        row.suspend_time,
        row.suspended,
    );
    let counts = snapshot.tres().get(row.tres as usize..);
    let counts = counts.and_then(|counts| counts.get(..snapshot.tres_count()));
    Some(SeenRun {
        run: (row.job_id, row.start_time),
        assoc_id: row.assoc_id,
        qos_ids: [row.qos_id, row.partition_qos_id],
        until,
        ran_secs,
        billing: run.billable_tres,
        factor: run.factor(),
        tres: counts.unwrap_or_default().into(),
        end: ended.map(|state| RunEnd {
            state,
            exit_code: (row.exit_code >> 8) as u8,
        }),
    })
}

/// State of a job.
pub(in crate::slurm) fn state_of(row: &ffi::shim_accruing) -> RunState {
    let phase = if row.pending {
        Phase::Pending
    } else if row.running {
        Phase::Running
    } else if row.suspended {
        Phase::Suspended
    } else {
        Phase::Finished
    };
    RunState {
        phase,
        completing: row.completing,
        resizing: row.resizing,
        powering_up: row.powering_up,
    }
}

/// Returns true if a reported end is only a trial: the job is pending and has not run. From 26.05
/// on, when a heterogeneous job is submitted, slurmctld tests its limits by beginning and ending
/// the pending components, and leaves their records in that state (`_het_job_val_add`,
/// `_het_job_val_rem`). The beginning is applied to copies of the limited usage, which are
/// discarded, so there is nothing to refund. A mark would be stored for the later real run, which
/// would then never be charged. A requeued job is different: it completes, or has an end time.
pub(in crate::slurm) fn is_trial(row: &ffi::shim_accruing) -> bool {
    row.pending && !row.completing && row.end_time == 0
}

/// Returns true if slurmctld's record of the job's billing must be renewed for a charge from `from`
/// on.
pub(in crate::slurm) fn recounts(row: &ffi::shim_accruing, from: i64) -> bool {
    row.tres != NONE && (!row.billable_known || row.resize_time >= from)
}

fn billable_tres(row: &ffi::shim_accruing, from: i64) -> f64 {
    if row.tres == NONE {
        0.0
    } else if recounts(row, from) {
        row.billable_now
    } else {
        row.billable_tres
    }
}

/// The charge as the shim's row: the association in row `assoc` (NONE: no association), and the
/// rows of the job's QOS and, if different, of its partition's QOS. A QOS with the flag NoDecay is
/// charged in full.
pub(in crate::slurm) fn to_shim(
    charge: &Charge,
    row: &ffi::shim_accruing,
    assoc: u32,
    snapshot: &Snapshot,
    (qos, partition_qos): (Option<u32>, Option<u32>),
) -> ffi::shim_charge {
    let no_decay = |row: u32| snapshot.qos()[row as usize].no_decay;
    let to = |qos: Option<u32>| charge.amounts(qos.is_some_and(no_decay));
    let (to_qos, to_partition_qos) = (to(qos), to(partition_qos));
    ffi::shim_charge {
        wall: charge.decayed.wall_secs,
        usage: charge.decayed.usage,
        qos_wall: to_qos.wall_secs,
        qos_usage: to_qos.usage,
        partition_qos_wall: to_partition_qos.wall_secs,
        partition_qos_usage: to_partition_qos.usage,
        run_secs_scaled: 0.0,
        run_secs: charge.run_secs,
        start_time: row.start_time,
        job_id: row.job_id,
        user_id: row.user_id,
        assoc,
        qos: qos.unwrap_or(NONE),
        partition_qos: partition_qos.unwrap_or(NONE),
        tres: row.tres,
        next: NONE,
        is_done: false,
        from: std::ptr::null_mut(),
    }
}

impl Shared {
    /// The last pass that charged a run.
    pub(in crate::slurm) fn passes_charged_until(
        &self,
        row: &ffi::shim_accruing,
        now: i64,
    ) -> Option<i64> {
        let run = (row.job_id, row.start_time);
        self.charged_until.by_passes(run, now)
    }

    /// End of the time that a running job was charged after the last pass: the last resize whose
    /// old size was charged. While the job is being resized, its record already has the time of the
    /// new resize.
    pub(in crate::slurm) fn charged_beyond_pass(
        &self,
        row: &ffi::shim_accruing,
        enforces_limits: bool,
    ) -> Option<i64> {
        let since_pass = &self.charged_until.since_pass;
        let remembered = since_pass.until(row.job_id, row.start_time);
        remembered.max(recorded_until(row, enforces_limits))
    }

    /// The same for the last snapshot.
    pub(in crate::slurm) fn charged_beyond_pass_at_snapshot(
        &self,
        row: &ffi::shim_accruing,
        enforces_limits: bool,
    ) -> Option<i64> {
        let since_pass = &self.charged_until.since_pass;
        let remembered = since_pass.until_at_snapshot(row.job_id, row.start_time);
        remembered.max(recorded_until(row, enforces_limits))
    }
}

fn recorded_until(row: &ffi::shim_accruing, enforces_limits: bool) -> Option<i64> {
    // Ends of sizes are reported only if limits are enforced.
    (enforces_limits && !row.resizing && row.resize_time > row.start_time)
        .then_some(row.resize_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proc_req.c of 26.05.3: trial at submission; job_mgr.c: a requeued job completes, with an end
    // time.
    #[test]
    fn a_job_that_waits_and_has_not_run_is_tried() {
        let waiting = ffi::shim_accruing {
            pending: true,
            ..Default::default()
        };
        assert!(is_trial(&waiting));
        for ended in [
            ffi::shim_accruing {
                completing: true,
                ..waiting
            },
            ffi::shim_accruing {
                end_time: 1_800_000_000,
                ..waiting
            },
            ffi::shim_accruing {
                pending: false,
                running: true,
                ..waiting
            },
        ] {
            assert!(!is_trial(&ended));
        }
    }
}
