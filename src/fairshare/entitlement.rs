//! What associations are entitled to.

use super::product::Product;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Shares, Tree};

/// What associations are entitled to, in TRES-seconds.
///
/// The root is entitled to the whole: length of the window times capacity (billing TRES of the
/// machine, or of all machines that share). A node is entitled to its shares over those of its
/// level of what its parent is entitled to; one with minutes to these times 60, whatever its
/// shares, and those below it to their parts of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entitlement {
    whole: u64,
    /// By position.
    minutes: Vec<(AssocIndex, u64)>,
}

impl Entitlement {
    /// Shares alone: all that matters to an order is parts of one whole.
    pub const SHARES: Entitlement = Entitlement {
        whole: 1,
        minutes: Vec::new(),
    };

    /// Shares of `whole` TRES-seconds. Of 0, shares entitle to nothing, and minutes alone count.
    pub const fn new(whole: u64) -> Entitlement {
        Entitlement {
            whole,
            minutes: Vec::new(),
        }
    }

    /// What a policy with these minutes entitles to: they alone count, and shares of the root entitle
    /// to nothing; without any, [`Entitlement::SHARES`]. `None`: an account that is not in the tree, whose
    /// minutes nobody has. `minutes` from 0 up to 2^58.
    ///
    /// # Panics
    /// From 2^58 minutes on.
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

    /// The same, but an association has allocated minutes instead of its shares; what it had
    /// before is replaced. `minutes` from 0 up to 2^58.
    ///
    /// # Panics
    /// From 2^58 minutes on.
    #[must_use]
    pub fn with_minutes(mut self, index: AssocIndex, minutes: u64) -> Entitlement {
        assert!(minutes < 1 << 58, "fewer than 2^58 minutes");
        match self.minutes.binary_search_by_key(&index, |row| row.0) {
            Ok(at) => self.minutes[at].1 = minutes,
            Err(at) => self.minutes.insert(at, (index, minutes)),
        }
        self
    }

    /// What `whole` is, TRES-seconds.
    pub const fn whole(&self) -> u64 {
        self.whole
    }

    /// Whether any association has minutes.
    pub(super) fn has_minutes(&self) -> bool {
        !self.minutes.is_empty()
    }

    /// The minutes of an association, in seconds; `None`: it has shares.
    pub fn seconds(&self, index: AssocIndex) -> Option<u64> {
        let found = self.minutes.binary_search_by_key(&index, |row| row.0);
        found.ok().map(|at| self.minutes[at].1 * 60)
    }

    /// What each association is entitled to, TRES-seconds, by position, rounded.
    /// `FairShare=parent` is entitled to what its account is.
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

    /// Numerator and denominator of what one association is entitled to, exactly.
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

/// Shares alone.
impl Default for Entitlement {
    fn default() -> Entitlement {
        Entitlement::SHARES
    }
}
