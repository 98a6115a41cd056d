//! Classic and depth-oblivious fair share as kept in slurmctld's records from pass to pass.
//!
//! Stock never computes all associations at once. A pass computes the accounts, in the order of the
//! lists of children, and marks every user as not computed. A user is computed on demand, when its
//! first job is priced, or by sshare. Each such computation reads the records of the others, even
//! if these are stale:
//! * effective usage and normalised shares of the account above;
//! * depth-oblivious: normalised usage of all siblings. One that was never computed counts as
//!   `NO_VAL`, 4294967294, so that the usage of a level can be billions of times the whole;
//! * normalised shares are those that slurmctld computed last. After a change of `FAIR_TREE` they
//!   keep the definition of the other ranking until an association is edited.
//!
//! From 25.11 on a record also keeps the factor. Since then, pricing a job computes the job's own
//! association; before, it computed the association whose numbers make the factor.
//!
//! Source: `priority_p_set_assoc_usage` and `_set_children_usage_efctv` of 22.05 and 24.11, which
//! agree; `_get_fairshare_priority` of 24.11 and 25.11.

use super::classic_numbers::{between, factor};
use super::host::HostMath;
use super::level_ratios::Formula;
use super::usage::{at_most_one, quotient};
use super::{AssocFairshare, Ranking};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// Value of a record that was never computed, `NO_VAL`; stock calculates with it.
const NOT_COMPUTED: Extended = Extended::from_u64(0xffff_fffe);

/// Fields of slurmctld's record of one association that are kept between passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordState {
    /// Normalised shares, 0..=1.
    pub norm_shares: f64,
    /// Raw usage over the root's, 0..=1; `None`: never computed.
    pub norm_usage: Option<Extended>,
    /// Effective usage, at least 0; `None`: must be computed on demand.
    pub effective_usage: Option<Extended>,
}

impl From<&AssocFairshare> for RecordState {
    /// The record of an association that was just computed.
    fn from(found: &AssocFairshare) -> RecordState {
        RecordState {
            norm_shares: found.norm_shares,
            norm_usage: Some(found.norm_usage),
            effective_usage: Some(found.effective_usage),
        }
    }
}

/// Input for the effective usage of one association.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsageRecord {
    pub(crate) shares: Shares,
    pub(crate) norm_shares: f64,
    /// The account from which shares are taken: the root, or the record of that account.
    pub(crate) above: Option<RecordState>,
    /// Sum of the shares on the level, in Slurm's 32 bits.
    pub(crate) level_shares: u32,
}

impl UsageRecord {
    /// Normalised usage.
    pub(crate) fn norm_usage(raw: Extended, root: Extended) -> Extended {
        at_most_one(quotient(raw, root))
    }

    /// Effective usage. `usage_of_level`: normalised usage of all associations on the level that
    /// have shares of their own; called by the depth-oblivious ranking.
    pub(crate) fn effective_usage(
        &self,
        host: HostMath,
        ranking: Ranking,
        compat: Compat,
        norm_usage: Extended,
        usage_of_level: impl FnOnce() -> Extended,
    ) -> Extended {
        let Some(above) = self.above else {
            return norm_usage;
        };
        let effective_above = above.effective_usage.unwrap_or(NOT_COMPUTED);
        let by_level = ranking.stock_record().by_level;
        match (self.shares, by_level) {
            (Shares::Parent, _) => effective_above,
            (Shares::Raw(_), true) => {
                let rule = Formula::new(compat, host);
                let shares_above = extended(above.norm_shares);
                let level = rule.level(effective_above, shares_above, usage_of_level);
                rule.effective_usage(norm_usage, extended(self.norm_shares), level)
            }
            (Shares::Raw(_), false) if self.level_shares == 0 => effective_above,
            (Shares::Raw(shares), false) => {
                let part = Extended::from(shares) / Extended::from(self.level_shares);
                between(norm_usage, effective_above, part)
            }
        }
    }
}

/// The records of a tree, changed by one pass and by computations on demand during the pass.
pub(crate) struct Records<'a> {
    tree: &'a Tree,
    host: HostMath,
    ranking: Ranking,
    compat: Compat,
    record_states: &'a mut [RecordState],
}

