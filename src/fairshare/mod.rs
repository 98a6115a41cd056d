//! Fair share: computes a factor per association from shares and usage.
//!
//! A [`Ranking`] is the rule, with one file per rule; see the table below. [`compute`] computes any
//! of them.
//!
//! | file | [`Compat::Documented`] | [`Compat::Slurm`] |
//! |---|---|---|
//! | `fair_tree` | exact | `stock_tree`, bit for bit |
//! | `classic` | at one moment | in Slurm's rounding |
//! | `depth_oblivious` | at one moment | in Slurm's rounding |
//! | `difference`, `weighted_walk`, `least_used` | exact | not in stock: as documented |
//!
//! `stock_records` is for hosts that reproduce slurmctld from pass to pass: the state of its
//! records.

#[macro_use]
mod rule;

mod classic;
mod classic_numbers;
mod contests;
mod depth_oblivious;
mod difference;
mod entitlement;
mod exact;
mod fair_tree;
mod host;
mod least_used;
mod level_ratios;
mod places;
mod power_rule;
mod product;
mod quirks;
mod ranking_input;
pub(crate) mod stock_records;
mod stock_tree;
mod usage;
mod weighted_walk;

use std::fmt;

use crate::compat::Compat;
use crate::extended::Extended;
use crate::order::Level;
use crate::tree::{AssocIndex, Tree};

pub use classic::Classic;
pub use contests::Place;
pub use depth_oblivious::DepthOblivious;
pub use difference::Difference;
pub use entitlement::{Budget, Entitlement, Excess};
pub use fair_tree::{FairTree, order_on_level};
pub use host::HostMath;
pub use least_used::LeastUsed;
use places::Role;
use ranking_input::RankingInput;
pub(crate) use rule::Results;
pub use rule::{Columns, Comparison, EffectiveUsage, FactorFormula, Whole};
use rule::{Rule, StockRecord};
pub use stock_records::RecordState;
use usage::Usage;
pub use weighted_walk::WeightedWalk;

// One line per ranking: its type, which implements `Rule`.
rankings! {
    FairTree,
    Classic,
    DepthOblivious,
    Difference,
    WeightedWalk,
    LeastUsed,
}

impl Ranking {
    /// The word of `ranking=` without its argument; also in JSON.
    pub fn name(self) -> &'static str {
        constant!(self, NAME)
    }

    /// Name of the rule as part of a sentence: "classic fair share".
    pub fn title(self) -> &'static str {
        constant!(self, TITLE)
    }

    /// Sentence that explains why two users differ.
    pub fn explained(self) -> &'static str {
        constant!(self, EXPLAINED)
    }

    /// Returns true if stock Slurm has this rule: it is allowed with `compat=slurm`.
    pub fn is_in_stock(self) -> bool {
        self.flag().is_some()
    }

    /// The word of PriorityFlags that selects it, empty for the default; `None` if there is no such
    /// word.
    pub fn flag(self) -> Option<&'static str> {
        constant!(self, FLAG)
    }

    /// Returns true if it compares level fairshare level by level: Fair Tree.
    pub fn keeps_levels(self) -> bool {
        constant!(self, KEEPS_LEVELS)
    }

    /// The whole of which normalised shares and effective usage are fractions.
    pub fn whole(self) -> Whole {
        constant!(self, WHOLE)
    }

    /// Definition of effective usage.
    pub fn effective_usage(self) -> EffectiveUsage {
        constant!(self, EFFECTIVE_USAGE)
    }

    /// Comparison of two associations.
    pub fn comparison(self) -> Comparison {
        constant!(self, COMPARISON)
    }

    /// Columns that it fills.
    pub fn columns(self) -> Columns {
        constant!(self, COLUMNS)
    }

    /// The formula of its factor.
    pub fn formula(self) -> FactorFormula {
        rule!(self, rule => rule.formula())
    }

    /// Returns true if the factor is a rank: a change of one association may change the factors of
    /// many.
    pub fn is_ranked(self) -> bool {
        self.formula() == FactorFormula::Rank
    }

    /// The same rule with this `FairShareDampeningFactor`, 1 or more, if the rule has one.
    #[must_use]
    pub fn with_dampening(self, dampening: u16) -> Ranking {
        rule!(self, rule => rule.with_dampening(dampening).into())
    }

    /// `FairShareDampeningFactor`; `None` if the rule has none.
    pub fn dampening(self) -> Option<u16> {
        match self.formula() {
            FactorFormula::Power { dampening } => Some(dampening),
            FactorFormula::Rank | FactorFormula::Difference => None,
        }
    }

    /// Nodes that compete over the whole tree, for a rule that orders nodes by used over entitled,
    /// which `order=strict` and `order=interleaved` require. `None` for other rules.
    pub fn level(self) -> Option<Level> {
        rule!(self, rule => rule.level())
    }

    /// Number of places in a tree: a ranked factor is `rank / places`. The number of users, or of
    /// leaves if an account can be a leaf.
    pub fn places(self, tree: &Tree) -> usize {
        rule!(self, rule => rule.places(tree))
    }

    fn first(self, tree: &Tree, roles: &[Role], root: AssocIndex) -> Vec<AssocIndex> {
        rule!(self, rule => rule.first(tree, roles, root))
    }

    fn order<'a>(self, input: &RankingInput<'a>, found: &'a [AssocFairshare]) -> rule::Order<'a> {
        rule!(self, rule => rule.order(input, found))
    }

    fn stock_record(self) -> StockRecord {
        rule!(self, rule => rule.stock_record())
    }
}

