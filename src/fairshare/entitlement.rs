//! Entitlements of associations.

use std::collections::HashMap;

use super::product::Product;
use crate::config::{AccountPolicy, Config, MinutesFrom};
use crate::extended::Extended;
use crate::order::{Entitled, Ratio};
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// Entitlements of associations, in TRES-seconds.
///
/// The root is entitled to the whole: length of the window times capacity (billing TRES of the
/// machine, or of all machines that share). An association with minutes is entitled to these times
/// 60, whatever its shares. Its siblings without minutes divide what their parent is entitled to by
/// their shares: below an account with minutes the rest, after the minutes of siblings. Where shares
/// are minutes, children that have more together than their parent is entitled to divide the parent's
/// minutes by theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entitlement {
    whole: u64,
    /// By position.
    minutes: Vec<Minutes>,
    /// Children that exceed their parent divide its minutes.
    divides_excess: bool,
}

/// The minutes of one association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Minutes {
    index: AssocIndex,
    minutes: u64,
    /// They are no part of those of an account above.
    apart: bool,
}

impl Minutes {
    const fn secs(self) -> u64 {
        self.minutes * 60
    }
}

impl Entitlement {
    /// By shares only: an order depends only on the parts of one whole.
    pub const SHARES: Entitlement = Entitlement {
        whole: 1,
        minutes: Vec::new(),
        divides_excess: false,
    };

    /// Shares of `whole` TRES-seconds. If it is 0, shares entitle to nothing, and only minutes
    /// count.
    pub const fn new(whole: u64) -> Entitlement {
        Entitlement {
            whole,
            minutes: Vec::new(),
            divides_excess: false,
        }
    }

