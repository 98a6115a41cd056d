//! Charging jobs between passes: the end of a job, and what start-up takes from the run-seconds.

use super::host::{self, NONE, UsageLock, ffi};
use super::log;
use super::plugin::{Plugin, Shared};
use super::settings::Settings;
use super::snapshot::Snapshot;
use crate::engine;
use crate::usage::{Charge, Consumed, Period, Phase, Run, RunState, charge, consumed_at_start};
use std::ffi::c_void;

/// A row of slurmctld as the engine's run.
///
/// `usage_factor`: that of the job's QOS, 1 without one. `passed`: the last pass that charged the
/// run (see [`Shared::passed`]), which decides whether the job's billing is worked out anew.
pub(super) fn run_of(
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

/// State of a job.
pub(super) fn state_of(row: &ffi::shim_accruing) -> RunState {
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

/// Does slurmctld's record of the job's billing have to be renewed for a charge from `from` on?
pub(super) fn recounts(row: &ffi::shim_accruing, from: i64) -> bool {
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

/// What the shim is to add for a charge.
pub(super) fn to_shim(
    charge: &Charge,
    row: &ffi::shim_accruing,
    assoc: u32,
    qos: u32,
    partition_qos: u32,
) -> ffi::shim_charge {
    ffi::shim_charge {
        wall_decayed: charge.decayed.wall_secs,
        wall: charge.undecayed.wall_secs,
        usage_decayed: charge.decayed.usage,
        usage: charge.undecayed.usage,
        run_secs_scaled: 0.0,
        run_secs: charge.run_secs,
        start_time: row.start_time,
        job_id: row.job_id,
        user_id: row.user_id,
        assoc,
        qos,
        partition_qos,
        tres: row.tres,
        next: NONE,
        is_done: false,
        from: std::ptr::null_mut(),
    }
}

impl Shared {
    /// The last pass that charged a run.
    pub(super) fn passed(&self, row: &ffi::shim_accruing, now: i64) -> Option<i64> {
        let run = (row.job_id, row.start_time);
        self.passed.until(run, now, self.last_ran)
    }

    /// Up to when a running job was charged beyond the last pass: the last resize whose old size
    /// was charged. While the job is being resized its record has the new resize's time already.
    pub(super) fn charged_until(
        &self,
        row: &ffi::shim_accruing,
        enforces_limits: bool,
    ) -> Option<i64> {
        let remembered = self.recent.until(row.job_id, row.start_time);
        remembered.max(recorded_until(row, enforces_limits))
    }

    /// The same in the last snapshot.
    pub(super) fn charged_at_snapshot(
        &self,
        row: &ffi::shim_accruing,
        enforces_limits: bool,
    ) -> Option<i64> {
        let remembered = self.recent.until_at_snapshot(row.job_id, row.start_time);
        remembered.max(recorded_until(row, enforces_limits))
    }
}

fn recorded_until(row: &ffi::shim_accruing, enforces_limits: bool) -> Option<i64> {
    // Ends of sizes are reported only while limits are enforced.
    (enforces_limits && !row.resizing && row.resize_time > row.start_time)
        .then_some(row.resize_time)
}

/// The end of a job (or of one size of it), reported with the job write lock held.
///
/// # Safety
/// `job` is slurmctld's job record, and the caller holds the job write lock.
pub(super) unsafe fn job_end(plugin: &Plugin, job: *mut c_void) {
    plugin.fault.strike("job_end");
    let settings = plugin.settings();
    let want = ffi::shim_want {
        flags: settings.flags,
        ..Default::default()
    };
    let mut scratch = plugin.scratch();
    let snapshot = &mut scratch.snapshot;
    let lock = UsageLock::lock();
    plugin.restore(&lock);
    // SAFETY: the caller's promise; the usage lock is held.
    let taken = unsafe { snapshot.take_ending_job(&lock, &want, job) };
    if let Err(error) = taken {
        log::error(format_args!("the end of a job is not charged: {error}"));
        return;
    }
    let now = host::now();
    let Some(row) = snapshot.accruing().first().copied() else {
        return;
    };
    let mut shared = plugin.shared.lock();
    let until = shared.charged_until(&row, snapshot.enforces_limits());
    let passed = shared.passed(&row, now);
    let run = run_of(&row, usage_factor(snapshot), until, passed);
    let period = Period::between_passes(shared.last_ran, now);
    let decay = if settings.config.compat.is_slurm() {
        shared.decay
    } else {
        engine::decay(&settings.config)
    };
    let charged = charge(&decay, &run, &period, true);
    if charged.is_some() {
        let until = if row.end_time != 0 {
            now.min(row.end_time)
        } else {
            now
        };
        shared
            .recent
            .note(row.job_id, row.start_time, until, !row.resizing);
    }
    let from = passed.unwrap_or(0).max(row.start_time);
    if let Some(charged) = charged.filter(|_| settings.keeps_assocs()) {
        shared.journal.note(row.assoc_id, charged.decayed.usage);
    }
    drop(shared);
    if let Some(charged) = charged {
        settle(snapshot, &lock, &row, &charged);
    }
    drop(lock);
    // SAFETY: the caller's promise: the record and its lock.
    unsafe {
        if charged.is_some() {
            ffi::shim_ending_job_mark_charged(job);
        }
        if recounts(&row, from) && !row.already_charged {
            ffi::shim_ending_job_keep_billable(job, row.billable_now);
        }
    }
    plugin.give_back(scratch);
}

/// The rows of an ending job are fixed: its association is row 0, its QOS row 0 if it has one,
/// and its partition's QOS the next.
fn settle(snapshot: &Snapshot, lock: &UsageLock, row: &ffi::shim_accruing, charged: &Charge) {
    let qos = if row.qos_id != 0 { 0 } else { NONE };
    let partition_qos = match (row.partition_qos_id, row.qos_id) {
        (0, _) => NONE,
        (partition, job) if partition == job => NONE,
        (_, 0) => 0,
        _ => 1,
    };
    let assoc = if row.assoc_id != 0 { 0 } else { NONE };
    let underflows = snapshot.charge(lock, &[to_shim(charged, row, assoc, qos, partition_qos)]);
    log::priority(|| {
        format!(
            "job {} ended: {} TRES-seconds, {} run-seconds",
            row.job_id, charged.decayed.usage, charged.run_secs
        )
    });
    if underflows > 0 {
        log::error(format_args!(
            "job {}: {underflows} counters of GrpTRESRunMins held less than the job's rest",
            row.job_id
        ));
    }
}

fn usage_factor(snapshot: &Snapshot) -> f64 {
    let job = snapshot.accruing().first();
    job.filter(|row| row.qos_id != 0)
        .and(snapshot.qos().first())
        .map_or(1.0, |qos| qos.usage_factor)
}

/// After slurmctld has built its records anew: run-seconds, and shares if their normalisation is
/// now another one.
pub(super) fn after_reconfigure(plugin: &Plugin, settings: &Settings, normalizes: bool) {
    take_consumed(plugin, settings);
    if !normalizes || !settings.has_slurmdbd {
        return;
    }
    let want = ffi::shim_want {
        assocs: true,
        ..Default::default()
    };
    let mut snapshot = Snapshot::default();
    {
        let lock = host::SnapshotLock::lock();
        snapshot.take(&lock, &want);
    }
    let indexed = snapshot.index();
    let lock = UsageLock::lock();
    match indexed.and_then(|()| snapshot.bind(&lock)) {
        Ok(()) => snapshot.normalize_shares(&lock),
        Err(error) => log::error(format_args!("shares are not normalised anew: {error}")),
    }
    drop(lock);
}

/// Takes from the run-seconds what jobs had used up to the last pass: slurmctld adds the whole
/// time limit of every job when it starts (and 22.05 also on `scontrol reconfigure`).
pub(super) fn take_consumed(plugin: &Plugin, settings: &Settings) {
    if !host::enforces_limits() {
        return;
    }
    let want = ffi::shim_want {
        assocs: true,
        accruing: true,
        flags: settings.flags,
        ..Default::default()
    };
    let mut snapshot = Snapshot::default();
    {
        let lock = host::SnapshotLock::lock();
        snapshot.take(&lock, &want);
    }
    if let Err(error) = snapshot.index() {
        log::error(format_args!("run-seconds are not adjusted: {error}"));
        return;
    }
    let lock = UsageLock::lock();
    if let Err(error) = snapshot.bind(&lock) {
        log::error(format_args!("run-seconds are not adjusted: {error}"));
        return;
    }
    let now = host::now();
    let mut underflows = 0;
    for row in snapshot.accruing() {
        let passed = plugin.shared.lock().passed(row, now);
        underflows += take_consumed_of(&snapshot, &lock, settings, row, passed);
    }
    drop(lock);
    if underflows > 0 {
        log::error(format_args!(
            "{underflows} counters of GrpTRESRunMins held less than running jobs have used"
        ));
    }
}

fn take_consumed_of(
    snapshot: &Snapshot,
    lock: &UsageLock,
    settings: &Settings,
    row: &ffi::shim_accruing,
    passed: Option<i64>,
) -> u32 {
    let (qos, partition_qos) = snapshot.qos_rows(row);
    let factor = qos.map_or(1.0, |qos| snapshot.qos()[qos as usize].usage_factor);
    let run = run_of(row, factor, None, passed);
    let Some(consumed) = consumed_at_start(settings.config.compat, &run, passed) else {
        return 0;
    };
    let (qos, partition_qos) = (qos.unwrap_or(NONE), partition_qos.unwrap_or(NONE));
    let assoc = snapshot.assoc_row(row.assoc_id);
    if assoc.is_none() && !settings.config.compat.is_slurm() {
        // slurmctld has added nothing for a job whose association is gone.
        return 0;
    }
    let assoc = assoc.unwrap_or(NONE);
    let mut taken = to_shim(&Charge::default(), row, assoc, qos, partition_qos);
    match consumed {
        Consumed::Whole(secs) => taken.run_secs = secs,
        Consumed::Scaled(secs) => taken.run_secs_scaled = secs,
    }
    snapshot.charge(lock, &[taken])
}
