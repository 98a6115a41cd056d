//! Where `priority/multifactor` computes fair share otherwise than documented.

use crate::compat::Compat;

/// Which of Slurm's own ways to follow; all false under `compat=documented`. No release differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Quirks {
    /// `pow` and `logl` are the C library's, and in double precision where it has them so.
    pub host_math: bool,
    /// Shares are multiplied from the association upwards, in `f64`.
    pub shares_upwards: bool,
    /// The root's effective usage is 1, whatever it used.
    pub root_uses_all: bool,
    /// Right below the root the own usage counts, even with `FairShare=parent`.
    pub own_usage_below_root: bool,
    /// The shares of a level are added in 32 bits.
    pub level_shares_wrap: bool,
    /// Usage is added in the order of rows, and so rounded.
    pub sums_in_row_order: bool,
    /// Usage below zero is reckoned with.
    pub negative_usage: bool,
    /// Level fairshare of Fair Tree is rounded to an `f64` on the way, as stock's.
    pub rounds_level_fs: bool,
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
            negative_usage: slurm,
            rounds_level_fs: slurm,
        }
    }
}