impl<'a> Records<'a> {
    /// `record_states`: one per association by position; panics if its length is different.
    pub(crate) fn new(
        tree: &'a Tree,
        host: HostMath,
        ranking: Ranking,
        compat: Compat,
        record_states: &'a mut [RecordState],
    ) -> Records<'a> {
        assert_eq!(
            record_states.len(),
            tree.len(),
            "one record per association"
        );
        Records {
            tree,
            host,
            ranking,
            compat,
            record_states,
        }
    }

    /// First step of a pass: computes accounts from `raw`, the present usage, list by list in their
    /// order, and marks users as not computed.
    pub(crate) fn begin_pass(&mut self, raw: &[Extended]) {
        let tree = self.tree;
        let mut lists = Vec::from_iter(tree.root());
        let mut next = 0;
        while let Some(&account) = lists.get(next) {
            next += 1;
            for &child in tree.fs_children(account) {
                if tree.rows()[child.get()].kind == AssocKind::User {
                    self.record_states[child.get()].effective_usage = None;
                } else {
                    self.compute(child, raw);
                    lists.push(child);
                }
            }
        }
    }

    /// Computes the factor of an association for pricing, from `raw`, the present usage, unless
    /// this pass has already computed it.
    pub(crate) fn ask(&mut self, index: AssocIndex, raw: &[Extended]) {
        let facts = self.compat.facts();
        let index = match facts.is_some_and(|facts| facts.prices_from_record) {
            true => index,
            false => self.payer(index),
        };
        if self.is_open(index) {
            self.compute(index, raw);
        }
    }

    /// Returns true if this association was not computed since the pass began.
    pub(crate) fn is_open(&self, index: AssocIndex) -> bool {
        self.record_states[index.get()].effective_usage.is_none()
    }

    /// Fair share of one association; computed now if it is open.
    pub(crate) fn fairshare(&self, index: AssocIndex, raw: &[Extended]) -> AssocFairshare {
        let (norm_usage, effective_usage) = self.now(index, raw);
        let payer = self.payer(index);
        let pays = if payer == index {
            effective_usage
        } else {
            self.now(payer, raw).1
        };
        let shares = extended(self.record_states[payer.get()].norm_shares);
        let dampening = self.ranking.stock_record().dampening;
        AssocFairshare {
            norm_shares: self.record_states[index.get()].norm_shares,
            raw_usage: raw[index.get()],
            norm_usage,
            effective_usage,
            level_fs: None,
            fs_factor: Some(stock_factor(
                self.host,
                self.compat,
                pays,
                shares,
                dampening,
            )),
        }
    }

    /// Normalised and effective usage in the record; computed now if it is open.
    fn now(&self, index: AssocIndex, raw: &[Extended]) -> (Extended, Extended) {
        let state = self.record_states[index.get()];
        match state.effective_usage {
            Some(effective) => (state.norm_usage.unwrap_or(NOT_COMPUTED), effective),
            None => self.computed(index, raw),
        }
    }

    /// The association whose numbers make the factor: `FairShare=parent` has none of its own.
    fn payer(&self, index: AssocIndex) -> AssocIndex {
        match self.tree.rows()[index.get()].shares {
            Shares::Parent => self.tree.fs_parent(index).unwrap_or(index),
            Shares::Raw(_) => index,
        }
    }

    fn compute(&mut self, index: AssocIndex, raw: &[Extended]) {
        let root = self.tree.root().unwrap_or(index);
        // It is part of its own level, whose usage is summed next.
        let norm_usage = UsageRecord::norm_usage(raw[index.get()], raw[root.get()]);
        self.record_states[index.get()].norm_usage = Some(norm_usage);
        self.record_states[index.get()].effective_usage = Some(self.computed(index, raw).1);
    }

    /// Normalised and effective usage that an association would have if computed now.
    fn computed(&self, index: AssocIndex, raw: &[Extended]) -> (Extended, Extended) {
        let root = self.tree.root().unwrap_or(index);
        let norm_usage = UsageRecord::norm_usage(raw[index.get()], raw[root.get()]);
        let parent = self.tree.fs_parent(index);
        let standing = UsageRecord {
            shares: self.tree.rows()[index.get()].shares,
            norm_shares: self.record_states[index.get()].norm_shares,
            above: parent
                .filter(|&parent| parent != root)
                .map(|parent| self.record_states[parent.get()]),
            // Slurm adds the shares of a level in 32 bits.
            level_shares: self.tree.level_shares(index).unwrap_or(0) as u32,
        };
        let (host, ranking, compat) = (self.host, self.ranking, self.compat);
        let effective = standing.effective_usage(host, ranking, compat, norm_usage, || {
            parent.map_or(Extended::ZERO, |parent| {
                self.usage_of_level(parent, index, norm_usage)
            })
        });
        (norm_usage, effective)
    }

    /// Total normalised usage of all children with shares of their own, from their records; `own`
    /// for `index`.
    fn usage_of_level(&self, parent: AssocIndex, index: AssocIndex, own: Extended) -> Extended {
        let children = self.tree.fs_children(parent).iter();
        children
            .filter(|child| self.tree.rows()[child.get()].shares != Shares::Parent)
            .map(|&child| {
                if child == index {
                    own
                } else {
                    self.record_states[child.get()]
                        .norm_usage
                        .unwrap_or(NOT_COMPUTED)
                }
            })
            .sum()
    }
}

