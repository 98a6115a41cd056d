//! Fair Tree: level fairshare in exact fractions, and the ranks.
//!
//! Documented in fair_tree.shtml: "sibling users with the same Level Fairshare receive the same
//! rank"; accounts with the same one "have their children lists merged before descending"; a user
//! with the same one as an account "will receive the same rank as its highest ranked user". The
//! stock plugin walks tied accounts one after the other and passes on a flag "tied".

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::{One as _, Signed as _, Zero as _};

use super::faults::{Fault, Faults};
use super::number::{Fraction, Number, exact, quotient, rounded, to_f64, whole};
use super::records::{Assoc, Records, number};

/// A level fairshare that can be compared.
#[derive(Clone, Debug)]
enum Level {
    /// The rounded value, which nearly always distinguishes two levels, and the exact one.
    Finite(f64, Rc<Fraction>),
    Infinite,
    /// Shares over -0: zero usage below an account with negative usage.
    Lowest,
}

impl Level {
    fn of(value: Fraction) -> Level {
        Level::Finite(to_f64(&value), Rc::new(value))
    }
}

impl Ord for Level {
    fn cmp(&self, other: &Level) -> Ordering {
        let class = |level: &Level| match level {
            Level::Lowest => 0,
            Level::Finite(..) => 1,
            Level::Infinite => 2,
        };
        match (self, other) {
            (Level::Finite(a, exactly_a), Level::Finite(b, exactly_b)) => {
                a.total_cmp(b).then_with(|| exactly_a.cmp(exactly_b))
            }
            _ => class(self).cmp(&class(other)),
        }
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Level) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Level {
    fn eq(&self, other: &Level) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Level {}

struct FairTree<'a> {
    assocs: BTreeMap<u32, Rc<Assoc>>,
    usage: &'a dyn Fn(u32) -> Fraction,
    faults: &'a Faults,
    levels: BTreeMap<u32, Option<Level>>,
    users: u32,
    ranks: BTreeMap<u32, u32>,
}

/// Fills in level fairshare, effective and normalised usage, and the factors of users, from the
/// given raw usage.
pub fn fair_tree(records: &mut Records, faults: &Faults, usage: &dyn Fn(u32) -> Fraction) {
    let mut tree = FairTree {
        assocs: records.assocs.clone(),
        usage,
        faults,
        levels: BTreeMap::new(),
        users: records.conf.users,
        ranks: BTreeMap::new(),
    };
    let root = records.conf.root;
    for assoc in tree.assocs.values() {
        tree.levels.insert(assoc.id, tree.level(assoc));
    }
    tree.rank(root);
    for (id, record) in &mut records.assocs {
        let record = Rc::make_mut(record);
        record.level_fs = match &tree.levels[id] {
            Some(Level::Finite(_, value)) => Number::Finite(Fraction::clone(value)),
            Some(Level::Infinite) => Number::Infinite,
            Some(Level::Lowest) => Number::None,
            None => number(u64::from(super::records::NO_VAL)),
        };
        if *id == root {
            continue;
        }
        record.usage_efctv = Number::Finite(tree.share_of_usage(record));
        record.usage_norm = Number::Finite(norm(&usage(*id), &usage(root)));
        if let Some(rank) = tree.ranks.get(id) {
            record.fs_factor = exact(f64::from(*rank) / f64::from(tree.users));
        }
    }
}

/// Usage over that of the root, at most 1.
pub fn norm(own: &Fraction, root: &Fraction) -> Fraction {
    ratio(own, root).min(Fraction::one())
}

/// A part over a whole; 0 if either is 0.
pub fn ratio(part: &Fraction, whole: &Fraction) -> Fraction {
    if whole.is_zero() || part.is_zero() {
        Fraction::zero()
    } else {
        quotient(part, whole)
    }
}

impl FairTree<'_> {
    /// U: own usage over that of the account.
    fn share_of_usage(&self, assoc: &Assoc) -> Fraction {
        if assoc.fs_parent == 0 {
            return Fraction::zero();
        }
        ratio(&(self.usage)(assoc.id), &(self.usage)(assoc.fs_parent))
    }

    /// S: own shares over those of the level.
    fn share(&self, assoc: &Assoc) -> Fraction {
        let level = self.shares_of_level(assoc.fs_parent);
        if level == 0 {
            return Fraction::zero();
        }
        let exactly = quotient(&whole(assoc.shares_raw), &whole(level));
        if !self.faults.has(Fault::RoundedTies) {
            return exactly;
        }
        let kept = exact(assoc.shares_norm);
        let now = exact(to_f64(&exactly));
        if kept != now && self.faults.has(Fault::StaleShares) {
            kept
        } else {
            now
        }
    }

