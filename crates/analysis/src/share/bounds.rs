//! The values that derived numbers can have when each RawUsage lost up to one to the cut after
//! the point.

use super::ranks::Interval;
use super::since::{Told, usage_at_pass};
use super::{Figure, ShareReport};
use fairtree::fairshare::{EffectiveUsage, FactorFormula, Ranking};
use fairtree::tree::Shares;
use fairtree_model::input::sshare::{Column, Listing, Printed};
use fairtree_model::listed::ListedTree;
use fairtree_model::listed::MAX_GROWTH;

/// Intervals by row.
#[derive(Debug)]
pub(super) struct Bounds {
    norm_shares: Vec<Interval>,
    norm_usage: Vec<Option<Interval>>,
    effective_usage: Vec<Option<Interval>>,
    level_fs: Vec<Interval>,
    fs_factor: Vec<Option<Interval>>,
    charged: Vec<Charged>,
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
    /// The intervals of a report that was recomputed from a listing.
    pub fn new(listing: &Listing, report: &ShareReport, forest: &ListedTree) -> Bounds {
        let rows = 0..report.rows.len();
        let norm_shares = |at: usize| match report.rows[at].norm_shares {
            Figure::Computed(value) => exactly(value),
            _ => Interval::ANY,
        };
        let norm_usage = |at: usize| quotient(listing, at, forest.root?);
        let mut bounds = Bounds {
            norm_shares: rows.clone().map(norm_shares).collect(),
            norm_usage: rows.clone().map(norm_usage).collect(),
            effective_usage: Vec::new(),
            level_fs: Vec::new(),
            fs_factor: Vec::new(),
            charged: Vec::new(),
        };
        let classic = report.ranking.effective_usage() == EffectiveUsage::Mixed;
        if classic && report.compat.is_slurm() {
            bounds.allow_late_usage(listing, forest);
        }
        bounds.effective_usage = bounds.effective_usage(listing, report, forest);
        if report.ranking.columns().level_fs {
            bounds.allow_charges(listing, forest);
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
                let usage = self.effective_usage[row]?;
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

    /// Where usage was charged since the last pass.
    pub fn charged(&self) -> &[Charged] {
        &self.charged
    }

    /// Widens the intervals of levels whose printed quotients are of usage before the last
    /// charges.
    fn allow_charges(&mut self, listing: &Listing, forest: &ListedTree) {
        for account in 0..forest.row_count() {
            let children = forest.tree.fs_children(super::listing::index(account));
            let rows: Vec<usize> = children.iter().map(|row| row.get()).collect();
            let told = |at: usize| self.told_usage(listing, at);
            if let Some(charged) = charges(
                listing,
                forest,
                account,
                &rows,
                told,
                &self.effective_usage,
                MAX_GROWTH,
            ) {
                for row in rows {
                    let told = self.told_usage(listing, row);
                    widen(&mut self.effective_usage[row], told);
                }
                self.charged.push(charged);
            }
        }
        let Some(root) = forest.root else { return };
        let rows: Vec<usize> = (0..forest.row_count()).filter(|&at| at != root).collect();
        let told = |at: usize| listing.rows[at].norm_usage.map(interval);
        if charges(
            listing,
            forest,
            root,
            &rows,
            told,
            &self.norm_usage,
            MAX_GROWTH,
        )
        .is_some()
        {
            for row in rows {
                widen(&mut self.norm_usage[row], told(row));
            }
        }
    }

    /// Widens the intervals of NormUsage where the printed ones are of usage before the last pass:
    /// stock's classic fair share looks at usage before it charges what ran since.
    fn allow_late_usage(&mut self, listing: &Listing, forest: &ListedTree) {
        let Some(root) = forest.root else { return };
        let rows: Vec<usize> = (0..listing.rows.len()).filter(|&at| at != root).collect();
        let told = |at: usize| listing.rows[at].norm_usage.map(interval);
        if charges(listing, forest, root, &rows, told, &self.norm_usage, 1.0).is_some() {
            for row in rows {
                widen(&mut self.norm_usage[row], told(row));
            }
        }
    }

    /// The effective usage that a row's printed numbers tell of. LevelFS above 1 has more digits
    /// than EffectvUsage below 1: of usage that grew by less than the last digit of the one, the other
    /// may tell.
    fn told_usage(&self, listing: &Listing, at: usize) -> Option<Interval> {
        let row = &listing.rows[at];
        let by_level_fs = || {
            let level_fs = row
                .level_fs
                .filter(|p| p.value.is_finite() && p.low > 0.0)?;
            let shares = self.norm_shares[at];
            (shares.high.is_finite()).then(|| Interval {
                low: shares.low / level_fs.high,
                high: shares.high / level_fs.low,
            })
        };
        match (row.effective_usage.map(interval), by_level_fs()) {
            (Some(usage), Some(level_fs)) => Some(usage.meet(level_fs)),
            (usage, level_fs) => usage.or(level_fs),
        }
    }

    fn effective_usage(
        &self,
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
    ) -> Vec<Option<Interval>> {
        let mut found: Vec<Option<Interval>> = vec![None; report.rows.len()];
        for &index in forest.tree.parents_first() {
            let at = index.get();
            if at >= found.len() {
                continue;
            }
            found[at] = match report.ranking.effective_usage() {
                EffectiveUsage::OfAbove => forest
                    .fs_parent(at)
                    .and_then(|parent| quotient(listing, at, parent)),
                EffectiveUsage::OfRoot => self.norm_usage[at],
                EffectiveUsage::Mixed => self.classic(listing, forest, at, &found),
                // Neither rising nor falling in the usage: no bounds.
                EffectiveUsage::OfSiblings | EffectiveUsage::Other => None,
            };
        }
        found
    }

    /// `un + (ue_parent - un) * shares / level shares`: between the two, so rising in both.
    fn classic(
        &self,
        listing: &Listing,
        forest: &ListedTree,
        at: usize,
        found: &[Option<Interval>],
    ) -> Option<Interval> {
        let Some(parent) = forest.fs_parent(at) else {
            // All of itself, or nothing of nothing.
            let whole = listing.rows[at].raw_usage.is_some_and(|usage| usage > 0);
            let low = if whole { 1.0 } else { 0.0 };
            return (Some(at) == forest.root).then_some(Interval { low, high: 1.0 });
        };
        let own = self.norm_usage[at]?;
        let below_root = Some(parent) == forest.root;
        let Some(Shares::Raw(shares)) = listing.rows[at].raw_shares else {
            // Right below the root, stock shows the row's own, the documentation the root's.
            let mut shown = found[parent];
            if below_root {
                widen(&mut shown, Some(own));
            }
            return shown;
        };
        if below_root {
            return Some(own);
        }
        let above = found[parent]?;
        let level = forest.tree.fs_children(super::listing::index(parent));
        let count = |shares: Option<Shares>| match shares {
            Some(Shares::Raw(shares)) => f64::from(shares),
            _ => 0.0,
        };
        let rows = &listing.rows;
        let sum: f64 = level
            .iter()
            .map(|row| count(rows[row.get()].raw_shares))
            .sum();
        if sum == 0.0 {
            return Some(above);
        }
        let part = f64::from(shares) / sum;
        let mix = |own: f64, above: f64| own + (above - own) * part;
        Some(Interval {
            low: mix(own.low, above.low),
            high: mix(own.high, above.high),
        })
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
        let rises = ranking.effective_usage() == EffectiveUsage::Mixed;
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
        let (shares, usage) = (self.norm_shares[at], self.effective_usage[at]?);
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

/// What an account got since the last pass, at most the part `max_growth` of all, where that is what separates printed quotients (`told`)
/// from those of RawUsage (`allowed`).
fn charges(
    listing: &Listing,
    forest: &ListedTree,
    account: usize,
    rows: &[usize],
    told: impl Fn(usize) -> Option<Interval>,
    allowed: &[Option<Interval>],
    max_growth: f64,
) -> Option<Charged> {
    let apart = |&at: &usize| match (told(at), allowed[at]) {
        (Some(told), Some(allowed)) => told.low > allowed.high || told.high < allowed.low,
        _ => false,
    };
    if !rows.iter().any(apart) {
        return None;
    }
    let raw_usage = listing.rows[account].raw_usage?;
    let above = super::listing::index(account);
    let direct = |at: usize| forest.tree.parent(super::listing::index(at)) == Some(above);
    let tellers: Vec<Told> = rows
        .iter()
        .filter_map(|&at| {
            Some(Told {
                raw_usage: listing.rows[at].raw_usage?,
                part: told(at)?,
                direct: direct(at),
            })
        })
        .collect();
    let before = usage_at_pass(raw_usage, &tellers, max_growth)?;
    Some(Charged {
        account,
        amount: (raw_usage as f64 - before).max(0.0),
    })
}

/// Makes room for a second interval.
fn widen(interval: &mut Option<Interval>, other: Option<Interval>) {
    if let (Some(own), Some(other)) = (interval.as_mut(), other) {
        own.low = own.low.min(other.low);
        own.high = own.high.max(other.high);
    }
}

/// The values that print so.
fn interval(printed: Printed) -> Interval {
    Interval {
        low: printed.low,
        high: printed.high,
    }
}

fn exactly(value: f64) -> Interval {
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
fn over(shares: Interval, usage: Interval) -> Interval {
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
