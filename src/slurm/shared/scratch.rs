//! Scratch memory that hooks re-use for one job.

use super::published_factors::Ancestor;
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;

/// Scratch memory for one job.
#[derive(Default)]
pub(in crate::slurm) struct Scratch {
    pub(in crate::slurm) snapshot: Snapshot,
    pub(in crate::slurm) tables: Tables,
    /// An association, and its factor from the last pass.
    pub(in crate::slurm) published: Option<(u32, f64)>,
    pub(in crate::slurm) chain: Vec<Ancestor>,
    pub(in crate::slurm) variants: Vec<u32>,
    pub(in crate::slurm) terms: Vec<f64>,
    pub(in crate::slurm) weights: Vec<f64>,
}
