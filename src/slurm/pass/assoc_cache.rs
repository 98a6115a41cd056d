//! The cache of associations: rows that stay from one pass to the next.
//!
//! A pass that writes usage reads every association. It leaves its copy in the state of the records
//! at that time. With the charges of job ends added afterwards ([`crate::slurm::shared::journal`]),
//! the copy is correct for the next pass, which need not read the records again before it writes to
//! them. Any other change is found when that pass writes: every record is compared with its row
//! (see `shim_usage_renew`). In that case the associations are copied in the same hold of their
//! lock, and ranked again.

use crate::extended::Extended;
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::runtime::host::{self, ffi};
use crate::slurm::shared::journal::Journal;
use crate::slurm::state::settings::Settings;
use crate::tree::{AssocIndex, Tree};

/// Adds the charges of the records to the copy. `tree`: that of the copy.
pub(in crate::slurm) fn add_charges(journal: &mut Journal, snapshot: &mut Snapshot, tree: &Tree) {
    journal.drain(|id, usage| {
        let row = snapshot.assoc_row(id).map(|row| row as usize);
        let Some(usage) = Extended::from_f64(usage) else {
            return;
        };
        let row = row.filter(|row| *row < tree.len()).map(AssocIndex::new);
        for index in tree.upward(row) {
            if let Some(row) = snapshot.assocs_mut().get_mut(index.get()) {
                add(row, usage);
            }
        }
    });
}

fn add(row: &mut ffi::shim_assoc, usage: Extended) {
    if let Some(raw) = row.usage() {
        let sum = host::shim_extended(raw + usage);
        (row.usage_mantissa, row.usage_sign_exponent) = (sum.mantissa, sum.sign_exponent);
    }
}

/// Data of associations that a pass needs.
pub(in crate::slurm) fn wanted_assocs(settings: &Settings) -> ffi::shim_want {
    ffi::shim_want {
        assocs: true,
        cache_assocs: settings.caches_assocs(),
        recorded: settings.quirks.reads_records,
        priority_norms: settings.config.priority_weight_assoc != 0,
        ..Default::default()
    }
}

/// Returns true if the pass began with the cached copy, and records turned out to differ from it.
pub(in crate::slurm) fn was_stale(snapshot: &Snapshot) -> bool {
    snapshot.assocs_cached() && !snapshot.assoc_cache_is_valid()
}
