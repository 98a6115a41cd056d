//! One job's price between passes: submitted, updated, released.

use super::host::{self, ffi};
use super::late;
use super::log;
use super::pending;
use super::plugin::Plugin;
use super::ranking::Ancestor;
use super::settings::Settings;
use super::snapshot::{Snapshot, SnapshotError};
use super::tables::{self, Tables};
use crate::priority::{AssocFactors, Job, Pricer, PriorityError};
use crate::tree::AssocIndex;
use std::ffi::c_void;

/// Why a job keeps the priority it has.
#[derive(Debug, thiserror::Error)]
pub(super) enum PriceError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Priority(#[from] PriorityError),
    #[error("its record has no details")]
    NoDetails,
}

/// The priority of a job now; its factors are written into the record.
///
/// # Safety
/// `job` is slurmctld's job record, and the caller holds the job write lock.
pub(super) unsafe fn set(plugin: &Plugin, job: *mut c_void) -> Result<u32, PriceError> {
    plugin.fault.strike("set");
    let settings = plugin.settings();
    // SAFETY: the caller's promise; a site factor plugin is loaded, if only the empty one.
    unsafe { ffi::shim_site_set(job) }
    let want = ffi::shim_want {
        assocs: true,
        kept: settings.config.compat.is_slurm(),
        waiting_tres: settings.weighs_tres(),
        flags: settings.flags,
        ..Default::default()
    };
    let mut snapshot = plugin.scratch();
    // SAFETY: the caller's promise.
    unsafe { snapshot.take_waiting_job(&want, job) }?;
    let names = if settings.weighs_tres() {
        host::tres_names()
    } else {
        Vec::new()
    };
    let (mut tables, row) = one_job(plugin, &settings, &snapshot, names)?;
    let keeps = row.direct && row.priority != 0;
    let asks = !keeps && settings.config.priority_weight_fairshare != 0 && settings.has_slurmdbd;
    if asks && settings.config.compat.is_slurm() {
        // SAFETY: the caller's promise.
        let classic = unsafe { late::fs_factor(&settings, job) };
        if let (Some(assoc), Some(classic)) = (tables.site.assocs.first_mut(), classic) {
            // Under Fair Tree the record has the factor, and asking was all.
            if settings.is_stock_classic() {
                assoc.fs_factor = classic;
            }
        }
    }
    let pricer = Pricer::new(&settings.config, &tables.site, host::now())?;
    let priced = pricer.price_set(&row);
    let mut variants = vec![0; pricer.variants(&row).len()];
    pricer.price_variants(&row, &priced, &mut variants);
    let (mut terms, mut weights) = (Vec::new(), Vec::new());
    if settings.weighs_tres() {
        terms.resize(tables.site.tres_names.len(), 0.0);
        weights.resize(tables.site.tres_names.len(), 0.0);
        pricer.tres_terms(&row, &mut terms);
        pricer.tres_weights(&mut weights);
    }
    let factors = pending::to_shim(&priced, keeps, &terms, &weights);
    // SAFETY: the caller's promise; the slices live as long as the call.
    unsafe {
        ffi::shim_job_write_factors(
            snapshot.raw(),
            job,
            &factors,
            variants.as_ptr(),
            variants.len(),
            settings.config.priority_flags.incr_only,
        );
    }
    plugin.give_back(snapshot);
    log::debug2(format_args!("job {}: {priced:?}", row.id));
    Ok(priced.priority)
}

/// Tables that hold what one job refers to, its association at position 0.
fn one_job(
    plugin: &Plugin,
    settings: &Settings,
    snapshot: &Snapshot,
    mut names: Vec<String>,
) -> Result<(Tables, Job), PriceError> {
    let row = snapshot
        .waiting()
        .first()
        .ok_or(SnapshotError::OutOfMemory)?;
    if !row.is(ffi::SHIM_HAS_DETAILS) {
        return Err(PriceError::NoDetails);
    }
    if settings.weighs_tres() {
        names.resize(snapshot.tres_count(), String::new());
    }
    let mut tables = Tables::default();
    tables.fill_job(snapshot, names);
    let own = snapshot.assocs().first().filter(|_| settings.has_slurmdbd);
    let assoc = own.map(|own| {
        let fs_factor = if settings.config.compat.is_slurm() {
            snapshot.kept().first().map_or(0.0, |kept| kept.fs_factor)
        } else {
            let chain: Vec<Ancestor> = snapshot.assocs().iter().map(ancestor).collect();
            plugin.ranking.read().factor(&chain).unwrap_or(0.0)
        };
        tables.site.assocs.push(AssocFactors {
            fs_factor,
            priority: own.priority,
            norm_priority: own.priority_norm,
        });
        AssocIndex::new(0)
    });
    let job = Tables::job(snapshot, row, assoc);
    Ok((tables, job))
}

fn ancestor(row: &ffi::shim_assoc) -> Ancestor {
    let assoc = tables::assoc(row);
    Ancestor {
        id: assoc.id,
        shares: assoc.shares,
    }
}
