//! The settings, under slurm.conf's own names.

use crate::compat::Compat;
use crate::fairshare::Algorithm;

/// `PriorityFlags`, one field per flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct PriorityFlags {
    /// `ACCRUE_ALWAYS`: age counts from submission.
    pub accrue_always: bool,
    /// `CALCULATE_RUNNING`: running jobs are priced too.
    pub calculate_running: bool,
    /// `DEPTH_OBLIVIOUS`: classic fair share with that correction; excludes Fair Tree.
    pub depth_oblivious: bool,
    /// `NO_FAIR_TREE`: classic fair share.
    pub no_fair_tree: bool,
    /// `INCR_ONLY`: a pass never lowers a priority.
    pub incr_only: bool,
    /// `MAX_TRES`: bill the largest of the node-bound TRES.
    pub max_tres: bool,
    /// `MAX_TRES_GRES` (from 26.05).
    pub max_tres_gres: bool,
    /// `NO_NORMAL_ASSOC`.
    pub no_normal_assoc: bool,
    /// `NO_NORMAL_PART`.
    pub no_normal_part: bool,
    /// `NO_NORMAL_QOS`.
    pub no_normal_qos: bool,
    /// `NO_NORMAL_TRES`.
    pub no_normal_tres: bool,
    /// `SMALL_RELATIVE_TO_TIME`.
    pub small_relative_to_time: bool,
}

/// `PriorityUsageResetPeriod`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetPeriod {
    /// Never clear usage.
    #[default]
    None,
    /// Once, at start.
    Now,
    /// Every midnight.
    Daily,
    /// Every Sunday, midnight.
    Weekly,
    /// The first of each month.
    Monthly,
    /// The first of January, April, July, October.
    Quarterly,
    /// The first of January.
    Yearly,
}

/// Everything that decides factors and priorities, in slurm.conf's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `PriorityWeightAge`.
    pub priority_weight_age: u32,
    /// `PriorityWeightAssoc`.
    pub priority_weight_assoc: u32,
    /// `PriorityWeightFairshare`.
    pub priority_weight_fairshare: u32,
    /// `PriorityWeightJobSize`.
    pub priority_weight_job_size: u32,
    /// `PriorityWeightPartition`.
    pub priority_weight_partition: u32,
    /// `PriorityWeightQOS`.
    pub priority_weight_qos: u32,
    /// `PriorityWeightTRES`: name (`cpu`, `gres/gpu`) and weight, in the order given.
    pub priority_weight_tres: Vec<(String, f64)>,
    /// `PriorityMaxAge`, seconds.
    pub priority_max_age_secs: u32,
    /// `PriorityFavorSmall`.
    pub priority_favor_small: bool,
    /// `PriorityFlags`.
    pub priority_flags: PriorityFlags,
    /// `PriorityDecayHalfLife`, seconds; 0: usage never fades.
    pub priority_decay_half_life_secs: u32,
    /// `PriorityUsageResetPeriod`.
    pub priority_usage_reset_period: ResetPeriod,
    /// `PriorityCalcPeriod`, seconds (or `calc_period=` of `PriorityParameters`).
    pub priority_calc_period_secs: u32,
    /// `FairShareDampeningFactor`, from 1 up.
    pub fair_share_dampening_factor: u16,
    /// `compat=` of `PriorityParameters`.
    pub compat: Compat,
    /// `max_lock_ms=` of `PriorityParameters`; 0: a pass is applied in one piece.
    pub max_lock_ms: u32,
}

impl Config {
    /// The algorithm that the flags choose.
    pub fn algorithm(&self) -> Algorithm {
        todo!()
    }
}
