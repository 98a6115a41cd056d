//! Why a user's rank moved between two listings of sshare.
//!
//! Under Fair Tree a user's factor is a rank over the number of users, and the rank follows from
//! who is ahead at each level on the way down to the user. So it moves because siblings changed
//! places at some level, because users came or went, or because a tie was ranked in another way:
//! priority/multifactor ranks some ties against Slurm's documentation.

use std::collections::{HashMap, HashSet};

use super::assoc::{Key, keys, name};
use crate::share::{Fractions, Verdict, check, from_listed};
use fairtree::compat::Compat;
use fairtree::fairshare::Ranking;
use fairtree_model::input::sshare::{Column, Link, Listing, RowKind, SshareRow, links};
use fairtree_model::listed::Listed;

/// Number of names shown of associations that changed places.
const SHOWN: usize = 3;

/// Two listings, ready to be asked.
pub(super) struct Ranks<'a> {
    before: Side<'a>,
    after: Side<'a>,
}

struct Side<'a> {
    rows: &'a [SshareRow],
    links: Vec<Link>,
    keys: Vec<Key<'a>>,
    at: HashMap<Key<'a>, usize>,
    /// Rows whose factor is that of a tie as only stock ranks it.
    stock_ties: HashSet<usize>,
    users: usize,
}

impl<'a> Side<'a> {
    fn new(listing: &'a Listing) -> Side<'a> {
        let links = links(listing);
        let users = links.iter().filter(|link| link.kind == RowKind::User);
        let keys = keys(&listing.rows);
        Side {
            rows: &listing.rows,
            users: users.count(),
            at: keys.iter().copied().zip(0..).collect(),
            keys,
            stock_ties: stock_ties(listing),
            links,
        }
    }

    fn level_fs(&self, at: usize) -> Option<f64> {
        self.rows[at].level_fs.map(|printed| printed.value)
    }

    /// A row and those above it, the highest first.
    fn path(&self, at: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            std::iter::successors(Some(at), |&at| self.links[at].parent).collect();
        path.reverse();
        path
    }

    /// The siblings of a row that are ahead of it.
    fn ahead(&self, at: usize) -> HashSet<Key<'a>> {
        let (Some(own), parent) = (self.level_fs(at), self.links[at].parent) else {
            return HashSet::new();
        };
        let siblings = (0..self.rows.len()).filter(|&row| self.links[row].parent == parent);
        siblings
            .filter(|&row| self.level_fs(row).is_some_and(|other| other > own))
            .map(|row| self.keys[row])
            .collect()
    }
}

/// Without LevelFS it is a different ranking, without ranks; what cannot be computed is no tie.
fn stock_ties(listing: &Listing) -> HashSet<usize> {
    if !listing.has(Column::LevelFs) {
        return HashSet::new();
    }
    let Ok(listed) = Listed::new(listing, Ranking::FAIR_TREE) else {
        return HashSet::new();
    };
    let report = from_listed(&listed, Compat::Documented, None, Fractions::Computed);
    let differences = check(&listed, &report).differences;
    let ties = differences
        .into_iter()
        .filter(|found| found.verdict == Verdict::StockTie);
    ties.map(|found| found.row).collect()
}

impl<'a> Ranks<'a> {
    pub(super) fn new(before: &'a Listing, after: &'a Listing) -> Ranks<'a> {
        Ranks {
            before: Side::new(before),
            after: Side::new(after),
        }
    }

    /// The reason why the factor of a row of the later listing changed; `None` if it is not known.
    pub(super) fn why(&self, new: usize) -> Option<String> {
        let old = *self.before.at.get(&self.after.keys[new])?;
        let ties = [&self.before, &self.after].map(|side| &side.stock_ties);
        let mut reasons = Vec::new();
        match (ties[0].contains(&old), ties[1].contains(&new)) {
            (true, false) => reasons.push("a tie that was ranked against Slurm's documentation"),
            (false, true) => reasons.push("a tie, ranked against Slurm's documentation"),
            _ => {}
        }
        let mut reasons: Vec<String> = reasons.into_iter().map(str::to_owned).collect();
        reasons.extend(self.places(new));
        if self.before.users != self.after.users {
            let (was, is) = (self.before.users, self.after.users);
            reasons.push(format!("{is} users instead of {was}"));
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// The associations that changed places with the row or one above it, at the highest such level.
    fn places(&self, new: usize) -> Option<String> {
        self.after.path(new).into_iter().find_map(|step| {
            let old = *self.before.at.get(&self.after.keys[step])?;
            let (was, is) = (self.before.ahead(old), self.after.ahead(step));
            let mut told = Vec::new();
            told.extend(self.named("behind", is.difference(&was)));
            told.extend(self.named("no longer behind", was.difference(&is)));
            (!told.is_empty()).then(|| told.join(", "))
        })
    }

    fn named<'k>(&self, how: &str, keys: impl Iterator<Item = &'k Key<'a>>) -> Option<String>
    where
        'a: 'k,
    {
        let row = |key: &Key<'a>| match self.after.at.get(key) {
            Some(&at) => &self.after.rows[at],
            None => &self.before.rows[self.before.at[key]],
        };
        let mut names: Vec<String> = keys.map(|key| name(row(key))).collect();
        names.sort();
        let more = names.len().saturating_sub(SHOWN);
        names.truncate(SHOWN);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        (!names.is_empty()).then(|| format!("{how} {}", names.join(", ")))
    }
}
