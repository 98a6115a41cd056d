//! The symbols that slurmctld (and sshare) look up by name.
//!
//! Every hook runs inside a guard: a panic is logged once and goes no further, and slurmctld keeps
//! its old values. The build script decides which symbols a release needs.

use super::factors_list;
use super::lazy_usage;
use super::price;
use crate::slurm::charges::{job_end, run_secs};
use crate::slurm::line;
use crate::slurm::pass::{ledger_upkeep, schedule};
use crate::slurm::runtime::guard::{self, Hook};
use crate::slurm::runtime::host::{self, SLURM_VERSION_NUMBER, UsageLock, ffi};
use crate::slurm::runtime::log;
use crate::slurm::runtime::plugin_instance;
use crate::slurm::runtime::sync::Arc;
use crate::slurm::shared::plugin::{self, Plugin};
use crate::slurm::state::saver::{self, Job};
use crate::slurm::state::{self, Stamp, StoredUsage};
use std::ffi::{c_int, c_void};
use std::time::Duration;

const SUCCESS: c_int = 0;
const FAILURE: c_int = -1;

const TYPE: &[u8; 18] = b"priority/fairtree\0";
const NAME: &[u8; 25] = b"Priority FAIRTREE plugin\0";

/// Shown by `scontrol show config` and in the log.
#[unsafe(no_mangle)]
pub static plugin_name: [u8; NAME.len()] = *NAME;

/// `PriorityType`.
#[unsafe(no_mangle)]
pub static plugin_type: [u8; TYPE.len()] = *TYPE;

/// The release for which the plugin is built: major, minor, micro.
#[unsafe(no_mangle)]
pub static plugin_version: u32 = SLURM_VERSION_NUMBER;

static INIT: Hook = Hook::new("init");
static FINI: Hook = Hook::new("fini");
static SET: Hook = Hook::new("set");
static RECONFIG: Hook = Hook::new("reconfig");
static SET_ASSOC_USAGE: Hook = Hook::new("set_assoc_usage");
static FACTORS_LIST: Hook = Hook::new("get_priority_factors_list");
static JOB_END: Hook = Hook::new("job_end");

/// Called by every pass: the next failure of each hook is logged again.
pub(in crate::slurm) fn forget_failures() {
    for hook in [&SET, &RECONFIG, &SET_ASSOC_USAGE, &FACTORS_LIST, &JOB_END] {
        hook.forget();
    }
}

/// Called once after loading. Takes no lock of slurmctld: some releases hold all of them here.
#[unsafe(no_mangle)]
pub extern "C" fn init() -> c_int {
    INIT.run(|| {
        if !host::in_slurmctld() {
            return SUCCESS;
        }
        match start() {
            Ok(()) => SUCCESS,
            Err(error) => {
                log::error(format_args!("{error}; slurmctld will not start"));
                FAILURE
            }
        }
    })
    .unwrap_or(FAILURE)
}

fn start() -> Result<(), String> {
    if !host::site_init() {
        return Err("cannot load the site factor plugin (PrioritySiteFactorPlugin)".to_string());
    }
    let plugin = plugin::init().inspect_err(|_| host::site_fini())?;
    if plugin.settings().has_slurmdbd {
        host::root_uses_all();
    } else {
        log::error("no slurmdbd: no usage is known, so the fair-share factors of all jobs are 0");
    }
    if cfg!(not(slurm_has_thread_start)) {
        start_thread(&plugin);
    }
    Ok(())
}

fn start_thread(plugin: &Arc<Plugin>) {
    let inside = Arc::clone(plugin);
    if let Err(error) = plugin
        .thread
        .start(move || schedule::run(&inside, forget_failures))
    {
        log::error(format_args!(
            "cannot start the thread for passes: {error}; priorities will not change"
        ));
    }
}

/// Called before unloading, without locks. Nothing of the plugin runs afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn fini() -> c_int {
    FINI.run(|| {
        let Some(plugin) = plugin::take() else {
            return;
        };
        plugin.saver.wait_no_more();
        plugin.thread.stop();
        let_hooks_end(&plugin);
        // If the disk hangs, give up: slurmctld's own dump, which came before, is used then.
        if let Err(error) = plugin.saver.finish(last_state(&plugin), saver::BOUND) {
            log::error(format_args!("cannot save state: {error}"));
        }
        host::site_fini();
        guard::restore();
    });
    SUCCESS
}

/// Waits for hooks that are running in other threads of slurmctld; each has its own reference.
/// Their code must stay mapped until they return. The wait is bounded, because a hook that waits
/// for a lock of slurmctld may be waiting for the thread that unloads the plugin.
fn let_hooks_end(plugin: &Arc<Plugin>) {
    const A_WHILE_MS: u32 = 2_000;
    let mut left = A_WHILE_MS;
    plugin_instance::wait_until_unused(plugin, || {
        std::thread::sleep(Duration::from_millis(1));
        left -= 1;
        left > 0
    });
}

