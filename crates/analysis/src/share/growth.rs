//! Growth of usage since the last pass, found in a listing and allowed for.
//!
//! A level counts as charged where the printed columns of its rows agree with each other on parts of
//! an earlier usage, and not with RawUsage.

use super::ShareReport;
use super::bounds::{Bounds, Charged, exactly, interval, part_of_shares, widen};
use super::parts::{Part, both, consistent};
use super::ranks::Interval;
use super::since::{Told, usage_at_pass};
use fairtree::fairshare::EffectiveUsage;
use fairtree::tree::Shares;
use fairtree_model::input::sshare::Listing;
use fairtree_model::listed::ListedTree;

/// Any part of a whole.
const ANY_PART: Interval = Interval {
    low: 0.0,
    high: 1.0,
};

impl Bounds {
    /// Widens the intervals of levels whose printed quotients are of usage before the last charges,
    /// where effective usage is a part of the account's.
    pub(super) fn allow_charges(
        &mut self,
        listing: &Listing,
        forest: &ListedTree,
        max_growth: f64,
    ) {
        let parts: Vec<Option<Part>> = (0..forest.row_count())
            .map(|at| self.part_of_level(listing, forest, at))
            .collect();
        let whole = |at: usize, above: usize| match forest.fs_parent(at) {
            Some(parent) if parent == above => exactly(1.0),
            // The account passes its children on: together they are its own part.
            _ => parts[above].map_or(ANY_PART, |part| part.any),
        };
        let sound = consistent(listing, forest, &parts, whole);
        let agreed = |at: usize| parts[at].and_then(|part| part.agreed);
        for at in (0..forest.row_count()).filter(|at| sound[*at]) {
            self.agreed[at] = agreed(at);
        }
        for account in 0..forest.row_count() {
            let children = forest.tree.fs_children(super::listing::index(account));
            let rows: Vec<usize> = children
                .iter()
                .map(|row| row.get())
                .filter(|row| sound[*row])
                .collect();
            let allowed = &self.effective_usage;
            let charged = charges(listing, forest, account, &rows, agreed, allowed, max_growth);
            self.charged.extend(charged);
        }
        if !self.charged.is_empty() {
            // Where an account shows no charges they are too small for its digits.
            for row in (0..forest.row_count()).filter(|row| sound[*row]) {
                self.at_pass[row] = agreed(row);
                widen(&mut self.effective_usage[row], agreed(row));
            }
        }
        let Some(root) = forest.root else { return };
        let fits = |at: &usize| {
            let by_norm_usage = by_norm_usage(listing, forest, *at);
            let agreed = by_norm_usage.zip(agreed(*at));
            sound[*at] && agreed.is_some_and(|(a, b)| both(a, b).is_some())
        };
        let rows: Vec<usize> = (0..forest.row_count())
            .filter(|&at| at != root && fits(&at))
            .collect();
        let told = |at: usize| listing.rows[at].norm_usage.map(interval);
        let allowed = &self.norm_usage;
        if charges(listing, forest, root, &rows, told, allowed, max_growth).is_some() {
            for row in rows {
                widen(&mut self.norm_usage[row], told(row));
            }
        }
    }

    /// The same where effective usage follows from parts of all usage.
    pub(super) fn allow_charges_of_all(
        &mut self,
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
        max_growth: f64,
    ) {
        let Some(root) = forest.root else { return };
        let of_root = report.ranking.effective_usage() == EffectiveUsage::OfRoot;
        let parts: Vec<Option<Part>> = (0..forest.row_count())
            .map(|at| {
                let row = &listing.rows[at];
                let same = row.effective_usage.filter(|_| of_root).map(interval);
                let level_fs = self.by_level_fs(listing, at).filter(|_| of_root);
                let mixed = || self.unmixed(listing, report, forest, at);
                let norm_usage = row.norm_usage.map(interval).or_else(mixed);
                Part::of([norm_usage, same, level_fs])
            })
            .collect();
        let whole = |_: usize, above: usize| match above == root {
            true => exactly(1.0),
            false => parts[above].map_or(ANY_PART, |part| part.any),
        };
        let sound = consistent(listing, forest, &parts, whole);
        let agreed = |at: usize| parts[at].and_then(|part| part.agreed);
        let rows: Vec<usize> = (0..forest.row_count())
            .filter(|&at| at != root && sound[at])
            .collect();
        let allowed = &self.norm_usage;
        let charged = charges(listing, forest, root, &rows, agreed, allowed, max_growth);
        // Effective usage may show growth that is too small for the digits of these parts.
        let steep = !of_root;
        for at in (0..forest.row_count()).filter(|&at| at != root) {
            let told = sound[at] && (charged.is_some() || steep);
            // Nothing is known of a row without a part.
            if told || charged.is_some() && parts[at].is_none() {
                self.norm_at_pass[at] = agreed(at);
            }
            if charged.is_some() && sound[at] {
                widen(&mut self.norm_usage[at], agreed(at));
            }
        }
        self.charged.extend(charged);
    }

    /// The part of its account's usage that a row's columns show: EffectvUsage and LevelFS, which above
    /// 1 has more digits; NormUsage only without these.
    fn part_of_level(&self, listing: &Listing, forest: &ListedTree, at: usize) -> Option<Part> {
        let usage = listing.rows[at].effective_usage.map(interval);
        let part = Part::of([usage, self.by_level_fs(listing, at)]);
        part.or_else(|| Part::of([by_norm_usage(listing, forest, at)]))
    }

    /// Effective usage by LevelFS.
    fn by_level_fs(&self, listing: &Listing, at: usize) -> Option<Interval> {
        let level_fs = listing.rows[at].level_fs?;
        let shares = self.norm_shares[at];
        if level_fs.value.is_nan() || !shares.high.is_finite() || shares.low == 0.0 {
            return None;
        }
        Some(Interval {
            low: shares.low / level_fs.high,
            high: match level_fs.low > 0.0 {
                true => shares.high / level_fs.low,
                false => f64::INFINITY,
            },
        })
    }

    /// NormUsage by the classic formula backwards, for listings without that column.
    fn unmixed(
        &self,
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
        at: usize,
    ) -> Option<Interval> {
        let printed = |at: usize| listing.rows[at].effective_usage.map(interval);
        if !matches!(listing.rows[at].raw_shares, Some(Shares::Raw(_))) {
            return None;
        }
        let (own, parent) = (printed(at)?, forest.fs_parent(at)?);
        if Some(parent) == forest.root {
            return Some(own);
        }
        if report.ranking.effective_usage() != EffectiveUsage::Mixed {
            return None;
        }
        let (above, part) = (
            printed(parent)?,
            part_of_shares(listing, forest, at, parent)?,
        );
        let rest = 1.0 - part;
        (rest > 0.0).then(|| Interval {
            low: ((own.low - above.high * part) / rest).clamp(0.0, 1.0),
            high: ((own.high - above.low * part) / rest).clamp(0.0, 1.0),
        })
    }
}

/// A row's part of its account's usage by NormUsage of both.
fn by_norm_usage(listing: &Listing, forest: &ListedTree, at: usize) -> Option<Interval> {
    let own = listing.rows[at].norm_usage.map(interval)?;
    let parent = forest.fs_parent(at)?;
    let above = match Some(parent) == forest.root {
        true => exactly(1.0),
        false => interval(listing.rows[parent].norm_usage?),
    };
    (above.high > 0.0).then(|| Interval {
        low: own.low / above.high,
        high: match above.low > 0.0 {
            true => (own.high / above.low).min(1.0),
            false => 1.0,
        },
    })
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
