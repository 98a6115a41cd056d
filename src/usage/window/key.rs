//! Names that hold across clusters and restarts: leaves and sources.

use std::fmt;

use super::{Spans, WindowError};

/// An association by names, as ids differ between clusters: account, user and partition.
///
/// Ordered by account, then user, then partition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeafKey(Box<str>);

impl LeafKey {
    /// The most bytes of the three names together.
    pub const MAX_LEN: usize = u16::MAX as usize - 2;

    /// A key of these names; an account's own has no user, and most have no partition: empty.
    ///
    /// # Errors
    /// [`WindowError::Name`] for an empty account, a NUL in a name, or names that are too long.
    pub fn new(account: &str, user: &str, partition: &str) -> Result<LeafKey, WindowError> {
        let names = format!("{account}\0{user}\0{partition}");
        LeafKey::from_names(&names).ok_or(WindowError::Name {
            name: names,
            allowed: LeafKey::MAX_LEN,
        })
    }

    /// A key of names as [`LeafKey::names`] gives them.
    pub(super) fn from_names(names: &str) -> Option<LeafKey> {
        let sound = names.bytes().filter(|byte| *byte == 0).count() == 2
            && names.len() <= LeafKey::MAX_LEN + 2
            && !names.starts_with('\0');
        sound.then(|| LeafKey(names.into()))
    }

    /// The three names with NUL between them.
    pub(super) fn names(&self) -> &str {
        &self.0
    }

    fn name(&self, at: usize) -> &str {
        self.0.split('\0').nth(at).unwrap_or_default()
    }

    /// The account.
    pub fn account(&self) -> &str {
        self.name(0)
    }

    /// The user; empty: the account itself.
    pub fn user(&self) -> &str {
        self.name(1)
    }

    /// The partition; empty: any.
    pub fn partition(&self) -> &str {
        self.name(2)
    }
}

impl fmt::Display for LeafKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "account {}", self.account())?;
        if !self.user().is_empty() {
            write!(f, " user {}", self.user())?;
        }
        if !self.partition().is_empty() {
            write!(f, " partition {}", self.partition())?;
        }
        Ok(())
    }
}

impl fmt::Debug for LeafKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A cluster whose use a ledger knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The cluster's name.
    pub name: String,
    /// When it was last heard of, seconds since 1970. Nothing is charged beyond that.
    pub as_of: i64,
    /// The times of which all use is known.
    pub covered: Spans,
}

impl Source {
    /// Refuses a source with the same name that covers some of the same time.
    pub(super) fn check_apart(&self, other: &Source) -> Result<(), WindowError> {
        let both = match self.name == other.name {
            true => self.covered.overlap(&other.covered),
            false => None,
        };
        match both {
            Some((from, to)) => Err(WindowError::CoveredTwice {
                name: self.name.clone(),
                from,
                to,
            }),
            None => Ok(()),
        }
    }
}
