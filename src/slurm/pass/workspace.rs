//! The memory of a pass.

use super::by_ledger::ByLedger;
use super::computed::Computed;
use super::pending::Pending;
use crate::slurm::line::LineWorkspace;
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::ffi;
use crate::slurm::state::StoredUsage;

/// Results that a pass will write into slurmctld's records.
pub(in crate::slurm) type SlurmComputed = Computed<ffi::shim_charge, ffi::shim_assoc_factors>;

/// Memory that passes use one after the other.
#[derive(Default)]
pub(in crate::slurm) struct Workspace {
    pub(in crate::slurm) snapshot: Snapshot,
    pub(in crate::slurm) tables: Tables,
    pub(in crate::slurm) pending: Pending,
    pub(in crate::slurm) computed: SlurmComputed,
    pub(in crate::slurm) stored: StoredUsage,
    /// Numbers of the ledger, for windows and totals.
    pub(in crate::slurm) by_ledger: Option<ByLedger>,
    /// Input of job orders.
    pub(in crate::slurm) line: LineWorkspace,
}
