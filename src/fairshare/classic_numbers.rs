//! Numbers of the two classic rules: effective usage, normalised shares and factors.
//!
//! The numbers of an association follow from those of its account. [`Numbers`] keeps the numbers of
//! accounts only, because there are many users.

use super::host::PowerOfTwo;
use super::level_ratios::{Formula, LevelRatios, usage_of_level};
use super::quirks::Quirks;
use super::ranking_input::RankingInput;
use super::{AssocFairshare, Usage};
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// Fair share under a classic rule, computed for single associations on demand.
pub(crate) struct Numbers<'a> {
    tree: &'a Tree,
    quirks: Quirks,
    usage: Usage<'a>,
    /// Effective usage of `DEPTH_OBLIVIOUS`.
    by_level: Option<Formula>,
    dampening: Extended,
    power: PowerOfTwo,
    /// By position, under `compat=slurm`, where products start at the association.
    norm_shares: Vec<f64>,
    /// Index of an association in `accounts`; a user has none.
    places: Vec<u32>,
    accounts: Vec<Account>,
    /// One per account, if `by_level` is set.
    levels: Vec<LevelRatios>,
}

/// The numbers that the factor is computed from.
#[derive(Clone, Copy)]
struct AccountNumbers {
    shares: Extended,
    effective_usage: Extended,
}

#[derive(Clone, Copy)]
struct Account {
    standing: AccountNumbers,
    fs_factor: f64,
}

const NO_ACCOUNT: Account = Account {
    standing: AccountNumbers {
        shares: Extended::ZERO,
        effective_usage: Extended::ZERO,
    },
    fs_factor: 0.0,
};

