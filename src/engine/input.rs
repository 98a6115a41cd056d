//! The input of a pass.

use super::charge::Accruing;
use crate::config::Config;
use crate::fairshare::{HostMath, RecordState};
use crate::tree::Tree;
use crate::usage::Period;

/// The input of a pass. Positions are those of the tree.
#[derive(Debug)]
pub struct Input<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Associations.
    pub tree: &'a Tree,
    /// Jobs that used resources since the last pass, in the order of the host's job list.
    pub accruing: &'a [Accruing],
    /// What the host's records keep from before, one per association; only `compat=slurm` asks,
    /// and leaves what they hold after the pass. Empty: as if all had been computed just before
    /// this pass.
    pub record_states: &'a mut [RecordState],
    /// Functions of the host's C library; only `compat=slurm` asks.
    pub host_math: HostMath,
    /// All usage is cleared before it advances (`PriorityUsageResetPeriod`).
    pub clears: bool,
    /// The last pass, seconds since 1970; `None`: there was none.
    pub last_ran: Option<i64>,
    /// Now, seconds since 1970.
    pub now: i64,
}

impl Input<'_> {
    pub(super) fn check(&self, usage: usize) {
        let size = self.tree.len();
        assert_eq!(usage, size, "one usage per association");
        assert!(
            self.record_states.is_empty() || self.record_states.len() == size,
            "one record per association"
        );
    }

    /// The time that jobs are charged for.
    pub(super) fn period(&self) -> Period {
        Period::pass(self.last_ran, self.now)
    }
}