/// The classic factor `2^(-(usage / shares) / dampening)`; 0 without shares.
pub(crate) fn stock_factor(
    host: HostMath,
    compat: Compat,
    usage: Extended,
    shares: Extended,
    dampening: u16,
) -> f64 {
    let dampening = Extended::from(u32::from(dampening.max(1)));
    factor(usage, shares, dampening, host.power(compat))
}

fn extended(value: f64) -> Extended {
    Extended::from_f64(value).unwrap_or(Extended::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Release;
    use crate::tree::{Assoc, AssocId};

    const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

    /// root 1 -> 6 -> 8 -> accounts 10 and 11; user 200 in 10. All shares 1.
    fn tree() -> Tree {
        let row = |id, parent, kind| Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        };
        Tree::from_rows([
            row(1, None, AssocKind::Account),
            row(6, Some(1), AssocKind::Account),
            row(8, Some(6), AssocKind::Account),
            row(10, Some(8), AssocKind::Account),
            row(11, Some(8), AssocKind::Account),
            row(200, Some(10), AssocKind::User),
        ])
        .unwrap()
    }

    /// Records as loaded by slurmctld, except the root's effective usage.
    fn fresh(tree: &Tree) -> Vec<RecordState> {
        let shares = tree.norm_shares_on_path(SLURM);
        let mut record_states: Vec<RecordState> = shares
            .into_iter()
            .map(|norm_shares| RecordState {
                norm_shares,
                norm_usage: None,
                effective_usage: Some(Extended::ZERO),
            })
            .collect();
        record_states[0].effective_usage = Some(Extended::ONE);
        record_states
    }

    fn begun(tree: &Tree, ranking: Ranking, raw: &[Extended]) -> Vec<RecordState> {
        let host = HostMath::default();
        let mut record_states = fresh(tree);
        let mut records = Records::new(tree, host, ranking, SLURM, &mut record_states);
        records.begin_pass(raw);
        let user = tree.index_of(200 as AssocId).unwrap();
        assert!(records.is_open(user));
        records.ask(user, raw);
        assert!(!records.is_open(user));
        record_states
    }

    #[test]
    fn an_account_adds_up_siblings_that_nobody_has_computed() {
        // Slurm 22.05.8 and 24.11.5: 11 comes later in the list and counts as 4294967294, so 10,
        // which has all of the usage, gets 1/4294967295.
        let tree = tree();
        let mut raw = [Extended::from(18_839_u32); 6];
        raw[4] = Extended::ZERO;
        let ranking = Ranking::depth_oblivious(1);
        let record_states = begun(&tree, ranking, &raw);
        let found = record_states[3].effective_usage.unwrap().to_f64();
        assert!((found * 4_294_967_295.0 - 1.0).abs() < 1e-15);
        assert_eq!(record_states[2].effective_usage, Some(Extended::ONE));
    }

    /// The tree of the other tests; its user takes the shares of account 10.
    fn with_a_parent_user() -> Tree {
        let mut rows = tree().rows().to_vec();
        rows[5].shares = Shares::Parent;
        Tree::from_rows(rows).unwrap()
    }

    #[test]
    fn a_job_asks_about_its_own_association_from_25_11_on() {
        // Slurm 25.11.7 and 26.05.3: sshare shows normalised usage of such a user after a pass that
        // priced one of its jobs. Slurm 22.05.8 and 24.11.5 do not compute the user.
        let tree = with_a_parent_user();
        let raw = [Extended::from(3_600_u32); 6];
        let user = tree.index_of(200 as AssocId).unwrap();
        for (release, is_open) in [
            (Release::V22_05_8, true),
            (Release::V24_11_5, true),
            (Release::new(25, 11, 7), false),
        ] {
            let (host, compat) = (HostMath::default(), Compat::Slurm(release));
            let mut kept = fresh(&tree);
            let mut records = Records::new(&tree, host, Ranking::classic(1), compat, &mut kept);
            records.begin_pass(&raw);
            let before = records.fairshare(user, &raw).fs_factor;
            records.ask(user, &raw);
            assert_eq!(records.is_open(user), is_open, "{release}");
            // The factor is the account's in both cases.
            assert_eq!(records.fairshare(user, &raw).fs_factor, before);
        }
    }

    #[test]
    fn the_classic_rule_reads_no_siblings() {
        let tree = tree();
        let mut raw = [Extended::from(18_839_u32); 6];
        raw[4] = Extended::ZERO;
        let record_states = begun(&tree, Ranking::classic(1), &raw);
        // All of the usage is on the path to the user; 11 has half of the usage above it.
        let found = record_states
            .iter()
            .map(|state| state.effective_usage.unwrap());
        let found: Vec<f64> = found.map(Extended::to_f64).collect();
        assert_eq!(found, [1.0, 1.0, 1.0, 1.0, 0.5, 1.0]);
    }
}
