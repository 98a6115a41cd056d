//! Differences between fair share in `priority/multifactor` and its documentation.

use crate::compat::Compat;

/// Slurm's deviations to follow; all false under `compat=documented`. The same for all releases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Quirks {
    /// `pow` and `logl` are those of the C library, in double precision if it has them so.
    pub host_math: bool,
    /// Products of shares start at the association, in `f64`.
    pub shares_upwards: bool,
    /// The root's effective usage is 1, whatever its usage.
    pub root_uses_all: bool,
    /// Directly below the root its own usage counts, even with `FairShare=parent`.
    pub own_usage_below_root: bool,
    /// The shares of a level are added in 32 bits.
    pub level_shares_wrap: bool,
    /// Usage is added in the order of rows, and rounded accordingly.
    pub sums_in_row_order: bool,
}

impl Quirks {
    pub(super) const fn of(compat: Compat) -> Quirks {
        let slurm = compat.is_slurm();
        Quirks {
            host_math: slurm,
            shares_upwards: slurm,
            root_uses_all: slurm,
            own_usage_below_root: slurm,
            level_shares_wrap: slurm,
            sums_in_row_order: slurm,
        }
    }
}
