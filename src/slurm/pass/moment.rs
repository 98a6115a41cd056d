//! The time of a pass.

/// Time at which a snapshot was taken, and the last pass and charges before it.
#[derive(Clone, Copy, Debug)]
pub(in crate::slurm) struct Moment {
    pub(in crate::slurm) now: i64,
    pub(in crate::slurm) last_ran: Option<i64>,
    /// Number of charges of job ends that are in the snapshot's usage (see
    /// [`crate::slurm::shared::charged_until`]).
    pub(in crate::slurm) charges_seen: u64,
}
