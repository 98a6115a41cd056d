//! The end of a pass: writes the computed results into slurmctld's records.

use super::assoc_cache;
use super::error::{ComputeError, PassError};
use super::moment::Moment;
use super::pending::BATCH;
use super::workspace::{SlurmComputed, Workspace};
use crate::slurm::charges::unreported_ends;
use crate::slurm::rows::snapshot::{Charges, Snapshot, SnapshotError, UsageUpdate, scaled};
use crate::slurm::runtime::host::{self, JobsLock, JobsReadLock, UsageLock, ffi};
use crate::slurm::runtime::{log, thread};
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::Stamp;
use crate::slurm::state::settings::Settings;
use crate::usage::UsageChange;
use std::ops::Range;
use std::ptr;
use std::time::{Duration, Instant};

/// Data of an applied pass that must be saved.
#[derive(Default)]
pub(in crate::slurm) struct Applied {
    /// Time at which the usage in the workspace is valued; `None`: usage must not be saved.
    pub(in crate::slurm) stamp: Option<Stamp>,
    /// Associations had changed since the start of the pass: they have been copied, and must be
    /// ranked again.
    pub(in crate::slurm) again: bool,
}

/// Resets all usage.
pub(in crate::slurm) fn reset(_lock: &UsageLock) {
    // SAFETY: the usage lock is held.
    unsafe { ffi::shim_usage_reset() }
}

/// Decays usage, adds the charges, publishes the factors, and moves `last_ran`, all in one hold of
/// the usage lock, so that every reader sees usage valued at `last_ran`. At the same time all usage
/// is copied for saving. `next`: when the next pass is due, on the monotonic clock.
pub(in crate::slurm) fn usage(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
    next: Duration,
) -> Result<Applied, SnapshotError> {
    plugin.fault.inject("apply");
    let Workspace {
        snapshot,
        tables,
        computed,
        stored,
        by_ledger,
        ..
    } = work;
    if !computed.has_usage {
        if settings.counts_passes_only() {
            plugin.shared.lock().charged_until.touch(moment.now);
        }
        return Ok(Applied::default());
    }
    if let Some(spare) = plugin.saved.spare.lock().take() {
        *stored = spare;
    }
    let lock = UsageLock::lock();
    let mut shared = plugin.shared.lock();
    for charge in &mut computed.charges {
        // A job that ended (or was resized) since the snapshot was charged at that time, to its
        // end.
        let run = (charge.job_id, charge.start_time);
        charge.is_done = shared
            .charged_until
            .is_charged_since(moment.charges_seen, run);
    }
    assoc_cache::add_charges(&mut shared.journal, snapshot, &tables.tree);
    stored.begin(&lock, snapshot.assocs().len());
    let tres = snapshot.charged_tres();
    snapshot.take_qos_now(&lock);
    let changes;
    let update = match by_ledger {
        Some(by_ledger) => by_ledger.update(snapshot),
        None => {
            changes = UsageChanges::new(computed, snapshot);
            changes.update()
        }
    };
    let mut charges = Charges {
        rows: &mut computed.charges,
        tres: &tres,
    };
    let underflows = snapshot.renew(&lock, &update, &computed.factors, &mut charges, stored)?;
    stored.take_qos(&lock);
    if by_ledger.is_some() {
        // Includes the written and charged values.
        snapshot.take_qos_now(&lock);
    }
    let again = assoc_cache::was_stale(snapshot);
    if again {
        // In this hold: any later change of them comes after the pass has charged them.
        snapshot.take_assocs(&lock, &assoc_cache::wanted_assocs(settings));
        shared.journal.begin();
    }
    let runs = computed.runs.take();
    let last_ran = computed.outcome.last_ran;
    shared.charged_until.commit(last_ran, moment.now, runs);
    // Not later: ends of jobs that are charged from now on are not included.
    let now = host::now();
    let next_pass = now.saturating_add(whole_secs(next.saturating_sub(thread::monotonic())));
    let last_reset = shared.resets.last_reset();
    let stamp = Stamp::new(now, last_ran, last_reset, next_pass);
    drop(shared);
    drop(lock);
    if let Some(by_ledger) = by_ledger {
        let ledgers = &mut plugin.ledger.lock().ledgers;
        ledgers.set_written(by_ledger.held());
        ledgers.set_qos_held(by_ledger.qos_held(snapshot));
    }
    plugin.announce(next_pass);

    if !again {
        let factors = tables.job_tables.assocs.iter().map(|assoc| assoc.fs_factor);
        plugin.published.write().publish(&tables.tree, factors);
    }
    if underflows > 0 {
        log::error(format_args!(
            "GrpTRESRunMins underflow in {underflows} counters in this pass"
        ));
    }
    Ok(Applied {
        stamp: Some(stamp),
        again,
    })
}

