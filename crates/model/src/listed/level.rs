//! Decides which levels of a listing are complete.
//!
//! `sshare` without `-a` leaves other people's rows out, and files were filtered. A level (all
//! that share one account) counts as whole unless the listing itself says otherwise: the rows'
//! usage does not add up to the account's, or printed NormShares or LevelFS belong to another sum
//! of shares. An idle row that is missing from a listing without these columns leaves no trace;
//! reports say that they took the rows for all there is.

use super::tree::ListedTree;
use crate::input::sshare::{Column, Listing, Printed, SshareRow};
use fairtree::fairshare::{Ranking, Whole};
use fairtree::tree::{AssocIndex, AssocKind, Shares};

/// The largest part of an account's usage that may have come since the last pass. With a half-life
/// of a week a full machine renews 0.05 % in five minutes, the default PriorityCalcPeriod.
pub const MAX_GROWTH: f64 = 1e-3;

/// For each account row, why the level below it is not whole; `None` where it is, or is empty.
#[derive(Debug)]
pub(super) struct Levels {
    why: Vec<Option<String>>,
}

impl Levels {
    /// Looks at every level.
    pub fn new(listing: &Listing, forest: &ListedTree, ranking: Ranking) -> Levels {
        let short = usage_short(listing, forest);
        let why = short.into_iter().enumerate().map(|(row, short)| {
            let level = Level {
                listing,
                forest,
                ranking,
                row,
                children: forest.tree.fs_children(AssocIndex::new(row)),
            };
            if level.children.is_empty() {
                return None;
            }
            level
                .shares_unknown()
                .or(short)
                .or_else(|| level.shares_contradict())
        });
        let why = why.collect();
        Levels { why }
    }

    /// Why the level below `account` is not whole; `None` as `account` means that the account
    /// itself is not there.
    pub fn why(&self, account: Option<usize>) -> Option<&str> {
        match account {
            Some(row) => self.why[row].as_deref(),
            None => Some(ACCOUNT_MISSING),
        }
    }

    /// The first account whose level is not whole.
    pub fn first(&self) -> Option<&str> {
        self.why.iter().flatten().map(String::as_str).next()
    }
}

/// Why a figure of a row is not known whose account was not printed.
pub(super) const ACCOUNT_MISSING: &str = "the account above is not listed";

/// A row as people call it.
pub(super) fn name(row: &SshareRow) -> String {
    let account = row.account.as_deref().unwrap_or("?");
    match &row.user {
        Some(user) => format!("{user}@{account}"),
        None => account.to_owned(),
    }
}

/// For each account with children in the listing whose usage they do not make up, the reason.
/// Where the account passes its children on (`parent`), the level that they are in gets it.
fn usage_short(listing: &Listing, forest: &ListedTree) -> Vec<Option<String>> {
    let rows = &listing.rows;
    let mut children = vec![0u64; rows.len()];
    let mut usage = vec![Some(0u128); rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let Some(parent) = forest.tree.parent(AssocIndex::new(at)).map(AssocIndex::get) else {
            continue;
        };
        if parent < rows.len() {
            children[parent] += 1;
            usage[parent] = usage[parent]
                .zip(row.raw_usage)
                .map(|(sum, own)| sum + u128::from(own));
        }
    }
    let mut short = vec![None; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let (Some(own), Some(sum)) = (row.raw_usage, usage[at]) else {
            continue;
        };
        // Each printed number lost less than one to the cut after the point.
        let whole = u128::from(own) < sum + u128::from(children[at]).max(1);
        if forest.tree.rows()[at].kind == AssocKind::User {
            continue;
        }
        let passed_on = row.raw_shares == Some(Shares::Parent);
        if whole || children[at] == 0 && !passed_on {
            continue;
        }
        let level = if passed_on {
            forest.fs_parent(at)
        } else {
            Some(at)
        };
        if let Some(level) = level {
            short[level].get_or_insert_with(|| {
                format!(
                    "the rows under {} add up to {sum} of its RawUsage {own}: others are not listed",
                    name(row)
                )
            });
        }
    }
    short
}

/// The rows that share one account.
struct Level<'a> {
    listing: &'a Listing,
    forest: &'a ListedTree,
    ranking: Ranking,
    row: usize,
    children: &'a [AssocIndex],
}

impl Level<'_> {
    fn shares_unknown(&self) -> Option<String> {
        if !self.listing.has(Column::RawShares) {
            return Some("RawShares is not among the columns".into());
        }
        let rows = &self.listing.rows;
        let blank = self
            .children
            .iter()
            .map(|child| &rows[child.get()])
            .find(|r| r.raw_shares.is_none())?;
        Some(format!("RawShares of {} is blank", name(blank)))
    }

    /// Reports printed numbers that belong to another sum of shares than that of the rows.
    fn shares_contradict(&self) -> Option<String> {
        let rows = &self.listing.rows;
        let shares = |child: &AssocIndex| match rows[child.get()].raw_shares {
            Some(Shares::Raw(shares)) => shares,
            _ => 0,
        };
        let sum: u64 = self
            .children
            .iter()
            .map(|child| u64::from(shares(child)))
            .sum();
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        for child in self.children {
            let own = f64::from(shares(child));
            match self.norm_shares(child.get()) {
                Some(printed) if own > 0.0 && printed.high > 0.0 => {
                    low = low.max(own / printed.high);
                    high = high.min(own / printed.low);
                }
                _ => {}
            }
        }
        // Only a larger sum, on which all agree, shows that rows are missing; any other difference
        // is for a comparison to find.
        let noise = 1e-12 * sum as f64;
        let (least, most) = ((low - noise).ceil(), (high + noise).floor());
        if least <= sum as f64 || least > most {
            return None;
        }
        let told = if least < most {
            format!("{least:.0} to {most:.0} shares")
        } else {
            format!("{least:.0} shares")
        };
        Some(format!(
            "the printed numbers belong to {told} under {}, and the rows listed have {sum}",
            name(&rows[self.row])
        ))
    }

    /// The share of its level that the listing gives a row: printed, or following from LevelFS, which
    /// may be of slightly older usage.
    fn norm_shares(&self, at: usize) -> Option<Printed> {
        let row = &self.listing.rows[at];
        match self.ranking.whole() {
            Whole::Above => row.norm_shares.or_else(|| {
                let level_fs = row.level_fs.filter(|p| p.value.is_finite())?;
                let parent = self.listing.rows[self.row].raw_usage.filter(|&u| u > 0)?;
                let own = row.raw_usage.filter(|&u| u > 0)?;
                let (own, parent) = (own as f64, parent as f64);
                Some(Printed {
                    value: level_fs.value * own / parent,
                    low: level_fs.low * own / (parent + 1.0) * (1.0 - MAX_GROWTH),
                    high: level_fs.high * (own + 1.0) / parent * (1.0 + MAX_GROWTH),
                })
            }),
            Whole::Root => {
                let own = row.norm_shares?;
                if Some(self.row) == self.forest.root {
                    return Some(own);
                }
                let above = self.listing.rows[self.row]
                    .norm_shares
                    .filter(|p| p.low > 0.0)?;
                Some(Printed {
                    value: own.value / above.value,
                    low: own.low / above.high,
                    high: own.high / above.low,
                })
            }
        }
    }
}