    fn shares_of_level(&self, account: u32) -> u64 {
        let Some(account) = self.assocs.get(&account) else {
            return 0;
        };
        let children = account.children.iter().filter_map(|id| self.assocs.get(id));
        let shared = children.filter(|child| !child.on_parent());
        shared.map(|child| u64::from(child.shares_raw)).sum()
    }

    /// LF = S / U. Users with `parent` shares come first; such accounts have no level.
    fn level(&self, assoc: &Assoc) -> Option<Level> {
        if assoc.fs_parent == 0 {
            return None;
        }
        if assoc.on_parent() {
            return assoc.is_user.then_some(Level::Infinite);
        }
        let (share, usage) = (self.share(assoc), self.share_of_usage(assoc));
        if share.is_zero() {
            return Some(Level::of(share));
        }
        if usage.is_zero() {
            let all = (self.usage)(assoc.fs_parent);
            return Some(if all.is_negative() {
                Level::Lowest
            } else {
                Level::Infinite
            });
        }
        Some(Level::of(if self.faults.has(Fault::RoundedTies) {
            rounded(&quotient(&share, &rounded(&usage, 64)), 64)
        } else {
            quotient(&share, &usage)
        }))
    }

    fn children(&self, account: u32) -> Vec<u32> {
        let account = self.assocs.get(&account);
        account.map_or(vec![], |account| account.children.clone())
    }

    fn is_user(&self, id: u32) -> bool {
        self.assocs.get(&id).is_some_and(|assoc| assoc.is_user)
    }

    fn rank(&mut self, root: u32) {
        let top = self.children(root);
        if self.faults.has(Fault::TiedAccounts) {
            let mut walk = Walk {
                rank: self.users,
                next: self.users,
            };
            self.walk(&top, &mut walk, false);
            return;
        }
        let mut rank = self.users;
        for class in self.classes(&top) {
            for user in &class {
                self.ranks.insert(*user, rank);
            }
            rank -= u32::try_from(class.len()).unwrap_or(0);
        }
    }

    /// Users below a level, best first; tied users are in one class.
    fn classes(&self, level: &[u32]) -> Vec<Vec<u32>> {
        let mut by_level: BTreeMap<&Level, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for id in level {
            let Some(Some(value)) = self.levels.get(id) else {
                continue;
            };
            let (users, accounts) = by_level.entry(value).or_default();
            if self.is_user(*id) {
                users.push(*id);
            } else {
                accounts.push(*id);
            }
        }
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for (users, accounts) in by_level.into_values().rev() {
            let merged: Vec<u32> = accounts.iter().flat_map(|a| self.children(*a)).collect();
            let mut below = if merged.is_empty() {
                vec![]
            } else {
                self.classes(&merged)
            };
            if !users.is_empty() {
                match below.first_mut() {
                    Some(best) => best.extend(users),
                    None => below.push(users),
                }
            }
            classes.extend(below);
        }
        classes
    }

    /// Walks a level as stock does.
    fn walk(&mut self, level: &[u32], walk: &mut Walk, mut handed: bool) {
        let unset = || Level::of(super::charge::no_val());
        let value = |id: &u32| match self.levels.get(id) {
            Some(Some(value)) => value.clone(),
            _ => unset(),
        };
        let with_value = |id: &u32| (value(id), self.is_user(*id), *id);
        let mut level: Vec<(Level, bool, u32)> = level.iter().map(with_value).collect();
        level.sort_by(|(a, a_user, _), (b, b_user, _)| b.cmp(a).then(b_user.cmp(a_user)));
        let mut before = unset();
        for (value, user, id) in level {
            let empty = !user && !self.has_users(id);
            if empty && !self.faults.has(Fault::EmptyFirstOfTie) {
                continue;
            }
            let tied = handed || before == value;
            handed = false;
            if user {
                if !tied {
                    walk.rank = walk.next;
                }
                self.ranks.insert(id, walk.rank);
                walk.next -= 1;
            } else {
                let children = self.children(id);
                self.walk(&children, walk, tied);
            }
            before = value;
        }
    }

    fn has_users(&self, account: u32) -> bool {
        let children = self.children(account);
        children
            .into_iter()
            .any(|child| self.is_user(child) || self.has_users(child))
    }
}

/// State of stock's walk.
struct Walk {
    /// The last assigned rank.
    rank: u32,
    /// The rank if nothing ties.
    next: u32,
}
