//! The classic fair-share factor, `F = 2^(-(UE / S) / dampening)`.
//!
//! Effective usage UE: right below the root, normalised usage. Further down, with UA an
//! association's normalised usage,
//! `UE = UA + (UE of the parent - UA) * shares / shares on the level`.
//! `FairShare=parent` takes UE and S, and so the factor, from the `fs_parent`; a level without
//! shares takes UE from it.
//!
//! Sources: classic_fair_share.shtml; for the edges `priority_multifactor.c` of 22.05 and 24.11,
//! which agree. Three differences:
//! * stock shows normalised usage as UE of `parent` right below the root, though its factor
//!   comes from the root; documented mode shows the root's;
//! * stock has 1 as UE of the root even where there is no usage, documented mode has 0;
//! * stock prices a user with the accounts' values of the last pass; here all values belong to
//!   the same moment (see `stock_records` for the other).

use super::host::PowerOfTwo;
use super::{AssocFairshare, Usage};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Shares, Tree};

/// Fair-share factors, by position, in the memory of `spare`.
pub(super) fn compute(
    tree: &Tree,
    compat: Compat,
    usage: &Usage<'_>,
    dampening: u16,
    power: PowerOfTwo,
    spare: Vec<AssocFairshare>,
) -> Vec<AssocFairshare> {
    let shares = tree.path_shares(compat);
    let mut results = usage.results(spare, shares.iter().map(|s| s.to_f64()));
    set_effective_usage(tree, compat, &mut results, |results, index, parent| {
        below(tree, compat, results, index, parent)
    });
    set_factors(tree, &shares, &mut results, dampening, power);
    results
}

/// Effective usage of an association with shares of its own, not right below the root.
fn below(
    tree: &Tree,
    compat: Compat,
    results: &[AssocFairshare],
    index: AssocIndex,
    parent: AssocIndex,
) -> Extended {
    let level = tree.level_shares(index).unwrap_or(0);
    // Slurm adds the shares of a level in 32 bits.
    let level = if compat.is_slurm() {
        u64::from(level as u32)
    } else {
        level
    };
    let above = results[parent.get()].effective_usage;
    if level == 0 {
        return above;
    }
    let shares = tree.rows()[index.get()].shares.raw().unwrap_or(0);
    let own = results[index.get()].norm_usage;
    between(own, above, shares, level)
}

/// Effective usage from an association's own normalised usage and the effective usage above it.
/// `level` is not 0.
pub(super) fn between(own: Extended, above: Extended, shares: u32, level: u64) -> Extended {
    own + (above - own) * (Extended::from(shares) / Extended::from(level))
}

/// Fills in effective usage, parents first; `below` computes it for associations that have
/// shares of their own and an `fs_parent` (its last argument) that is not the root.
pub(super) fn set_effective_usage(
    tree: &Tree,
    compat: Compat,
    results: &mut [AssocFairshare],
    mut below: impl FnMut(&[AssocFairshare], AssocIndex, AssocIndex) -> Extended,
) {
    for &index in tree.parents_first() {
        let at = index.get();
        let on_parent = tree.rows()[at].shares == Shares::Parent;
        results[at].effective_usage = match tree.fs_parent(index) {
            None if compat.is_slurm() => Extended::ONE,
            None => results[at].norm_usage,
            Some(parent) => {
                let below_root = tree.fs_parent(parent).is_none();
                if below_root && (!on_parent || compat.is_slurm()) {
                    results[at].norm_usage
                } else if on_parent {
                    results[parent.get()].effective_usage
                } else {
                    below(results, index, parent)
                }
            }
        };
    }
}

/// Fills in the factors from shares and effective usage.
pub(super) fn set_factors(
    tree: &Tree,
    shares: &[Extended],
    results: &mut [AssocFairshare],
    dampening: u16,
    power: PowerOfTwo,
) {
    let dampening = Extended::from(u32::from(dampening.max(1)));
    for &index in tree.parents_first() {
        let factor = match tree.fs_parent(index) {
            Some(parent) if tree.rows()[index.get()].shares == Shares::Parent => {
                results[parent.get()].fs_factor
            }
            _ => {
                let used = results[index.get()].effective_usage;
                Some(factor(used, shares[index.get()], dampening, &power))
            }
        };
        results[index.get()].fs_factor = factor;
    }
}

/// `2^(-(used / shares) / dampening)`, 0 without shares.
pub(super) fn factor(
    used: Extended,
    shares: Extended,
    dampening: Extended,
    power: &PowerOfTwo,
) -> f64 {
    if shares > Extended::ZERO {
        power(-(used / shares / dampening))
    } else {
        0.0
    }
}
