//! The end of a pass: what was computed goes into slurmctld's records.

use super::compute::{Computed, Pending};
use super::harvest;
use super::host::{self, JobsLock, UnsavedLock, UsageLock, ffi};
use super::log;
use super::pass::{Moment, Workspace};
use super::plugin::Plugin;
use super::ranking::Ranking;
use super::settings::Settings;
use super::snapshot::SnapshotError;
use super::state::Collected;
use crate::fairshare::Algorithm;
use crate::priority::Priced;
use crate::tree::{AssocIndex, Tree};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is to be saved of an applied pass.
#[derive(Default)]
pub(super) struct Applied {
    pub(super) collected: Option<Collected>,
    /// Were slurmctld to save usage before we do, a crash in between would leave the usage of this
    /// pass with the time of the last one: the period would be charged again. Stock has that
    /// fault, so `compat=slurm` leaves this out.
    pub(super) unsaved: Option<UnsavedLock>,
}

/// Forgets all usage.
pub(super) fn reset(_lock: &UsageLock) {
    // SAFETY: the usage lock is held.
    unsafe { ffi::shim_usage_reset() }
}

/// Lets usage fade, adds the charges, publishes the factors, and moves `last_ran`: all in one
/// hold of the usage lock, so that usage is worth its number at `last_ran` for everyone.
pub(super) fn usage(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
    computed: &Computed,
) -> Result<Applied, SnapshotError> {
    plugin.fault.strike("apply");
    if !computed.has_usage {
        if settings.counts_passes_only() {
            plugin.shared.lock().last_ran = Some(moment.now);
        }
        return Ok(Applied::default());
    }
    to_factors(settings, &work.tables.tree, computed, &mut work.factors);
    let ranking = Ranking::new(Arc::clone(&work.tables.tree), computed.fairshare.clone());

    let (lock, unsaved) = if settings.config.compat.is_slurm() {
        (UsageLock::lock(), None)
    } else {
        let (lock, unsaved) = UsageLock::lock_unsaved();
        (lock, Some(unsaved))
    };
    work.snapshot.bind(&lock)?;
    let mut shared = plugin.shared.lock();
    if computed.fading != 1.0 {
        // SAFETY: the usage lock is held.
        unsafe { ffi::shim_usage_decay(computed.fading) }
    }
    let mut underflows = 0;
    for (charge, start_time) in computed.charges.iter().zip(&computed.start_times) {
        // A job that ended (or was resized) since the snapshot was charged then, to its end.
        let charged = shared
            .recent
            .is_since(moment.recent, charge.job_id, *start_time);
        if !charged {
            underflows += work.snapshot.charge(&lock, charge);
        }
    }
    work.snapshot.publish(&lock, &work.factors);
    shared.last_ran = Some(computed.last_ran);
    shared.recent.pass(computed.last_ran);
    let last_reset = shared.resets.last_reset();
    drop(shared);
    let previous = moment.last_ran.unwrap_or(0);
    let collected = Collected::new(&lock, computed.last_ran, previous, last_reset);
    drop(lock);

    *plugin.ranking.write() = Arc::new(ranking);
    if underflows > 0 {
        log::error(format_args!(
            "{underflows} counters of GrpTRESRunMins held less than running jobs have used"
        ));
    }
    Ok(Applied {
        collected: Some(collected),
        unsaved,
    })
}

/// What slurmctld's records are to hold, one per association.
fn to_factors(
    settings: &Settings,
    tree: &Tree,
    computed: &Computed,
    factors: &mut Vec<ffi::shim_assoc_factors>,
) {
    let config = &settings.config;
    let fair_tree = config.algorithm() == Algorithm::FairTree;
    // The sign of a zero, which only stock's numbers can have.
    let below = |of: Option<AssocIndex>| {
        of.is_some_and(|of| computed.fairshare[of.get()].raw_usage.is_negative())
    };
    factors.clear();
    for (row, found) in computed.fairshare.iter().enumerate() {
        let index = AssocIndex::new(row);
        let open = computed.left_open.get(row).copied().unwrap_or(false);
        // The root comes first. Its effective usage is all there is; it has no normalised one.
        let root = row == 0;
        let effective = if root {
            crate::extended::Extended::ONE
        } else {
            found.effective_usage
        };
        // Stock that lets sshare compute the factor writes none outside Fair Tree.
        let computes = cfg!(slurm_has_calc_fs_factor) || open;
        let publishes = fair_tree || !(config.compat.is_slurm() && computes);
        factors.push(ffi::shim_assoc_factors {
            usage_efctv: host::shim_quotient(effective, fair_tree && below(tree.fs_parent(index))),
            usage_norm: host::shim_quotient(found.norm_usage, below(tree.root())),
            level_fs: host::shim_extended(found.level_fs.unwrap_or_default()),
            fs_factor: found.fs_factor.unwrap_or(0.0),
            row: u32::try_from(row).unwrap_or(host::NONE),
            has_usage_efctv: !open,
            has_usage_norm: !root && !open,
            has_level_fs: found.level_fs.is_some(),
            has_fs_factor: publishes && found.fs_factor.is_some(),
            keeps_level_fs: !fair_tree,
        });
    }
}

