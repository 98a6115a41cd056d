//! The end of a pass: what was computed goes into slurmctld's records.

use super::compute::Computed;
use super::harvest;
use super::host::{self, JobsLock, JobsReadLock, UnsavedLock, UsageLock, ffi};
use super::log;
use super::pass::{Moment, Workspace};
use super::plugin::Plugin;
use super::ranking::Ranking;
use super::settings::Settings;
use super::snapshot::SnapshotError;
use super::state::Collected;
use crate::fairshare::Algorithm;
use crate::priority::{Pricer, PriorityError};
use crate::tree::{AssocIndex, Tree};
use std::ops::Range;
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
    computed: &mut Computed,
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
    match computed.runs.take() {
        Some(runs) => shared.passed.pass(runs, moment.now, moment.last_ran),
        None => shared.passed.forget(),
    }
    shared.last_ran = Some(computed.last_ran);
    shared.recent.pass(computed.last_ran.min(moment.now));
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
const AT_ONCE: usize = 256;

/// Writes priorities, and notes on jobs: in one hold of the job lock, so that all become visible
/// together, or in pieces of at most `max_lock_ms`.
pub(super) fn priorities(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    computed: &Computed,
) {
    plugin.fault.strike("prices");
    let limit = settings.config.max_lock_ms;
    let limit = (limit > 0).then(|| Duration::from_millis(limit.into()));
    let len = work.pending.len();
    let mut next = 0;
    let mut lock = JobsLock::lock();
    note(&lock, computed);
    let mut since = Instant::now();
    let mut written = false;
    while next < len {
        let end = limit.map_or(len, |_| (next + AT_ONCE).min(len));
        written |= write(&lock, settings, work, next..end);
        next = end;
        if limit.is_some_and(|limit| since.elapsed() >= limit) && next < len {
            changed(&lock, &mut written);
            drop(lock);
            plugin.fault.strike("slice");
            std::thread::yield_now();
            lock = JobsLock::lock();
            since = Instant::now();
        }
    }
    changed(&lock, &mut written);
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

/// Writes some jobs, but for those that are gone or whose priority someone else set meanwhile.
fn write(_lock: &JobsLock, settings: &Settings, work: &mut Workspace, jobs: Range<usize>) -> bool {
    let only_raise = settings.config.priority_flags.incr_only;
    let snapshot = work.snapshot.raw();
    let (prices, variants) = work.pending.prices(jobs);
    // SAFETY: the job write lock is held, and with it the read lock of partitions; the rows and
    // variants that the prices point to are those of this snapshot and these slices.
    unsafe {
        ffi::shim_prices_write(
            snapshot,
            prices.as_mut_ptr(),
            prices.len(),
            variants.as_ptr(),
            only_raise,
        )
    }
}

/// Of how many jobs the factors are written in one hold: about a millisecond's worth.
const FACTORS_AT_ONCE: usize = 16_384;

/// Writes how the priorities came about. Nobody reads that but sprio's hook, which
/// `Plugin::factors` keeps away, so that slurmctld's readers need not wait for it.
pub(super) fn factors(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), PriorityError> {
    plugin.fault.strike("factors");
    let Workspace {
        snapshot,
        tables,
        pending,
        ..
    } = work;
    let pricer = Pricer::new(&settings.config, &tables.site, moment.now)?;
    let len = pending.len();
    for start in (0..len).step_by(FACTORS_AT_ONCE) {
        let jobs = start..(start + FACTORS_AT_ONCE).min(len);
        pending.explain(&pricer, settings, snapshot, tables, jobs.clone());
        let _lock = JobsReadLock::lock();
        let _alone = plugin.factors.write();
        let (prices, factors) = pending.factors(jobs);
        // SAFETY: the job lock is held, and the plugin's own for factors; there are as many
        // factors as prices, and their pointers are into `pending`, which is borrowed.
        unsafe { ffi::shim_factors_write(prices.as_ptr(), factors.as_ptr(), factors.len()) }
    }
    Ok(())
}
