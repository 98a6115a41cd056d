//! The classic factor with the effective usage of `DEPTH_OBLIVIOUS`.
//!
//! `UE = Rp * Rl^k * S`, where Rp is the parent's `UE / S`, Rl is the association's own `UA / S`
//! over that of its whole level, and `k = 1 / (1 + (5 ln Rp)^2)` if Rl opposes Rp (one is above 1,
//! the other below), otherwise 1. UE is UA directly below the root, and if one of the numbers is 0.
//!
//! Source: `priority_multifactor.c` of Slurm 22.05 and 24.11, which agree; the documentation
//! (slurm.conf(5), DEPTH_OBLIVIOUS) describes only the aim. For siblings that it has not reached
//! yet, stock uses the usage of the last pass (see `stock_records`); here all values belong to the
//! same moment.

use super::Ranking;
use super::power_rule::PowerRule;
use super::rule::EffectiveUsage;

/// `depth_oblivious`: the rule of `DEPTH_OBLIVIOUS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthOblivious {
    /// `FairShareDampeningFactor`, 1 or more; 0 counts as 1.
    pub dampening: u16,
}

impl Ranking {
    /// `depth_oblivious` with this `FairShareDampeningFactor`.
    pub const fn depth_oblivious(dampening: u16) -> Ranking {
        Ranking::DepthOblivious(DepthOblivious { dampening })
    }
}

impl PowerRule for DepthOblivious {
    const NAME: &'static str = "depth_oblivious";
    const TITLE: &'static str = "depth-oblivious fair share";
    const FLAG: &'static str = "DEPTH_OBLIVIOUS";
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::Other;
    const BY_LEVEL: bool = true;

    fn new(dampening: u16) -> Self {
        Self { dampening }
    }

    fn dampening(&self) -> u16 {
        self.dampening
    }
}
