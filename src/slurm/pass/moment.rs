//! The moment that a pass is about.

/// When a snapshot was taken, and what had happened until then.
#[derive(Clone, Copy, Debug)]
pub(in crate::slurm) struct Moment {
    pub(in crate::slurm) now: i64,
    pub(in crate::slurm) last_ran: Option<i64>,
    /// So many charges of job ends are in the snapshot's usage (see [`crate::slurm::shared::charged_until`]).
    pub(in crate::slurm) charges_seen: u64,
}
