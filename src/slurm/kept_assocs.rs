//! The copy of associations that is kept from one pass to the next.
//!
//! A pass that writes usage sees every association. It leaves its copy as the records are then;
//! with what ends of jobs are charged afterwards ([`super::journal`]), the copy is right for the next
//! pass, which need not read the records again before it writes to them. Whatever else changes
//! them is found when that pass comes to write: every record is compared with its row (see
//! `shim_usage_renew`). Then the associations are copied after all, in the same hold of their lock,
//! and ranked once more.

use super::apply;
use super::compute;
use super::host::{self, ffi};
use super::journal::Journal;
use super::log;
use super::pass::{Moment, PassError, Workspace};
use super::plugin::Plugin;
use super::settings::Settings;
use super::snapshot::Snapshot;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};

/// Charges the copy for what the records were charged. `tree`: that of the copy.
pub(super) fn settle(journal: &mut Journal, snapshot: &mut Snapshot, tree: &Tree) {
    journal.settle(|id, usage| {
        let row = snapshot.assoc_row(id).map(|row| row as usize);
        let Some(usage) = Extended::from_f64(usage) else {
            return;
        };
        let mut next = row.filter(|row| *row < tree.len()).map(AssocIndex::new);
        while let Some(index) = next {
            if let Some(row) = snapshot.assocs_mut().get_mut(index.get()) {
                add(row, usage);
            }
            next = tree.parent(index);
        }
    });
}

fn add(row: &mut ffi::shim_assoc, usage: Extended) {
    let raw = host::extended(ffi::shim_extended {
        mantissa: row.usage_mantissa,
        sign_exponent: row.usage_sign_exponent,
    });
    if let Some(raw) = raw {
        let sum = host::shim_extended(raw + usage);
        (row.usage_mantissa, row.usage_sign_exponent) = (sum.mantissa, sum.sign_exponent);
    }
}

/// Was the copy kept that the pass began with, and turned out wrong?
pub(super) fn were_wrong(snapshot: &Snapshot) -> bool {
    snapshot.assocs_kept() && !snapshot.assocs_agree()
}

/// Ranks the associations once more, which were copied when usage was written. Jobs are charged by
/// now, and usage has faded.
pub(super) fn rank_again(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), PassError> {
    plugin.fault.strike("again");
    log::debug("associations are not as the last pass left them: ranked once more");
    work.snapshot.index()?;
    compute::rank_again(settings, work, moment)?;
    apply::ranks(plugin, work)?;
    Ok(())
}
