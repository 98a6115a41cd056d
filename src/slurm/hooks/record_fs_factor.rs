//! The classic fair-share factor in the association's record, from which slurmctld and sshare read
//! it from 25.11 on. Before, they called the plugin for a formula (see `calc_fs_factor`).
//!
//! Stock of these releases also prices jobs with the factor in the record: a new association counts
//! as 0 until a pass has reached it, and a change of `FairShareDampeningFactor` takes effect one
//! pass late. At the end of each pass, even if it prices nothing, stock writes the factor of each
//! job's association again, from the data known at that time: 0 if the factor was not requested in
//! this pass. `compat=slurm` does the same. Source: `_get_fairshare_priority`,
//! `_set_assoc_fs_factor` and `_set_non_fair_tree_fs_factor` of 25.11.

use super::lazy_usage;
use crate::extended::Extended;
use crate::fairshare::FactorFormula;
use crate::slurm::runtime::host::{self, ffi};
use crate::slurm::state::settings::Settings;
use std::ffi::c_void;

/// Returns true if stock of the release that is followed prices with the factor in the record.
pub(in crate::slurm) fn prices(settings: &Settings) -> bool {
    let facts = settings.config.compat.facts();
    facts.is_some_and(|facts| facts.prices_from_record)
}

/// End of a pass of stock: writes the factor of each job's association, whatever the job's state.
/// Stock takes no lock here.
pub(in crate::slurm) fn write_of_jobs(settings: &Settings) {
    extern "C" fn write_one(settings: *mut c_void, assoc: *mut c_void) {
        // SAFETY: the settings outlive the walk below, and are not changed during it; the
        // association is slurmctld's, under the lock of the walk.
        unsafe { write(&*settings.cast::<Settings>(), assoc) }
    }
    let Some(_jobs) = host::JobsReadLock::lock_unless_ending() else {
        return;
    };
    let _assocs = host::AssocsLock::lock();
    let context = std::ptr::from_ref(settings).cast_mut().cast();
    // SAFETY: both locks are held, in slurmctld's order.
    unsafe { ffi::shim_each_job_assoc(Some(write_one), context) }
}

/// Writes the factor that follows from usage and shares into the record. If it does not follow from
/// these alone, the pass has already written it.
///
/// # Safety
/// `assoc` is slurmctld's association; the caller holds at least the read lock of associations.
pub(in crate::slurm) unsafe fn write(settings: &Settings, assoc: *mut c_void) {
    let formula = settings.config.ranking().formula();
    if !matches!(formula, FactorFormula::Power { .. }) {
        return;
    }
    let mut usage = ffi::shim_assoc_usage::default();
    // SAFETY: the caller's promise; the payer is the association or one above it.
    unsafe {
        let payer = ffi::shim_assoc_payer(assoc);
        let factor = if ffi::shim_assoc_is_computed(payer) {
            ffi::shim_assoc_read_usage(payer, false, &mut usage);
            lazy_usage::classic_factor(
                host::extended(usage.usage_efctv).unwrap_or(Extended::ZERO),
                Extended::from_f64(usage.shares_norm).unwrap_or(Extended::ZERO),
                settings.config.fair_share_dampening_factor,
            )
        } else {
            0.0
        };
        ffi::shim_assoc_write_factor(assoc, factor);
    }
}

/// Factor in the record of a job's association, computed now if it was not computed since the last
/// pass. `None`: the job has no association.
///
/// # Safety
/// `job` is slurmctld's job record; the caller holds the job lock.
pub(in crate::slurm) unsafe fn of_job(settings: &Settings, job: *const c_void) -> Option<f64> {
    let _lock = host::AssocsLock::lock();
    // SAFETY: the caller's promise, and the lock.
    unsafe {
        let assoc = ffi::shim_job_assoc(job);
        if assoc.is_null() {
            return None;
        }
        if !ffi::shim_assoc_is_computed(assoc) {
            lazy_usage::compute(settings, assoc);
            write(settings, assoc);
        }
        Some(ffi::shim_assoc_read_factor(assoc))
    }
}