fn whole_secs(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}

/// Changes that a usage model makes to slurmctld's records before jobs are charged.
pub(super) struct UsageChanges {
    pub(super) scale: f64,
    pub(super) qos: Vec<ffi::shim_usage_change>,
}

impl UsageChanges {
    fn new(computed: &SlurmComputed, snapshot: &Snapshot) -> UsageChanges {
        match computed.outcome.change {
            UsageChange::Factor(factor) => UsageChanges::by_factor(snapshot, factor),
            UsageChange::Cleared => UsageChanges {
                scale: 0.0,
                qos: vec![scaled(0.0); snapshot.qos_now().len()],
            },
        }
    }

    /// All usage changes by one factor, except for QOS with the flag NoDecay. The flag is that of
    /// the snapshot, as for charges; for a QOS that is newer than the snapshot, it is the present
    /// one.
    fn by_factor(snapshot: &Snapshot, factor: f64) -> UsageChanges {
        let qos = snapshot.qos_now().iter().map(|now| {
            let seen = snapshot.qos().iter().find(|seen| seen.id == now.id);
            match seen.unwrap_or(now).no_decay {
                true => scaled(1.0),
                false => scaled(factor),
            }
        });
        UsageChanges {
            scale: factor,
            qos: qos.collect(),
        }
    }

    fn update(&self) -> UsageUpdate<'_> {
        UsageUpdate {
            scale: self.scale,
            assocs: None,
            qos: &self.qos,
            tres: &[],
            changes_only: false,
        }
    }
}

/// Publishes ranks that were recomputed after [`usage`], nothing else.
pub(in crate::slurm) fn ranks(plugin: &Plugin, work: &mut Workspace) -> Result<(), SnapshotError> {
    let Workspace {
        snapshot,
        tables,
        computed,
        stored,
        by_ledger,
        ..
    } = work;
    if !computed.has_usage {
        return Ok(());
    }
    {
        let lock = UsageLock::lock();
        let mut shared = plugin.shared.lock();
        assoc_cache::add_charges(&mut shared.journal, snapshot, &tables.tree);
        stored.begin(&lock, snapshot.assocs().len());
        snapshot.take_qos_now(&lock);
        let changes;
        let update = match by_ledger {
            Some(by_ledger) => by_ledger.changes(snapshot),
            None => {
                // Usage has changed already.
                changes = UsageChanges::by_factor(snapshot, 1.0);
                changes.update()
            }
        };
        let mut charges = Charges {
            rows: &mut [],
            tres: &[],
        };
        snapshot.renew(&lock, &update, &computed.factors, &mut charges, stored)?;
    }
    if let Some(by_ledger) = by_ledger {
        plugin.ledger.lock().ledgers.set_written(by_ledger.held());
    }
    let factors = tables.job_tables.assocs.iter().map(|assoc| assoc.fs_factor);
    plugin.published.write().publish(&tables.tree, factors);
    Ok(())
}

/// Number of jobs written between two checks of the clock.
const AT_ONCE: usize = 256;

