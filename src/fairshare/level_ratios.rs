//! Effective usage as in `DEPTH_OBLIVIOUS`, from ratios of levels; see `depth_oblivious` for the
//! formula and its source.

use std::cmp::Ordering;

use super::Usage;
use super::host::HostMath;
use super::quirks::Quirks;
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Shares, Tree};

/// The factor on `ln Rp`.
const STEEPNESS: u64 = 5;

/// Total normalised usage of all children with shares of their own.
pub(super) fn usage_of_level(
    tree: &Tree,
    quirks: Quirks,
    usage: &Usage<'_>,
    parent: AssocIndex,
) -> Extended {
    let children = tree.fs_children(parent).iter();
    let with_shares = children.filter(|c| tree.rows()[c.get()].shares != Shares::Parent);
    let usages = with_shares.map(|c| usage.norm(*c));
    if quirks.sums_in_row_order {
        return usages.sum();
    }
    // A rounded sum depends on the order of terms; this order does not depend on the order of rows.
    let mut usages: Vec<Extended> = usages.collect();
    usages.sort_unstable();
    usages.into_iter().sum()
}

/// Numbers shared by all children of one account.
#[derive(Clone, Copy)]
pub(super) struct LevelRatios {
    /// Rp; 0 if undefined.
    parent: Extended,
    /// The level's usage over the parent's normalised shares.
    siblings: Extended,
    /// k, used if Rl opposes Rp.
    exponent: Extended,
}

impl LevelRatios {
    /// For a level whose account has no shares or no usage.
    pub(super) const NONE: LevelRatios = LevelRatios {
        parent: Extended::ZERO,
        siblings: Extended::ZERO,
        exponent: Extended::ONE,
    };
}

/// The formula with the functions that it calls.
#[derive(Clone, Copy)]
pub(super) struct Formula {
    quirks: Quirks,
    host: HostMath,
}

impl Formula {
    pub(super) fn new(compat: Compat, host: HostMath) -> Formula {
        Formula {
            quirks: Quirks::of(compat),
            host,
        }
    }

    /// Computes from effective usage and normalised shares of the parent, and the normalised usage
    /// of all its children with shares of their own, which is computed only if needed.
    pub(super) fn level(
        &self,
        effective_usage: Extended,
        shares: Extended,
        usage_of_level: impl FnOnce() -> Extended,
    ) -> LevelRatios {
        let ratio = effective_usage / shares;
        if shares.is_zero() || ratio.is_zero() {
            return LevelRatios::NONE;
        }
        let log = match self.quirks.host_math {
            false => ratio.ln(),
            true => (self.host.logl)(ratio),
        };
        let steep = Extended::from(STEEPNESS) * log;
        LevelRatios {
            parent: ratio,
            siblings: usage_of_level() / shares,
            exponent: Extended::ONE / (Extended::ONE + steep * steep),
        }
    }

    /// Effective usage from `own`, the normalised usage.
    pub(super) fn effective_usage(
        &self,
        own: Extended,
        shares: Extended,
        level: LevelRatios,
    ) -> Extended {
        if shares.is_zero() || own.is_zero() || level.parent.is_zero() {
            return own;
        }
        let local = own / shares / level.siblings;
        let power = if opposed(level.parent, local) {
            self.power(local, level.exponent)
        } else {
            self.power(local, Extended::ONE)
        };
        level.parent * power * shares
    }

    fn power(&self, base: Extended, exponent: Extended) -> Extended {
        if self.quirks.host_math {
            let power = (self.host.pow)(base.to_f64(), exponent.to_f64());
            // A host's function could return NaN.
            return Extended::from_f64(power).unwrap_or(Extended::ZERO);
        }
        if exponent == Extended::ONE {
            base
        } else {
            base.pow(exponent)
        }
    }
}

/// Returns true if one ratio is above 1 and the other below.
fn opposed(a: Extended, b: Extended) -> bool {
    !b.is_zero()
        && matches!(
            (a.cmp(&Extended::ONE), b.cmp(&Extended::ONE)),
            (Ordering::Less, Ordering::Greater) | (Ordering::Greater, Ordering::Less)
        )
}
