//! `weighted_walk`: the rule of flux-accounting.
//!
//! The weight of a node is `(shares / siblings' shares) / (usage / siblings' usage)`, where
//! siblings include the node itself. Shares of 0 give the weight 0, and no usage gives a weight
//! above all others; equal weights tie. The walk is depth-first, the highest weight first. Users of
//! a level with the same weight share a rank, and the ranks after it are skipped. Accounts with the
//! same weight are visited as one; their children keep the weights that they have among their own
//! siblings. A user that ties with accounts is placed before them, and does not share a rank with
//! users below them: this differs from Fair Tree.
//!
//! Weights are compared exactly; flux-accounting uses a tolerance. `docs/policies/flux.md` lists
//! the differences.

use std::cmp::Ordering;

use super::places::{self, Contest, NodeRatio, Role};
use super::product::Product;
use super::ranking_input::RankingInput;
use super::rule::{Columns, Comparison, EffectiveUsage, Order, Rule, Whole};
use super::usage::quotient;
use super::{AssocFairshare, FairTree, Ranking, Usage};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// `weighted_walk`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedWalk;

impl Ranking {
    /// `weighted_walk`.
    pub const WEIGHTED_WALK: Ranking = Ranking::WeightedWalk(WeightedWalk);
}

impl Rule for WeightedWalk {
    const NAME: &'static str = "weighted_walk";
    const TITLE: &'static str = "the weighted walk of flux-accounting";
    const EXPLAINED: &'static str = "The factor is a place: accounts and users with a higher weight (part of shares over \
         part of usage among siblings) come first, level by level.";
    const WHOLE: Whole = Whole::Above;
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::OfSiblings;
    const COMPARISON: Comparison = Comparison::Factor;
    const COLUMNS: Columns = Columns {
        level_fs: true,
        account_factor: false,
        entitled: false,
    };

    fn parse(argument: Option<&str>) -> Option<Self> {
        argument.is_none().then_some(Self)
    }

    fn places(&self, tree: &Tree) -> usize {
        places::count(&places::roles(tree))
    }

    /// Among siblings weights order as level fairshare does.
    fn order<'a>(&self, input: &RankingInput<'a>, found: &'a [AssocFairshare]) -> Order<'a> {
        FairTree.order(input, found)
    }

    fn compute(&self, input: &RankingInput<'_>, spare: Vec<AssocFairshare>) -> Vec<AssocFairshare> {
        let (tree, usage) = (input.tree, input.usage());
        let shares = tree.norm_shares_on_level(Compat::Documented);
        let mut results = usage.results(spare, shares);
        let Some(root) = tree.root() else {
            return results;
        };
        let roles = places::roles(tree);
        let level_usage = level_usage(tree, &usage, &roles);
        for index in tree.indices() {
            let result = &mut results[index.get()];
            let Some(parent) = tree.fs_parent(index) else {
                result.effective_usage = result.norm_usage;
                continue;
            };
            let of_level = level_usage[parent.get()].cut();
            result.effective_usage = quotient(usage.raw(index), of_level);
        }
        let weights = Weights {
            tree,
            usage: &usage,
            standings: standings(tree, &usage, &results),
            level_usage,
            margin: places::margin(1),
        };
        let contest = Contest {
            tree,
            roles: &roles,
            order: |a, b| weights.order(a, b),
            shares_ties: false,
        };
        let first = places::competing(tree, &roles, root).collect();
        let factors = contest.factors(first);
        for (at, result) in results.iter_mut().enumerate() {
            result.fs_factor = factors[at];
            let competes = matches!(roles[at], Role::Leaf | Role::Inner);
            result.level_fs =
                (competes && AssocIndex::new(at) != root).then(|| match weights.standings[at] {
                    NodeRatio::Unused => Extended::INFINITY,
                    NodeRatio::NothingDue(_) => Extended::ZERO,
                    NodeRatio::Ratio(ratio) => Extended::ONE / ratio,
                });
        }
        results
    }
}

/// By position, the usage of all that compete below an account, exact: rounded sums would depend on
/// the order of rows.
fn level_usage(tree: &Tree, usage: &Usage<'_>, roles: &[Role]) -> Vec<Product> {
    let mut sums = vec![Product::new(0); tree.len()];
    for index in tree.indices().filter(|index| {
        let used = !usage.raw(*index).is_zero();
        used && matches!(roles[index.get()], Role::Leaf | Role::Inner)
    }) {
        if let Some(parent) = tree.fs_parent(index) {
            let sum = &mut sums[parent.get()];
            *sum = sum.plus(&Product::of(usage.raw(index)));
        }
    }
    sums
}

fn standings(tree: &Tree, usage: &Usage<'_>, results: &[AssocFairshare]) -> Vec<NodeRatio> {
    let standing = |index: AssocIndex| {
        let row = &tree.rows()[index.get()];
        match (row.kind, row.shares) {
            (AssocKind::User, Shares::Parent) => NodeRatio::Unused,
            (_, Shares::Raw(0)) => NodeRatio::NothingDue(0),
            _ if usage.raw(index).is_zero() => NodeRatio::Unused,
            _ => {
                let part = tree.part_of_level(index).unwrap_or(Extended::ONE);
                NodeRatio::Ratio(results[index.get()].effective_usage / part)
            }
        }
    };
    tree.indices().map(standing).collect()
}

/// Usage over shares, for all nodes: the inverse of weights.
struct Weights<'a> {
    tree: &'a Tree,
    usage: &'a Usage<'a>,
    standings: Vec<NodeRatio>,
    /// By position of the account.
    level_usage: Vec<Product>,
    margin: Extended,
}

impl Weights<'_> {
    fn order(&self, a: AssocIndex, b: AssocIndex) -> Ordering {
        let standing = |index: AssocIndex| self.standings[index.get()];
        standing(a).order(standing(b), self.margin, || self.exact(a, b))
    }

    fn exact(&self, a: AssocIndex, b: AssocIndex) -> Ordering {
        // Usage times the shares of the level; own shares.
        let of = |index: AssocIndex| {
            let shares = self.tree.rows()[index.get()].shares.raw().unwrap_or(1);
            (Product::of(self.usage.raw(index)), u64::from(shares))
        };
        let ((used_a, shares_a), (used_b, shares_b)) = (of(a), of(b));
        let (left, right) = (used_a.times(shares_b), used_b.times(shares_a));
        let (Some(above_a), Some(above_b)) = (self.tree.fs_parent(a), self.tree.fs_parent(b))
        else {
            return Ordering::Equal;
        };
        if above_a == above_b {
            return left.cmp(&right);
        }
        let level = |above| self.tree.child_shares(above);
        let left = left.times(level(above_a));
        let right = right.times(level(above_b));
        let left = left.times_product(&self.level_usage[above_b.get()]);
        left.cmp(&right.times_product(&self.level_usage[above_a.get()]))
    }
}
