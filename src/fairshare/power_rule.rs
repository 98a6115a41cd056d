//! Code shared by the two rules whose factor is a power of two of used over entitled.

use std::fmt;

use super::classic_numbers::Numbers;
use super::level_ratios::Formula;
use super::ranking_input::RankingInput;
use super::rule::{
    Columns, Comparison, EffectiveUsage, FactorFormula, Results, Rule, StockRecord, Whole,
};
use super::{AssocFairshare, Ranking};

/// A rule with the factor `2^(-(UE / S) / dampening)`.
pub(crate) trait PowerRule: Copy + fmt::Debug + PartialEq + Into<Ranking> {
    /// As [`Rule::NAME`].
    const NAME: &'static str;
    /// As [`Rule::TITLE`].
    const TITLE: &'static str;
    /// The word of PriorityFlags that selects it.
    const FLAG: &'static str;
    /// As [`Rule::EFFECTIVE_USAGE`].
    const EFFECTIVE_USAGE: EffectiveUsage;
    /// True if effective usage is that of `DEPTH_OBLIVIOUS`.
    const BY_LEVEL: bool;

    /// The rule with this `FairShareDampeningFactor`.
    fn new(dampening: u16) -> Self;

    /// `FairShareDampeningFactor`.
    fn dampening(&self) -> u16;
}

impl<T: PowerRule> Rule for T {
    const NAME: &'static str = <T as PowerRule>::NAME;
    const TITLE: &'static str = <T as PowerRule>::TITLE;
    const EXPLAINED: &'static str = "Classic fair share compares no levels: the factor is 2^-(used / due / dampening), \
         with the effective usage and the normalised shares of each user itself.";
    const FLAG: Option<&'static str> = Some(<T as PowerRule>::FLAG);
    const WHOLE: Whole = Whole::Root;
    const EFFECTIVE_USAGE: EffectiveUsage = <T as PowerRule>::EFFECTIVE_USAGE;
    const COMPARISON: Comparison = Comparison::Factor;
    const COLUMNS: Columns = Columns::OWN_FACTOR;

    fn parse(argument: Option<&str>) -> Option<Self> {
        argument.is_none().then_some(T::new(1))
    }

    fn formula(&self) -> FactorFormula {
        FactorFormula::Power {
            dampening: self.dampening(),
        }
    }

    fn with_dampening(self, dampening: u16) -> Self {
        T::new(dampening)
    }

    fn stock_record(&self) -> StockRecord {
        StockRecord {
            by_level: T::BY_LEVEL,
            dampening: self.dampening(),
        }
    }

    fn compute(&self, input: &RankingInput<'_>, spare: Vec<AssocFairshare>) -> Vec<AssocFairshare> {
        numbers(self, input).all(spare)
    }

    fn results<'a>(&self, input: &RankingInput<'a>) -> Results<'a> {
        Results::Classic(numbers(self, input))
    }
}

fn numbers<'a, T: PowerRule>(rule: &T, input: &RankingInput<'a>) -> Numbers<'a> {
    let by_level = T::BY_LEVEL.then(|| Formula::new(input.compat, input.host));
    Numbers::new(input, rule.dampening(), by_level)
}
