//! Frequency of a section of the tests, or of a check of a test program.
//!
//! The choice is data: a column of the tables of sections (`suite/table.rs`) and of checks
//! (`crates/testbed`).

use std::fmt;

use anyhow::{Result, bail};

/// Frequency of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// By `make test`, with the first release of Slurm.
    Commit,
    /// By `make test`, with each release of Slurm that is tested.
    CommitAndRelease,
    /// By `make test-all` only.
    Night,
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Every::Commit => "commit",
            Every::CommitAndRelease => "commit, each release",
            Every::Night => "night",
        })
    }
}

/// The part of the tables that a run includes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// `make test`, the first release: with fixed seeds.
    Commit,
    /// `make test`, a further release: with fixed seeds.
    OtherRelease,
    /// `make test-all`, and a test program that somebody calls: everything, with fresh seeds.
    #[default]
    All,
}

impl Extent {
    /// The variable that passes an extent to a test program.
    pub const VARIABLE: &str = "FAIRTREE_EXTENT";

    /// Returns true if a run of this extent includes items with this mark.
    pub fn takes(self, every: Every) -> bool {
        match self {
            Extent::Commit => every != Every::Night,
            Extent::OtherRelease => every == Every::CommitAndRelease,
            Extent::All => true,
        }
    }

    /// The value for [`Extent::VARIABLE`].
    pub fn word(self) -> &'static str {
        match self {
            Extent::Commit => "commit",
            Extent::OtherRelease => "other-release",
            Extent::All => "all",
        }
    }

    /// The extent that [`Extent::VARIABLE`] names; everything if it is not set.
    ///
    /// # Errors
    /// Fails if it has an unknown value.
    pub fn of_environment() -> Result<Extent> {
        let Ok(word) = std::env::var(Extent::VARIABLE) else {
            return Ok(Extent::default());
        };
        let known = [Extent::Commit, Extent::OtherRelease, Extent::All];
        match known.into_iter().find(|extent| extent.word() == word) {
            Some(extent) => Ok(extent),
            None => bail!(
                "{}={word}: it must be {}",
                Extent::VARIABLE,
                known.map(Extent::word).join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_takes_less_than_a_night() {
        let taken = |extent: Extent| {
            [Every::Commit, Every::CommitAndRelease, Every::Night].map(|every| extent.takes(every))
        };
        assert_eq!(taken(Extent::Commit), [true, true, false]);
        assert_eq!(taken(Extent::OtherRelease), [false, true, false]);
        assert_eq!(taken(Extent::All), [true; 3]);
    }
}
