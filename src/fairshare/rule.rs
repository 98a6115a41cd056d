//! Rankings: a ranking is a rule that computes factors from shares and usage.
//!
//! A ranking is a small value that implements [`Rule`] in a file of its own, and one line of the
//! table in [`super`]. From the table follow the type [`Ranking`](super::Ranking), what
//! `ranking=` accepts, and the list of names. No other code matches on rankings: each property that
//! a caller needs is a method here.

use std::fmt;

use super::ranking_input::RankingInput;
use super::{AssocFairshare, Workers};
use crate::order::Level;
use crate::tree::AssocIndex;
use crate::tree::Tree;

/// The whole that normalised shares and effective usage are fractions of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whole {
    /// Shares and usage of the account above.
    #[default]
    Above,
    /// Shares and usage of the root.
    Root,
}

impl Whole {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Whole::Above => "the account above",
            Whole::Root => "the whole",
        }
    }
}

/// The definition of effective usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectiveUsage {
    /// Its raw usage over that of the account above.
    OfAbove,
    /// Its raw usage over that of all on its level.
    OfSiblings,
    /// Its raw usage over that of the root.
    OfRoot,
    /// Its part of all usage and the effective usage above, mixed in proportion to its shares.
    Mixed,
    /// By another rule, neither rising nor falling with usage alone.
    Other,
}

/// How two associations are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// By level fairshare, on the first level below their nearest common account.
    Level,
    /// By the factor that each has for itself.
    Factor,
}

/// The formula of a factor, for those who explain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorFormula {
    /// `rank / number of users`, or of leaves.
    Rank,
    /// `2^(-(effective usage / normalised shares) / dampening)`.
    Power {
        /// `FairShareDampeningFactor`, from 1 up.
        dampening: u16,
    },
    /// `(1 + normalised shares - effective usage) / 2`.
    Difference,
}

/// The columns of `share` that a ranking fills, beside those that all have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Level fairshare ([`AssocFairshare::level_fs`]).
    pub level_fs: bool,
    /// The factor of accounts; else users alone have one.
    pub account_factor: bool,
    /// Entitled use, and used over entitled.
    pub entitled: bool,
}

impl Columns {
    /// Of rules that give each association its own factor.
    pub(crate) const OWN_FACTOR: Columns = Columns {
        level_fs: false,
        account_factor: true,
        entitled: false,
    };
}

/// How stock's records of associations get effective usage where this ranking computes it on
/// demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StockRecord {
    /// By the rule of `DEPTH_OBLIVIOUS`; else by the classic one.
    pub(crate) by_level: bool,
    /// `FairShareDampeningFactor`, from 1 up.
    pub(crate) dampening: u16,
}

/// One ranking. Implemented once per file; see [`super`] for the table.
pub(crate) trait Rule: Copy + fmt::Debug + PartialEq {
    /// The word of `ranking=`, also in JSON.
    const NAME: &'static str;
    /// The rule in words, to go on with a sentence: "classic fair share".
    const TITLE: &'static str;
    /// What makes two users differ, a sentence.
    const EXPLAINED: &'static str;
    /// What stands behind a colon after the name, in capitals; `None`: nothing.
    const ARGUMENT: Option<&'static str> = None;
    /// The word of PriorityFlags that chooses it, empty for the default; `None`: stock Slurm does
    /// not have it, so that it may not stand beside `compat=slurm`.
    const FLAG: Option<&'static str> = None;
    /// Whether [`LevelRanks`](super::LevelRanks) can compute it incrementally.
    const KEEPS_LEVELS: bool = false;
    /// What shares and usage are parts of.
    const WHOLE: Whole;
    /// What effective usage is.
    const EFFECTIVE_USAGE: EffectiveUsage;
    /// How two associations are compared.
    const COMPARISON: Comparison;
    /// What it fills.
    const COLUMNS: Columns;

    /// The rule that `NAME` or `NAME:ARGUMENT` means; `None`: the argument is not allowed.
    fn parse(argument: Option<&str>) -> Option<Self>;

    /// What stands behind the colon.
    fn argument(&self) -> Option<String> {
        None
    }

    /// The formula of the factor.
    fn formula(&self) -> FactorFormula {
        FactorFormula::Rank
    }

