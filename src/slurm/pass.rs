//! A pass: snapshot, compute, apply.

use super::apply::{self, Applied};
use super::charge;
use super::compute::{self, ComputeError, Computed};
use super::guard::Hook;
use super::harvest;
use super::hooks;
use super::host::{self, SnapshotLock, UsageLock, ffi};
use super::kept_assocs;
use super::log;
use super::lost;
use super::pending::Pending;
use super::plugin::Plugin;
use super::settings::Settings;
use super::snapshot::{Snapshot, SnapshotError};
use super::state::{self, Stamp, Stored, Times};
use super::tables::Tables;
use super::thread;
use crate::engine;
use jiff::tz::TimeZone;
use std::time::Duration;

/// Memory that passes use one after the other.
#[derive(Default)]
pub(super) struct Workspace {
    pub(super) snapshot: Snapshot,
    pub(super) tables: Tables,
    pub(super) pending: Pending,
    pub(super) computed: Computed,
    pub(super) stored: Stored,
}

/// Why a pass left everything as it was.
#[derive(Debug, thiserror::Error)]
pub(super) enum PassError {
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error(transparent)]
    Compute(#[from] ComputeError),
}

/// When a snapshot was taken, and what had happened until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: i64,
    pub(super) last_ran: Option<i64>,
    /// So many charges of job ends are in the snapshot's usage (see [`super::recent`]).
    pub(super) recent: u64,
}

/// One pass. On error nothing has changed.
pub(super) fn pass(plugin: &Plugin, work: &mut Workspace) -> Result<(), PassError> {
    let settings = plugin.settings();
    begin(plugin, &settings);

    let moment = snapshot(plugin, &settings, work)?;
    compute::compute(plugin, &settings, work, &moment)?;
    let applied = apply::usage(plugin, &settings, work, &moment)?;
    let again = applied.again;
    save(plugin, &settings, work, applied);
    if again {
        kept_assocs::rank_again(plugin, &settings, work, &moment)?;
    }
    apply::factors(plugin, &settings, work, &moment).map_err(ComputeError::from)?;
    apply::priorities(plugin, &settings, work);

    log::debug(format_args!(
        "pass over {} associations, {} charged jobs, {} waiting jobs",
        work.snapshot.assocs().len(),
        work.snapshot.accruing().len(),
        work.snapshot.waiting().len()
    ));
    Ok(())
}

/// What precedes a pass: usage from the state file, the reset that is due, the site factors.
fn begin(plugin: &Plugin, settings: &Settings) {
    let now = host::now();
    plugin.shared.lock().decay = engine::decay(&settings.config);
    // Not under the locks: it may read files.
    let zone = TimeZone::system();
    let take_due = || plugin.shared.lock().resets.take_due(now, &zone);
    if settings.has_slurmdbd && host::has_root() {
        let lock = UsageLock::lock();
        plugin.restore(&lock);
        if take_due() {
            apply::reset(&lock);
            log::info("all usage is reset (PriorityUsageResetPeriod)");
        }
    } else if settings.counts_passes_only() {
        // There is nothing to reset, but the time of the last reset moves on.
        take_due();
    }
    let last_ran = plugin.shared.lock().last_ran;
    let clock = plugin.clock.complaint(&settings.config, last_ran, now);
    if let Some(line) = clock {
        log::error(line);
    }
    // As the stock plugin, not on a first pass. Stock also leaves them after the clock stepped
    // back, for one pass; ours may then be without time to charge for long.
    let passes = |last_ran| now > last_ran || !settings.config.compat.is_slurm();
    if last_ran.is_some_and(passes) {
        host::site_update();
    }
}

/// What a pass wants of associations.
pub(super) fn wanted_assocs(settings: &Settings) -> ffi::shim_want {
    ffi::shim_want {
        assocs: true,
        keep_assocs: settings.keeps_assocs(),
        kept: settings.config.compat.is_slurm(),
        priority_norms: settings.config.priority_weight_assoc != 0,
        ..Default::default()
    }
}

/// A snapshot, with associations as they are: copied, or kept and charged.
fn take(
    plugin: &Plugin,
    work: &mut Workspace,
    want: &ffi::shim_want,
) -> Result<Moment, SnapshotError> {
    let moment = {
        let lock = SnapshotLock::lock();
        work.snapshot.take(&lock, want);
        let mut shared = plugin.shared.lock();
        if work.snapshot.assocs_kept() {
            kept_assocs::settle(&mut shared.journal, &mut work.snapshot, &work.tables.tree);
        } else {
            shared.journal.begin();
        }
        Moment {
            now: host::now(),
            last_ran: shared.last_ran,
            recent: shared.recent.snapshot(),
        }
    };
    work.snapshot.index()?;
    Ok(moment)
}

