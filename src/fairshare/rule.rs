//! Rankings: a ranking is a rule that computes factors from shares and usage.
//!
//! A ranking is a small value that implements [`Rule`] in its own file, and one line of the table
//! in [`super`]. The table generates the type [`Ranking`](super::Ranking), the values of
//! `ranking=`, and the list of names. No other code matches on rankings: each property that a
//! caller needs is a method here.

use std::cmp::Ordering;
use std::fmt;

use super::AssocFairshare;
use super::places::{self, Role};
use super::ranking_input::RankingInput;
use crate::order::Level;
use crate::tree::AssocIndex;
use crate::tree::Tree;

/// An order of associations, the better one less.
pub(crate) type Order<'a> = Box<dyn Fn(AssocIndex, AssocIndex) -> Ordering + 'a>;

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
    /// Its part of all usage, mixed with the effective usage above in proportion to its shares.
    Mixed,
    /// A different rule: does not rise and fall with usage alone.
    Other,
}

/// Comparison of two associations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// By level fairshare, on the first level below their nearest common account.
    Level,
    /// By the factor of each.
    Factor,
}

/// The formula of a factor, for explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorFormula {
    /// `rank / number of users`, or of leaves.
    Rank,
    /// `2^(-(effective usage / normalised shares) / dampening)`.
    Power {
        /// `FairShareDampeningFactor`, 1 or more.
        dampening: u16,
    },
    /// `(1 + normalised shares - effective usage) / 2`.
    Difference,
}

/// The columns of `share` that a ranking fills, besides those that all rankings fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Level fairshare ([`AssocFairshare::level_fs`]).
    pub level_fs: bool,
    /// The factor of accounts; otherwise only users have one.
    pub account_factor: bool,
    /// Entitled use, and the ratio of used to entitled.
    pub entitled: bool,
}

impl Columns {
    /// For rules that give each association its own factor.
    pub(crate) const OWN_FACTOR: Columns = Columns {
        level_fs: false,
        account_factor: true,
        entitled: false,
    };
}

/// Effective usage in stock's records of associations, for rankings that compute it on demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StockRecord {
    /// True for the rule of `DEPTH_OBLIVIOUS`, false for the classic one.
    pub(crate) by_level: bool,
    /// `FairShareDampeningFactor`, 1 or more.
    pub(crate) dampening: u16,
}

/// One ranking. Implemented once per file; see [`super`] for the table.
pub(crate) trait Rule: Copy + fmt::Debug + PartialEq {
    /// The word of `ranking=`, also in JSON.
    const NAME: &'static str;
    /// Name of the rule as part of a sentence: "classic fair share".
    const TITLE: &'static str;
    /// Sentence that explains why two users differ.
    const EXPLAINED: &'static str;
    /// Argument after a colon, in capitals; `None` if there is none.
    const ARGUMENT: Option<&'static str> = None;
    /// The word of PriorityFlags that selects it, empty for the default; `None`: stock Slurm does
    /// not have it, so it is not allowed with `compat=slurm`.
    const FLAG: Option<&'static str> = None;
    /// True if it compares level fairshare level by level: Fair Tree.
    const KEEPS_LEVELS: bool = false;
    /// The whole of which shares and usage are fractions.
    const WHOLE: Whole;
    /// Definition of effective usage.
    const EFFECTIVE_USAGE: EffectiveUsage;
    /// Comparison of two associations.
    const COMPARISON: Comparison;
    /// Columns that it fills.
    const COLUMNS: Columns;

    /// The rule of `NAME` or `NAME:ARGUMENT`; `None` if the argument is not allowed.
    fn parse(argument: Option<&str>) -> Option<Self>;

    /// The argument after the colon.
    fn argument(&self) -> Option<String> {
        None
    }

    /// The formula of the factor.
    fn formula(&self) -> FactorFormula {
        FactorFormula::Rank
    }

    /// The same rule with this `FairShareDampeningFactor`, if it has one.
    #[must_use]
    fn with_dampening(self, _dampening: u16) -> Self {
        self
    }

    /// Nodes that compete over the whole tree, for a rule that orders nodes by used over entitled;
    /// `None` for other rules.
    fn level(&self) -> Option<Level> {
        None
    }

    /// Number of places in a tree.
    fn places(&self, tree: &Tree) -> usize {
        tree.user_count()
    }

    /// The nodes that compete first; the children of each of them compete below it.
    fn first(&self, tree: &Tree, roles: &[Role], root: AssocIndex) -> Vec<AssocIndex> {
        places::competing(tree, roles, root).collect()
    }

    /// The order of two associations that compete, the better one less. `found`: the results for
    /// `input`, by position.
    fn order<'a>(&self, input: &RankingInput<'a>, found: &'a [AssocFairshare]) -> Order<'a> {
        let _ = input;
        let factor = |index: AssocIndex| found[index.get()].fs_factor.unwrap_or(0.0);
        Box::new(move |a, b| factor(b).total_cmp(&factor(a)))
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
    fn compute(&self, input: &RankingInput<'_>, spare: Vec<AssocFairshare>) -> Vec<AssocFairshare>;

    /// Fair share of single associations, on demand.
    fn results<'a>(&self, input: &RankingInput<'a>) -> Results<'a> {
        Results::All(self.compute(input, Vec::new()))
    }
}

/// Fair share of all associations of a tree.
pub(crate) enum Results<'a> {
    /// Computed.
    All(Vec<AssocFairshare>),
    /// Ranks, with all other numbers on demand.
    FairTree(super::fair_tree::Numbers<'a>),
    /// Computed on demand, which saves memory with a million users.
    Classic(super::classic_numbers::Numbers<'a>),
}

impl Results<'_> {
    /// Fair share of one association.
    #[inline]
    pub(crate) fn of(&self, index: AssocIndex) -> AssocFairshare {
        match self {
            Results::All(all) => all[index.get()],
            Results::FairTree(numbers) => numbers.fairshare(index),
            Results::Classic(numbers) => numbers.fairshare(index),
        }
    }
}

/// Generates the type `Ranking` and its methods from a table of types that implement [`Rule`].
macro_rules! rankings {
    ($($rule:ident,)+) => {
        /// The rule that orders associations and gives them factors; the value of `ranking=`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Ranking {
            $(#[doc = concat!("See [`", stringify!($rule), "`].")] $rule($rule),)+
        }

        $(impl From<$rule> for Ranking {
            fn from(rule: $rule) -> Ranking {
                Ranking::$rule(rule)
            }
        })+

        /// Calls a method of the rule in a ranking.
        macro_rules! rule {
            ($ranking:expr, $bound:ident => $call:expr) => {
                match $ranking {
                    $(Ranking::$rule($bound) => $call,)+
                }
            };
        }

        /// A constant of the rule in a ranking.
        macro_rules! constant {
            ($ranking:expr, $name:ident) => {
                match $ranking {
                    $(Ranking::$rule(_) => <$rule as Rule>::$name,)+
                }
            };
        }

        impl Ranking {
            /// Allowed values of `ranking=`, in the order of the table: names, with `:ARGUMENT` if
            /// one is needed.
            pub fn forms() -> Vec<String> {
                vec![$(match <$rule as Rule>::ARGUMENT {
                    Some(argument) => format!("{}:{argument}", <$rule as Rule>::NAME),
                    None => <$rule as Rule>::NAME.to_owned(),
                },)+]
            }

            /// Parses the value of `ranking=`, ignoring case. `FairShareDampeningFactor` is 1 if
            /// the rule has it.
            ///
            /// # Errors
            /// Unknown name; missing, unexpected or invalid argument. The error lists the allowed
            /// values.
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
