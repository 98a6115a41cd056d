//! Results of a pass for an association, as the new content of slurmctld's record.

use crate::compat::Compat;
use crate::engine::AssocResult;
use crate::extended::Extended;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::tree::{AssocIndex, Tree};

const HAS_USAGE_EFCTV: u16 = ffi::SHIM_HAS_USAGE_EFCTV as u16;
const HAS_USAGE_NORM: u16 = ffi::SHIM_HAS_USAGE_NORM as u16;
const HAS_LEVEL_FS: u16 = ffi::SHIM_HAS_LEVEL_FS as u16;
const KEEPS_LEVEL_FS: u16 = ffi::SHIM_KEEPS_LEVEL_FS as u16;
const HAS_FS_FACTOR: u16 = ffi::SHIM_HAS_FS_FACTOR as u16;

/// Row under Fair Tree.
#[inline]
pub(in crate::slurm) fn fair_tree(tree: &Tree, found: &AssocResult<'_>) -> ffi::shim_assoc_factors {
    let effective = host::shim_quotient(found.fairshare.effective_usage, || {
        is_below_zero(found.raw_usage, tree.fs_parent(found.index))
    });
    let mut row = usage(tree, found, effective);
    if let Some(number) = found.fairshare.level_fs {
        level_fs(&mut row, number);
    }
    if let Some(fs_factor) = found.fairshare.fs_factor {
        row.fs_factor = fs_factor;
        row.flags |= HAS_FS_FACTOR;
    }
    row
}

/// Row under another ranking. `keeps_level_fs`: if the ranking has no level fairshare, the record
/// keeps its value, because `PriorityFlags` shows that there is none.
pub(in crate::slurm) fn classic(
    (compat, keeps_level_fs): (Compat, bool),
    tree: &Tree,
    found: &AssocResult<'_>,
) -> ffi::shim_assoc_factors {
    let effective = host::shim_extended(found.fairshare.effective_usage);
    let mut row = usage(tree, found, effective);
    match found.fairshare.level_fs {
        Some(number) => level_fs(&mut row, number),
        None if keeps_level_fs => row.flags |= KEEPS_LEVEL_FS,
        None => {}
    }
    if found.open {
        row.flags &= !(HAS_USAGE_EFCTV | HAS_USAGE_NORM);
    }
    // Stock that lets sshare compute the factor does not write one outside Fair Tree, nor for the
    // root, which is in no list of children.
    let computes = cfg!(slurm_has_calc_fs_factor) || found.open || found.index.get() == 0;
    let publishes = !(compat.is_slurm() && computes);
    if let Some(fs_factor) = found.fairshare.fs_factor.filter(|_| publishes) {
        row.fs_factor = fs_factor;
        row.flags |= HAS_FS_FACTOR;
    }
    row
}

fn level_fs(row: &mut ffi::shim_assoc_factors, level_fs: Extended) {
    let number = host::shim_extended(level_fs);
    row.level_fs = number.mantissa;
    row.level_fs_exponent = number.sign_exponent;
    row.flags |= HAS_LEVEL_FS;
}

/// Links each association to its charges, in their order.
pub(in crate::slurm) fn link(
    factors: &mut [ffi::shim_assoc_factors],
    charges: &mut [ffi::shim_charge],
) {
    for at in (0..charges.len()).rev() {
        let charge = &mut charges[at];
        if let Some(row) = factors.get_mut(charge.assoc as usize) {
            charge.next = row.first_charge;
            row.first_charge = u32::try_from(at).unwrap_or(NONE);
        }
    }
}

/// Effective and normalised usage. The root comes first: its effective usage is the whole usage,
/// and it has no normalised usage.
#[inline]
fn usage(
    tree: &Tree,
    found: &AssocResult<'_>,
    effective: ffi::shim_extended,
) -> ffi::shim_assoc_factors {
    let root = found.index.get() == 0;
    let effective = if root {
        host::shim_extended(Extended::ONE)
    } else {
        effective
    };
    let mut row = ffi::shim_assoc_factors {
        usage_efctv: effective.mantissa,
        usage_efctv_exponent: effective.sign_exponent,
        flags: HAS_USAGE_EFCTV,
        first_charge: NONE,
        ..ffi::shim_assoc_factors::default()
    };
    if !root {
        let below = || is_below_zero(found.raw_usage, tree.root());
        let number = host::shim_quotient(found.fairshare.norm_usage, below);
        row.usage_norm = number.mantissa;
        row.usage_norm_exponent = number.sign_exponent;
        row.flags |= HAS_USAGE_NORM;
    }
    row
}

/// The sign of a zero; only stock's numbers can have one.
fn is_below_zero(raw: &[Extended], of: Option<AssocIndex>) -> bool {
    of.is_some_and(|of| raw[of.get()].is_negative())
}