fn snapshot(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
) -> Result<Moment, SnapshotError> {
    plugin.fault.strike("snapshot");
    work.tables.weigh(settings);
    let weighed = &work.tables.weighed;
    let want = ffi::shim_want {
        waiting: true,
        waiting_tres: settings.weighs_tres(),
        weighed: weighed.as_ptr(),
        weighed_len: weighed.len(),
        all_jobs: settings.config.priority_flags.calculate_running,
        accruing: true,
        flags: settings.flags,
        ..wanted_assocs(settings)
    };
    let mut moment = take(plugin, work, &want)?;
    if work.snapshot.assocs_kept() && !work.snapshot.has_assocs_of_all() {
        work.snapshot.doubt_assocs();
        moment = take(plugin, work, &want)?;
    }
    if work.snapshot.twins() > 0 {
        log::error(format_args!(
            "{} associations have the id of another: their jobs are charged to that one",
            work.snapshot.twins()
        ));
    }
    Ok(moment)
}

fn save(plugin: &Plugin, settings: &Settings, work: &Workspace, applied: Applied) {
    plugin.fault.strike("state");
    let Applied { times, unsaved, .. } = applied;
    let stored = match times {
        None if settings.counts_passes_only() => {
            let shared = plugin.shared.lock();
            let last_ran = shared.last_ran.unwrap_or(0);
            let last_reset = shared.resets.last_reset();
            drop(shared);
            state::store_times(
                &settings.state_dir,
                Times {
                    last_ran,
                    last_reset,
                },
            )
        }
        None => return,
        Some((previous, last_reset)) => {
            let last_ran = work.computed.last_ran;
            let stamp = Stamp::new(host::now(), last_ran, previous, last_reset);
            match work.stored.image(stamp) {
                Some(image) => state::store(&settings.state_dir, &image),
                None => Err("no memory".to_string()),
            }
        }
    };
    // Now both are on disk, the usage and its time, or neither.
    drop(unsaved);
    match plugin.saving.lock().pass(stored, thread::monotonic()) {
        None => (),
        Some(state::Line::Error(line)) => log::error(line),
        Some(state::Line::Info(line)) => log::info(line),
    }
}

static PASS: Hook = Hook::new("pass");

/// The thread: a pass now, then one every period.
pub(super) fn run(plugin: &Plugin) {
    let mut work = Workspace::default();
    let mut deadline = thread::monotonic();
    PASS.run(|| charge::take_consumed(plugin, &plugin.settings()));
    PASS.run(|| {
        if let Err(error) = lost::charge_again(plugin, &mut work) {
            log::error(format_args!("{error}; ends before a crash may be lost"));
        }
    });
    while !plugin.thread.stopping() {
        PASS.forget();
        hooks::forget_failures();
        let ended = PASS.run(|| {
            if let Err(error) = pass(plugin, &mut work) {
                log::error(format_args!("{error}; priorities stay as they are"));
            }
        });
        if ended.is_none() {
            // What a panic left behind is not worth keeping.
            work = Workspace::default();
        }
        if plugin.settings().passes_once() {
            return;
        }
        let period = plugin.settings().config.priority_calc_period_secs;
        let period = Duration::from_secs(period.into());
        deadline = thread::next_deadline(deadline, period, thread::monotonic());
        wait(plugin, &mut work, deadline);
    }
}

/// Waits for the next pass; where ends of jobs are not reported, looks for them before slurmctld
/// forgets the jobs.
fn wait(plugin: &Plugin, work: &mut Workspace, deadline: Duration) {
    while let Some(every) = harvest::interval(&plugin.settings()) {
        let next = thread::monotonic() + every;
        if next >= deadline {
            break;
        }
        plugin.thread.wait_until(next);
        if plugin.thread.stopping() {
            return;
        }
        PASS.run(|| {
            if let Err(error) = harvest::harvest(plugin, work) {
                log::error(format_args!(
                    "{error}; ended jobs are charged by the next pass"
                ));
            }
        });
    }
    plugin.thread.wait_until(deadline);
}
