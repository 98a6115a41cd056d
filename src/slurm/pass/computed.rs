//! What a pass is about to write.

use super::moment::Moment;
use crate::engine::{self, Accruing, Follower};
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::runtime::host::ffi;
use crate::slurm::shared::charges_since_pass::RunKey;
use crate::slurm::state::settings::Settings;

/// What a pass is about to write. Memory is kept from pass to pass.
#[derive(Default)]
pub(in crate::slurm) struct Computed {
    /// Are there associations at all? Without, time does not pass for usage.
    pub(in crate::slurm) has_usage: bool,
    /// What the next pass starts from.
    pub(in crate::slurm) last_ran: i64,
    /// What is left of all usage.
    pub(in crate::slurm) decay_factor: f64,
    pub(in crate::slurm) charges: Vec<ffi::shim_charge>,
    /// All runs that are there, charged or not, ascending; `None` under `compat=slurm`.
    pub(in crate::slurm) runs: Option<Vec<RunKey>>,
    /// Ends that nobody reported.
    pub(in crate::slurm) ends: Vec<RunKey>,
    /// Jobs whose billing was worked out anew: job, start time, billing.
    pub(in crate::slurm) billables: Vec<(u32, i64, f64)>,
    /// What slurmctld's records are to hold, one per association.
    pub(in crate::slurm) factors: Vec<ffi::shim_assoc_factors>,
    /// The jobs that may be charged, and their rows in the snapshot.
    pub(super) accruing: Vec<Accruing>,
    pub(super) rows: Vec<u32>,
    pub(super) follower: Follower,
}

impl Computed {
    /// Before a snapshot is computed.
    pub(super) fn begin(&mut self, settings: &Settings, snapshot: &Snapshot, moment: &Moment) {
        let passed = moment
            .now
            .saturating_sub(moment.last_ran.unwrap_or(moment.now));
        self.has_usage = settings.has_slurmdbd && !snapshot.assocs().is_empty();
        self.last_ran = moment.last_ran.unwrap_or(0);
        self.decay_factor = engine::decay(&settings.config).factor(passed);
        self.charges.clear();
        self.runs = None;
        self.ends.clear();
        self.billables.clear();
        self.factors.clear();
        self.accruing.clear();
        self.rows.clear();
    }

    /// All runs of the snapshot, charged or not.
    pub(super) fn take_runs(&mut self, settings: &Settings, snapshot: &Snapshot) {
        if settings.config.compat.is_slurm() {
            return;
        }
        let runs = snapshot.accruing().iter();
        let runs = runs.filter(|row| !row.pending || row.completing);
        let mut runs: Vec<RunKey> = runs.map(|row| (row.job_id, row.start_time)).collect();
        runs.sort_unstable();
        self.runs = Some(runs);
    }
}
