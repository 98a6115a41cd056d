//! The behaviour that a computation follows.

mod releases;

use std::fmt;

pub use releases::Facts;

/// A Slurm release, for instance 22.05.8 or 24.11.5.
///
/// Releases order by major, minor, micro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// Year of the release: 22, 24, 26.
    pub major: u8,
    /// Month of the release: 5, 11.
    pub minor: u8,
    /// Maintenance release within the month.
    pub micro: u8,
}

impl Release {
    /// The oldest release whose behaviour is known.
    pub const V22_05_8: Release = Release::new(22, 5, 8);
    /// Debian trixie's release.
    pub const V24_11_5: Release = Release::new(24, 11, 5);

    /// A release from its three numbers.
    pub const fn new(major: u8, minor: u8, micro: u8) -> Self {
        Release {
            major,
            minor,
            micro,
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}.{}", self.major, self.minor, self.micro)
    }
}

/// `compat=` of `PriorityParameters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compat {
    /// Slurm's documentation (the default).
    #[default]
    Documented,
    /// Results of `priority/multifactor` of that release on x86-64, including its defects, except
    /// its memory errors.
    Slurm(Release),
}

impl Compat {
    /// True for [`Compat::Slurm`].
    pub const fn is_slurm(self) -> bool {
        matches!(self, Compat::Slurm(_))
    }

    /// Facts of the release that is followed; `None` if no release is followed.
    pub const fn facts(self) -> Option<Facts> {
        match self {
            Compat::Documented => None,
            Compat::Slurm(release) => Some(release.facts()),
        }
    }
}
