//! The classic fair-share factor, `F = 2^(-(UE / S) / dampening)`.
//!
//! Effective usage UE: directly below the root it is normalised usage. Further down, with UA the
//! normalised usage of an association,
//! `UE = UA + (UE of the parent - UA) * shares / shares on the level`.
//! `FairShare=parent` takes UE and S, and so the factor, from its `fs_parent`; a level without
//! shares takes UE from it.
//!
//! Sources: classic_fair_share.shtml; for edge cases `priority_multifactor.c` of 22.05 and 24.11,
//! which agree. Three differences:
//! * stock shows normalised usage as UE of `parent` directly below the root, although its factor
//!   comes from the root; documented mode shows the root's UE;
//! * stock shows 1 as UE of the root even without any usage, documented mode shows 0;
//! * stock prices a user with the values that accounts had in the last pass; here all values belong
//!   to the same moment (see `stock_records` for stock's behaviour).

use super::Ranking;
use super::power_rule::PowerRule;
use super::rule::EffectiveUsage;

/// `classic`: the rule of `NO_FAIR_TREE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classic {
    /// `FairShareDampeningFactor`, 1 or more; 0 counts as 1.
    pub dampening: u16,
}

impl Ranking {
    /// `classic` with this `FairShareDampeningFactor`.
    pub const fn classic(dampening: u16) -> Ranking {
        Ranking::Classic(Classic { dampening })
    }
}

impl PowerRule for Classic {
    const NAME: &'static str = "classic";
    const TITLE: &'static str = "classic fair share";
    const FLAG: &'static str = "NO_FAIR_TREE";
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::Mixed;
    const BY_LEVEL: bool = false;

    fn new(dampening: u16) -> Self {
        Self { dampening }
    }

    fn dampening(&self) -> u16 {
        self.dampening
    }
}
