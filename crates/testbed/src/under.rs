//! The same thing under Slurm's plugin and under ours.

use crate::cluster::conf::PriorityType;

/// Which plugin, and how it is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// Slurm's own.
    Stock,
    /// Ours, told to compute what Slurm's does.
    CompatSlurm,
    /// Ours as it comes.
    Documented,
}

impl Under {
    /// All of them, in the order of a table's columns.
    pub const ALL: [Under; 3] = [Under::Stock, Under::CompatSlurm, Under::Documented];

    /// As a file name.
    pub fn name(self) -> &'static str {
        match self {
            Under::Stock => "stock",
            Under::CompatSlurm => "compat-slurm",
            Under::Documented => "documented",
        }
    }

    /// The plugin.
    pub fn priority(self) -> PriorityType {
        match self {
            Under::Stock => PriorityType::Multifactor,
            Under::CompatSlurm | Under::Documented => PriorityType::Fairtree,
        }
    }

    /// `PriorityParameters`, if any are needed.
    pub fn parameters(self) -> Option<&'static str> {
        (self == Under::CompatSlurm).then_some("compat=slurm")
    }
}
