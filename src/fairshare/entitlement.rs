//! Entitlements of associations.

use std::collections::HashMap;

use super::product::Product;
use crate::config::{AccountPolicy, UsageModel};
use crate::extended::Extended;
use crate::order::Entitled;
use crate::tree::{AssocIndex, Shares, Tree};

/// Entitlements of associations, in TRES-seconds.
///
/// The root is entitled to the whole: length of the window times capacity (billing TRES of the
/// machine, or of all machines that share). An association with minutes is entitled to these times
/// 60, whatever its shares. Its siblings without minutes divide what their parent is entitled to by
/// their shares: below an account with minutes the rest, after the minutes of siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entitlement {
    whole: u64,
    /// By position.
    minutes: Vec<Minutes>,
}

/// The minutes of one association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Minutes {
    index: AssocIndex,
    minutes: u64,
    /// They are no part of those of an account above.
    apart: bool,
}

impl Entitlement {
    /// By shares only: an order depends only on the parts of one whole.
    pub const SHARES: Entitlement = Entitlement {
        whole: 1,
        minutes: Vec::new(),
    };

    /// Shares of `whole` TRES-seconds. If it is 0, shares entitle to nothing, and only minutes
    /// count.
    pub const fn new(whole: u64) -> Entitlement {
        Entitlement {
            whole,
            minutes: Vec::new(),
        }
    }

    /// What a policy entitles to: minutes alone count, and shares of the root entitle to nothing;
    /// without minutes, [`Entitlement::SHARES`]. `rows`: the accounts of the policy, each with its
    /// association; `None`: it is not in the tree, and nobody has its minutes. `usage`: the usage model
    /// of accounts without a plan.
    pub fn of_policy<'a>(
        usage: UsageModel,
        tree: &Tree,
        rows: impl IntoIterator<Item = (&'a AccountPolicy, Option<AssocIndex>)>,
    ) -> Entitlement {
        let rows: Vec<_> = rows.into_iter().collect();
        if rows.iter().all(|(row, _)| row.minutes.is_none()) {
            return Entitlement::SHARES;
        }
        let found = rows.into_iter();
        let found: Vec<_> = found.filter_map(|(row, at)| Some((row, at?))).collect();
        let plans = found.iter().filter_map(|(row, at)| Some((*at, row.plan?)));
        let plans: HashMap<AssocIndex, UsageModel> = plans.collect();
        let mut entitlement = Entitlement::new(0);
        for (row, at) in found {
            let Some(minutes) = row.minutes else { continue };
            let mut above = tree.parent(at);
            while let Some(up) = above.filter(|up| !plans.contains_key(up)) {
                above = tree.parent(up);
            }
            let inherited = above.map_or(usage, |up| plans[&up]);
            entitlement = match row.plan {
                Some(own) if own != inherited => entitlement.with_minutes_apart(at, minutes),
                _ => entitlement.with_minutes(at, minutes),
            };
        }
        entitlement
    }

    /// The same, with allocated minutes instead of shares for one association; replaces earlier
    /// minutes. `minutes` below 2^58.
    ///
    /// # Panics
    /// If minutes are 2^58 or more.
    #[must_use]
    pub fn with_minutes(self, index: AssocIndex, minutes: u64) -> Entitlement {
        self.with(Minutes {
            index,
            minutes,
            apart: false,
        })
    }

    /// The same of minutes that are no part of those of an account above, because other use counts
    /// against them: that of another usage model.
    ///
    /// # Panics
    /// From 2^58 minutes on.
    #[must_use]
    pub fn with_minutes_apart(self, index: AssocIndex, minutes: u64) -> Entitlement {
        self.with(Minutes {
            index,
            minutes,
            apart: true,
        })
    }

    fn with(mut self, row: Minutes) -> Entitlement {
        assert!(row.minutes < 1 << 58, "fewer than 2^58 minutes");
        match self.find(row.index) {
            Ok(at) => self.minutes[at] = row,
            Err(at) => self.minutes.insert(at, row),
        }
        self
    }

