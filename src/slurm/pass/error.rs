//! Reasons why a pass ended early.

use crate::priority::PriorityError;
use crate::slurm::rows::snapshot::SnapshotError;
use crate::tree::TreeError;

/// Reason why a pass changed nothing.
#[derive(Debug, thiserror::Error)]
pub(in crate::slurm) enum PassError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// Reason why nothing was computed.
#[derive(Debug, thiserror::Error)]
pub(in crate::slurm) enum ComputeError {
    #[error("associations: {0}")]
    Tree(#[from] TreeError),
    #[error(transparent)]
    Priority(#[from] PriorityError),
}
