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

use std::cmp::Ordering;

use super::classic::{self, Numbers};
use super::host::HostMath;
use super::quirks::Quirks;
use super::rule::{
    Columns, Comparison, EffectiveUsage, FactorFormula, RankingInput, Results, Rule, StockRecord,
    Whole,
};
use super::{AssocFairshare, Ranking, Usage, Workers};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Shares, Tree};

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

impl DepthOblivious {
    fn numbers<'a, W>(&self, input: &RankingInput<'a, W>) -> Numbers<'a> {
        let rule = Formula::new(input.compat, input.host);
        Numbers::new(input, self.dampening, Some(rule))
    }
}

impl Rule for DepthOblivious {
    const NAME: &'static str = "depth_oblivious";
    const TITLE: &'static str = "depth-oblivious fair share";
    const EXPLAINED: &'static str = "Classic fair share compares no levels: the factor is 2^-(used / due / dampening), \
         with the effective usage and the normalised shares of each user itself.";
    const FLAG: Option<&'static str> = Some("DEPTH_OBLIVIOUS");
    const WHOLE: Whole = Whole::Root;
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::Other;
    const COMPARISON: Comparison = Comparison::Factor;
    const COLUMNS: Columns = classic::COLUMNS;

    fn parse(argument: Option<&str>) -> Option<Self> {
        argument.is_none().then_some(Self { dampening: 1 })
    }

    fn formula(&self) -> FactorFormula {
        FactorFormula::Power {
            dampening: self.dampening,
        }
    }

    fn with_dampening(self, dampening: u16) -> Self {
        Self { dampening }
    }

    fn stock_record(&self) -> StockRecord {
        StockRecord {
            by_level: true,
            dampening: self.dampening,
        }
    }

    fn compute<W: Workers>(
        &self,
        input: &RankingInput<'_, W>,
        spare: Vec<AssocFairshare>,
    ) -> Vec<AssocFairshare> {
        self.numbers(input).all(spare)
    }

    fn results<'a, W: Workers>(&self, input: &RankingInput<'a, W>) -> Results<'a> {
        Results::Classic(self.numbers(input))
    }
}

/// The factor on `ln Rp`.
const STEEPNESS: u64 = 5;

/// Normalised usage of all children with shares of their own.
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
    // Rounded sums depend on their order; this one not on the order of rows.
    let mut usages: Vec<Extended> = usages.collect();
    usages.sort_unstable();
    usages.into_iter().sum()
}

/// What all children of one account have in common.
#[derive(Clone, Copy)]
pub(super) struct LevelRatios {
    /// Rp; 0 where it has no meaning.
    parent: Extended,
    /// The level's usage over the parent's normalised shares.
    siblings: Extended,
    /// k, where Rl opposes Rp.
    exponent: Extended,
}

impl LevelRatios {
    /// Of a level whose account has no shares or no usage.
    pub(super) const NONE: LevelRatios = LevelRatios {
        parent: Extended::ZERO,
        siblings: Extended::ZERO,
        exponent: Extended::ONE,
    };
}

/// The formula, with the functions that it calls.
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

    /// From effective usage and normalised shares of the parent, and the normalised usage of all
    /// its children with shares of their own, which is asked for only where it matters.
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

    /// Effective usage from the `own` normalised one.
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
            // A lent function could give NaN.
            return Extended::from_f64(power).unwrap_or(Extended::ZERO);
        }
        if exponent == Extended::ONE {
            base
        } else {
            base.pow(exponent)
        }
    }
}

/// Whether one ratio is above 1 and the other below.
fn opposed(a: Extended, b: Extended) -> bool {
    !b.is_zero()
        && matches!(
            (a.cmp(&Extended::ONE), b.cmp(&Extended::ONE)),
            (Ordering::Less, Ordering::Greater) | (Ordering::Greater, Ordering::Less)
        )
}
