//! Effective usage of one association, computed on demand.
//!
//! Outside Fair Tree, stock computes accounts in its passes and leaves users as "not computed yet"
//! until one of their jobs is priced, or sshare reads them. So a user's number depends on the time
//! of that request: the user's own usage is of that moment, that of the accounts above is of the
//! last pass. `compat=slurm` does the same; documented passes compute all users.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::RecordState;
use crate::fairshare::stock_records::{UsageRecord, stock_factor};
use crate::slurm::runtime::host::{self, ffi, number};
use crate::slurm::state::settings::{RELEASE, Settings};
use crate::tree::Shares;
use std::ffi::c_void;

/// Computes normalised and effective usage of an association and writes them into its record. Stock
/// also does so under Fair Tree if an association is still not computed after a change of
/// `PriorityFlags`; the number is classic then.
///
/// # Safety
/// `assoc` is slurmctld's association; the caller holds at least the read lock of associations.
pub(in crate::slurm) unsafe fn compute(settings: &Settings, assoc: *mut c_void) {
    let mut usage = ffi::shim_assoc_usage::default();
    // SAFETY: the caller's promise.
    unsafe { ffi::shim_assoc_read_usage(assoc, false, &mut usage) }
    if !usage.has_parent {
        return;
    }
    let norm = UsageRecord::norm_usage(number(usage.usage_raw), number(usage.root_usage_raw));
    // It is part of its own level, whose usage is summed next.
    // SAFETY: the caller's promise.
    unsafe { ffi::shim_assoc_write_usage(assoc, usage.usage_efctv, host::shim_extended(norm)) }
    let (ranking, compat) = (settings.config.ranking(), settings.config.compat);
    let math = host::math();
    let effective = standing(&usage).effective_usage(math, ranking, compat, norm, || {
        let mut level = ffi::shim_assoc_usage::default();
        // SAFETY: the caller's promise.
        unsafe { ffi::shim_assoc_read_usage(assoc, true, &mut level) }
        number(level.level_usage_norm)
    });
    let (effective, norm) = (host::shim_extended(effective), host::shim_extended(norm));
    // SAFETY: the caller's promise.
    unsafe { ffi::shim_assoc_write_usage(assoc, effective, norm) }
}

fn standing(usage: &ffi::shim_assoc_usage) -> UsageRecord {
    let above = RecordState {
        norm_shares: usage.parent_shares_norm,
        norm_usage: None,
        effective_usage: usage
            .has_parent_usage_efctv
            .then(|| number(usage.parent_usage_efctv)),
    };
    UsageRecord {
        shares: if usage.shares_from_parent {
            Shares::Parent
        } else {
            Shares::Raw(usage.shares_raw.min(Shares::MAX_RAW))
        },
        norm_shares: usage.shares_norm,
        above: (!usage.below_root).then_some(above),
        level_shares: usage.level_shares,
    }
}

/// Factor of a job's association from its records; effective usage is computed now if it was not
/// computed before. `None`: the job has no association.
///
/// # Safety
/// `job` is slurmctld's job record; the caller holds the job lock.
pub(in crate::slurm) unsafe fn fs_factor(settings: &Settings, job: *const c_void) -> Option<f64> {
    let _lock = host::AssocsLock::lock();
    let mut usage = ffi::shim_assoc_usage::default();
    // SAFETY: the caller's promise, and the lock.
    unsafe {
        let assoc = ffi::shim_job_fs_assoc(job);
        if assoc.is_null() {
            return None;
        }
        ffi::shim_assoc_read_usage(assoc, false, &mut usage);
        if !usage.has_usage_efctv {
            compute(settings, assoc);
            ffi::shim_assoc_read_usage(assoc, false, &mut usage);
        }
    }
    let dampening = settings.config.fair_share_dampening_factor;
    let shares = Extended::from_f64(usage.shares_norm).unwrap_or(Extended::ZERO);
    Some(classic_factor(number(usage.usage_efctv), shares, dampening))
}

/// `2^(-(usage / shares) / dampening)`; 0 without shares.
pub(in crate::slurm) fn classic_factor(usage: Extended, shares: Extended, dampening: u16) -> f64 {
    stock_factor(
        host::math(),
        Compat::Slurm(RELEASE),
        usage,
        shares,
        dampening,
    )
}