impl<'a> Numbers<'a> {
    /// `by_level`: effective usage as in `DEPTH_OBLIVIOUS`.
    pub(super) fn new(
        input: &RankingInput<'a>,
        dampening: u16,
        by_level: Option<Formula>,
    ) -> Numbers<'a> {
        let (tree, compat) = (input.tree, input.compat);
        let quirks = Quirks::of(compat);
        let mut found = Numbers {
            tree,
            quirks,
            usage: input.usage(),
            by_level,
            dampening: Extended::from(u32::from(dampening.max(1))),
            power: input.host.power(compat),
            norm_shares: if quirks.shares_upwards {
                tree.norm_shares_on_path(compat)
            } else {
                Vec::new()
            },
            places: Vec::new(),
            accounts: Vec::new(),
            levels: Vec::new(),
        };
        found.fill_accounts();
        found
    }

    fn fill_accounts(&mut self) {
        let tree = self.tree;
        self.places.reserve_exact(tree.len());
        let mut count = 0;
        for row in tree.rows() {
            self.places.push(count);
            count += u32::from(row.kind == AssocKind::Account);
        }
        self.accounts = vec![NO_ACCOUNT; count as usize];
        if self.by_level.is_some() {
            self.levels = vec![LevelRatios::NONE; count as usize];
        }
        let parents_first = tree.parents_first().iter();
        let kind = |index: &AssocIndex| tree.rows()[index.get()].kind;
        for &index in parents_first.filter(|index| kind(index) == AssocKind::Account) {
            let standing = self.standing(index, self.usage.norm(index));
            let place = self.places[index.get()] as usize;
            self.accounts[place] = Account {
                standing,
                fs_factor: self.factor(index, standing),
            };
            // Not used directly below the root.
            if let (Some(rule), Some(_)) = (self.by_level, tree.fs_parent(index)) {
                self.levels[place] = rule.level(standing.effective_usage, standing.shares, || {
                    usage_of_level(tree, self.quirks, &self.usage, index)
                });
            }
        }
    }

    /// The account at a position.
    fn account(&self, index: AssocIndex) -> &Account {
        &self.accounts[self.places[index.get()] as usize]
    }

    /// The numbers of one association; those of the accounts above it must be computed already.
    /// `own`: its normalised usage.
    fn standing(&self, index: AssocIndex, own: Extended) -> AccountNumbers {
        let quirks = self.quirks;
        let norm_shares = self.norm_shares.get(index.get());
        let shares = norm_shares.and_then(|shares| Extended::from_f64(*shares));
        let Some(parent) = self.tree.fs_parent(index) else {
            return AccountNumbers {
                shares: shares.unwrap_or(Extended::ONE),
                effective_usage: if quirks.root_uses_all {
                    Extended::ONE
                } else {
                    own
                },
            };
        };
        let above = self.account(parent).standing;
        let has_shares = self.tree.rows()[index.get()].shares != Shares::Parent;
        let part = match quirks.shares_upwards {
            false => self.tree.part_of_level(index),
            true => None,
        };
        let shares =
            shares.unwrap_or_else(|| part.map_or(above.shares, |part| above.shares * part));
        let below_root = self.tree.fs_parent(parent).is_none();
        let effective_usage = if below_root && (has_shares || quirks.own_usage_below_root) {
            own
        } else if !has_shares {
            above.effective_usage
        } else if let Some(rule) = self.by_level {
            let level = self.levels[self.places[parent.get()] as usize];
            rule.effective_usage(own, shares, level)
        } else {
            self.below(index, own, above.effective_usage, part)
        };
        AccountNumbers {
            shares,
            effective_usage,
        }
    }

    /// Effective usage of an association with shares of its own, not directly below the root.
    /// `part`: its part of the shares on its level, if already known.
    fn below(
        &self,
        index: AssocIndex,
        own: Extended,
        above: Extended,
        part: Option<Extended>,
    ) -> Extended {
        let level = self.tree.level_shares(index).unwrap_or(0);
        // Slurm adds the shares of a level in 32 bits.
        let level = if self.quirks.level_shares_wrap {
            u64::from(level as u32)
        } else {
            level
        };
        if level == 0 {
            return above;
        }
        let shares = self.tree.rows()[index.get()].shares.raw().unwrap_or(0);
        let part = part.unwrap_or_else(|| Extended::from(shares) / Extended::from(level));
        between(own, above, part)
    }

    /// The factor from an association's own numbers; for `FairShare=parent`, from those of its
    /// account.
    fn factor(&self, index: AssocIndex, standing: AccountNumbers) -> f64 {
        match self.tree.fs_parent(index) {
            Some(parent) if self.tree.rows()[index.get()].shares == Shares::Parent => {
                self.account(parent).fs_factor
            }
            _ => factor(
                standing.effective_usage,
                standing.shares,
                self.dampening,
                self.power,
            ),
        }
    }

    /// Fair share of one association.
    pub(crate) fn fairshare(&self, index: AssocIndex) -> AssocFairshare {
        let norm_usage = self.usage.norm(index);
        let found = match self.tree.rows()[index.get()].kind {
            AssocKind::Account => *self.account(index),
            AssocKind::User => {
                let standing = self.standing(index, norm_usage);
                let fs_factor = self.factor(index, standing);
                Account {
                    standing,
                    fs_factor,
                }
            }
        };
        AssocFairshare {
            norm_shares: found.standing.shares.to_f64(),
            raw_usage: self.usage.raw(index),
            norm_usage,
            effective_usage: found.standing.effective_usage,
            level_fs: None,
            fs_factor: Some(found.fs_factor),
        }
    }

    /// Fair share of all associations, by position, in the memory of `spare`.
    pub(crate) fn all(&self, mut spare: Vec<AssocFairshare>) -> Vec<AssocFairshare> {
        spare.clear();
        spare.extend(self.tree.indices().map(|index| self.fairshare(index)));
        spare
    }
}

/// Effective usage from an association's own normalised usage, the effective usage above it, and
/// its part of the shares on its level.
pub(super) fn between(own: Extended, above: Extended, part: Extended) -> Extended {
    own + (above - own) * part
}

/// `2^(-(used / shares) / dampening)`; 0 without shares.
pub(super) fn factor(
    used: Extended,
    shares: Extended,
    dampening: Extended,
    power: PowerOfTwo,
) -> f64 {
    if shares <= Extended::ZERO {
        return 0.0;
    }
    let ratio = used / shares;
    power.of(-if dampening == Extended::ONE {
        ratio
    } else {
        ratio / dampening
    })
}
