//! Entitlements of associations.

use super::product::Product;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Shares, Tree};

/// Entitlements of associations, in TRES-seconds.
///
/// The root is entitled to the whole: length of the window times capacity (billing TRES of the
/// machine, or of all machines that share). A node is entitled to its fraction of the shares on its
/// level, times the entitlement of its parent. A node with minutes is entitled to these times 60,
/// whatever its shares; nodes below it are entitled to their parts of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entitlement {
    whole: u64,
    /// Allocated minutes, by position.
    minutes: Vec<(AssocIndex, u64)>,
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

    /// Entitlement of a policy with these minutes: only they count, and shares of the root entitle
    /// to nothing; without any minutes, [`Entitlement::SHARES`]. `None`: an account that is not in
    /// the tree; nobody gets its minutes. `minutes` below 2^58.
    ///
    /// # Panics
    /// If minutes are 2^58 or more.
    pub fn by_minutes(given: impl IntoIterator<Item = (Option<AssocIndex>, u64)>) -> Entitlement {
        let mut given = given.into_iter().peekable();
        if given.peek().is_none() {
            return Entitlement::SHARES;
        }
        given.fold(
            Entitlement::new(0),
            |entitlement, (index, minutes)| match index {
                Some(index) => entitlement.with_minutes(index, minutes),
                None => entitlement,
            },
        )
    }

    /// The same, with allocated minutes instead of shares for one association; replaces earlier
    /// minutes. `minutes` below 2^58.
    ///
    /// # Panics
    /// If minutes are 2^58 or more.
    #[must_use]
    pub fn with_minutes(mut self, index: AssocIndex, minutes: u64) -> Entitlement {
        assert!(minutes < 1 << 58, "fewer than 2^58 minutes");
        match self.minutes.binary_search_by_key(&index, |row| row.0) {
            Ok(at) => self.minutes[at].1 = minutes,
            Err(at) => self.minutes.insert(at, (index, minutes)),
        }
        self
    }

    /// The whole, TRES-seconds.
    pub const fn whole(&self) -> u64 {
        self.whole
    }

    /// Returns true if any association has minutes.
    pub(super) fn has_minutes(&self) -> bool {
        !self.minutes.is_empty()
    }

    /// The minutes of an association, in seconds; `None` if it has shares.
    pub fn seconds(&self, index: AssocIndex) -> Option<u64> {
        let found = self.minutes.binary_search_by_key(&index, |row| row.0);
        found.ok().map(|at| self.minutes[at].1 * 60)
    }

    /// Entitlement of each association, TRES-seconds, by position, rounded. `FairShare=parent` has
    /// the entitlement of its account.
    pub fn of_all(&self, tree: &Tree) -> Vec<Extended> {
        let mut entitled = vec![Extended::from(self.whole); tree.len()];
        for &index in tree.parents_first() {
            let own = self.seconds(index).map(Extended::from);
            entitled[index.get()] = match (own, tree.fs_parent(index)) {
                (Some(own), _) => own,
                (None, None) => Extended::from(self.whole),
                (None, Some(parent)) => {
                    let above = entitled[parent.get()];
                    let part = tree.part_of_level(index);
                    part.map_or(above, |part| above * part)
                }
            };
        }
        entitled
    }

    /// Exact numerator and denominator of the entitlement of one association.
    pub(super) fn exact(&self, tree: &Tree, index: AssocIndex) -> (Product, Product) {
        let (mut shares, mut of) = (Product::new(1), Product::new(1));
        let mut at = index;
        loop {
            if let Some(seconds) = self.seconds(at) {
                return (shares.times(seconds), of);
            }
            let Some(parent) = tree.fs_parent(at) else {
                return (shares.times(self.whole), of);
            };
            if let Shares::Raw(raw) = tree.rows()[at.get()].shares {
                shares = shares.times(raw.into());
                of = of.times(tree.child_shares(parent).max(1));
            }
            at = parent;
        }
    }
}

/// By shares only.
impl Default for Entitlement {
    fn default() -> Entitlement {
        Entitlement::SHARES
    }
}
