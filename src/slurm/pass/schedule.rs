//! The body of the plugin's thread: a pass now, then one every period, and one more at once where
//! somebody asks for it.

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

/// How long a pass is put off at a time while slurmctld is about to end: it may go on after all.
const WHILE_ENDING: Duration = Duration::from_secs(1);

/// Makes passes until the thread is to stop; calls `before_each` before each of them.
pub(in crate::slurm) fn run(plugin: &Plugin, before_each: fn()) {
    let mut work = Workspace::default();
    let mut deadline = thread::monotonic();
    PASS.run(|| plugin.remember_settings());
    PASS.run(|| run_secs::take_consumed(plugin, &plugin.settings()));
    PASS.run(|| {
        if let Err(error) = crash_recovery::charge_again(plugin, &mut work.snapshot) {
            log::error(format_args!("{error}; ends before a crash may be lost"));
        }
    });
    let (mut is_first, mut is_due) = (true, true);
    while !plugin.thread.stopping() {
        if host::is_ending() {
            // The pass that is asked for is the next one, whenever that is.
            plugin.thread.take_asked();
            plugin.thread.wait_until(thread::monotonic() + WHILE_ENDING);
            continue;
        }
        PASS.forget();
        before_each();
        // Whoever asks from now on, for the sake of other settings, asks for another one.
        plugin.thread.take_asked();
        // One that was asked for does not move the others.
        let next = match is_due {
            true => deadline + period(plugin),
            false => deadline,
        };
        let ended = PASS.run(|| match pass(plugin, &mut work, next) {
            Ok(()) => {}
            Err(PassError::Snapshot(error @ SnapshotError::Ending)) => {
                log::debug(format_args!("{error}: the pass stops"));
            }
            Err(error) => log::error(format_args!("{error}; priorities stay as they are")),
        });
        if ended.is_none() {
            // What a panic left behind is not worth keeping.
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

/// After the first pass: slurmctld shall start again however soon it is killed. `compat=slurm` has no
/// state of its own, and what was used so far would be lost without a word; there it stays down, as
/// with stock, until an administrator starts it with `-i`.
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
            "killed within its first minutes, slurmctld would have to be started with -i: {error}"
        ));
    }
}

fn period(plugin: &Plugin) -> Duration {
    Duration::from_secs(plugin.settings().config.priority_calc_period_secs.into())
}

/// Waits for the next pass; where ends of jobs are not reported, looks for them before slurmctld
/// forgets the jobs. False: another one is asked for, or the thread is to stop.
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
