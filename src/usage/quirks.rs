//! Where `priority/multifactor` accounts usage otherwise than documented.

use crate::compat::Compat;

/// Which of Slurm's own ways to follow; all false under `compat=documented`. No release differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub(crate) struct Quirks {
    /// Negative billing is a refund.
    pub refunds: bool,
    /// With `CALCULATE_RUNNING`, pending jobs are charged, too.
    pub charges_pending: bool,
    /// Run seconds are counted pass by pass and truncated in each; jobs that never started are
    /// charged, and what was charged to a later time before is charged again.
    pub truncates_per_pass: bool,
    /// A size that ends after the job's time limit, or its grace time, is not charged beyond that.
    pub ends_sizes_by_limit: bool,
    /// Run seconds used before a restart: of running jobs only, without bound, and truncated after
    /// the count has multiplied them.
    pub scales_consumed: bool,
    /// A half-life is `1 - 0.693/h` to the power of a time, by the C library; all use of a period
    /// came at its start.
    pub approximates_half_life: bool,
    /// An infinite half-life is one of 136 years.
    pub infinity_ends: bool,
    /// Resets are due in seconds from the last one, one per pass.
    pub resets_by_seconds: bool,
    /// Usage is valued at the clock, even where that is behind the last pass.
    pub follows_clock_back: bool,
}

impl Quirks {
    pub(crate) const fn of(compat: Compat) -> Quirks {
        let slurm = compat.is_slurm();
        Quirks {
            refunds: slurm,
            charges_pending: slurm,
            truncates_per_pass: slurm,
            ends_sizes_by_limit: slurm,
            scales_consumed: slurm,
            approximates_half_life: slurm,
            infinity_ends: slurm,
            resets_by_seconds: slurm,
            follows_clock_back: slurm,
        }
    }
}
