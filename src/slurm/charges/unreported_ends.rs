//! Poll for finished jobs: slurmctld calls `job_end` only with AccountingStorageEnforce=limits.
//!
//! In other cases a pass (documented) charges the remaining time of jobs that ended since the last
//! pass. slurmctld forgets jobs `MinJobAge` after their end; if passes are less frequent than that,
//! the thread looks for ended jobs in between. `compat=slurm` loses the remaining time, as stock
//! does.

use super::run::{self, run_of};
use crate::engine::{self, RunKey};
use crate::slurm::line;
use crate::slurm::rows::snapshot::{Charges, Snapshot, SnapshotError};
use crate::slurm::runtime::host::{self, JobsLock, SnapshotLock, UsageLock, ffi};
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::settings::Settings;
use crate::tree::AssocId;
use crate::usage::{Period, charge};
use std::time::Duration;

/// Returns true if the plugin must find ends of jobs itself.
pub(in crate::slurm) fn may_come(settings: &Settings) -> bool {
    !settings.quirks.misses_unreported_ends && !host::enforces_limits()
}

/// Returns true for a job whose end the plugin must find itself.
pub(in crate::slurm) fn ended_unreported(
    settings: &Settings,
    snapshot: &Snapshot,
    row: &ffi::shim_accruing,
) -> bool {
    !settings.quirks.misses_unreported_ends
        && !snapshot.enforces_limits()
        && !row.already_charged
        && (row.finished || row.completing)
}

/// Interval of polls between passes; `None`: passes are frequent enough.
pub(in crate::slurm) fn interval(settings: &Settings) -> Option<Duration> {
    let often = Duration::from_secs(settings.min_job_age_secs.into()) / 2;
    let period = Duration::from_secs(settings.config.priority_calc_period_secs.into());
    let needed = may_come(settings) && settings.has_slurmdbd && !often.is_zero() && often < period;
    needed.then_some(often)
}

/// Charges jobs that have ended since the last pass, valued at that pass.
pub(in crate::slurm) fn charge_ends(
    plugin: &Plugin,
    snapshot: &mut Snapshot,
) -> Result<(), SnapshotError> {
    let settings = plugin.settings();
    let Some(last_ran) = plugin.shared.lock().charged_until.last_ran() else {
        return Ok(());
    };
    let now = host::now();
    let keeps_ledger = plugin.keeps_ledger(&settings);
    let learns = line::learns(&settings.config);
    let want = ffi::shim_want {
        outcomes: keeps_ledger || learns,
        assocs: true,
        accruing_states: !ffi::SHIM_STATE_PENDING,
        accruing_completing: true,
        flags: settings.flags,
        ..Default::default()
    };
    {
        let lock = SnapshotLock::lock_unless_ending().ok_or(SnapshotError::Ending)?;
        snapshot.take(&lock, &want);
    }
    snapshot.index()?;
    let period = Period::between_passes(Some(last_ran), now);
    let decay = engine::decay(&settings.config);
    let mut ends = Vec::new();
    let mut charges = Vec::new();
    for row in snapshot.accruing() {
        let Some(assoc) = snapshot.assoc_row(row.assoc_id) else {
            continue;
        };
        if !ended_unreported(&settings, snapshot, row) {
            continue;
        }
        let qos = snapshot.qos_rows(row);
        let factor = qos
            .0
            .map_or(1.0, |qos| snapshot.qos()[qos as usize].usage_factor);
        let passed = plugin.shared.lock().passes_charged_until(row, now);
        let run = run_of(row, factor, None, passed);
        let Some(charged) = charge(&decay, &run, &period, true) else {
            continue;
        };
        if let Some(seen) = run::seen(snapshot, row, factor, passed, now) {
            plugin.shared.lock().note_seen(seen, keeps_ledger, learns);
        }
        charges.push(run::to_shim(&charged, row, assoc, snapshot, qos));
        ends.push((row.job_id, row.start_time));
    }
    if ends.is_empty() {
        return Ok(());
    }
    {
        let lock = UsageLock::lock();
        snapshot.bind(&lock)?;
        let tres = snapshot.charged_tres();
        snapshot.charge(
            &lock,
            &mut Charges {
                rows: &mut charges,
                tres: &tres,
            },
        );
    }
    let lock = JobsLock::lock();
    mark_charged(&lock, &ends);
    Ok(())
}

/// Run times, in seconds, of runs whose end was found by a pass, by association, in order of the
/// ends. `ends`: those runs, in the order of the snapshot, which was taken at `now` with `outcomes`
/// wanted.
pub(in crate::slurm) fn run_times(
    snapshot: &Snapshot,
    ends: &[RunKey],
    now: i64,
) -> Vec<(AssocId, u32)> {
    let mut ends = ends.iter().peekable();
    let mut ended = Vec::new();
    for row in snapshot.accruing() {
        let Some(_) = ends.next_if(|run| **run == (row.job_id, row.start_time)) else {
            continue;
        };
        // The charge is not used here, so any usage factor will do.
        let seen = run::seen(snapshot, row, 1.0, None, now);
        ended.extend(seen.and_then(|seen| Some((seen.until, seen.run_time()?))));
    }
    ended.sort_by_key(|(until, _)| *until);
    ended.into_iter().map(|(_, run_time)| run_time).collect()
}

/// Records that these runs of jobs are charged to their end.
pub(in crate::slurm) fn mark_charged(_lock: &JobsLock, ends: &[(u32, i64)]) {
    for &(job_id, start_time) in ends {
        // SAFETY: the job write lock is held.
        unsafe { ffi::shim_job_mark_charged(job_id, start_time) }
    }
}
