//! The values that derived numbers can have when each RawUsage lost up to one to the cut after
//! the point.

use super::oblivious::{self, Level};
use super::parts::both;
use super::ranks::Interval;
use super::{Figure, ShareReport};
use fairtree::fairshare::{EffectiveUsage, FactorFormula, Ranking};
use fairtree::tree::Shares;
use fairtree_model::input::sshare::{Column, Listing, Printed};
use fairtree_model::listed::ListedTree;

/// Intervals by row.
#[derive(Debug)]
pub(super) struct Bounds {
    pub(super) norm_shares: Vec<Interval>,
    pub(super) norm_usage: Vec<Option<Interval>>,
    /// Normalised usage of the pass that effective usage is of.
    pub(super) norm_at_pass: Vec<Option<Interval>>,
    pub(super) effective_usage: Vec<Option<Interval>>,
    /// Effective usage of the pass that the other columns are of, where usage has grown since.
    pub(super) at_pass: Vec<Option<Interval>>,
    /// The part of its account's usage that the columns of a row agree on.
    pub(super) agreed: Vec<Option<Interval>>,
    level_fs: Vec<Interval>,
    fs_factor: Vec<Option<Interval>>,
    pub(super) charged: Vec<Charged>,
}

/// Usage that an account got since the pass that the printed quotients are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Charged {
    /// The row of the account.
    pub account: usize,
    /// About how much, TRES-seconds.
    pub amount: f64,
}

impl Bounds {
    /// The intervals of a report that was recomputed from a listing, where RawUsage may have grown
    /// since the last pass by the part `max_growth` of all.
    pub fn new(
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
        max_growth: f64,
    ) -> Bounds {
        let rows = 0..report.rows.len();
        let norm_shares = |at: usize| match report.rows[at].norm_shares {
            Figure::Computed(value) => exactly(value),
            _ => Interval::ANY,
        };
        let norm_usage = |at: usize| quotient(listing, at, forest.root?);
        let mut bounds = Bounds {
            norm_shares: rows.clone().map(norm_shares).collect(),
            norm_usage: rows.clone().map(norm_usage).collect(),
            norm_at_pass: rows.clone().map(norm_usage).collect(),
            effective_usage: Vec::new(),
            at_pass: vec![None; report.rows.len()],
            agreed: vec![None; report.rows.len()],
            level_fs: Vec::new(),
            fs_factor: Vec::new(),
            charged: Vec::new(),
        };
        match report.ranking.effective_usage() {
            EffectiveUsage::OfAbove | EffectiveUsage::OfSiblings => {
                bounds.effective_usage = bounds.effective_usage(listing, report, forest);
                bounds.allow_charges(listing, forest, max_growth);
            }
            EffectiveUsage::OfRoot | EffectiveUsage::Mixed | EffectiveUsage::Other => {
                bounds.allow_charges_of_all(listing, report, forest, max_growth);
                bounds.effective_usage = bounds.effective_usage(listing, report, forest);
                // Growth within an account does not show then.
                let undecided = report.ranking.effective_usage() == EffectiveUsage::Other
                    && !listing.has(Column::NormUsage);
                bounds.narrow_to_printed(listing, forest, undecided);
            }
        }
        bounds.level_fs = rows
            .clone()
            .map(|at| bounds.level_fs_of(listing, at))
            .collect();
        bounds.fs_factor = bounds.factors(listing, report.ranking, forest);
        bounds
    }

    /// The interval of a column for a row; `None` where nothing can be said.
    pub fn of(&self, column: Column, row: usize) -> Option<Interval> {
        match column {
            Column::NormShares => Some(self.norm_shares[row]),
            Column::NormUsage => self.norm_usage[row],
            Column::EffectvUsage => self.effective_usage[row],
            Column::LevelFs => {
                let usage = self.at_pass[row].or(self.effective_usage[row])?;
                Some(over(self.norm_shares[row], usage))
            }
            Column::FairShare => self.fs_factor[row],
            _ => None,
        }
    }

    /// Level fairshare by row, the printed value taken into account.
    pub fn level_fs(&self) -> &[Interval] {
        &self.level_fs
    }

    /// Level fairshare by row, as the printed quotients alone show it: those of RawUsage may be of a
    /// later moment, though not by as much as shows in their digits.
    pub fn level_fs_of_columns(&self, listing: &Listing) -> Vec<Interval> {
        let of_columns = |at: usize| {
            let part = self.agreed[at]?;
            let by_part = over(self.norm_shares[at], part);
            match listing.rows[at].level_fs {
                Some(printed) if !printed.value.is_nan() => Some(interval(printed).meet(by_part)),
                _ => Some(by_part),
            }
        };
        let rows = 0..self.level_fs.len();
        rows.map(|at| of_columns(at).unwrap_or(self.level_fs[at]))
            .collect()
    }

