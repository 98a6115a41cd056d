//! The body of the plugin's thread: one pass now, then one every period, and extra passes on
//! request.

use super::error::PassError;
use super::order::pass;
use super::workspace::Workspace;
use crate::slurm::charges::{crash_recovery, run_secs, unreported_ends};
use crate::slurm::rows::snapshot::SnapshotError;
use crate::slurm::runtime::guard::Hook;
use crate::slurm::runtime::host;
use crate::slurm::runtime::log;
use crate::slurm::runtime::thread;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state;
use crate::slurm::state::saver::Job;
use crate::slurm::state::settings::RELEASE;
use std::time::Duration;

static PASS: Hook = Hook::new("pass");

/// Interval at which a pass is postponed while slurmctld is about to end: it may continue after
/// all.
const WHILE_ENDING: Duration = Duration::from_secs(1);

/// Makes passes until the thread must stop; calls `before_each` before each of them.
pub(in crate::slurm) fn run(plugin: &Plugin, before_each: fn()) {
    let mut work = Workspace::default();
    let mut deadline = thread::monotonic();
    PASS.run(|| plugin.remember_settings());
    PASS.run(|| run_secs::take_consumed(plugin, &plugin.settings()));
    PASS.run(|| {
        if let Err(error) = crash_recovery::charge_again(plugin, &mut work.snapshot) {
            log::error(format_args!(
                "{error}; if slurmctld crashed, usage of jobs that ended after the last save may be \
                 lost"
            ));
        }
    });
    let (mut is_first, mut is_due) = (true, true);
    while !plugin.thread.stopping() {
        if host::is_ending() {
            // The next pass fulfils the request, whenever it comes.
            plugin.thread.take_asked();
            plugin.thread.wait_until(thread::monotonic() + WHILE_ENDING);
            continue;
        }
        PASS.forget();
        before_each();
        // A request from now on is for a further pass, because it may be about newer settings.
        plugin.thread.take_asked();
        // An extra pass does not shift the others.
        let next = match is_due {
            true => deadline + period(plugin),
            false => deadline,
        };
        let ended = PASS.run(|| match pass(plugin, &mut work, next) {
            Ok(()) => {}
            Err(PassError::Snapshot(error @ SnapshotError::Ending)) => {
                log::debug(format_args!("{error}: the pass stops"));
            }
            Err(error) => log::error(format_args!("{error}; priorities do not change")),
        });
        if ended.is_none() {
            // Data left by a panic is discarded.
            work = Workspace::default();
        }
        if std::mem::take(&mut is_first) {
            PASS.run(|| leave_first_dump(plugin));
        }
        if plugin.settings().passes_once() {
            return;
        }
        if is_due {
            deadline = thread::next_deadline(deadline, period(plugin), thread::monotonic());
        }
        is_due = wait(plugin, &mut work, deadline);
    }
}

/// Called after the first pass, so that slurmctld can restart even if it is killed early. Not with
/// `compat=slurm`: it has no state of its own, and the usage so far would be lost silently. In that
/// case slurmctld does not restart, as with stock, until an administrator starts it with `-i`.
fn leave_first_dump(plugin: &Plugin) {
    let settings = plugin.settings();
    let asks = RELEASE.facts().needs_usage_file && !settings.quirks.has_no_state_file;
    if !asks || !settings.has_slurmdbd {
        return;
    }
    let dir = settings.state_dir.clone();
    let job: Job = Box::new(move |wanted| {
        state::leave_first_dump(&dir, host::protocol_version(), wanted)?;
        let missing = |name: &&str| !dir.join(name).exists();
        if host::FIRST_STATES.iter().any(missing) && wanted() && !host::is_ending() {
            host::save_first_states();
        }
        Ok(())
    });
    if let Err(error) = plugin.saver.save(job) {
        log::verbose(format_args!(
            "cannot write initial state: {error}; if slurmctld is killed within 5 min, start it with -i"
        ));
    }
}

fn period(plugin: &Plugin) -> Duration {
    Duration::from_secs(plugin.settings().config.priority_calc_period_secs.into())
}

/// Waits for the next pass. If ends of jobs are not reported, looks for them before slurmctld
/// forgets the jobs. Returns false if an extra pass is requested, or the thread must stop.
fn wait(plugin: &Plugin, work: &mut Workspace, deadline: Duration) -> bool {
    while let Some(every) = unreported_ends::interval(&plugin.settings()) {
        let next = thread::monotonic() + every;
        if next >= deadline {
            break;
        }
        if !plugin.thread.wait_until(next) {
            return false;
        }
        PASS.run(
            || match unreported_ends::charge_ends(plugin, &mut work.snapshot) {
                Ok(()) | Err(SnapshotError::Ending) => {}
                Err(error) => log::error(format_args!(
                    "{error}; ended jobs are charged by the next pass"
                )),
            },
        );
    }
    plugin.thread.wait_until(deadline)
}
