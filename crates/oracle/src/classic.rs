//! Classic and depth-oblivious fair share.
//!
//! As documented (classic_fair_share.shtml; `DEPTH_OBLIVIOUS` in slurm.conf(5)), all associations
//! are computed at one moment. The stock plugin computes accounts at the start of a pass, from the
//! usage after the last pass, and users on demand.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::{One as _, Signed as _, Zero as _};

use super::charge::no_val;
use super::fair_tree::{norm, ratio};
use super::faults::{Fault, Faults};
use super::number::{
    Fraction, Number, exact, ln, power, product, quotient, rounded, to_f64, whole,
};
use super::records::{Assoc, Records, flag};

/// Enough bits for a result in an x87 number.
const BITS: u64 = 160;

/// Rp Rl^k S: effective usage of depth-oblivious fair share.
struct DepthOblivious<'a> {
    share: &'a Fraction,
    share_above: &'a Fraction,
    used: &'a Fraction,
    used_above: &'a Fraction,
    /// Normalised usage of all siblings with shares.
    used_level: Fraction,
}

impl DepthOblivious<'_> {
    fn usage(&self, faults: &Faults) -> Fraction {
        if [self.share, self.share_above, self.used, self.used_above]
            .iter()
            .any(|value| value.is_zero())
        {
            return self.used.clone();
        }
        let above = quotient(self.used_above, self.share_above);
        let local = quotient(self.used, self.share);
        let local = quotient(&local, &quotient(&self.used_level, self.share_above));
        // Opposite sides: one is above 1, the other below.
        let sides = (&above - Fraction::one()) * (&local - Fraction::one());
        let local = if sides.is_negative() {
            let exponent = 1.0 / (1.0 + (5.0 * to_f64(&ln(&above))).powi(2));
            let rounded = to_f64(&local);
            // Below this an f64 has few bits left, or none.
            if rounded < f64::MIN_POSITIVE && !faults.has(Fault::TinyUsage) {
                power(&local, exponent)
            } else {
                exact(rounded.powf(exponent))
            }
        } else {
            local
        };
        // Too small for an f64 is not zero: an account's usage is a factor of its users' usage.
        product(&product(&above, &local), self.share)
    }
}

/// 2^(-(UE / S) / dampening).
fn factor(used: &Fraction, share: &Fraction, dampening: u32) -> Fraction {
    if !share.is_positive() {
        return Fraction::zero();
    }
    exact((-to_f64(&ratio(used, share)) / f64::from(dampening.max(1))).exp2())
}

fn finite(number: &Number) -> Fraction {
    match number {
        Number::Finite(value) => value.clone(),
        _ => Fraction::zero(),
    }
}

/// The usage that counts; `None` if it is negative.
pub fn counted(faults: &Faults, usage: &Fraction) -> Option<Fraction> {
    let counts = !usage.is_negative() || faults.has(Fault::NegativeUsage);
    counts.then(|| usage.clone())
}

/// Computes everything at one moment.
struct Classic<'a> {
    records: &'a Records,
    faults: &'a Faults,
    usage: &'a dyn Fn(u32) -> Fraction,
    shares: BTreeMap<u32, Fraction>,
    used: BTreeMap<u32, Fraction>,
}

/// Fills in usage and factors from the given raw usage.
pub fn classic(records: &mut Records, faults: &Faults, usage: &dyn Fn(u32) -> Fraction) {
    let before = records.clone();
    let root = records.conf.root;
    let mut all = Classic {
        records: &before,
        faults,
        usage,
        shares: BTreeMap::new(),
        used: BTreeMap::new(),
    };
    for (id, record) in &mut records.assocs {
        let used = all.used(*id);
        let paying = if record.on_parent() {
            record.fs_parent
        } else {
            *id
        };
        let found = factor(&all.used(paying), &all.share(paying), before.conf.dampening);
        let record = Rc::make_mut(record);
        record.fs_factor = found;
        if *id == root {
            continue;
        }
        record.usage_norm = Number::Finite(norm(&usage(*id), &usage(root)));
        record.usage_efctv = Number::Finite(used);
    }
}

