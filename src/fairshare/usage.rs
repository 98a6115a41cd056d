//! Usage in the form that the rankings read.

use std::borrow::Cow;

use super::AssocFairshare;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};

/// Raw usage of all associations.
pub(super) struct Usage<'a> {
    raw: Cow<'a, [Extended]>,
    /// Usage of the root.
    total: Extended,
}

impl<'a> Usage<'a> {
    /// `raw`: one per association by position; made finite and at least 0.
    pub(super) fn new(tree: &Tree, raw: &'a [Extended]) -> Usage<'a> {
        let is_sound = |number: &Extended| !number.is_negative() && !number.is_infinite();
        let raw = if raw.iter().all(is_sound) {
            Cow::Borrowed(raw)
        } else {
            Cow::Owned(raw.iter().map(|number| sound(*number)).collect())
        };
        Usage::of(tree, raw)
    }

    /// As read by the stock plugin: negative numbers are kept. When a user's usage is removed, a
    /// negative rounding error is sometimes left at its accounts.
    pub(super) fn as_kept(tree: &Tree, raw: &'a [Extended]) -> Usage<'a> {
        Usage::of(tree, Cow::Borrowed(raw))
    }

    fn of(tree: &Tree, raw: Cow<'a, [Extended]>) -> Usage<'a> {
        let total = tree.root().map_or(Extended::ZERO, |root| raw[root.get()]);
        Usage { raw, total }
    }

    pub(super) fn raw(&self, index: AssocIndex) -> Extended {
        self.raw[index.get()]
    }

    /// Usage of one association over that of another; 0 if the latter is 0.
    pub(super) fn ratio(&self, index: AssocIndex, of: AssocIndex) -> Extended {
        quotient(self.raw(index), self.raw(of))
    }

    /// Usage over the root's, at most 1: the quotient can be larger if usage was lost on the way
    /// up.
    pub(super) fn norm(&self, index: AssocIndex) -> Extended {
        at_most_one(quotient(self.raw(index), self.total))
    }

    /// Results without the numbers that the ranking adds, in the memory of `spare`.
    pub(super) fn results(
        &self,
        mut spare: Vec<AssocFairshare>,
        norm_shares: impl IntoIterator<Item = f64>,
    ) -> Vec<AssocFairshare> {
        spare.clear();
        let rows = norm_shares.into_iter().enumerate();
        spare.extend(rows.map(|(at, norm_shares)| AssocFairshare {
            norm_shares,
            raw_usage: self.raw[at],
            norm_usage: self.norm(AssocIndex::new(at)),
            effective_usage: Extended::ZERO,
            level_fs: None,
            fs_factor: None,
        }));
        spare
    }
}

/// Usage as the rankings read it: 0 if negative, the largest number if infinite.
pub(super) fn sound(usage: Extended) -> Extended {
    if usage.is_negative() {
        Extended::ZERO
    } else if usage.is_infinite() {
        Extended::MAX
    } else {
        usage
    }
}

/// Normalised usage, from the quotient of usage and the root's usage.
pub(super) fn at_most_one(part: Extended) -> Extended {
    if part.is_below_one() {
        part
    } else {
        Extended::ONE
    }
}

/// A part over the whole; 0 if the whole is 0.
pub(super) fn quotient(part: Extended, whole: Extended) -> Extended {
    if whole.is_zero() {
        Extended::ZERO
    } else {
        part / whole
    }
}
