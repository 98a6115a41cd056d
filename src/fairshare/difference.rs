//! `difference`: priority is the difference of shares and usage, the earliest rule.
//!
//! `F = (1 + S - U) / 2`, where S is the association's fraction (the product over all levels of
//! shares over the level's shares) and U is its part of all usage. `FairShare=parent` has the
//! factor of its `fs_parent`.
//!
//! F is the exact number, rounded to a multiple of 2^-53, halves up. So equal numbers always give
//! the same factor, and the order of rows does not matter. An association without shares and with
//! all of the usage would have 0; it has the smallest positive number instead.

use std::cmp::Ordering;

use super::places;
use super::product::Product;
use super::ranking_input::RankingInput;
use super::rule::{Columns, Comparison, EffectiveUsage, FactorFormula, Rule, Whole};
use super::{AssocFairshare, Entitlement, Ranking, Usage};
use crate::extended::Extended;
use crate::tree::{AssocIndex, Shares, Tree};

/// `difference`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference;

impl Ranking {
    /// `difference`.
    pub const DIFFERENCE: Ranking = Ranking::Difference(Difference);
}

impl Rule for Difference {
    const NAME: &'static str = "difference";
    const TITLE: &'static str = "the difference of shares and usage";
    const EXPLAINED: &'static str = "The factor is (1 + due - used) / 2, with the parts of all shares and of all usage \
         that each user has.";
    const WHOLE: Whole = Whole::Root;
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::OfRoot;
    const COMPARISON: Comparison = Comparison::Factor;
    const COLUMNS: Columns = Columns::OWN_FACTOR;

    fn parse(argument: Option<&str>) -> Option<Self> {
        argument.is_none().then_some(Self)
    }

    fn formula(&self) -> FactorFormula {
        FactorFormula::Difference
    }

    fn compute(&self, input: &RankingInput<'_>, spare: Vec<AssocFairshare>) -> Vec<AssocFairshare> {
        let (tree, usage) = (input.tree, input.usage());
        let fractions = Entitlement::SHARES.of_all(tree);
        let rounded = fractions.iter().map(|fraction| fraction.to_f64());
        let mut results = usage.results(spare, rounded);
        let Some(root) = tree.root() else {
            return results;
        };
        let depth = places::depth(tree);
        for &index in tree.parents_first() {
            let fraction = fractions[index.get()];
            let factor = match (tree.rows()[index.get()].shares, tree.fs_parent(index)) {
                (Shares::Parent, Some(parent)) => results[parent.get()].fs_factor,
                (Shares::Parent | Shares::Raw(_), _) => {
                    let exact = Exact {
                        tree,
                        usage: &usage,
                        root,
                        index,
                    };
                    let norm_usage = results[index.get()].norm_usage;
                    let rounded = Extended::ONE + fraction - norm_usage;
                    Some(exact.factor(rounded, depth))
                }
            };
            let result = &mut results[index.get()];
            result.effective_usage = result.norm_usage;
            result.fs_factor = factor;
        }
        results
    }
}

/// Number of parts of 1 in which factors are measured.
const PARTS: u64 = 1 << 53;
/// Number of pieces of one part: the precision with which a rounded factor near the middle between
/// two parts is detected.
const FINE: u64 = 1 << 10;

/// `1 + S - U` of one association.
struct Exact<'a> {
    tree: &'a Tree,
    usage: &'a Usage<'a>,
    root: AssocIndex,
    index: AssocIndex,
}

impl Exact<'_> {
    /// Half of the exact number; `rounded` is the number after two roundings for each of `depth`
    /// levels.
    fn factor(&self, rounded: Extended, depth: usize) -> f64 {
        // In pieces, `FINE` of them per part; `rounded` is twice the factor, at most 2.
        let pieces = (rounded * Extended::from(PARTS * (FINE / 2))).to_u64_truncated();
        let (parts, rest) = (pieces / FINE, pieces % FINE);
        let near = parts + u64::from(rest >= FINE / 2);
        // Each rounding changes the number by at most 2^-63, half a piece.
        let doubt = depth as u64 + 4;
        let parts = if rest.abs_diff(FINE / 2) > doubt {
            near
        } else {
            self.nearest(near)
        };
        (parts as f64 / PARTS as f64).max(f64::MIN_POSITIVE)
    }

    /// The number of parts nearest to the exact factor; the search starts at `near`.
    fn nearest(&self, near: u64) -> u64 {
        let mut parts = near;
        // Is the factor below (parts - 1/2)?
        while parts > 0 && self.to_half_below(parts).is_lt() {
            parts -= 1;
        }
        while self.to_half_below(parts + 1).is_ge() {
            parts += 1;
        }
        parts
    }

    /// Compares the factor with `(parts - 1/2) / PARTS`: `1 + S - U` with `(2 parts - 1) / PARTS`.
    fn to_half_below(&self, parts: u64) -> Ordering {
        let (shares, of) = Entitlement::SHARES.exact(self.tree, self.index);
        let total = self.usage.raw(self.root);
        // An association can have more usage than the root, because usage may be lost on the way
        // up.
        let used = self.usage.raw(self.index).min(total);
        let (used, total) = if total.is_zero() {
            (Product::new(0), Product::new(1))
        } else {
            (Product::of(used), Product::of(total))
        };
        // Compares (of + shares) * total * PARTS with (2 parts - 1) * of * total + used * of *
        // PARTS.
        let left = of.plus(&shares).times_product(&total).times(PARTS);
        let right = of.times_product(&total).times(2 * parts - 1);
        left.cmp(&right.plus(&used.times_product(&of).times(PARTS)))
    }
}
