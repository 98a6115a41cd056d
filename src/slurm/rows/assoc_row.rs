//! What a pass found for an association, as slurmctld's record is to hold it.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::{AssocFairshare, FairTreeNumbers};
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::tree::{AssocIndex, Tree};

const HAS_USAGE_EFCTV: u16 = ffi::SHIM_HAS_USAGE_EFCTV as u16;
const HAS_USAGE_NORM: u16 = ffi::SHIM_HAS_USAGE_NORM as u16;
const HAS_LEVEL_FS: u16 = ffi::SHIM_HAS_LEVEL_FS as u16;
const KEEPS_LEVEL_FS: u16 = ffi::SHIM_KEEPS_LEVEL_FS as u16;
const HAS_FS_FACTOR: u16 = ffi::SHIM_HAS_FS_FACTOR as u16;

/// Of an association under Fair Tree; `raw`: usage by position.
pub(in crate::slurm) fn fair_tree(
    tree: &Tree,
    raw: &[Extended],
    index: AssocIndex,
    numbers: &FairTreeNumbers,
    fs_factor: Option<f64>,
) -> ffi::shim_assoc_factors {
    let effective = host::shim_quotient(numbers.effective_usage, || {
        is_below_zero(raw, tree.fs_parent(index))
    });
    let mut found = usage(tree, raw, index.get(), effective, numbers.norm_usage);
    if let Some(level_fs) = numbers.level_fs {
        let number = host::shim_extended(level_fs);
        found.level_fs = number.mantissa;
        found.level_fs_exponent = number.sign_exponent;
        found.flags |= HAS_LEVEL_FS;
    }
    if let Some(fs_factor) = fs_factor {
        found.fs_factor = fs_factor;
        found.flags |= HAS_FS_FACTOR;
    }
    found
}

/// Of the association at `row` under another algorithm. `open`: its usage is left for whoever
/// asks.
pub(in crate::slurm) fn classic(
    compat: Compat,
    tree: &Tree,
    raw: &[Extended],
    row: usize,
    fairshare: &AssocFairshare,
    open: bool,
) -> ffi::shim_assoc_factors {
    let effective = host::shim_extended(fairshare.effective_usage);
    let mut found = usage(tree, raw, row, effective, fairshare.norm_usage);
    found.flags |= KEEPS_LEVEL_FS;
    if open {
        found.flags &= !(HAS_USAGE_EFCTV | HAS_USAGE_NORM);
    }
    // Stock that lets sshare compute the factor writes none outside Fair Tree.
    let computes = cfg!(slurm_has_calc_fs_factor) || open;
    let publishes = !(compat.is_slurm() && computes);
    if let Some(fs_factor) = fairshare.fs_factor.filter(|_| publishes) {
        found.fs_factor = fs_factor;
        found.flags |= HAS_FS_FACTOR;
    }
    found
}

/// Lets each association find its charges, in their order.
pub(in crate::slurm) fn link(
    factors: &mut [ffi::shim_assoc_factors],
    charges: &mut [ffi::shim_charge],
) {
    for at in (0..charges.len()).rev() {
        let charge = &mut charges[at];
        if let Some(found) = factors.get_mut(charge.assoc as usize) {
            charge.next = found.first_charge;
            found.first_charge = u32::try_from(at).unwrap_or(NONE);
        }
    }
}

/// Effective and normalised usage. The root comes first: its effective usage is all there is, and
/// it has no normalised one.
fn usage(
    tree: &Tree,
    raw: &[Extended],
    row: usize,
    effective: ffi::shim_extended,
    norm: Extended,
) -> ffi::shim_assoc_factors {
    let root = row == 0;
    let effective = if root {
        host::shim_extended(Extended::ONE)
    } else {
        effective
    };
    let mut found = ffi::shim_assoc_factors {
        usage_efctv: effective.mantissa,
        usage_efctv_exponent: effective.sign_exponent,
        flags: HAS_USAGE_EFCTV,
        first_charge: NONE,
        ..ffi::shim_assoc_factors::default()
    };
    if !root {
        let number = host::shim_quotient(norm, || is_below_zero(raw, tree.root()));
        found.usage_norm = number.mantissa;
        found.usage_norm_exponent = number.sign_exponent;
        found.flags |= HAS_USAGE_NORM;
    }
    found
}

/// The sign of a zero, which only stock's numbers can have.
fn is_below_zero(raw: &[Extended], of: Option<AssocIndex>) -> bool {
    of.is_some_and(|of| raw[of.get()].is_negative())
}
