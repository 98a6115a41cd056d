//! The steps of a pass in order: snapshot, compute, apply.

use super::apply::{self, Applied};
use super::assoc_cache;
use super::compute;
use super::error::PassError;
use super::ledger_upkeep;
use super::moment::Moment;
use super::workspace::Workspace;
use crate::config::Tiers;
use crate::engine;
use crate::slurm::charges::unreported_ends;
use crate::slurm::line::{self, LineWorkspace};
use crate::slurm::rows::snapshot::SnapshotError;
use crate::slurm::runtime::host::{self, SnapshotLock, UsageLock, ffi};
use crate::slurm::runtime::log;
use crate::slurm::runtime::thread;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::saver::{Job, Saved};
use crate::slurm::state::settings::Settings;
use crate::slurm::state::{self, Times};
use crate::usage::RunTimes;
use jiff::tz::TimeZone;
use std::sync::Arc;
use std::time::Duration;

/// One pass. `next`: when the next pass is due, on the monotonic clock. On error either nothing has
/// changed, or usage has, and is saved.
pub(in crate::slurm) fn pass(
    plugin: &Plugin,
    work: &mut Workspace,
    next: Duration,
) -> Result<(), PassError> {
    let settings = plugin.settings();
    withdraw_announced(plugin, &settings);
    begin(plugin, &settings);
    ledger_upkeep::open(plugin, &settings);

    let moment = snapshot(plugin, &settings, work)?;
    compute::compute(plugin, &settings, work, &moment)?;
    let applied = apply::usage(plugin, &settings, work, &moment, next)?;
    let again = applied.again;
    let unsaved = unsaved(plugin, &settings, work, applied);
    let priced = price(plugin, &settings, work, &moment, again);
    // Only this thread waits for the disk.
    unsaved.save();
    priced?;

    log::debug(format_args!(
        "pass over {} associations, {} charged jobs, {} waiting jobs",
        work.snapshot.assocs().len(),
        work.snapshot.accruing().len(),
        work.snapshot.waiting().len()
    ));
    Ok(())
}

/// Preparation of a pass: usage from the state file, a reset that is due, the site factors.
fn begin(plugin: &Plugin, settings: &Settings) {
    let now = host::now();
    plugin.shared.lock().decay = engine::decay(&settings.config);
    // Not under the locks, because it may read files.
    let zone = TimeZone::system();
    let take_due = || plugin.shared.lock().resets.take_due(now, &zone);
    if settings.has_slurmdbd && host::has_root() {
        let lock = UsageLock::lock();
        plugin.restore(&lock);
        if take_due() {
            apply::reset(&lock);
            if settings.by_ledger() {
                plugin.ledger.lock().ledgers.clear();
            }
            log::info("all usage is reset (PriorityUsageResetPeriod)");
        }
    } else if settings.counts_passes_only() {
        // There is nothing to reset, but the time of the last reset advances.
        take_due();
    }
    let last_ran = plugin.shared.lock().charged_until.last_ran();
    let clock = plugin.clock.complaint(&settings.config, last_ran, now);
    if let Some(line) = clock {
        log::error(line);
    }
    // As in the stock plugin, not on a first pass. Stock also skips them for one pass after the
    // clock stepped back; our passes may then be without time to charge for long.
    let passes = |last_ran| now > last_ran || !settings.quirks.ignores_clock_back;
    if last_ran.is_some_and(passes) && !host::is_ending() {
        host::site_update();
    }
}

/// Takes a snapshot, with the present associations: copied, or kept and charged.
fn take(
    plugin: &Plugin,
    work: &mut Workspace,
    want: &ffi::shim_want,
) -> Result<Moment, SnapshotError> {
    let (moment, mut ended) = {
        let lock = SnapshotLock::lock_unless_ending().ok_or(SnapshotError::Ending)?;
        work.snapshot.take(&lock, want);
        let mut shared = plugin.shared.lock();
        if work.snapshot.assocs_cached() {
            assoc_cache::add_charges(&mut shared.journal, &mut work.snapshot, &work.tables.tree);
        } else {
            shared.journal.begin();
        }
        let ended = match want.outcomes {
            true => shared.take_ended(),
            false => Vec::new(),
        };
        let moment = Moment {
            now: host::now(),
            last_ran: shared.charged_until.last_ran(),
            charges_seen: shared.charged_until.since_pass.snapshot(),
        };
        (moment, ended)
    };
    // Not under locks of slurmctld, because the ledger may be being saved.
    plugin.ledger.lock().ended.append(&mut ended);
    work.snapshot.index()?;
    Ok(moment)
}

