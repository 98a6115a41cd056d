//! Classic fair share of one user, computed later than that of the accounts above.

use crate::extended::Extended;
use crate::fairshare::{AssocFairshare, HostMath};
use crate::tree::{AssocIndex, Shares, Tree};

/// Recomputes normalised usage, effective usage and factor of a user from `raw`, the usage of
/// this moment; the values of accounts in `fairshare` stay those they were computed with.
///
/// `assoc` is a user with shares of its own. Rounding is that of priority/multifactor
/// (`set_assoc_usage_norm`, `_set_usage_efctv`, `priority_p_calc_fs_factor`): usage in a 64-bit
/// mantissa, the sum of a level's shares in 32 bits.
pub(super) fn late_user(
    tree: &Tree,
    assoc: AssocIndex,
    raw: &[Extended],
    dampening: u16,
    fairshare: &mut [AssocFairshare],
) {
    let (Some(fs_parent), Shares::Raw(shares)) =
        (tree.fs_parent(assoc), tree.rows()[assoc.get()].shares)
    else {
        return;
    };
    let root = tree.parents_first()[0];
    let norm_usage = if raw[root.get()].is_zero() {
        Extended::ZERO
    } else {
        (raw[assoc.get()] / raw[root.get()]).min(Extended::ONE)
    };
    let level = tree.level_shares(assoc).unwrap_or(0) as u32;
    let above = fairshare[fs_parent.get()].effective_usage;
    let effective_usage = if fs_parent == root {
        norm_usage
    } else if level == 0 {
        above
    } else {
        let part = Extended::from(shares) / Extended::from(level);
        norm_usage + (above - norm_usage) * part
    };
    let found = &mut fairshare[assoc.get()];
    found.norm_usage = norm_usage;
    found.effective_usage = effective_usage;
    found.fs_factor = Some(factor(effective_usage, found.norm_shares, dampening));
}

/// `2^(-(usage / shares / dampening))`, 0 without shares.
fn factor(effective_usage: Extended, norm_shares: f64, dampening: u16) -> f64 {
    let shares = Extended::from_f64(norm_shares).unwrap_or(Extended::ZERO);
    if shares <= Extended::ZERO {
        return 0.0;
    }
    let exponent = -(effective_usage / shares / Extended::from(u32::from(dampening)));
    (HostMath::default().pow)(2.0, exponent.to_f64())
}