/// Writes priorities, and marks on jobs: in one hold of the job lock, so that all become visible
/// together, or in parts of at most `max_lock_ms`. [`SnapshotError::Ending`]: the remaining jobs
/// are unchanged.
pub(in crate::slurm) fn priorities(
    plugin: &Plugin,
    settings: &Settings,
    work: &Workspace,
) -> Result<(), PassError> {
    plugin.fault.inject("prices");
    let limit = settings.config.max_lock_ms;
    let limit = (limit > 0).then(|| Duration::from_millis(limit.into()));
    let len = work.pending.len();
    let mut next = 0;
    let lock = || JobsLock::lock_unless_ending().ok_or(SnapshotError::Ending);
    let mut held = lock()?;
    note(&held, &work.computed);
    let mut since = Instant::now();
    // Stock notifies clients about each job that it prices.
    let mut written = work.pending.stays() && !settings.config.priority_flags.incr_only;
    while next < len {
        let end = limit.map_or(len, |_| (next + AT_ONCE).min(len));
        written |= write(&held, work, next..end);
        next = end;
        if limit.is_some_and(|limit| since.elapsed() >= limit) && next < len {
            changed(&held, &mut written);
            drop(held);
            plugin.fault.inject("slice");
            std::thread::yield_now();
            held = lock()?;
            since = Instant::now();
        }
    }
    changed(&held, &mut written);
    Ok(())
}

fn changed(_lock: &JobsLock, written: &mut bool) {
    if std::mem::take(written) {
        // SAFETY: the job lock is held.
        unsafe { ffi::shim_jobs_changed() }
    }
}

fn note(lock: &JobsLock, computed: &SlurmComputed) {
    unreported_ends::mark_charged(lock, &computed.ends);
    for &((job_id, start_time), billable_tres) in &computed.billables {
        // SAFETY: the job write lock is held.
        unsafe { ffi::shim_job_keep_billable(job_id, start_time, billable_tres) }
    }
}

/// Writes some jobs, except those that are gone or whose priority was changed in the meantime.
fn write(_lock: &JobsLock, work: &Workspace, jobs: Range<usize>) -> bool {
    let snapshot = work.snapshot.raw();
    let (prices, variants) = work.pending.prices(jobs);
    // SAFETY: the job write lock is held, and with it the read lock of partitions; prices point to
    // rows and variants of this snapshot and these slices.
    unsafe { ffi::shim_prices_write(snapshot, prices.as_ptr(), prices.len(), variants.as_ptr()) }
}

/// Number of jobs whose factors are written in one hold: at most a few milliseconds of work.
fn factors_at_once(len: usize) -> usize {
    if log::tells_priorities() {
        // Each takes a line of the log.
        return BATCH;
    }
    (len / 36).clamp(2_048, 32_768)
}

/// Prices all jobs and writes their factors. Only sprio's hook reads these, and `Plugin::factors`
/// keeps it out, so slurmctld's readers need not wait. On error no priorities may be written.
pub(in crate::slurm) fn factors(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), PassError> {
    plugin.fault.inject("factors");
    let Workspace {
        snapshot,
        tables,
        pending,
        ..
    } = work;
    let pricer = tables.pricer_again(settings, snapshot, moment.now);
    let pricer = pricer.map_err(ComputeError::from)?;
    pending.weigh(&pricer, settings, snapshot, tables);
    let at_once = factors_at_once(snapshot.waiting().len());
    let mut found = [ptr::null_mut(); BATCH];
    let mut factors = [ffi::shim_factors::default(); BATCH];
    let mut jobs = pending.take(settings, snapshot, tables);
    while !jobs.is_empty() {
        let _lock = JobsReadLock::lock_unless_ending().ok_or(SnapshotError::Ending)?;
        let _alone = plugin.factors.write();
        let until = pending.next_row() + at_once;
        while !jobs.is_empty() && pending.next_row() < until {
            let some = &mut found[..jobs.len()];
            let prices = pending.prices(jobs.clone()).0;
            // SAFETY: the job lock is held, and there are as many places as prices.
            unsafe {
                ffi::shim_factors_find(
                    snapshot.raw(),
                    prices.as_ptr(),
                    some.as_mut_ptr(),
                    some.len(),
                );
            }
            // The prefetches above complete while jobs are priced.
            pending.price(&pricer, snapshot, tables, jobs, &mut factors);
            // SAFETY: the job lock is held since the jobs were found, and the plugin's own for
            // factors; there are as many factors, which point into `pending`, not used since.
            unsafe { ffi::shim_factors_write(some.as_ptr(), factors.as_ptr(), some.len()) }
            jobs = pending.take(settings, snapshot, tables);
        }
    }
    pending.log_overflows();
    Ok(())
}