/// In the format of `ranking=`.
impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match rule!(self, rule => rule.argument()) {
            Some(argument) => write!(f, ":{argument}"),
            None => Ok(()),
        }
    }
}

/// The results of a computation for one association.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AssocFairshare {
    /// Normalised shares, 0..=1. See [`Tree::norm_shares_on_level`] (Fair Tree) and
    /// [`Tree::norm_shares_on_path`] (classic).
    pub norm_shares: f64,
    /// Raw usage, TRES-seconds.
    pub raw_usage: Extended,
    /// Raw usage over the root's, 0..=1; 0 if the root has none.
    pub norm_usage: Extended,
    /// Fair Tree: raw usage over that of the `fs_parent`, 0 if that has none. Classic: as defined
    /// by the ranking. At least 0.
    ///
    /// For the root its normalised usage; under `compat=slurm` always 1.
    pub effective_usage: Extended,
    /// Level fairshare: shares over usage, 0..=infinity. `None` if not defined: for the root, for
    /// accounts with `FairShare=parent`, and for all associations outside Fair Tree.
    pub level_fs: Option<Extended>,
    /// Fair-share factor, 0..=1. `None` for accounts under Fair Tree.
    pub fs_factor: Option<f64>,
}

/// Fair-share factors of all associations, one per association by position.
///
/// `raw_usage`: one per association by position (see [`crate::usage::RawUsage::raw`]); panics if its
/// length is different. Negative usage counts as 0, infinite usage as the largest number; Fair Tree
/// under `compat=slurm` uses both unchanged.
///
/// * Fair Tree: `rank / number of users` for users, in (0, 1]. The first user of the walk has
///   the highest rank, the number of users. Level fairshare is infinite without usage, and 0
///   without shares, whatever the usage; equal values tie. It is infinite for a user with
///   `FairShare=parent`.
/// * Classic and depth-oblivious: `2^(-(effective usage / normalised shares) / dampening)` for
///   all; 0 without shares. `FairShare=parent` has the factor of its `fs_parent`.
///
/// An empty tree gives an empty result. Documented mode does not depend on the order of rows;
/// `compat=slurm` does if Slurm does. Sources: fair_tree.shtml, classic_fair_share.shtml.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::extended::Extended;
/// use fairtree::fairshare::{Ranking, compute};
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// let user = |id| Assoc { id, parent: Some(1), kind: AssocKind::User, shares: Shares::Raw(1) };
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root, user(2), user(3)])?;
/// let usage = [40_u64, 30, 10].map(Extended::from);
/// let results = compute(Ranking::FAIR_TREE, Compat::Documented, &tree, &usage);
/// let two_thirds = Extended::from(2_u64) / Extended::from(3_u64); // (1/2) / (30/40)
/// assert_eq!(results[1].level_fs, Some(two_thirds));
/// assert_eq!(results[1].fs_factor, Some(0.5));
/// assert_eq!(results[2].fs_factor, Some(1.0));
/// # Ok::<(), fairtree::tree::TreeError>(())
/// ```
pub fn compute(
    ranking: Ranking,
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    compute_with(HostMath::default(), ranking, compat, tree, raw_usage)
}

/// As [`compute`], with a host's own functions for `compat=slurm`.
pub fn compute_with(
    host: HostMath,
    ranking: Ranking,
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    let ranking = (ranking, &Entitlement::SHARES);
    compute_by(host, ranking, compat, tree, raw_usage, Vec::new())
}

/// As [`compute`], with `entitlement` for rankings that use entitlements. Re-uses the memory of
/// `spare`, earlier results whose values do not matter; it may be an empty vector.
///
/// For a tree of a million associations, a new allocation of this size takes a fifth of the time.
///
/// # Panics
/// If the length of `raw_usage` is not that of the tree.
pub fn compute_again(
    ranking: (Ranking, &Entitlement),
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
    spare: Vec<AssocFairshare>,
) -> Vec<AssocFairshare> {
    let host = HostMath::default();
    compute_by(host, ranking, compat, tree, raw_usage, spare)
}

/// As [`compute_with`], in the memory of `spare`, whatever its content.
fn compute_by(
    host: HostMath,
    (ranking, entitlement): (Ranking, &Entitlement),
    compat: Compat,
    tree: &Tree,
    raw_usage: &[Extended],
    spare: Vec<AssocFairshare>,
) -> Vec<AssocFairshare> {
    assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
    let input = RankingInput {
        tree,
        raw_usage,
        entitlement,
        compat,
        host,
    };
    rule!(ranking, rule => rule.compute(&input, spare))
}

/// As [`compute_with`], one association at a time, if the ranking allows it.
pub(crate) fn results<'a>(
    host: HostMath,
    (ranking, entitlement): (Ranking, &'a Entitlement),
    compat: Compat,
    tree: &'a Tree,
    raw_usage: &'a [Extended],
) -> Results<'a> {
    assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
    let input = RankingInput {
        tree,
        raw_usage,
        entitlement,
        compat,
        host,
    };
    rule!(ranking, rule => rule.results(&input))
}

/// Fair Tree under `compat=slurm` with the normalised shares in the host's records, one per
/// association by position: after a change of `PriorityFlags` they are still the old ones.
pub(crate) fn stock_fair_tree(
    tree: &Tree,
    norm_shares: Vec<f64>,
    raw_usage: &[Extended],
) -> Vec<AssocFairshare> {
    let usage = Usage::as_kept(tree, raw_usage);
    stock_tree::compute(tree, norm_shares, &usage, Vec::new())
}