/// Final state to save. slurmctld has already saved usage, but as truncated text; ours is exact.
fn last_state(plugin: &Plugin) -> Option<Job> {
    let settings = plugin.settings();
    if !settings.has_slurmdbd || !host::has_root() {
        return None;
    }
    let mut stored = StoredUsage::default();
    let stamp = {
        let lock = UsageLock::lock();
        let shared = plugin.shared.lock();
        // Without a pass, or if usage must still be restored, the files are correct as they are.
        let last_ran = shared
            .charged_until
            .last_ran()
            .filter(|_| !shared.is_restoring())?;
        let last_reset = shared.resets.last_reset();
        drop(shared);
        stored.begin(&lock, 0);
        stored.take_assocs(&lock);
        stored.take_qos(&lock);
        let now = host::now();
        // The next slurmctld may make a pass at once.
        Stamp::new(now, last_ran, last_reset, now)
    };
    let dir = settings.state_dir.clone();
    let job = state::saving(stored, stamp, dir, plugin.saved.clone());
    if plugin.keeps_ledger(&settings) {
        ledger_upkeep::take_last_ends(plugin);
    }
    Some(ledger_upkeep::saving(plugin, &settings, job))
}

/// Called when slurmctld is ready for passes.
#[cfg(slurm_has_thread_start)]
#[unsafe(no_mangle)]
pub extern "C" fn priority_p_thread_start() {
    INIT.run(|| {
        if let Some(plugin) = plugin::get() {
            start_thread(&plugin);
        }
    });
}

/// Called once after start; may return an increase of the lowest priority: 0.
#[cfg(slurm_has_recover)]
#[unsafe(no_mangle)]
pub extern "C" fn priority_p_recover(_prio_boost: u32) -> u32 {
    0
}

/// The priority of a job that is submitted, updated or released.
///
/// # Safety
/// `job` is slurmctld's job record; the caller holds the job write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn priority_p_set(_last_prio: u32, job: *mut c_void) -> u32 {
    let set = SET.run(|| {
        let plugin = plugin::get()?;
        // SAFETY: the caller's promise.
        match unsafe { price::set(&plugin, job) } {
            Ok(priority) => Some(priority),
            Err(error) => {
                log::error(format_args!(
                    "cannot compute the priority of a job: {error}; it does not change, or is 1 if \
                     it was not set"
                ));
                None
            }
        }
    });
    set.flatten().unwrap_or_else(|| {
        let mut unset = false;
        // SAFETY: the caller's promise.
        let now = unsafe { ffi::shim_job_priority(job, &mut unset) };
        // A job without a priority gets the lowest one that is not held, until the next pass.
        if unset || now == 0 { 1 } else { now }
    })
}

/// Settings may have changed. `assoc_clear`: slurmctld has rebuilt its records; only in this case
/// does the caller hold no lock.
#[unsafe(no_mangle)]
pub extern "C" fn priority_p_reconfig(assoc_clear: bool) {
    RECONFIG.run(|| {
        let Some(plugin) = plugin::get() else {
            return;
        };
        plugin.fault.inject("reconfig");
        let before = plugin.settings();
        plugin.reconfigure(assoc_clear);
        let settings = plugin.settings();
        if assoc_clear {
            let both = [&before, &settings].map(|settings| settings.config.ranking());
            run_secs::after_reconfigure(
                &plugin,
                &settings,
                both[0] != both[1] && !settings.quirks.keeps_run_secs,
            );
        }
        host::site_reconfig();
        // Waiting jobs keep the numbers of the old order, or have none, until the next pass.
        if line::changes(&before.config, &settings.config) {
            plugin.thread.ask_for_pass();
        }
    });
}

/// Computes effective and normalised usage of an association that has none yet.
///
/// # Safety
/// `assoc` is slurmctld's association; the caller holds at least its read lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn priority_p_set_assoc_usage(assoc: *mut c_void) {
    SET_ASSOC_USAGE.run(|| {
        let Some(plugin) = plugin::get() else {
            return;
        };
        plugin.fault.inject("set_assoc_usage");
        // SAFETY: the caller's promise.
        unsafe { lazy_usage::compute(&plugin.settings(), assoc) }
        #[cfg(not(slurm_has_calc_fs_factor))]
        // SAFETY: the caller's promise.
        unsafe {
            crate::slurm::hooks::record_fs_factor::write(&plugin.settings(), assoc);
        }
    });
}

/// The rows of sprio.
///
/// # Safety
/// `request` is slurmctld's or NULL; the caller holds read locks of jobs, nodes and partitions if
/// `shim_factors_lock` takes none.
#[cfg(slurm_has_factors_request)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn priority_p_get_priority_factors_list(
    request: *const c_void,
    user_id: u32,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { factors(request, user_id) }
}

/// The rows of sprio.
///
/// # Safety
/// The caller holds read locks of jobs, nodes, partitions and QOS.
#[cfg(not(slurm_has_factors_request))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn priority_p_get_priority_factors_list(user_id: u32) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { factors(std::ptr::null(), user_id) }
}

/// # Safety
/// As the hooks above.
unsafe fn factors(request: *const c_void, user_id: u32) -> *mut c_void {
    let list = FACTORS_LIST.run(|| {
        let plugin = plugin::get()?;
        // SAFETY: the caller's promise.
        Some(unsafe { factors_list::list(&plugin, request, user_id) })
    });
    list.flatten().unwrap_or(std::ptr::null_mut())
}

/// A job, or one of its sizes, has ended.
///
/// # Safety
/// `job` is slurmctld's job record; the caller holds the job write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn priority_p_job_end(job: *mut c_void) {
    JOB_END.run(|| {
        if let Some(plugin) = plugin::get() {
            // SAFETY: the caller's promise.
            unsafe { job_end::job_end(&plugin, job) }
        }
    });
}
