//! One standing of an association: what every report and C call shows.

use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::{AssocFairshare, Entitlement, Place, Ranking};
use crate::tree::{AssocIndex, Shares, Tree};

/// The part of an association: a time, or what that part is of all that was used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// TRES-seconds that it is entitled to: its minutes, or its fraction of what the machines give
    /// in the window.
    Entitled(f64),
    /// TRES-seconds that are due to it: its fraction of what was used. Only where the capacity is
    /// not known, and under a half-life.
    Due(f64),
}

impl Claim {
    /// TRES-seconds, whichever it is.
    pub const fn secs(self) -> f64 {
        match self {
            Claim::Entitled(secs) | Claim::Due(secs) => secs,
        }
    }
}

/// The shares of an association, its use, and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Its part of what its account is entitled to, 0..=1; 1 of the root.
    pub share_of_level: f64,
    /// Its part of the whole, 0..=1.
    pub share_of_whole: f64,
    /// The same as a time.
    pub claim: Claim,
    /// TRES-seconds used.
    pub used: f64,
    /// Used over `claim`, from 0 up; `None`: it is entitled to nothing.
    pub ratio: Option<f64>,
    /// Level fairshare, as [`AssocFairshare::level_fs`].
    pub level_fs: Option<f64>,
    /// Fair-share factor, as [`AssocFairshare::fs_factor`].
    pub fs_factor: Option<f64>,
    /// Its place among those that it competes with, as [`Ranking::contest`] finds it.
    pub place: Option<Place>,
}

/// The standings of all associations of a site that was ranked.
#[derive(Clone, Debug)]
pub struct Standings<'a> {
    tree: &'a Tree,
    found: &'a [AssocFairshare],
    amounts: Vec<Extended>,
    /// What `amounts` are parts of.
    whole: Extended,
    /// `amounts` are times.
    known: bool,
    /// None where they were not asked for.
    places: Vec<Option<Place>>,
}

impl<'a> Standings<'a> {
    /// `found`: what `ranking` computed from the rest, by position. Minutes count where the ranking
    /// looks at them. Without [`Standings::with_places`] nobody has a place.
    ///
    /// # Panics
    /// Unless there is one result per association.
    pub fn new(
        (ranking, entitlement): (Ranking, &Entitlement),
        tree: &'a Tree,
        found: &'a [AssocFairshare],
    ) -> Standings<'a> {
        assert_eq!(found.len(), tree.len(), "one result per association");
        let ignores = entitlement.has_minutes() && !ranking.columns().entitled;
        let entitlement = match ignores {
            true => &Entitlement::SHARES,
            false => entitlement,
        };
        Standings {
            amounts: entitlement.of_all(tree),
            whole: entitlement.total(tree),
            known: *entitlement != Entitlement::SHARES,
            places: vec![None; tree.len()],
            tree,
            found,
        }
    }

    /// The same with places.
    ///
    /// # Panics
    /// Unless there is one usage per association.
    #[must_use]
    pub fn with_places(
        mut self,
        (ranking, entitlement): (Ranking, &Entitlement),
        compat: Compat,
        raw_usage: &[Extended],
    ) -> Standings<'a> {
        self.places = ranking.contest(entitlement, compat, self.tree, raw_usage, self.found);
        self
    }

    /// Returns true if associations are entitled to a time: [`Claim::Entitled`].
    pub const fn are_entitled(&self) -> bool {
        self.known
    }

    /// The standing of one association.
    ///
    /// # Panics
    /// When `index` is not of this tree.
    pub fn of(&self, index: AssocIndex) -> Standing {
        let (amount, found) = (self.amounts[index.get()], &self.found[index.get()]);
        let in_all = self
            .tree
            .root()
            .map(|root| self.found[root.get()].raw_usage);
        let share = part(amount, self.whole);
        let claim = match self.known {
            true => amount,
            false => share * in_all.unwrap_or(Extended::ZERO),
        };
        let used = found.raw_usage;
        let ratio = match (used.is_zero(), claim.is_zero()) {
            (_, true) => None,
            (true, false) => Some(0.0),
            (false, false) => Some((used / claim).to_f64()),
        };
        Standing {
            share_of_level: self.share_of_level(index),
            share_of_whole: share.to_f64(),
            claim: match self.known {
                true => Claim::Entitled(claim.to_f64()),
                false => Claim::Due(claim.to_f64()),
            },
            used: used.to_f64(),
            ratio,
            level_fs: found.level_fs.map(Extended::to_f64),
            fs_factor: found.fs_factor,
            place: self.places[index.get()],
        }
    }

    /// With `FairShare=parent` that of the account.
    fn share_of_level(&self, mut index: AssocIndex) -> f64 {
        while let Some(above) = self.tree.fs_parent(index) {
            if self.tree.rows()[index.get()].shares == Shares::Parent {
                index = above;
                continue;
            }
            let of = match self.tree.fs_parent(above) {
                Some(_) => self.amounts[above.get()],
                None => self.whole,
            };
            return part(self.amounts[index.get()], of).to_f64();
        }
        1.0
    }
}

/// 0 of nothing.
fn part(amount: Extended, whole: Extended) -> Extended {
    match whole.is_zero() {
        true => Extended::ZERO,
        false => amount / whole,
    }
}