    /// Where usage was charged since the last pass.
    pub fn charged(&self) -> &[Charged] {
        &self.charged
    }

    /// Notes the printed effective usage where shares and usage allow it: what follows from it is of
    /// the same moment, and its digits may hide growth. `undecided`: one that they do not allow may be of another moment, and has no
    /// bounds.
    fn narrow_to_printed(&mut self, listing: &Listing, forest: &ListedTree, undecided: bool) {
        for (at, row) in listing.rows.iter().enumerate() {
            // Of the root sshare prints 1, whatever was used.
            if Some(at) == forest.root {
                continue;
            }
            let printed = row.effective_usage.map(interval);
            let differs = self.effective_usage[at]
                .zip(printed)
                .is_some_and(|(allowed, printed)| both(printed, allowed).is_none());
            if differs && undecided {
                self.effective_usage[at] = None;
            }
            self.at_pass[at] = printed.filter(|_| !differs || undecided);
        }
    }

    fn effective_usage(
        &self,
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
    ) -> Vec<Option<Interval>> {
        let mut found: Vec<Option<Interval>> = vec![None; report.rows.len()];
        let levels = match report.ranking.effective_usage() {
            EffectiveUsage::Other => self.usage_of_levels(listing, forest),
            _ => Vec::new(),
        };
        for &index in forest.tree.parents_first() {
            let at = index.get();
            if at >= found.len() {
                continue;
            }
            found[at] = match report.ranking.effective_usage() {
                EffectiveUsage::OfAbove => forest
                    .fs_parent(at)
                    .and_then(|parent| quotient(listing, at, parent)),
                EffectiveUsage::OfRoot => self.norm_at_pass[at],
                EffectiveUsage::Mixed | EffectiveUsage::Other => {
                    self.of_account(listing, report, forest, (at, &found), &levels)
                }
                // Neither rising nor falling in the usage: no bounds.
                EffectiveUsage::OfSiblings => None,
            };
        }
        found
    }

    /// Effective usage that follows from an association's own normalised usage and the effective
    /// usage of its account.
    fn of_account(
        &self,
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
        (at, found): (usize, &[Option<Interval>]),
        levels: &[Option<Interval>],
    ) -> Option<Interval> {
        let Some(parent) = forest.fs_parent(at) else {
            // All of itself, or nothing of nothing.
            let used = listing.rows[at].raw_usage.is_some_and(|usage| usage > 0);
            // Before what came since the pass there may have been nothing.
            let whole = used && self.charged.is_empty();
            let low = if whole { 1.0 } else { 0.0 };
            return (Some(at) == forest.root).then_some(Interval { low, high: 1.0 });
        };
        let own = self.norm_at_pass[at];
        let below_root = Some(parent) == forest.root;
        let Some(Shares::Raw(_)) = listing.rows[at].raw_shares else {
            // Right below the root, stock shows the row's own, the documentation the root's.
            let mut shown = found[parent];
            if below_root {
                widen(&mut shown, own);
            }
            return shown;
        };
        if below_root {
            return own;
        }
        match report.ranking.effective_usage() {
            EffectiveUsage::Mixed => {
                // `own + (above - own) * part` is between the two, so rising in both.
                let (own, above) = (own?, found[parent]?);
                let Some(part) = part_of_shares(listing, forest, at, parent) else {
                    return Some(above);
                };
                let mix = |own: f64, above: f64| own + (above - own) * part;
                Some(Interval {
                    low: mix(own.low, above.low),
                    high: mix(own.high, above.high),
                })
            }
            // Stock takes the siblings' usage of this pass or of the one before.
            _ if report.compat.is_slurm() => None,
            _ => {
                let (own, level) = (own?, levels[parent]?);
                let others = Interval {
                    low: (level.low - own.low).max(0.0),
                    high: (level.high - own.high).max(0.0),
                };
                let shares = |row: usize| match report.rows[row].norm_shares {
                    Figure::Computed(shares) => Some(shares),
                    _ => None,
                };
                Some(oblivious::effective_usage(Level {
                    own,
                    others,
                    shares: shares(at)?,
                    above: found[parent]?,
                    shares_above: shares(parent)?,
                }))
            }
        }
    }

    /// By account, the normalised usage of all children with shares of their own.
    fn usage_of_levels(&self, listing: &Listing, forest: &ListedTree) -> Vec<Option<Interval>> {
        let mut sums = vec![Some(exactly(0.0)); forest.tree.len()];
        for at in 0..forest.row_count() {
            let with_shares = matches!(listing.rows[at].raw_shares, Some(Shares::Raw(_)));
            if let Some(parent) = forest.fs_parent(at).filter(|_| with_shares) {
                let both = sums[parent].zip(self.norm_at_pass[at]);
                sums[parent] = both.map(|(sum, own)| Interval {
                    low: sum.low + own.low,
                    high: sum.high + own.high,
                });
            }
        }
        sums
    }