/// How many jobs are written between two looks at the clock.
const AT_ONCE: usize = 64;

/// Writes priorities, and notes on jobs, in pieces of at most `max_lock_ms`.
pub(super) fn priorities(
    plugin: &Plugin,
    settings: &Settings,
    work: &Workspace,
    computed: &Computed,
) {
    plugin.fault.strike("prices");
    tell_overflows(&work.pending);
    let limit = settings.config.max_lock_ms;
    let limit = (limit > 0).then(|| Duration::from_millis(limit.into()));
    let mut next = 0;
    let mut lock = JobsLock::lock();
    note(&lock, computed);
    let mut since = Instant::now();
    let mut written = false;
    while next < work.pending.priced.len() {
        let end = (next + AT_ONCE).min(work.pending.priced.len());
        for job in next..end {
            written |= write(&lock, settings, work, job);
        }
        next = end;
        if limit.is_some_and(|limit| since.elapsed() >= limit) && next < work.pending.priced.len() {
            changed(&lock, &mut written);
            drop(lock);
            std::thread::yield_now();
            lock = JobsLock::lock();
            since = Instant::now();
        }
    }
    changed(&lock, &mut written);
}

/// One line for all jobs, without a lock: a weight too many concerns the whole queue.
fn tell_overflows(pending: &Pending) {
    let priced = pending.priced.iter().zip(&pending.jobs);
    let mut overflows = priced.filter(|(priced, _)| priced.overflow);
    if let Some((_, job)) = overflows.next() {
        log::error(format_args!(
            "job {} and {} more: the priority does not fit 32 bits and is 4294967295",
            job.id,
            overflows.count()
        ));
    }
}

fn changed(_lock: &JobsLock, written: &mut bool) {
    if std::mem::take(written) {
        // SAFETY: the job lock is held.
        unsafe { ffi::shim_jobs_changed() }
    }
}

fn note(lock: &JobsLock, computed: &Computed) {
    harvest::mark(lock, &computed.ends);
    for &(job_id, start_time, billable_tres) in &computed.billables {
        // SAFETY: the job write lock is held.
        unsafe { ffi::shim_job_keep_billable(job_id, start_time, billable_tres) }
    }
}

/// Writes one job; false if it is gone, or if someone else set its priority meanwhile.
fn write(_lock: &JobsLock, settings: &Settings, work: &Workspace, job: usize) -> bool {
    let pending = &work.pending;
    let row = &work.snapshot.waiting()[pending.rows[job] as usize];
    let priced = &pending.priced[job];
    let start = if job == 0 {
        0
    } else {
        pending.variant_ends[job - 1] as usize
    };
    let variants = &pending.variants[start..pending.variant_ends[job] as usize];
    let count = pending.tres_weights.len();
    let terms = &pending.tres_terms[job * count..(job + 1) * count];
    let partitions = row.partitions as usize;
    let partitions =
        &work.snapshot.partition_keys()[partitions..partitions + row.partitions_len as usize];
    let price = ffi::shim_price {
        job_id: row.job_id,
        seen_priority: row.priority,
        seen_direct: row.direct,
        seen_pending: row.pending,
        clear: row.direct,
        only_raise: settings.config.priority_flags.incr_only,
        ..to_shim(priced, variants, partitions, terms, &pending.tres_weights)
    };
    // SAFETY: the job write lock is held; the slices live as long as the call.
    let outcome = unsafe { ffi::shim_price_write(work.snapshot.raw(), &price) };
    let moved = !price.only_raise || priced.priority > row.priority;
    outcome == ffi::SHIM_WRITTEN && moved
}

/// A price as the shim takes it; its pointers are valid as long as the slices.
pub(super) fn to_shim(
    priced: &Priced,
    variants: &[u32],
    partitions: &[u64],
    tres: &[f64],
    tres_weights: &[f64],
) -> ffi::shim_price {
    let or_null = |numbers: &[f64]| {
        if numbers.is_empty() {
            std::ptr::null()
        } else {
            numbers.as_ptr()
        }
    };
    ffi::shim_price {
        age: priced.age,
        assoc: priced.assoc,
        fairshare: priced.fairshare,
        job_size: priced.job_size,
        partition: priced.partition,
        qos: priced.qos,
        tres: or_null(tres),
        tres_weights: or_null(tres_weights),
        variants: variants.as_ptr(),
        partitions: partitions.as_ptr(),
        tres_len: tres.len(),
        variants_len: variants.len(),
        partitions_len: partitions.len(),
        priority: priced.priority,
        site: priced.site,
        nice: priced.nice,
        ..ffi::shim_price::default()
    }
}
