//! Prices one job between passes: when it is submitted, updated or released.

use super::lazy_usage;
use crate::order::OrderError;
use crate::priority::{AssocFactors, Job, PriorityError};
use crate::slurm::line;
use crate::slurm::pass::pending;
use crate::slurm::rows::snapshot::SnapshotError;
use crate::slurm::rows::tables::{self, Tables};
use crate::slurm::runtime::host::{self, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::shared::published_factors::Ancestor;
use crate::slurm::shared::scratch::Scratch;
use crate::slurm::state::settings::Settings;
use crate::tree::AssocIndex;
use std::ffi::c_void;

/// Reason why a job keeps its priority.
#[derive(Debug, thiserror::Error)]
pub(in crate::slurm) enum PriceError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Priority(#[from] PriorityError),
    #[error(transparent)]
    Order(#[from] OrderError),
    #[error("job record has no details")]
    NoDetails,
}

/// Computes the present priority of a job, and writes its factors into the record.
///
/// # Safety
/// `job` is slurmctld's job record, and the caller holds the job write lock.
pub(in crate::slurm) unsafe fn set(plugin: &Plugin, job: *mut c_void) -> Result<u32, PriceError> {
    plugin.fault.inject("set");
    // SAFETY: the caller's promise.
    let assoc_id = unsafe { ffi::shim_job_prefetch(job) };
    let settings = plugin.settings();
    // SAFETY: the caller's promise; a site factor plugin is loaded, even if it is the empty one.
    unsafe { ffi::shim_site_set(job) }
    let mut scratch = plugin.scratch();
    // Looked up while the other data is being prefetched.
    scratch.published = match settings.quirks.reads_records {
        true => None,
        false => plugin
            .published
            .read()
            .factor_of(assoc_id)
            .map(|factor| (assoc_id, factor)),
    };
    // SAFETY: the caller's promise.
    let priority = unsafe { set_with(&mut scratch, plugin, &settings, job) };
    plugin.give_back(scratch);
    priority
}

/// # Safety
/// As [`set`].
unsafe fn set_with(
    scratch: &mut Scratch,
    plugin: &Plugin,
    settings: &Settings,
    job: *mut c_void,
) -> Result<u32, PriceError> {
    let names = if settings.weighs_tres() {
        host::tres_names()
    } else {
        Vec::new()
    };
    // SAFETY: the caller's promise.
    let row = unsafe { one_job(scratch, plugin, settings, names, job) }?;
    let Scratch {
        snapshot,
        tables,
        variants,
        terms,
        weights,
        chain,
        ..
    } = scratch;
    let keeps = row.direct && row.priority != 0;
    let asks = !keeps && settings.config.priority_weight_fairshare != 0 && settings.has_slurmdbd;
    if asks && settings.quirks.reads_records {
        // SAFETY: the caller's promise.
        let classic = unsafe { recorded_factor(settings, job) };
        if let (Some(assoc), Some(classic)) = (tables.job_tables.assocs.first_mut(), classic) {
            // Under Fair Tree the record has the factor, and the request alone was needed.
            if settings.is_stock_classic() {
                assoc.fs_factor = classic;
            }
        }
    }
    let pricer = tables.pricer(settings, snapshot, host::now())?;
    let mut priced = pricer.price_set(&row);
    variants.clear();
    variants.resize(pricer.variants(&row).len(), 0);
    pricer.price_variants(&row, &priced, variants);
    let waiting = snapshot.waiting().first();
    let waiting = waiting.filter(|row| !keeps && row.is(ffi::SHIM_PENDING));
    let waiting = waiting.filter(|_| line::is_asked_for(&settings.config));
    let mut number = None;
    if let Some(waiting) = waiting {
        let above = chain.iter().map(|one| one.id);
        let above = std::iter::once(waiting.assoc_id).chain(above);
        let config = &settings.config;
        number = plugin.line.lock().number(config, snapshot, tables, above)?;
    }
    if let Some(number) = number {
        priced.priority = number;
        variants.fill(number);
    } else if settings.config.priority_flags.incr_only {
        snapshot.raise_variants(snapshot.lists().first(), variants);
    }
    let tres = tables.job_tables.tres_names.len();
    terms.clear();
    weights.clear();
    if settings.weighs_tres() {
        terms.resize(tres, 0.0);
        weights.resize(tres, 0.0);
        pricer.tres_terms(&row, terms);
        pricer.tres_weights(weights);
    }
    let factors = pending::to_shim(&priced, keeps, terms, weights);
    // SAFETY: the caller's promise; the slices live as long as the call.
    unsafe {
        ffi::shim_job_write_factors(
            snapshot.raw(),
            job,
            &factors,
            variants.as_ptr(),
            variants.len(),
        );
    }
    log::debug2(format_args!("job {}: {priced:?}", row.id));
    Ok(priced.priority)
}

/// Factor of a job's association in its record; `None`: the job has no association.
///
/// # Safety
/// As [`set`].
unsafe fn recorded_factor(settings: &Settings, job: *mut c_void) -> Option<f64> {
    #[cfg(not(slurm_has_calc_fs_factor))]
    if super::record_fs_factor::prices(settings) {
        // SAFETY: the caller's promise.
        return unsafe { super::record_fs_factor::of_job(settings, job) };
    }
    // SAFETY: the caller's promise.
    unsafe { lazy_usage::fs_factor(settings, job) }
}

/// Fills tables with the data to which one job refers; its association is at position 0.
///
/// # Safety
/// As [`set`].
unsafe fn one_job(
    scratch: &mut Scratch,
    plugin: &Plugin,
    settings: &Settings,
    mut names: Vec<String>,
    job: *mut c_void,
) -> Result<Job, PriceError> {
    let Scratch {
        snapshot,
        tables,
        chain,
        published,
        ..
    } = scratch;
    chain.clear();
    let reads_records = settings.quirks.reads_records;
    let mut want = ffi::shim_want {
        assocs: true,
        recorded: reads_records,
        variants: settings.config.priority_flags.incr_only,
        priority_norms: settings.config.priority_weight_assoc != 0,
        waiting_tres: settings.weighs_tres(),
        queued: line::is_asked_for(&settings.config),
        billed: line::expects(&settings.config),
        flags: settings.flags,
        ..Default::default()
    };
    // SAFETY: the caller's promise.
    unsafe { snapshot.take_waiting_job(&want, job) }?;
    let own = snapshot.assocs().first().copied();
    let own = own.filter(|_| settings.has_slurmdbd);
    let mut fs_factor = None;
    if let (Some(own), false) = (&own, reads_records) {
        fs_factor = match *published {
            Some((id, factor)) if id == own.id => Some(factor),
            _ => plugin.published.read().factor_of(own.id),
        };
        if fs_factor.is_none() {
            // The association is new: its ancestors decide.
            want.ancestors = true;
            // SAFETY: the caller's promise.
            unsafe { snapshot.take_waiting_job(&want, job) }?;
            chain.clear();
            chain.extend(snapshot.assocs().iter().map(ancestor));
            fs_factor = plugin.published.read().factor_or_estimate(chain);
        }
    }
    let row = snapshot.waiting().first();
    let row = row.ok_or(SnapshotError::OutOfMemory)?;
    if !row.is(ffi::SHIM_HAS_DETAILS) {
        return Err(PriceError::NoDetails);
    }
    if settings.weighs_tres() {
        names.resize(snapshot.tres_count(), String::new());
    }
    tables.fill_job(snapshot, names);
    tables.job_tables.assocs.clear();
    let assoc = own.map(|own| {
        let recorded = snapshot.recorded().first().map(|row| row.fs_factor);
        tables.job_tables.assocs.push(AssocFactors {
            fs_factor: recorded.or(fs_factor).unwrap_or(0.0),
            priority: own.priority,
            norm_priority: own.priority_norm,
        });
        AssocIndex::new(0)
    });
    Ok(Tables::job(snapshot, row, assoc))
}

fn ancestor(row: &ffi::shim_assoc) -> Ancestor {
    let assoc = tables::assoc(row);
    Ancestor {
        id: assoc.id,
        shares: assoc.shares,
    }
}