    /// The same rule with that `FairShareDampeningFactor`, where it has one.
    #[must_use]
    fn with_dampening(self, _dampening: u16) -> Self {
        self
    }

    /// Who competes over the whole tree, where nodes are ordered by used over entitled; `None`:
    /// they are ordered otherwise.
    fn level(&self) -> Option<Level> {
        None
    }

    /// Number of places in a tree.
    fn places(&self, tree: &Tree) -> usize {
        tree.user_count()
    }

    /// For [`super::stock_records`].
    fn stock_record(&self) -> StockRecord {
        StockRecord {
            by_level: false,
            dampening: 1,
        }
    }

    /// Fair share of all associations by position, in the memory of `spare`, whose content is
    /// ignored.
    fn compute<W: Workers>(
        &self,
        input: &RankingInput<'_, W>,
        spare: Vec<AssocFairshare>,
    ) -> Vec<AssocFairshare>;

    /// Fair share of one association after the other, as they are asked for.
    fn results<'a, W: Workers>(&self, input: &RankingInput<'a, W>) -> Results<'a> {
        Results::All(self.compute(input, Vec::new()))
    }
}

/// Fair share of all associations of a tree.
pub(crate) enum Results<'a> {
    /// Computed.
    All(Vec<AssocFairshare>),
    /// Computed when it is asked for: of a million users that takes less memory.
    Classic(super::classic_numbers::Numbers<'a>),
}

impl Results<'_> {
    /// Of one.
    #[inline]
    pub(crate) fn of(&self, index: AssocIndex) -> AssocFairshare {
        match self {
            Results::All(all) => all[index.get()],
            Results::Classic(numbers) => numbers.fairshare(index),
        }
    }
}

/// Makes of a table of types that implement [`Rule`] the type `Ranking` and its methods.
macro_rules! rankings {
    ($($rule:ident,)+) => {
        /// Who comes first: the rule that orders associations and gives them factors; the value
        /// of `ranking=`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Ranking {
            $(#[doc = concat!("See [`", stringify!($rule), "`].")] $rule($rule),)+
        }

        $(impl From<$rule> for Ranking {
            fn from(rule: $rule) -> Ranking {
                Ranking::$rule(rule)
            }
        })+

        /// Calls a method of the rule that a ranking is.
        macro_rules! rule {
            ($ranking:expr, $bound:ident => $call:expr) => {
                match $ranking {
                    $(Ranking::$rule($bound) => $call,)+
                }
            };
        }

        /// A constant of the rule that a ranking is.
        macro_rules! constant {
            ($ranking:expr, $name:ident) => {
                match $ranking {
                    $(Ranking::$rule(_) => <$rule as Rule>::$name,)+
                }
            };
        }

        impl Ranking {
            /// What `ranking=` may be, in the order of the table: names, with `:ARGUMENT` where
            /// one is needed.
            pub fn forms() -> Vec<String> {
                vec![$(match <$rule as Rule>::ARGUMENT {
                    Some(argument) => format!("{}:{argument}", <$rule as Rule>::NAME),
                    None => <$rule as Rule>::NAME.to_owned(),
                },)+]
            }

            /// Reads the value of `ranking=`, in any case of letters. Where the rule has a
            /// `FairShareDampeningFactor`, it is 1.
            ///
            /// # Errors
            /// Unknown names; an argument where none is allowed, none where one is needed, and
            /// one out of range: what is allowed instead.
            ///
            /// ```
            /// use fairtree::fairshare::Ranking;
            /// assert_eq!(Ranking::parse("fair_tree"), Ok(Ranking::FAIR_TREE));
            /// assert!(Ranking::parse("fair_tree:2").unwrap_err().allowed.contains("classic"));
            /// ```
            pub fn parse(text: &str) -> Result<Ranking, $crate::config::ValueError> {
                let lower = text.to_ascii_lowercase();
                let (name, argument) = match lower.split_once(':') {
                    Some((name, argument)) => (name, Some(argument)),
                    None => (lower.as_str(), None),
                };
                $(if name == <$rule as Rule>::NAME {
                    if let Some(rule) = <$rule as Rule>::parse(argument) {
                        return Ok(Ranking::$rule(rule));
                    }
                })+
                let allowed = format!("one of {}", Ranking::forms().join(", "));
                Err($crate::config::ValueError::new(text, allowed))
            }
        }
    };
}
