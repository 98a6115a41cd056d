//! Run-seconds that start-up subtracts from the counters of limits for running jobs.

use super::run::{run_of, to_shim};
use crate::slurm::rows::snapshot::{Charges, Snapshot};
use crate::slurm::runtime::host::{self, NONE, UsageLock, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::settings::Settings;
use crate::usage::{Charge, Consumed, consumed_at_start};

const CANNOT_SUBTRACT: &str = "cannot subtract the used time of running jobs from GrpTRESRunMins";

/// Adjusts run-seconds, and shares if their normalisation has changed, after slurmctld has rebuilt
/// its records.
pub(in crate::slurm) fn after_reconfigure(plugin: &Plugin, settings: &Settings, normalizes: bool) {
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
        Err(error) => log::error(format_args!("cannot renormalise shares: {error}")),
    }
    drop(lock);
}

/// Subtracts from the run-seconds the part that jobs had used up to the last pass: slurmctld adds
/// the whole time limit of every job when it starts (and 22.05 also on `scontrol reconfigure`).
pub(in crate::slurm) fn take_consumed(plugin: &Plugin, settings: &Settings) {
    if !host::enforces_limits() {
        return;
    }
    let want = ffi::shim_want {
        assocs: true,
        accruing_states: !ffi::SHIM_STATE_PENDING,
        accruing_completing: true,
        flags: settings.flags,
        ..Default::default()
    };
    let mut snapshot = Snapshot::default();
    {
        let lock = host::SnapshotLock::lock();
        snapshot.take(&lock, &want);
    }
    if let Err(error) = snapshot.index() {
        log::error(format_args!("{CANNOT_SUBTRACT}: {error}"));
        return;
    }
    let lock = UsageLock::lock();
    if let Err(error) = snapshot.bind(&lock) {
        log::error(format_args!("{CANNOT_SUBTRACT}: {error}"));
        return;
    }
    let now = host::now();
    let tres = snapshot.charged_tres();
    let mut underflows = 0;
    for row in snapshot.accruing() {
        let passed = plugin.shared.lock().passes_charged_until(row, now);
        underflows += take_consumed_of(&snapshot, &lock, &tres, settings, row, passed);
    }
    drop(lock);
    if underflows > 0 {
        log::error(format_args!(
            "GrpTRESRunMins underflow in {underflows} counters, from which the used time of running \
             jobs was subtracted"
        ));
    }
}

fn take_consumed_of(
    snapshot: &Snapshot,
    lock: &UsageLock,
    tres: &[u32],
    settings: &Settings,
    row: &ffi::shim_accruing,
    passed: Option<i64>,
) -> u32 {
    let qos = snapshot.qos_rows(row);
    let factor = qos
        .0
        .map_or(1.0, |qos| snapshot.qos()[qos as usize].usage_factor);
    let run = run_of(row, factor, None, passed);
    let Some(consumed) = consumed_at_start(settings.config.compat, &run, passed) else {
        return 0;
    };
    let assoc = snapshot.assoc_row(row.assoc_id);
    if assoc.is_none() && !settings.quirks.takes_run_secs_of_gone {
        // slurmctld added nothing for a job whose association is gone.
        return 0;
    }
    let assoc = assoc.unwrap_or(NONE);
    let mut taken = to_shim(&Charge::default(), row, assoc, snapshot, qos);
    match consumed {
        Consumed::Whole(secs) => taken.run_secs = secs,
        Consumed::Scaled(secs) => taken.run_secs_scaled = secs,
    }
    snapshot.charge(
        lock,
        &mut Charges {
            rows: &mut [taken],
            tres,
        },
    )
}