impl Classic<'_> {
    fn norm(&self, id: u32) -> Fraction {
        norm(&(self.usage)(id), &(self.usage)(self.records.conf.root))
    }

    /// Normalised shares: the product of the parts on all levels.
    fn share(&mut self, id: u32) -> Fraction {
        if let Some(known) = self.shares.get(&id) {
            return known.clone();
        }
        let found = match self.records.assocs.get(&id) {
            Some(assoc) if assoc.fs_parent != 0 => {
                let above = self.share(assoc.fs_parent);
                let own = part_of_level(self.records, assoc);
                if assoc.on_parent() {
                    above
                } else {
                    above * own
                }
            }
            _ => Fraction::one(),
        };
        self.shares.insert(id, found.clone());
        found
    }

    fn used(&mut self, id: u32) -> Fraction {
        if let Some(known) = self.used.get(&id) {
            return known.clone();
        }
        let found = rounded(&self.find_used(id), BITS);
        self.used.insert(id, found.clone());
        found
    }

    fn find_used(&mut self, id: u32) -> Fraction {
        let assoc = match self.records.assocs.get(&id) {
            Some(assoc) if assoc.fs_parent != 0 => Rc::clone(assoc),
            _ if self.faults.has(Fault::RootAlwaysUsed) => return Fraction::one(),
            // The root has all usage.
            _ => return self.norm(id),
        };
        let parent = assoc.fs_parent;
        if assoc.on_parent() {
            return self.used(parent);
        }
        if parent == self.records.conf.root {
            return self.norm(id);
        }
        let (own, above) = (self.norm(id), self.used(parent));
        if self.records.conf.has(flag::DEPTH_OBLIVIOUS) {
            let account = &self.records.assocs[&parent];
            let level = with_shares(self.records, account);
            let used_level = level.map(|sibling| self.norm(sibling.id)).sum();
            let (share, share_above) = (self.share(id), self.share(parent));
            return DepthOblivious {
                share: &share,
                share_above: &share_above,
                used: &own,
                used_above: &above,
                used_level,
            }
            .usage(&Faults::none());
        }
        if level_shares(self.records, parent) == 0 {
            return above;
        }
        &own + (above - &own) * part_of_level(self.records, &assoc)
    }
}

fn with_shares<'a>(
    records: &'a Records,
    account: &'a Assoc,
) -> impl Iterator<Item = &'a Rc<Assoc>> {
    let children = account
        .children
        .iter()
        .filter_map(|id| records.assocs.get(id));
    children.filter(|child| !child.on_parent())
}

fn level_shares(records: &Records, account: u32) -> u64 {
    let Some(account) = records.assocs.get(&account) else {
        return 0;
    };
    with_shares(records, account)
        .map(|child| u64::from(child.shares_raw))
        .sum()
}

/// Own shares over those of the level; 0 if the level has no shares.
pub fn part_of_level(records: &Records, assoc: &Assoc) -> Fraction {
    match level_shares(records, assoc.fs_parent) {
        0 => Fraction::zero(),
        level => quotient(&whole(assoc.shares_raw), &whole(level)),
    }
}

/// Normalised shares of classic fair share: the product of the parts on all levels.
pub fn share_of_path(records: &Records, id: u32) -> Fraction {
    let mut all = Classic {
        records,
        faults: &Faults::none(),
        usage: &|_| Fraction::zero(),
        shares: BTreeMap::new(),
        used: BTreeMap::new(),
    };
    all.share(id)
}

/// Normalised shares under the current settings, as slurmctld's own function defines them.
pub fn shares_norm(records: &Records, id: u32) -> Fraction {
    let root = records.conf.root;
    let Some(assoc) = records.assocs.get(&id) else {
        return Fraction::zero();
    };
    let parent = assoc.fs_parent;
    if records.conf.has(flag::FAIR_TREE) {
        if id == root || (assoc.on_parent() && parent == root) {
            // The root has no siblings: the shares of its level are unset.
            let root = &records.assocs[&root];
            return whole(root.shares_raw) / whole(root.level_shares);
        }
        if assoc.on_parent() {
            return shares_norm(records, parent);
        }
        return part_of_level(records, assoc);
    }
    if id == root || parent == 0 {
        return Fraction::one();
    }
    if assoc.on_parent() {
        shares_norm(records, parent)
    } else {
        part_of_level(records, assoc) * shares_norm(records, parent)
    }
}

// ---- stock: the records, one after the other ------------------------------------------------

/// Returns true if this effective usage was not computed since the last pass.
pub fn is_open(assoc: &Assoc) -> bool {
    let value = finite(&assoc.usage_efctv);
    (value - no_val()).abs() < exact(0.000_01)
}

