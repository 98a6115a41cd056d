//! Charges the end of a job when slurmctld reports it.

use super::run::{self, recounts, run_of, to_shim};
use crate::engine;
use crate::slurm::line;
use crate::slurm::rows::snapshot::{Charges, Snapshot};
use crate::slurm::runtime::host::{self, NONE, UsageLock, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::Plugin;
use crate::usage::{Charge, Period, charge};
use std::ffi::c_void;

/// The end of a job (or of one of its sizes), reported with the job write lock held.
///
/// # Safety
/// `job` is slurmctld's job record, and the caller holds the job write lock.
pub(in crate::slurm) unsafe fn job_end(plugin: &Plugin, job: *mut c_void) {
    plugin.fault.inject("job_end");
    let settings = plugin.settings();
    let keeps_ledger = plugin.keeps_ledger(&settings);
    let learns = line::learns(&settings.config);
    let want = ffi::shim_want {
        flags: settings.flags,
        outcomes: keeps_ledger || learns,
        ..Default::default()
    };
    let mut scratch = plugin.scratch();
    let snapshot = &mut scratch.snapshot;
    let lock = UsageLock::lock();
    plugin.restore(&lock);
    // SAFETY: the caller's promise; the usage lock is held.
    let taken = unsafe { snapshot.take_ending_job(&lock, &want, job) };
    if let Err(error) = taken {
        log::error(format_args!("cannot charge the end of a job: {error}"));
        return;
    }
    let now = host::now();
    let Some(row) = snapshot.accruing().first().copied() else {
        return;
    };
    if run::is_trial(&row) && !settings.quirks.takes_trials_for_ends {
        drop(lock);
        plugin.give_back(scratch);
        return;
    }
    let mut shared = plugin.shared.lock();
    let until = shared.charged_beyond_pass(&row, snapshot.enforces_limits());
    let passed = shared.passes_charged_until(&row, now);
    let run = run_of(&row, usage_factor(snapshot), until, passed);
    let period = Period::between_passes(shared.charged_until.last_ran(), now);
    let decay = if settings.quirks.values_ends_as_last_pass {
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
            .charged_until
            .since_pass
            .note(row.job_id, row.start_time, until, !row.resizing);
    }
    if charged.is_some() && (keeps_ledger || learns) {
        let seen = run::seen(snapshot, &row, usage_factor(snapshot), passed, now);
        if let Some(seen) = seen {
            shared.note_seen(seen, keeps_ledger, learns);
        }
    }
    let from = passed.unwrap_or(0).max(row.start_time);
    if let Some(charged) = charged.filter(|_| settings.caches_assocs()) {
        shared.journal.note(row.assoc_id, charged.decayed.usage);
    }
    drop(shared);
    if let Some(charged) = charged {
        charge_records(snapshot, &lock, &row, &charged);
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

/// The rows of an ending job are fixed: its association is row 0; its QOS, if it has one, is QOS
/// row 0, and its partition's QOS is the next row.
fn charge_records(
    snapshot: &Snapshot,
    lock: &UsageLock,
    row: &ffi::shim_accruing,
    charged: &Charge,
) {
    let qos = (row.qos_id != 0).then_some(0);
    let partition_qos = match (row.partition_qos_id, row.qos_id) {
        (0, _) => None,
        (partition, job) if partition == job => None,
        (_, 0) => Some(0),
        _ => Some(1),
    };
    let assoc = if row.assoc_id != 0 { 0 } else { NONE };
    let underflows = snapshot.charge(
        lock,
        &mut Charges {
            rows: &mut [to_shim(charged, row, assoc, snapshot, (qos, partition_qos))],
            tres: &snapshot.charged_tres(),
        },
    );
    log::priority(|| {
        format!(
            "job {} ended: {} TRES-seconds, {} run-seconds",
            row.job_id, charged.decayed.usage, charged.run_secs
        )
    });
    if underflows > 0 {
        log::error(format_args!(
            "job {}: GrpTRESRunMins underflow in {underflows} counters at the end of the job",
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
