//! `least_used:LEVEL`: the node that used least of its entitlement comes first.
//!
//! The ratio of a node is its use over its entitlement ([`Entitlement`]). All nodes of depth LEVEL
//! compete with each other over the whole tree, the lowest ratio first. Below each of them its
//! children compete among themselves, and so on down to the leaves. A leaf of a smaller depth
//! competes with the nodes of LEVEL. With `leaf` all leaves compete at once.
//!
//! Ratios are compared exactly. A node without use has the ratio 0, and so has a user with
//! `FairShare=parent` beside others with shares. A node entitled to nothing comes after all others,
//! the unused ones first. Ties are those of Fair Tree: tied accounts are visited as one, and a leaf
//! tied with accounts has the factor of the best leaf below them. So if all have shares, the order
//! of `least_used:1` is that of Fair Tree.

use std::cmp::Ordering;
use std::num::NonZeroU32;

use super::places::{self, Contest, NodeRatio, Role};
use super::product::Product;
use super::ranking_input::RankingInput;
use super::rule::{Columns, Comparison, EffectiveUsage, Order, Rule, Whole};
use super::{AssocFairshare, Entitlement, Ranking, Usage};
use crate::extended::Extended;
use crate::order::Level;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// `least_used:LEVEL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastUsed {
    /// The depth at which nodes compete over the whole tree, 1 directly below the root; `None`: all
    /// leaves compete at once.
    pub level: Option<NonZeroU32>,
}

impl Ranking {
    /// `least_used:leaf`.
    pub const LEAST_USED_LEAF: Ranking = Ranking::LeastUsed(LeastUsed { level: None });

    /// `least_used:LEVEL`, for a depth of 1 or more.
    pub const fn least_used(level: NonZeroU32) -> Ranking {
        Ranking::LeastUsed(LeastUsed { level: Some(level) })
    }
}

impl Rule for LeastUsed {
    const NAME: &'static str = "least_used";
    const TITLE: &'static str = "least used first";
    const EXPLAINED: &'static str = "The factor is a place: who used least of what it is entitled to comes first, at the \
         level that ranking= names and then below it.";
    const ARGUMENT: Option<&'static str> = Some("LEVEL (a depth from 1, or leaf)");
    const WHOLE: Whole = Whole::Root;
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::OfRoot;
    const COMPARISON: Comparison = Comparison::Factor;
    const COLUMNS: Columns = Columns {
        level_fs: true,
        account_factor: false,
        entitled: true,
    };

    fn parse(argument: Option<&str>) -> Option<Self> {
        let level = match argument? {
            "leaf" => None,
            depth => {
                let digits = depth.bytes().all(|byte| byte.is_ascii_digit());
                Some(depth.parse().ok().filter(|_| digits)?)
            }
        };
        Some(LeastUsed { level })
    }

    fn argument(&self) -> Option<String> {
        Some(match self.level {
            Some(level) => level.to_string(),
            None => "leaf".to_owned(),
        })
    }

    fn level(&self) -> Option<Level> {
        Some(
            self.level
                .map_or(Level::Leaf, |level| Level::Depth(level.get())),
        )
    }

    fn places(&self, tree: &Tree) -> usize {
        places::count(&places::roles(tree))
    }

    /// The nodes that compete over the whole tree.
    fn first(&self, tree: &Tree, roles: &[Role], root: AssocIndex) -> Vec<AssocIndex> {
        let mut first = Vec::new();
        let mut open: Vec<(AssocIndex, u32)> = vec![(root, 0)];
        while let Some((index, depth)) = open.pop() {
            let is_leaf = roles[index.get()] == Role::Leaf;
            if is_leaf || self.level.is_some_and(|level| level.get() == depth) {
                first.push(index);
            } else {
                let below = places::competing(tree, roles, index);
                open.extend(below.map(|child| (child, depth.saturating_add(1))));
            }
        }
        first
    }

    fn order<'a>(&self, input: &RankingInput<'a>, _: &'a [AssocFairshare]) -> Order<'a> {
        let ratios = Ratios::new(input);
        Box::new(move |a, b| ratios.order(a, b))
    }

