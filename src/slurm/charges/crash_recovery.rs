//! Recovers charges of ended jobs that a crash has lost.
//!
//! The end of a job is charged at once and marked in the job's record, which slurmctld saves within
//! seconds. Usage is saved by the next pass, or by slurmctld's own dump. After a crash in between,
//! the record says that the end is charged, but slurmctld starts with older usage. Jobs that ended
//! after that usage was saved are charged again, once, before the first pass. `compat=slurm` loses
//! these charges, as stock does.

use super::run::{self, run_of};
use crate::engine;
use crate::slurm::rows::snapshot::{Charges, Snapshot, SnapshotError};
use crate::slurm::runtime::host::{self, SnapshotLock, UsageLock, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::settings::Settings;
use crate::usage::{Charge, Period, Run, charge as charge_of};

/// Charges these jobs, valued at the last pass before the crash.
pub(in crate::slurm) fn charge_again(
    plugin: &Plugin,
    snapshot: &mut Snapshot,
) -> Result<(), SnapshotError> {
    let settings = plugin.settings();
    let (as_of, last_ran) = {
        let mut shared = plugin.shared.lock();
        (shared.usage_as_of.take(), shared.charged_until.last_ran())
    };
    let (Some(as_of), Some(last_ran)) = (as_of, last_ran) else {
        return Ok(());
    };
    if settings.quirks.misses_unreported_ends || !settings.has_slurmdbd || !host::has_root() {
        return Ok(());
    }
    let want = ffi::shim_want {
        assocs: true,
        accruing_states: !ffi::SHIM_STATE_PENDING,
        accruing_completing: true,
        charged_ends: true,
        ended_after: as_of,
        flags: settings.flags,
        ..Default::default()
    };
    {
        let lock = SnapshotLock::lock();
        snapshot.take(&lock, &want);
    }
    snapshot.index()?;
    let mut charges = lost_charges(&settings, snapshot, last_ran);
    if charges.is_empty() {
        return Ok(());
    }
    {
        let lock = UsageLock::lock();
        plugin.restore(&lock);
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
    log::info(format_args!(
        "recovered usage of {} jobs that ended after the last save",
        charges.len()
    ));
    Ok(())
}

fn lost_charges(settings: &Settings, snapshot: &Snapshot, last_ran: i64) -> Vec<ffi::shim_charge> {
    let decay = engine::decay(&settings.config);
    let period = Period::between_passes(Some(last_ran), host::now());
    let mut charges = Vec::new();
    for row in snapshot.accruing().iter().filter(|row| row.already_charged) {
        let Some(assoc) = snapshot.assoc_row(row.assoc_id) else {
            continue;
        };
        let qos = snapshot.qos_rows(row);
        let factor = qos
            .0
            .map_or(1.0, |qos| snapshot.qos()[qos as usize].usage_factor);
        let run = Run {
            end_time_exp: Some(row.end_time),
            ..run_of(row, factor, None, Some(last_ran))
        };
        let Some(charge) = charge_of(&decay, &run, &period, true) else {
            continue;
        };
        // At its start slurmctld added no run-seconds for ended jobs.
        let charge = Charge {
            run_secs: 0,
            ..charge
        };
        charges.push(run::to_shim(&charge, row, assoc, snapshot, qos));
    }
    charges
}
