//! Decides if a listing shows the order of users under rankings that give them ranks.

use super::level::{Levels, name};
use super::tree::ListedTree;
use crate::input::sshare::{Column, Link, Listing, RowKind};
use fairtree::fairshare::Ranking;

const RANKS: &str = "ranks count all users of the cluster";

/// Why the rank of every user cannot be known from the rows; `None` where it can.
pub(super) fn why_not(
    listing: &Listing,
    links: &[Link],
    forest: &ListedTree,
    levels: &Levels,
) -> Option<String> {
    for column in [Column::RawShares, Column::RawUsage] {
        if !listing.has(column) {
            return Some(format!("{} is not among the columns", column.name()));
        }
    }
    if forest.root.is_none() {
        return Some(format!("{RANKS}, and the root is not listed"));
    }
    if forest.stand_in.is_some() {
        return Some(format!(
            "{RANKS}, and accounts are not listed that rows belong to"
        ));
    }
    let blank = listing.rows.iter().find(|row| row.raw_usage.is_none());
    if let Some(row) = blank {
        return Some(format!("{RANKS}, and RawUsage of {} is blank", name(row)));
    }
    if let Some(why) = levels.first() {
        return Some(format!("{RANKS}, but {why}"));
    }
    unlisted(listing, links).map(|accounts| {
        format!("{RANKS}, and those of {accounts} are not listed: run sshare with -a")
    })
}

/// Why the printed factors are not ranks among the rows; `None` where they are.
pub(super) fn why_foreign(
    listing: &Listing,
    forest: &ListedTree,
    ranking: Ranking,
) -> Option<String> {
    let places = ranking.places(&forest.tree);
    foreign_rank(listing, places).map(|row| {
        let who = match ranking.level() {
            Some(_) if ranking != Ranking::FAIR_TREE => {
                "leaves (users, or accounts whose users compete as one)"
            }
            _ => "users",
        };
        format!(
            "{RANKS}, and FairShare {} is no rank among the {places} {who} listed",
            listing.rows[row].fs_factor.map_or(0.0, |p| p.value)
        )
    })
}

/// The accounts that used something but have no rows below them, in words.
fn unlisted(listing: &Listing, links: &[Link]) -> Option<String> {
    let mut has_rows = vec![false; links.len()];
    for link in links {
        if let Some(parent) = link.parent {
            has_rows[parent] = true;
        }
    }
    let mut bare = (0..links.len()).filter(|&at| {
        links[at].kind == RowKind::Account
            && !has_rows[at]
            && listing.rows[at].raw_usage.is_some_and(|usage| usage > 0)
    });
    let first = name(&listing.rows[bare.next()?]);
    Some(match bare.count() {
        0 => first,
        more => format!("{first} and {more} more accounts"),
    })
}

/// A row whose printed FairShare is not `k / places`; or, when all are but the best is not among
/// them, the row with the largest.
fn foreign_rank(listing: &Listing, places: usize) -> Option<usize> {
    let total = places as f64;
    let mut best: Option<(usize, f64)> = None;
    for (at, row) in listing.rows.iter().enumerate() {
        let Some(printed) = row.fs_factor else {
            continue;
        };
        let rank = (printed.value * total).round();
        if rank / total < printed.low || rank / total > printed.high {
            return Some(at);
        }
        if best.is_none_or(|(_, high)| printed.high > high) {
            best = Some((at, printed.high));
        }
    }
    best.filter(|&(_, high)| high < 1.0).map(|(at, _)| at)
}
