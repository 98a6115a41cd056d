//! Effective usage of one association, computed when someone asks for it.
//!
//! Outside Fair Tree, stock computes accounts in its passes and leaves users as "not computed
//! yet", until one of their jobs is priced or sshare asks. So what a user's number is depends on
//! when it was asked for: his own usage is of that moment, that of the accounts above him of the
//! last pass. `compat=slurm` does the same; documented passes compute everybody.

use super::host::{self, ffi};
use super::settings::Settings;
use crate::extended::Extended;
use crate::fairshare::{Algorithm, HostMath};
use std::ffi::c_void;

/// Fills in normalised and effective usage of an association.
///
/// # Safety
/// `assoc` is slurmctld's association; the caller holds at least the read lock of associations.
pub(super) unsafe fn compute(settings: &Settings, assoc: *mut c_void) {
    let algorithm = settings.config.algorithm();
    let oblivious = matches!(algorithm, Algorithm::DepthOblivious { .. });
    let mut usage = ffi::shim_assoc_usage::default();
    // SAFETY: the caller's promise.
    unsafe { ffi::shim_assoc_read_usage(assoc, oblivious, &mut usage) }
    if !usage.has_parent {
        return;
    }
    let norm = norm_usage(&usage);
    if oblivious {
        // Stock writes the one before it sums up the level that it is part of.
        // SAFETY: the caller's promise.
        unsafe {
            ffi::shim_assoc_write_usage(assoc, usage.usage_efctv, host::shim_extended(norm));
            ffi::shim_assoc_read_usage(assoc, true, &mut usage);
        }
    }
    let effective = effective_usage(&usage, norm, oblivious);
    let (effective, norm) = (host::shim_extended(effective), host::shim_extended(norm));
    // SAFETY: the caller's promise.
    unsafe { ffi::shim_assoc_write_usage(assoc, effective, norm) }
}

/// The classic factor of a job's association, computed now if nobody has asked for it before.
/// `None`: the job has no association.
///
/// # Safety
/// `job` is slurmctld's job record; the caller holds the job lock.
pub(super) unsafe fn fs_factor(settings: &Settings, job: *const c_void) -> Option<f64> {
    #[cfg(not(slurm_has_calc_fs_factor))]
    if super::kept_factor::prices(settings) {
        // SAFETY: the caller's promise.
        return unsafe { super::kept_factor::of_job(settings, job) };
    }
    let _lock = host::AssocsLock::lock();
    let mut usage = ffi::shim_assoc_usage::default();
    // SAFETY: the caller's promise, and the lock.
    unsafe {
        let assoc = ffi::shim_job_fs_assoc(job);
        if assoc.is_null() {
            return None;
        }
        ffi::shim_assoc_read_usage(assoc, false, &mut usage);
        if !usage.is_computed {
            compute(settings, assoc);
            ffi::shim_assoc_read_usage(assoc, false, &mut usage);
        }
    }
    let dampening = settings.config.fair_share_dampening_factor;
    let usage_efctv = number(usage.usage_efctv);
    Some(classic_factor(
        usage_efctv,
        double(usage.shares_norm),
        dampening,
    ))
}

/// `2^(-(usage / shares) / dampening)`, 0 without shares.
pub(super) fn classic_factor(usage: Extended, shares: Extended, dampening: u16) -> f64 {
    if shares <= Extended::ZERO {
        return 0.0;
    }
    let dampening = Extended::from(u32::from(dampening.max(1)));
    let exponent = -(usage / shares / dampening);
    (HostMath::default().pow)(2.0, exponent.to_f64())
}

fn norm_usage(usage: &ffi::shim_assoc_usage) -> Extended {
    let root = number(usage.root_usage_raw);
    if root.is_zero() {
        return Extended::ZERO;
    }
    (number(usage.usage_raw) / root).min(Extended::ONE)
}

fn effective_usage(usage: &ffi::shim_assoc_usage, norm: Extended, oblivious: bool) -> Extended {
    let above = number(usage.parent_usage_efctv);
    if usage.below_root {
        norm
    } else if usage.shares_from_parent {
        above
    } else if oblivious {
        oblivious_usage(usage, norm, above)
    } else if usage.level_shares == 0 {
        above
    } else {
        let share = Extended::from(usage.shares_raw) / Extended::from(usage.level_shares);
        norm + (above - norm) * share
    }
}

fn oblivious_usage(usage: &ffi::shim_assoc_usage, norm: Extended, above: Extended) -> Extended {
    let (shares, parent_shares) = (double(usage.shares_norm), double(usage.parent_shares_norm));
    if [shares, parent_shares, above, norm]
        .iter()
        .any(|n| n.is_zero())
    {
        return norm;
    }
    let math = HostMath::default();
    let parent = above / parent_shares;
    let local = norm / shares / (number(usage.level_usage_norm) / parent_shares);
    let opposed = !parent.is_zero()
        && !local.is_zero()
        && (math.logl)(parent) * (math.logl)(local) < Extended::ZERO;
    let exponent = if opposed {
        let steep = Extended::from(5_u32) * (math.logl)(parent);
        Extended::ONE / (Extended::ONE + steep * steep)
    } else {
        Extended::ONE
    };
    let power = (math.pow)(local.to_f64(), exponent.to_f64());
    parent * Extended::from_f64(power).unwrap_or(Extended::ZERO) * shares
}

fn number(value: ffi::shim_extended) -> Extended {
    host::extended(value).unwrap_or(Extended::ZERO)
}

fn double(value: f64) -> Extended {
    Extended::from_f64(value).unwrap_or(Extended::ZERO)
}
