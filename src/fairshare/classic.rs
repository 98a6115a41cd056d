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

use super::Ranking;
use super::power_rule::PowerRule;
use super::rule::EffectiveUsage;

/// `classic`: the rule of `NO_FAIR_TREE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classic {
    /// `FairShareDampeningFactor`, from 1 up; 0 counts as 1.
    pub dampening: u16,
}

impl Ranking {
    /// `classic` with that `FairShareDampeningFactor`.
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