    fn level_fs_of(&self, listing: &Listing, at: usize) -> Interval {
        let row = &listing.rows[at];
        if row.raw_shares == Some(Shares::Parent) {
            return exactly(f64::INFINITY);
        }
        let computed = self.of(Column::LevelFs, at).unwrap_or(Interval::ANY);
        match row.level_fs {
            Some(printed) if !printed.value.is_nan() => interval(printed).meet(computed),
            _ => computed,
        }
    }

    /// Classic: `2^(-usage / shares / dampening)`, 0 without shares; `parent` takes the factor of
    /// the account that its shares come from.
    fn factors(
        &self,
        listing: &Listing,
        ranking: Ranking,
        forest: &ListedTree,
    ) -> Vec<Option<Interval>> {
        let mut found = vec![None; listing.rows.len()];
        let own_usage = ranking.effective_usage();
        let rises = matches!(own_usage, EffectiveUsage::Mixed | EffectiveUsage::Other);
        let (FactorFormula::Power { dampening }, true) = (ranking.formula(), rises) else {
            return found;
        };
        for &index in forest.tree.parents_first() {
            let at = index.get();
            let Some(row) = listing.rows.get(at) else {
                continue;
            };
            found[at] = match (row.raw_shares, forest.fs_parent(at)) {
                (Some(Shares::Parent), Some(parent)) => found[parent],
                _ => self.factor(at, f64::from(dampening)),
            };
        }
        found
    }

    fn factor(&self, at: usize, dampening: f64) -> Option<Interval> {
        let usage = self.at_pass[at].or(self.effective_usage[at])?;
        let shares = self.norm_shares[at];
        let factor = |usage: f64| match shares.low {
            shares if shares > 0.0 => (-(usage / shares) / dampening).exp2(),
            _ => 0.0,
        };
        Some(Interval {
            low: factor(usage.high),
            high: factor(usage.low),
        })
    }
}

/// Why a number has no interval.
pub(super) fn why_none(report: &ShareReport) -> &'static str {
    match report.ranking.effective_usage() {
        EffectiveUsage::Other if report.compat.is_slurm() => {
            "Slurm's plugin mixes the usage of two passes"
        }
        EffectiveUsage::Other => {
            "RawUsage may be of a later moment, and NormUsage is not printed (sshare -l has it)"
        }
        EffectiveUsage::OfSiblings => "no bounds are known under this ranking",
        _ => "a number that it follows from is not printed",
    }
}

/// A row's part of the shares on its level; `None` where the level has none.
pub(super) fn part_of_shares(
    listing: &Listing,
    forest: &ListedTree,
    at: usize,
    parent: usize,
) -> Option<f64> {
    let count = |row: usize| match listing.rows[row].raw_shares {
        Some(Shares::Raw(shares)) => f64::from(shares),
        _ => 0.0,
    };
    let level = forest.tree.fs_children(super::listing::index(parent));
    let sum: f64 = level.iter().map(|row| count(row.get())).sum();
    (sum > 0.0).then(|| count(at) / sum)
}

/// Makes room for a second interval.
pub(super) fn widen(interval: &mut Option<Interval>, other: Option<Interval>) {
    if let (Some(own), Some(other)) = (interval.as_mut(), other) {
        own.low = own.low.min(other.low);
        own.high = own.high.max(other.high);
    }
}

/// The values that print so.
pub(super) fn interval(printed: Printed) -> Interval {
    Interval {
        low: printed.low,
        high: printed.high,
    }
}

pub(super) fn exactly(value: f64) -> Interval {
    Interval {
        low: value,
        high: value,
    }
}

/// Usage of one row over another's, at most 1.
fn quotient(listing: &Listing, at: usize, of: usize) -> Option<Interval> {
    let own = listing.rows[at].raw_usage? as f64;
    let whole = listing.rows[of].raw_usage? as f64;
    if at == of {
        return Some(exactly(if whole > 0.0 { 1.0 } else { 0.0 }));
    }
    // Less than one unit in all: the parts may be anything.
    let high = if whole > 0.0 {
        (own + 1.0) / whole
    } else {
        1.0
    };
    Some(Interval {
        low: (own / (whole + 1.0)).min(1.0),
        high: high.min(1.0),
    })
}

/// Shares over usage; no usage gives infinity, no shares 0.
pub(super) fn over(shares: Interval, usage: Interval) -> Interval {
    let divide = |shares: f64, usage: f64| match shares {
        0.0 => 0.0,
        shares if usage == 0.0 || shares == f64::INFINITY => f64::INFINITY,
        shares => shares / usage,
    };
    Interval {
        low: divide(shares.low, usage.high),
        high: divide(shares.high, usage.low),
    }
}