    /// What a policy entitles to. Accounts with minutes are entitled to these; the others divide by their
    /// shares what an account with minutes above them leaves, or else `whole`: TRES-seconds, 0 where it is
    /// not known, and then shares of the root entitle to nothing. Without minutes,
    /// [`Entitlement::SHARES`]. With `minutes = "shares"` the raw shares of an account
    /// are its minutes. `rows`: the accounts of the policy, each with its association; `None`: it is not
    /// in the tree, and nobody has its minutes.
    pub fn of_policy<'a>(
        config: &Config,
        tree: &Tree,
        rows: impl IntoIterator<Item = (&'a AccountPolicy, Option<AssocIndex>)>,
        whole: u64,
    ) -> Entitlement {
        if !config.gives_minutes() {
            return Entitlement::SHARES;
        }
        let found = rows.into_iter();
        let found: Vec<_> = found.filter_map(|(row, at)| Some((row, at?))).collect();
        let plans = found.iter().filter_map(|(row, at)| Some((*at, row.plan?)));
        let plans: HashMap<AssocIndex, _> = plans.collect();
        let apart = |at: AssocIndex| {
            let Some(own) = plans.get(&at) else {
                return false;
            };
            let mut above = tree.upward(tree.parent(at));
            *own != (above.find_map(|up| plans.get(&up).copied())).unwrap_or(config.usage())
        };
        let mut minutes: Vec<Minutes> = match config.minutes() {
            MinutesFrom::Shares => {
                let accounts = tree.indices().filter_map(|index| {
                    let row = tree.rows()[index.get()];
                    let is_below = tree.parent(index).is_some();
                    let raw = row.shares.raw().filter(|_| is_below)?;
                    (row.kind == AssocKind::Account).then_some((index, u64::from(raw)))
                });
                let given = |(index, minutes)| Minutes {
                    index,
                    minutes,
                    apart: apart(index),
                };
                accounts.map(given).collect()
            }
            MinutesFrom::File => {
                let given = found.iter().filter_map(|(row, index)| {
                    Some(Minutes {
                        index: *index,
                        minutes: row.minutes?,
                        apart: apart(*index),
                    })
                });
                given.collect()
            }
        };
        minutes.sort_by_key(|row| row.index);
        Entitlement {
            whole,
            minutes,
            divides_excess: config.minutes() == MinutesFrom::Shares,
        }
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

    /// Returns true if an association has minutes that are no part of those of an account above.
    pub fn is_apart(&self, index: AssocIndex) -> bool {
        let found = self.find(index);
        found.is_ok_and(|at| self.minutes[at].apart)
    }

    /// Entitlement of each association, TRES-seconds, by position, rounded. `FairShare=parent` has
    /// the entitlement of its account, and the root without minutes that of all together:
    /// [`Entitlement::total`].
    pub fn of_all(&self, tree: &Tree) -> Vec<Extended> {
        let mut all = self.divided(tree, Extended::from(self.whole), 1);
        if let Some(root) = tree.root().filter(|root| self.find(*root).is_err()) {
            all[root.get()] = self.total(tree);
        }
        all
    }

    /// The same of another whole, in a unit of which a TRES-second has `units`.
    pub(crate) fn divided<A: Amount>(&self, tree: &Tree, whole: A, units: u64) -> Vec<A> {
        let mut amounts = vec![whole; tree.len()];
        // Accounts whose time is given in minutes, and the levels below accounts; without minutes
        // nobody asks.
        let mut given = vec![false; if self.has_minutes() { tree.len() } else { 0 }];
        let mut levels: HashMap<AssocIndex, Level> = HashMap::new();
        for &index in tree.parents_first() {
            let at = index.get();
            let own = self.find(index).ok().map(|at| self.minutes[at]);
            let Some(parent) = tree.fs_parent(index) else {
                if let Some(own) = own {
                    (amounts[at], given[at]) = (A::seconds(own.secs(), units), true);
                }
                continue;
            };
            let above = &amounts[parent.get()];
            if !self.has_minutes() {
                amounts[at] = match tree.rows()[at].shares {
                    Shares::Parent => above.clone(),
                    Shares::Raw(raw) => above.clone().part(raw.into(), tree.child_shares(parent)),
                };
                continue;
            }
            let level = levels.entry(parent);
            let level = *level.or_insert_with(|| self.level(tree, parent));
            let is_given = given[parent.get()];
            let divides = self.divides_excess && is_given && above.is_less(level.secs, units);
            amounts[at] = match (own, tree.rows()[at].shares) {
                (Some(own), _) if divides && !own.apart => {
                    above.clone().part(own.secs(), level.secs)
                }
                (Some(own), _) => A::seconds(own.secs(), units),
                (None, Shares::Parent) => above.clone(),
                (None, Shares::Raw(raw)) => {
                    let taken = if is_given { level.secs } else { 0 };
                    let left = above.clone().less(taken, units);
                    left.part(raw.into(), level.shares)
                }
            };
            given[at] = own.is_some() || is_given;
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

    /// All that associations are entitled to together, TRES-seconds: the whole, where somebody has shares
    /// of it, and all minutes that are not part of an account's above.
    pub fn total(&self, tree: &Tree) -> Extended {
        let level = tree.root().map(|root| self.level(tree, root));
        let is_shared = !self.has_minutes() || level.is_some_and(|level| level.shares > 0);
        let mut total = if is_shared { self.whole } else { 0 };
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
        self.excesses(tree).into_iter().next()
    }

    /// All accounts whose children were given more minutes than they have themselves, by position.
    pub fn excesses(&self, tree: &Tree) -> Vec<Excess> {
        let rows = self.minutes.iter().filter(|row| !row.apart);
        let parents = rows.filter_map(|row| tree.fs_parent(row.index));
        let mut parents: Vec<AssocIndex> = parents.collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            return Vec::new();
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
        parents.into_iter().filter_map(exceeded).collect()
    }

    /// The minutes of one level: those that `parent` has, and those that its children were given.
    /// `None` where neither has any. `entitled`: TRES-seconds that `parent` is entitled to, as
    /// [`Entitlement::of_all`] gives them.
    pub fn budget(&self, tree: &Tree, parent: AssocIndex, entitled: f64) -> Option<Budget> {
        let above = self.given_above(tree, Some(parent));
        let level = self.level(tree, parent);
        let children = tree.fs_children(parent).iter();
        let any = children.copied().any(|child| self.find(child).is_ok());
        (above.is_some() || any).then(|| Budget {
            minutes: above.map(|_| entitled / 60.0),
            given: level.secs / 60,
        })
    }

    /// Exact numerator and denominator of the entitlement of one association.
    pub(super) fn exact(&self, tree: &Tree, index: AssocIndex) -> (Product, Product) {
        // What is above the nearest minutes matters only where children may exceed a parent.
        let ends = |at: AssocIndex| !self.divides_excess && self.find(at).is_ok();
        let mut path = Vec::new();
        let mut top = index;
        while let Some(parent) = tree.fs_parent(top).filter(|_| !ends(top)) {
            path.push((top, parent));
            top = parent;
        }
        let mut given = self.seconds(top).is_some();
        let mut amount = Fraction::new(self.seconds(top).unwrap_or(self.whole));
        for (index, parent) in path.into_iter().rev() {
            let own = self.find(index).ok().map(|at| self.minutes[at]);
            match (own, tree.rows()[index.get()].shares) {
                (Some(own), _) => {
                    let level = (given && !own.apart).then(|| self.level(tree, parent).secs);
                    amount = match level.filter(|secs| amount.is_less(*secs)) {
                        Some(secs) => amount.part(own.secs(), secs),
                        None => Fraction::new(own.secs()),
                    };
                    given = true;
                }
                (None, Shares::Parent) => {}
                (None, Shares::Raw(raw)) if !self.has_minutes() => {
                    amount = amount.part(raw.into(), tree.child_shares(parent));
                }
                (None, Shares::Raw(raw)) => {
                    let level = self.level(tree, parent);
                    if given {
                        amount.subtract(level.secs);
                    }
                    amount = amount.part(raw.into(), level.shares);
                }
            }
        }
        (amount.numerator, amount.denominator)
    }
}

/// The minutes of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Minutes that the account above the level is entitled to; `None`: no account above has minutes,
    /// and nothing limits those of the level.
    pub minutes: Option<f64>,
    /// Minutes that the associations of the level were given together.
    pub given: u64,
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
#[derive(Clone, Copy)]
struct Level {
    /// Those with minutes, in seconds.
    secs: u64,
    /// Raw shares of the others.
    shares: u64,
}

/// Time that is divided.
pub(crate) trait Amount: Clone {
    /// `shares` parts of `of`; nothing where `of` is 0.
    fn part(self, shares: u64, of: u64) -> Self;
    /// Seconds, in a unit of which one has `units`.
    fn seconds(secs: u64, units: u64) -> Self;
    /// This without so many seconds, at least nothing.
    fn less(self, secs: u64, units: u64) -> Self;
    /// Returns true if this is less than a number of seconds.
    fn is_less(&self, secs: u64, units: u64) -> bool;
}

impl Amount for Extended {
    fn part(self, shares: u64, of: u64) -> Extended {
        self * (Extended::from(shares) / Extended::from(of))
    }

    fn seconds(secs: u64, units: u64) -> Extended {
        Extended::from(secs) * Extended::from(units)
    }

    fn less(self, secs: u64, units: u64) -> Extended {
        (self - Extended::seconds(secs, units)).max(Extended::ZERO)
    }

    fn is_less(&self, secs: u64, units: u64) -> bool {
        *self < Extended::seconds(secs, units)
    }
}

impl Amount for Entitled {
    fn part(self, shares: u64, of: u64) -> Entitled {
        Entitled::part(self, shares, of)
    }

    fn seconds(secs: u64, units: u64) -> Entitled {
        Entitled::whole(u128::from(secs) * u128::from(units))
    }

    fn less(self, secs: u64, units: u64) -> Entitled {
        Entitled::less(self, u128::from(secs) * u128::from(units))
    }

    fn is_less(&self, secs: u64, units: u64) -> bool {
        // The ratio of that time to this entitlement is above 1.
        let secs = Ratio::new(u128::from(secs) * u128::from(units), *self);
        secs > Ratio::new(1, Entitled::whole(1))
    }
}

/// A fraction of any number of digits.
struct Fraction {
    numerator: Product,
    denominator: Product,
}

impl Fraction {
    fn new(number: u64) -> Fraction {
        Fraction {
            numerator: Product::new(number),
            denominator: Product::new(1),
        }
    }

    fn is_less(&self, number: u64) -> bool {
        self.numerator < self.denominator.clone().times(number)
    }

    fn part(self, shares: u64, of: u64) -> Fraction {
        Fraction {
            numerator: self.numerator.times(shares),
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
