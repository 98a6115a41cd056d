//! Variants for running the same under Slurm's plugin and under ours.

use crate::cluster::conf::PriorityType;

/// A plugin and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// Slurm's own.
    Stock,
    /// Ours with `compat=slurm`.
    CompatSlurm,
    /// Ours with its defaults.
    Documented,
}

impl Under {
    /// All of them, in the order of a table's columns.
    pub const ALL: [Under; 3] = [Under::Stock, Under::CompatSlurm, Under::Documented];

    /// The name for files.
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