    fn find(&self, index: AssocIndex) -> Result<usize, usize> {
        self.minutes.binary_search_by_key(&index, |row| row.index)
    }

    /// What `whole` is, TRES-seconds.
    pub const fn whole(&self) -> u64 {
        self.whole
    }

    /// Whether any association has minutes.
    pub(crate) fn has_minutes(&self) -> bool {
        !self.minutes.is_empty()
    }

    /// The minutes of an association, in seconds; `None` if it has shares.
    pub fn seconds(&self, index: AssocIndex) -> Option<u64> {
        self.find(index)
            .ok()
            .map(|at| self.minutes[at].minutes * 60)
    }

    /// Entitlement of each association, TRES-seconds, by position, rounded. `FairShare=parent` has
    /// the entitlement of its account.
    pub fn of_all(&self, tree: &Tree) -> Vec<Extended> {
        self.divided(tree, Extended::from(self.whole), 1)
    }

    /// The same of another whole, in a unit of which a TRES-second has `units`.
    pub(crate) fn divided<A: Amount>(&self, tree: &Tree, whole: A, units: u64) -> Vec<A> {
        let mut amounts = vec![whole; tree.len()];
        // Accounts whose time is given in minutes, and the levels below accounts; without minutes
        // nobody asks.
        let mut given = vec![false; if self.has_minutes() { tree.len() } else { 0 }];
        let mut levels: HashMap<AssocIndex, (A, u64)> = HashMap::new();
        for &index in tree.parents_first() {
            let at = index.get();
            if let Some(secs) = self.seconds(index) {
                (amounts[at], given[at]) = (A::seconds(secs, units), true);
                continue;
            }
            let Some(parent) = tree.fs_parent(index) else {
                continue;
            };
            let above = &amounts[parent.get()];
            amounts[at] = match tree.rows()[at].shares {
                Shares::Parent => above.clone(),
                Shares::Raw(raw) if !self.has_minutes() => {
                    above.clone().part(raw, tree.child_shares(parent))
                }
                Shares::Raw(raw) => {
                    let (left, sum) = levels.entry(parent).or_insert_with(|| {
                        let level = self.level(tree, parent);
                        let taken = if given[parent.get()] { level.secs } else { 0 };
                        (above.clone().less(taken, units), level.shares)
                    });
                    left.clone().part(raw, *sum)
                }
            };
            if self.has_minutes() {
                given[at] = given[parent.get()];
            }
        }
        amounts
    }

    /// The children of an account that have minutes, and the others.
    fn level(&self, tree: &Tree, parent: AssocIndex) -> Level {
        let mut level = Level { secs: 0, shares: 0 };
        for &child in tree.fs_children(parent) {
            match (self.find(child), tree.rows()[child.get()].shares) {
                (Ok(at), _) if self.minutes[at].apart => {}
                (Ok(at), _) => {
                    level.secs = level.secs.saturating_add(self.minutes[at].minutes * 60)
                }
                (Err(_), Shares::Raw(raw)) => level.shares += u64::from(raw),
                (Err(_), Shares::Parent) => {}
            }
        }
        level
    }

    /// All that shares and minutes divide, TRES-seconds: the whole, or where that is 0 all minutes
    /// that are not part of an account's above.
    pub fn total(&self, tree: &Tree) -> Extended {
        if self.whole > 0 {
            return self.whole.into();
        }
        let mut total = 0_u64;
        for row in &self.minutes {
            if row.apart || self.given_above(tree, tree.fs_parent(row.index)).is_none() {
                total = total.saturating_add(row.minutes * 60);
            }
        }
        total.into()
    }

    /// The nearest that has minutes, from `at` up.
    fn given_above(&self, tree: &Tree, mut at: Option<AssocIndex>) -> Option<AssocIndex> {
        while let Some(up) = at.filter(|up| self.find(*up).is_err()) {
            at = tree.fs_parent(up);
        }
        at
    }