fn snapshot(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
) -> Result<Moment, SnapshotError> {
    plugin.fault.inject("snapshot");
    work.tables.weigh(settings);
    let weighed = &work.tables.weighed;
    // Jobs in all states are priced, and charged, with PriorityFlags=CALCULATE_RUNNING.
    let always = match settings.config.priority_flags.calculate_running {
        true => u32::MAX,
        false => 0,
    };
    let keeps_ledger = plugin.keeps_ledger(settings);
    // A pass learns run times from the ends that it finds itself, unless the cluster ended the
    // runs.
    let learns = line::learns(&settings.config) && unreported_ends::may_come(settings);
    let want = ffi::shim_want {
        outcomes: keeps_ledger || learns,
        charged_ends: keeps_ledger,
        ended_after: if keeps_ledger {
            ledger_upkeep::fed_until(plugin)
        } else {
            0
        },
        waiting_states: ffi::SHIM_STATE_PENDING | always,
        accruing_states: !ffi::SHIM_STATE_PENDING | always,
        accruing_completing: true,
        variants: settings.config.priority_flags.incr_only,
        waiting_tres: settings.weighs_tres(),
        queued: line::is_asked_for(&settings.config),
        billed: line::expects(&settings.config),
        // With DebugFlags=Priority the log shows the terms of the sums too.
        order_only: line::is_asked_for(&settings.config) && !log::tells_priorities(),
        order_partition: line::reads_partitions(&settings.config),
        order_qos: settings.config.tiers() == Tiers::Qos,
        weighed: weighed.as_ptr(),
        weighed_len: weighed.len(),
        flags: settings.flags,
        ..assoc_cache::wanted_assocs(settings)
    };
    plugin.line.lock().before_snapshot();
    let mut moment = take(plugin, work, &want)?;
    if work.snapshot.assocs_cached() && !work.snapshot.has_assocs_of_all() {
        work.snapshot.invalidate_assoc_cache();
        moment = take(plugin, work, &want)?;
    }
    if work.snapshot.twins() > 0 {
        log::error(format_args!(
            "{} associations have duplicate ids; jobs are charged to the first association with each id",
            work.snapshot.twins()
        ));
    }
    Ok(moment)
}

/// Ranks again the associations that were copied when usage was written. Jobs have been charged
/// already, and usage has decayed.
fn rank_again(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), PassError> {
    plugin.fault.inject("again");
    log::debug("associations changed since the last pass; ranking again");
    work.snapshot.index()?;
    compute::rank_again(plugin, settings, work, moment)?;
    apply::ranks(plugin, work)?;
    Ok(())
}

/// Puts waiting jobs in order, if an order is requested.
fn stand_in_line(plugin: &Plugin, settings: &Settings, work: &mut Workspace, moment: &Moment) {
    work.pending.numbers().clear();
    if !line::is_asked_for(&settings.config) {
        let old = plugin.line.lock().dissolve();
        if old.is_some() {
            work.line = LineWorkspace::default();
        }
        return;
    }
    if !work.computed.outcome.prices {
        return;
    }
    // Meanwhile hooks continue with the old line.
    let running = work.snapshot.accruing().iter().map(|row| row.job_id);
    let (before, run_times) = {
        let line = plugin.line.lock();
        (line.submitted(running), line.run_times())
    };
    let run_times = learn(plugin, settings, work, moment, run_times);
    let formed = line::form(
        &settings.config,
        (&work.snapshot, &work.tables),
        work.computed.raw(),
        moment.now,
        &before,
        run_times,
        (&mut work.line, work.pending.numbers()),
    );
    match formed {
        Ok(standing) => {
            let mut line = plugin.line.lock();
            let (missed, old) = standing.follow(&mut line);
            let remembered = line.to_save();
            drop(line);
            drop(old);
            if missed {
                plugin.thread.ask_for_pass();
            }
            *plugin.saved.order.lock() = remembered;
        }
        Err(error) => {
            log::error(format_args!(
                "cannot order waiting jobs: {error}; their priorities do not change"
            ));
            if work.snapshot.is_order_only() {
                work.pending.clear();
            }
        }
    }
}

