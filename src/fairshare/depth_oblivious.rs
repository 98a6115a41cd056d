//! The classic factor with the effective usage of `DEPTH_OBLIVIOUS`.
//!
//! `UE = Rp * Rl^k * S`, where Rp is the parent's `UE / S`, Rl the association's own `UA / S` in
//! proportion to that of its whole level, and `k = 1 / (1 + (5 ln Rp)^2)` where Rl would undo
//! what Rp says (one above 1, the other below), else 1. Where one of the numbers is 0, and right
//! below the root, UE is UA.
//!
//! Source: `priority_multifactor.c` of Slurm 22.05 and 24.11, which agree; the documentation
//! (slurm.conf(5), DEPTH_OBLIVIOUS) gives only the aim. Stock takes the siblings' usage of the
//! last pass for those it has not reached yet (see `stock_records`); here all values belong to the
//! same moment.

use super::Ranking;
use super::power_rule::PowerRule;
use super::rule::EffectiveUsage;

/// `depth_oblivious`: the rule of `DEPTH_OBLIVIOUS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthOblivious {
    /// `FairShareDampeningFactor`, from 1 up; 0 counts as 1.
    pub dampening: u16,
}

impl Ranking {
    /// `depth_oblivious` with that `FairShareDampeningFactor`.
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