    fn compute(&self, input: &RankingInput<'_>, spare: Vec<AssocFairshare>) -> Vec<AssocFairshare> {
        let (tree, usage) = (input.tree, input.usage());
        let mut results = usage.results(spare, std::iter::repeat_n(0.0, tree.len()));
        let Some(root) = tree.root() else {
            return results;
        };
        let roles = places::roles(tree);
        let ratios = Ratios::new(input);
        let contest = Contest {
            tree,
            roles: &roles,
            order: |a, b| ratios.order(a, b),
            shares_ties: true,
        };
        let factors = contest.factors(self.first(tree, &roles, root));
        let (whole, used) = (input.entitlement.total(tree), usage.raw(root));
        for (at, result) in results.iter_mut().enumerate() {
            let norm_shares = super::usage::quotient(ratios.entitled[at], whole);
            result.norm_shares = norm_shares.to_f64();
            result.effective_usage = result.norm_usage;
            result.fs_factor = factors[at];
            let competes = matches!(roles[at], Role::Leaf | Role::Inner);
            result.level_fs = (competes && AssocIndex::new(at) != root).then(|| {
                match ratios.standings[at] {
                    NodeRatio::Unused => Extended::INFINITY,
                    NodeRatio::NothingDue(_) => Extended::ZERO,
                    // Due over used, both as parts of the whole.
                    NodeRatio::Ratio(ratio) => used / (ratio * whole),
                }
            });
        }
        results
    }
}

/// Class of the unused nodes that are entitled to nothing, and that of the used ones.
const UNUSED: u8 = 0;
const USED: u8 = 1;

fn standings(
    tree: &Tree,
    usage: &Usage<'_>,
    entitlement: &Entitlement,
    entitled: &[Extended],
) -> Vec<NodeRatio> {
    let standing = |index: AssocIndex| {
        let used = usage.raw(index);
        let row = &tree.rows()[index.get()];
        let due = entitled[index.get()];
        // The product over many levels may be rounded to 0.
        let is_due = !due.is_zero() || entitlement.exact(tree, index).0 > Product::new(0);
        match (row.kind, row.shares) {
            (AssocKind::User, Shares::Parent) => NodeRatio::Unused,
            _ if !is_due => NodeRatio::NothingDue(if used.is_zero() { UNUSED } else { USED }),
            _ if used.is_zero() => NodeRatio::Unused,
            _ => NodeRatio::Ratio(used / due),
        }
    };
    tree.indices().map(standing).collect()
}

/// Used over entitled, for all nodes.
struct Ratios<'a> {
    tree: &'a Tree,
    usage: Usage<'a>,
    entitlement: &'a Entitlement,
    entitled: Vec<Extended>,
    standings: Vec<NodeRatio>,
    margin: Extended,
}

impl<'a> Ratios<'a> {
    fn new(input: &RankingInput<'a>) -> Ratios<'a> {
        let (tree, usage, entitlement) = (input.tree, input.usage(), input.entitlement);
        let entitled = entitlement.of_all(tree);
        Ratios {
            standings: standings(tree, &usage, entitlement, &entitled),
            margin: places::margin(places::depth(tree)),
            tree,
            usage,
            entitlement,
            entitled,
        }
    }

    fn order(&self, a: AssocIndex, b: AssocIndex) -> Ordering {
        let standing = |index: AssocIndex| self.standings[index.get()];
        standing(a).order(standing(b), self.margin, || self.exact(a, b))
    }

    fn exact(&self, a: AssocIndex, b: AssocIndex) -> Ordering {
        let used = |index| Product::of(self.usage.raw(index));
        let shares = |index: AssocIndex| self.tree.rows()[index.get()].shares;
        if self.tree.fs_parent(a) == self.tree.fs_parent(b) && !self.entitlement.has_minutes() {
            let (Shares::Raw(of_a), Shares::Raw(of_b)) = (shares(a), shares(b)) else {
                return Ordering::Equal;
            };
            return used(a).times(of_b.into()).cmp(&used(b).times(of_a.into()));
        }
        let (due_a, of_a) = self.entitlement.exact(self.tree, a);
        let (due_b, of_b) = self.entitlement.exact(self.tree, b);
        let left = of_a.times_product(&due_b).times_product(&used(a));
        left.cmp(&of_b.times_product(&due_a).times_product(&used(b)))
    }
}
