//! A copy of a site on which changes are tried.

use std::borrow::Cow;

use super::RankedSite;
use fairtree::config::Config;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Entitlement, compute_again};
use fairtree::tree::{AssocIndex, AssocKind, Shares, Tree};
use fairtree_model::cluster::Load;

/// A value that may be changed, in whole units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Variation {
    /// TRES-seconds that a user, or an account with each of its users in proportion, did not use.
    LessUsage(AssocIndex),
    /// Raw shares more.
    MoreShares(AssocIndex),
    /// Hours during which running jobs continue and usage decays.
    Load,
    /// Times that all usage is halved.
    Halving,
}

/// A copy of a site, and two users.
pub(super) struct TrialSite<'a> {
    config: &'a Config,
    entitlement: Entitlement,
    tree: Cow<'a, Tree>,
    raw: &'a [Extended],
    load: &'a [Load],
    pair: [Option<AssocIndex>; 2],
    /// Results of the change before: memory for the next.
    spare: Vec<AssocFairshare>,
}

impl<'a> TrialSite<'a> {
    /// A copy of the site.
    pub(super) fn new(ranked: &RankedSite<'a>, pair: [Option<AssocIndex>; 2]) -> TrialSite<'a> {
        TrialSite {
            config: ranked.config,
            entitlement: ranked.entitlement.clone(),
            tree: Cow::Borrowed(ranked.tree),
            raw: ranked.raw,
            load: ranked.load,
            pair,
            spare: Vec::new(),
        }
    }

    /// The fair-share factors of the two after a change; 0 without an association.
    pub(super) fn factors(&mut self, change: Variation, amount: u64) -> [f64; 2] {
        match change {
            Variation::LessUsage(index) => {
                let raw = self.with_less_usage(index, amount);
                self.factors_of(&raw)
            }
            Variation::MoreShares(index) => {
                let row = self.tree.rows()[index.get()];
                let old = row.shares.raw().unwrap_or(0);
                let shares = u32::try_from(amount)
                    .ok()
                    .and_then(|more| old.checked_add(more));
                let shares = Shares::Raw(shares.unwrap_or(Shares::MAX_RAW).min(Shares::MAX_RAW));
                let changed = self.tree.to_mut().set_shares(row.id, shares);
                changed.expect("an association of this tree, shares in range");
                let factors = self.factors_of(self.raw);
                let restored = self.tree.to_mut().set_shares(row.id, row.shares);
                restored.expect("the shares it had");
                factors
            }
            Variation::Load => {
                let raw = self.after_hours(amount);
                self.factors_of(&raw)
            }
            Variation::Halving => {
                let half = Extended::ONE / Extended::from(2_u64);
                let mut raw = self.raw.to_vec();
                for usage in &mut raw {
                    for _ in 0..amount {
                        *usage *= half;
                    }
                }
                self.factors_of(&raw)
            }
        }
    }

    fn factors_of(&mut self, raw: &[Extended]) -> [f64; 2] {
        let (ranking, compat) = (self.config.ranking(), self.config.compat);
        let spare = std::mem::take(&mut self.spare);
        let ranking = (ranking, &self.entitlement);
        self.spare = compute_again(ranking, compat, &self.tree, raw, spare);
        let factor = |index: AssocIndex| self.spare[index.get()].fs_factor.unwrap_or(0.0);
        self.pair.map(|user| user.map_or(0.0, factor))
    }

    /// Usage without `amount` TRES-seconds of an association, at most what it has.
    fn with_less_usage(&self, index: AssocIndex, amount: u64) -> Vec<Extended> {
        let mut raw = self.raw.to_vec();
        let used = raw[index.get()];
        let less = Extended::from(amount).min(used);
        if used.is_zero() {
            return raw;
        }
        let left = used - less;
        if self.tree.rows()[index.get()].kind == AssocKind::Account {
            let below = self.tree.is_below(index);
            for (usage, _) in raw.iter_mut().zip(below).filter(|(_, below)| *below) {
                *usage = *usage * left / used;
            }
        }
        raw[index.get()] = left;
        for at in self.tree.upward(self.tree.parent(index)) {
            raw[at.get()] = (raw[at.get()] - less).max(Extended::ZERO);
        }
        raw
    }

    /// Usage after `hours` in which it decays and the load continues, pass by pass.
    fn after_hours(&self, hours: u64) -> Vec<Extended> {
        let (left, whole) = decay_over(self.config, hours);
        let number = |value: f64| Extended::from_f64(value).unwrap_or(Extended::ZERO);
        let left = number(left);
        let mut raw: Vec<Extended> = self.raw.iter().map(|usage| *usage * left).collect();
        for load in self.load {
            let usage = number(load.tres_per_sec.max(0.0) * whole);
            for at in self.tree.upward(load.assoc) {
                raw[at.get()] += usage;
            }
        }
        raw
    }
}

/// The decay factor over `hours`, and the decayed seconds of constant use during them.
fn decay_over(config: &Config, hours: u64) -> (f64, f64) {
    let decay = fairtree::engine::decay(config);
    let secs = i64::try_from(hours.saturating_mul(3600)).unwrap_or(i64::MAX);
    let pass = i64::from(config.priority_calc_period_secs.max(1));
    let whole = if decay.compat().is_slurm() {
        // Each pass decays usage as if all came at its start.
        let (passes, left) = (secs / pass, decay.factor(pass));
        let first = decay.weight(0, pass, pass);
        let sum = if left < 1.0 {
            first * (1.0 - left.powf(passes as f64)) / (1.0 - left)
        } else {
            first * passes as f64
        };
        let rest = secs % pass;
        sum * decay.factor(rest) + decay.weight(0, rest, rest)
    } else {
        decay.weight(0, secs, secs)
    };
    (decay.factor(secs), whole)
}