/// Stock's result on demand: computed from the current records, even if these are stale.
pub fn ask(records: &mut Records, faults: &Faults, id: u32) {
    let Some(assoc) = records.assocs.get(&id).cloned() else {
        return;
    };
    let Some(parent) = records.assocs.get(&assoc.fs_parent).cloned() else {
        return;
    };
    let root = records.conf.root;
    let counted = |id: u32| counted(faults, &records.assocs[&id].usage.raw);
    let own = norm(
        &counted(id).unwrap_or_default(),
        &counted(root).unwrap_or_default(),
    );
    if let Some(record) = records.assocs.get_mut(&id) {
        Rc::make_mut(record).usage_norm = Number::Finite(own.clone());
    }
    let above = finite(&parent.usage_efctv);
    let below_root = parent.id == root;
    let used = if below_root && (!assoc.on_parent() || faults.has(Fault::ParentBelowRoot)) {
        own
    } else if assoc.on_parent() {
        above
    } else if records.conf.has(flag::DEPTH_OBLIVIOUS) {
        let level = with_shares(records, &parent);
        DepthOblivious {
            share: &exact(assoc.shares_norm),
            share_above: &exact(parent.shares_norm),
            used: &own,
            used_above: &above,
            used_level: level.map(|sibling| finite(&sibling.usage_norm)).sum(),
        }
        .usage(faults)
    } else if assoc.level_shares == 0 {
        above
    } else {
        &own + (above - &own) * (whole(assoc.shares_raw) / whole(assoc.level_shares))
    };
    if let Some(record) = records.assocs.get_mut(&id) {
        Rc::make_mut(record).usage_efctv = Number::Finite(rounded(&used, BITS));
    }
    if records.conf.keeps_factor && !records.conf.has(flag::FAIR_TREE) {
        keep_factor(records, faults, id);
    }
}

/// Stores the factor that follows from the records in the record of an association.
fn keep_factor(records: &mut Records, faults: &Faults, id: u32) {
    let factor = recorded_factor(records, faults, paying(records, id));
    if let Some(record) = records.assocs.get_mut(&id) {
        Rc::make_mut(record).fs_factor = factor;
    }
}

/// The end of a stock pass in releases whose records keep the factor: stores the factor of each
/// job's association once more.
pub fn keep_factors_of_jobs(records: &mut Records, faults: &Faults) {
    let assocs: Vec<u32> = records.jobs.values().map(|job| job.assoc).collect();
    for id in assocs {
        keep_factor(records, faults, id);
    }
}

/// The start of a stock pass: computes accounts from the top, and leaves users open.
pub fn ask_accounts(records: &mut Records, faults: &Faults, account: u32) {
    let children = records
        .assocs
        .get(&account)
        .map(|account| account.children.clone());
    for id in children.into_iter().flatten() {
        let Some(child) = records.assocs.get_mut(&id) else {
            continue;
        };
        if child.is_user {
            Rc::make_mut(child).usage_efctv = Number::Finite(no_val());
        } else {
            ask(records, faults, id);
            ask_accounts(records, faults, id);
        }
    }
}

/// The association whose usage counts for this one: the parent, if it has `parent` shares.
pub fn paying(records: &Records, id: u32) -> u32 {
    match records.assocs.get(&id) {
        Some(assoc) if assoc.on_parent() => assoc.fs_parent,
        _ => id,
    }
}

/// The association that stock queries to price a job of this one: this one itself, if records keep
/// the factor.
pub fn asked(records: &Records, id: u32) -> u32 {
    match records.conf.keeps_factor {
        true => id,
        false => paying(records, id),
    }
}

/// Stock's factor of a job's association, computed from the records, or stored there.
pub fn factor_of_records(records: &mut Records, faults: &Faults, id: u32) -> Fraction {
    let asked = asked(records, id);
    let Some(record) = records.assocs.get(&asked) else {
        return Fraction::zero();
    };
    if is_open(record) {
        ask(records, faults, asked);
    }
    if records.conf.has(flag::FAIR_TREE) || records.conf.keeps_factor {
        return records.assocs[&id].fs_factor.clone();
    }
    recorded_factor(records, faults, asked)
}

/// The factor that follows from one record.
fn recorded_factor(records: &Records, faults: &Faults, paying: u32) -> Fraction {
    let Some(record) = records.assocs.get(&paying) else {
        return Fraction::zero();
    };
    if is_open(record) {
        return Fraction::zero();
    }
    let share = exact(record.shares_norm);
    let used = if paying == records.conf.root && !faults.has(Fault::RootAlwaysUsed) {
        norm(&record.usage.raw, &record.usage.raw)
    } else {
        finite(&record.usage_efctv)
    };
    factor(&used, &share, records.conf.dampening)
}
