//! The order of a pass: snapshot, compute, apply.

use super::apply::{self, Applied};
use super::assoc_cache;
use super::compute;
use super::error::{ComputeError, PassError};
use super::line;
use super::moment::Moment;
use super::workspace::Workspace;
use crate::engine;
use crate::slurm::rows::snapshot::SnapshotError;
use crate::slurm::runtime::host::{self, SnapshotLock, UsageLock, ffi};
use crate::slurm::runtime::log;
use crate::slurm::runtime::thread;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::settings::Settings;
use crate::slurm::state::{self, Stamp, Times};
use jiff::tz::TimeZone;

/// One pass. On error nothing has changed.
pub(in crate::slurm) fn pass(plugin: &Plugin, work: &mut Workspace) -> Result<(), PassError> {
    let settings = plugin.settings();
    begin(plugin, &settings);

    let moment = snapshot(plugin, &settings, work)?;
    compute::compute(plugin, &settings, work, &moment)?;
    let applied = apply::usage(plugin, &settings, work, &moment)?;
    let again = applied.again;
    save(plugin, &settings, work, applied);
    if again {
        rank_again(plugin, &settings, work, &moment)?;
    }
    stand_in_line(plugin, &settings, work, &moment);
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
    let last_ran = plugin.shared.lock().charged_until.last_ran();
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
        if work.snapshot.assocs_cached() {
            assoc_cache::add_charges(&mut shared.journal, &mut work.snapshot, &work.tables.tree);
        } else {
            shared.journal.begin();
        }
        Moment {
            now: host::now(),
            last_ran: shared.charged_until.last_ran(),
            charges_seen: shared.charged_until.since_pass.snapshot(),
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
    plugin.fault.inject("snapshot");
    work.tables.weigh(settings);
    let weighed = &work.tables.weighed;
    // Jobs of all states are priced, and charged, with PriorityFlags=CALCULATE_RUNNING.
    let always = match settings.config.priority_flags.calculate_running {
        true => u32::MAX,
        false => 0,
    };
    let want = ffi::shim_want {
        waiting_states: ffi::SHIM_STATE_PENDING | always,
        accruing_states: !ffi::SHIM_STATE_PENDING | always,
        accruing_completing: true,
        variants: settings.config.priority_flags.incr_only,
        waiting_tres: settings.weighs_tres(),
        queued: line::is_asked_for(&settings.config),
        weighed: weighed.as_ptr(),
        weighed_len: weighed.len(),
        flags: settings.flags,
        ..assoc_cache::wanted_assocs(settings)
    };
    let mut moment = take(plugin, work, &want)?;
    if work.snapshot.assocs_cached() && !work.snapshot.has_assocs_of_all() {
        work.snapshot.invalidate_assoc_cache();
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

/// Ranks the associations once more, which were copied when usage was written. Jobs are charged by
/// now, and usage has decayed.
fn rank_again(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), PassError> {
    plugin.fault.inject("again");
    log::debug("associations are not as the last pass left them: ranked once more");
    work.snapshot.index()?;
    compute::rank_again(settings, work, moment)?;
    apply::ranks(plugin, work)?;
    Ok(())
}

/// Puts waiting jobs in order, if an order is asked for.
fn stand_in_line(plugin: &Plugin, settings: &Settings, work: &mut Workspace, moment: &Moment) {
    work.pending.stand(Vec::new());
    if !line::is_asked_for(&settings.config) || !work.computed.outcome.prices {
        return;
    }
    // Hooks go on with the old one meanwhile.
    let before = plugin.line.lock().submitted();
    let formed = line::form(
        &settings.config,
        &work.snapshot,
        &work.tables,
        &work.computed,
        moment,
        &before,
    );
    match formed {
        Ok((standing, numbers)) => {
            standing.follow(&mut plugin.line.lock());
            work.pending.stand(numbers);
        }
        Err(error) => {
            log::error(format_args!("waiting jobs are not put in order: {error}"));
        }
    }
}

fn save(plugin: &Plugin, settings: &Settings, work: &Workspace, applied: Applied) {
    plugin.fault.inject("state");
    let Applied { times, unsaved, .. } = applied;
    let stored = match times {
        None if settings.counts_passes_only() => {
            let shared = plugin.shared.lock();
            let last_ran = shared.charged_until.last_ran().unwrap_or(0);
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
            let last_ran = work.computed.outcome.last_ran;
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