/// Run times up to now; empty if they are not needed.
fn learn(
    plugin: &Plugin,
    settings: &Settings,
    work: &Workspace,
    moment: &Moment,
    mut run_times: Arc<RunTimes>,
) -> Arc<RunTimes> {
    let mut ended = plugin.shared.lock().take_run_times();
    if !line::learns(&settings.config) {
        return Arc::default();
    }
    // Those of runs whose end is not reported.
    let found = unreported_ends::run_times(&work.snapshot, &work.computed.ends, moment.now);
    ended.extend(found);
    if !ended.is_empty() {
        let tree = &work.tables.tree;
        let times = Arc::make_mut(&mut run_times);
        for (assoc, secs) in ended {
            times.note(assoc, secs);
        }
        times.retain(|assoc| tree.index_of(assoc).is_some());
    }
    run_times
}

fn price(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
    again: bool,
) -> Result<(), PassError> {
    if again {
        rank_again(plugin, settings, work, moment)?;
    }
    stand_in_line(plugin, settings, work, moment);
    apply::factors(plugin, settings, work, moment)?;
    apply::priorities(plugin, settings, work)?;
    #[cfg(not(slurm_has_calc_fs_factor))]
    if settings.is_stock_classic() && work.computed.has_usage {
        crate::slurm::hooks::record_fs_factor::write_of_jobs(settings);
    }
    Ok(())
}

/// If this pass comes before the time of the next pass in the state on disk, as after a start or a
/// step of the clock, the file is updated first. Otherwise usage that slurmctld dumps from now on
/// could be mistaken for usage of the previous pass. Not needed with `compat=slurm`, which does not
/// read our state.
fn withdraw_announced(plugin: &Plugin, settings: &Settings) {
    let now = host::now();
    if settings.quirks.has_no_state_file || !plugin.is_before_announced(now) {
        return;
    }
    let dir = settings.state_dir.clone();
    let job: Job = Box::new(move |wanted| state::advance_next_pass(&dir, now, wanted));
    match plugin.saver.save(job) {
        Ok(Saved::OnDisk) => plugin.withdraw_announced(now),
        Ok(Saved::LeftToTheEnd) => {}
        // The state of this pass will replace it; a permanent disk error is reported at that time.
        Err(error) => log::verbose(format_args!("cannot save the time of this pass: {error}")),
    }
}

/// Data of a pass that must still be saved. If dropped by a panic, it is saved without a line in
/// the log.
struct Unsaved<'a> {
    plugin: &'a Plugin,
    job: Option<Job>,
}

fn unsaved<'a>(
    plugin: &'a Plugin,
    settings: &Settings,
    work: &mut Workspace,
    applied: Applied,
) -> Unsaved<'a> {
    let dir = settings.state_dir.clone();
    let job = match applied.stamp {
        Some(stamp) => {
            let stored = std::mem::take(&mut work.stored);
            Some(state::saving(stored, stamp, dir, plugin.saved.clone()))
        }
        None if settings.counts_passes_only() => {
            let shared = plugin.shared.lock();
            let times = Times {
                last_ran: shared.charged_until.last_ran().unwrap_or(0),
                last_reset: shared.resets.last_reset(),
            };
            Some(
                Box::new(move |wanted: &dyn Fn() -> bool| state::store_times(&dir, times, wanted))
                    as Job,
            )
        }
        None => None,
    };
    let job = job.map(|job| ledger_upkeep::saving(plugin, settings, job));
    Unsaved { plugin, job }
}

impl Unsaved<'_> {
    /// Saves the data; the wait for a slow disk is bounded.
    fn save(mut self) {
        self.plugin.fault.inject("state");
        let Some(job) = self.job.take() else {
            return;
        };
        let saved = match self.plugin.saver.save(job) {
            Ok(Saved::LeftToTheEnd) => return,
            Ok(Saved::OnDisk) => Ok(()),
            Err(error) => Err(error),
        };
        match self.plugin.saving.lock().pass(saved, thread::monotonic()) {
            None => (),
            Some(state::AlertLine::Error(line)) => log::error(line),
            Some(state::AlertLine::Info(line)) => log::info(line),
        }
    }
}

impl Drop for Unsaved<'_> {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            let _ = self.plugin.saver.save(job);
        }
    }
}