    /// The first account whose children were given more minutes than it has itself.
    pub fn excess(&self, tree: &Tree) -> Option<Excess> {
        let rows = self.minutes.iter().filter(|row| !row.apart);
        let parents = rows.filter_map(|row| tree.fs_parent(row.index));
        let mut parents: Vec<AssocIndex> = parents.collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            return None;
        }
        let entitled = self.of_all(tree);
        let exceeded = |parent: AssocIndex| {
            let above = self.given_above(tree, Some(parent));
            let (has, given) = (entitled[parent.get()], self.level(tree, parent).secs);
            let exceeds = above.is_some() && Extended::from(given) > has;
            exceeds.then(|| Excess {
                parent,
                minutes: has.to_f64() / 60.0,
                given: given / 60,
            })
        };
        parents.into_iter().find_map(exceeded)
    }

    /// Exact numerator and denominator of the entitlement of one association.
    pub(super) fn exact(&self, tree: &Tree, index: AssocIndex) -> (Product, Product) {
        let mut path = Vec::new();
        let mut top = index;
        while let (None, Some(parent)) = (self.seconds(top), tree.fs_parent(top)) {
            path.push((top, parent));
            top = parent;
        }
        let given = self.seconds(top);
        let mut amount = Fraction {
            numerator: Product::new(given.unwrap_or(self.whole)),
            denominator: Product::new(1),
        };
        for (index, parent) in path.into_iter().rev() {
            let Shares::Raw(raw) = tree.rows()[index.get()].shares else {
                continue;
            };
            if !self.has_minutes() {
                amount = amount.part(raw, tree.child_shares(parent));
                continue;
            }
            let level = self.level(tree, parent);
            if given.is_some() {
                amount.subtract(level.secs);
            }
            amount = amount.part(raw, level.shares);
        }
        (amount.numerator, amount.denominator)
    }
}

/// An account whose children have more minutes than it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// The account.
    pub parent: AssocIndex,
    /// Its minutes, or what is left for it of those of an account above.
    pub minutes: f64,
    /// Those of its children together.
    pub given: u64,
}

/// The children of one account.
struct Level {
    /// Those with minutes, in seconds.
    secs: u64,
    /// Raw shares of the others.
    shares: u64,
}

/// Time that is divided.
pub(crate) trait Amount: Clone {
    /// `shares` parts of `of`; nothing where `of` is 0.
    fn part(self, shares: u32, of: u64) -> Self;
    /// Seconds, in a unit of which one has `units`.
    fn seconds(secs: u64, units: u64) -> Self;
    /// This without so many seconds, at least nothing.
    fn less(self, secs: u64, units: u64) -> Self;
}

impl Amount for Extended {
    fn part(self, shares: u32, of: u64) -> Extended {
        self * (Extended::from(shares) / Extended::from(of))
    }

    fn seconds(secs: u64, units: u64) -> Extended {
        Extended::from(secs) * Extended::from(units)
    }

    fn less(self, secs: u64, units: u64) -> Extended {
        (self - Extended::seconds(secs, units)).max(Extended::ZERO)
    }
}

impl Amount for Entitled {
    fn part(self, shares: u32, of: u64) -> Entitled {
        Entitled::part(self, shares.into(), of)
    }

    fn seconds(secs: u64, units: u64) -> Entitled {
        Entitled::whole(u128::from(secs) * u128::from(units))
    }

    fn less(self, secs: u64, units: u64) -> Entitled {
        Entitled::less(self, u128::from(secs) * u128::from(units))
    }
}

/// A fraction of any number of digits.
struct Fraction {
    numerator: Product,
    denominator: Product,
}

impl Fraction {
    fn part(self, shares: u32, of: u64) -> Fraction {
        Fraction {
            numerator: self.numerator.times(shares.into()),
            denominator: self.denominator.times(of.max(1)),
        }
    }

    fn subtract(&mut self, number: u64) {
        let number = self.denominator.clone().times(number);
        self.numerator = self.numerator.minus(&number);
    }
}

/// By shares only.
impl Default for Entitlement {
    fn default() -> Entitlement {
        Entitlement::SHARES
    }
}
