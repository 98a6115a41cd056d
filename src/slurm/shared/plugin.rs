//! The one global: data shared by hooks and thread, from init to fini.

use super::charged_until::ChargedUntil;
use super::journal::Journal;
use super::published_factors::PublishedFactors;
use super::scratch::Scratch;
use crate::engine;
use crate::slurm::ledger::exchange::Found;
use crate::slurm::ledger::run_ledgers::RunLedgers;
use crate::slurm::ledger::seen::SeenRun;
use crate::slurm::line::StandingLine;
use crate::slurm::runtime::fault_injection::{self, FaultInjection};
use crate::slurm::runtime::guard;
use crate::slurm::runtime::host::{self, UsageLock};
use crate::slurm::runtime::log;
use crate::slurm::runtime::plugin_instance::PluginInstance;
use crate::slurm::runtime::sync::{Arc, Mutex, RwLock};
use crate::slurm::runtime::thread::{ClockWatch, Thread};
use crate::slurm::state::accepted_settings::{self, Accepted};
use crate::slurm::state::ledger_files::Others;
use crate::slurm::state::saver::{Job, Saver};
use crate::slurm::state::settings::{AtStart, RELEASE, Settings, version};
use crate::slurm::state::{self, SaveAlerts, Saved, State};
use crate::tree::AssocId;
use crate::usage::{Decay, ResetSchedule};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Set by init, emptied by fini: slurmctld may call both several times in one process.
static PLUGIN: PluginInstance<Plugin> = PluginInstance::new();

/// All data of the plugin.
pub(in crate::slurm) struct Plugin {
    pub(in crate::slurm) fault: FaultInjection,
    settings: RwLock<Arc<Settings>>,
    pub(in crate::slurm) shared: Mutex<Shared>,
    /// Results of the last pass. A leaf, as the mutexes are.
    pub(in crate::slurm) published: RwLock<PublishedFactors>,
    /// The order of waiting jobs, if one is requested. Also a leaf.
    pub(in crate::slurm) line: Mutex<StandingLine>,
    /// Held while the factors in jobs' records are read or written under only a read lock of jobs:
    /// taken after that lock, and before any lock of the association manager.
    pub(in crate::slurm) factors: RwLock<()>,
    /// Scratch memory for hooks that process one job. Boxed, because it is moved for each job.
    #[expect(
        clippy::vec_box,
        reason = "a pointer is moved instead of 1 KiB, twice for each job"
    )]
    scratch: Mutex<Vec<Box<Scratch>>>,
    pub(in crate::slurm) thread: Thread,
    pub(in crate::slurm) clock: ClockWatch,
    pub(in crate::slurm) saving: Mutex<SaveAlerts>,
    pub(in crate::slurm) saver: Saver,
    pub(in crate::slurm) saved: Arc<Saved>,
    /// True if the ledger must know runs: a ledger is requested, or was at some time.
    keeps_ledger: AtomicBool,
    /// The ledger. Taken by the thread that makes passes, by the one that saves their results, and
    /// by fini afterwards; never under a lock of slurmctld.
    pub(in crate::slurm) ledger: Arc<Mutex<LedgerState>>,
    /// Files of other sources of use. The holder of this lock may be waiting for a disk.
    pub(in crate::slurm) others: Arc<parking_lot::Mutex<Others>>,
    /// Settings that must still be remembered on disk.
    accepted: Mutex<Option<Accepted>>,
    /// Latest time before which no pass changes usage, according to any state on disk or being
    /// written.
    announced: AtomicI64,
}

/// Data that changes with passes and ends of jobs. Its mutex is a leaf.
pub(in crate::slurm) struct Shared {
    /// Times up to which use was charged; all usage in slurmctld's records is valued at the last
    /// pass.
    pub(in crate::slurm) charged_until: ChargedUntil,
    pub(in crate::slurm) resets: ResetSchedule,
    /// Decay of the last pass. Stock uses it to charge ends of jobs until the next pass, even if
    /// the configuration has changed.
    pub(in crate::slurm) decay: Decay,
    /// Charges of the job_end hook by association: those newer than the last snapshot.
    pub(in crate::slurm) journal: Journal,
    /// Runs whose end was reported, and which no pass has added to the ledger yet.
    ended: Vec<SeenRun<'static>>,
    /// Run times, in seconds, of runs that have ended since the last pass, by association; under
    /// `expect=history`.
    run_times: Vec<(AssocId, u32)>,
    /// Usage from our own state file that must still be restored.
    restore: Option<Box<State>>,
    /// Ends of jobs that were charged after this time are missing in the usage with which slurmctld
    /// started. `None`: unknown, or they were charged again.
    pub(in crate::slurm) usage_as_of: Option<i64>,
}

/// Maximum number of remembered ends: passes find others if slurmctld still remembers them.
const MOST_ENDED: usize = 1 << 18;

/// The ledger's data for the thread that makes passes.
#[derive(Default)]
pub(in crate::slurm) struct LedgerState {
    pub(in crate::slurm) ledgers: RunLedgers,
    /// Content of the files, before there are ledgers.
    pub(in crate::slurm) found: Option<Found>,
    /// Ends that were reported before the last snapshot, and are not in the ledgers yet.
    pub(in crate::slurm) ended: Vec<SeenRun<'static>>,
}

impl Shared {
    /// Records a run that has ended: for the ledger, and its run time.
    pub(in crate::slurm) fn note_seen(
        &mut self,
        seen: SeenRun<'_>,
        keeps_ledger: bool,
        learns: bool,
    ) {
        if learns {
            self.note_run_time(&seen);
        }
        if keeps_ledger && self.ended.len() < MOST_ENDED {
            self.ended.push(seen.into_owned());
        }
    }

    /// Ends since the last call.
    pub(in crate::slurm) fn take_ended(&mut self) -> Vec<SeenRun<'static>> {
        std::mem::take(&mut self.ended)
    }

    fn note_run_time(&mut self, seen: &SeenRun<'_>) {
        if self.run_times.len() < MOST_ENDED {
            self.run_times.extend(seen.run_time());
        }
    }

    /// Run times since the last call.
    pub(in crate::slurm) fn take_run_times(&mut self) -> Vec<(AssocId, u32)> {
        std::mem::take(&mut self.run_times)
    }

    pub(in crate::slurm) fn is_restoring(&self) -> bool {
        self.restore.is_some()
    }
}

impl Plugin {
    fn start() -> Result<Plugin, String> {
        let AtStart {
            settings,
            refused,
            accepted,
        } = Settings::read_at_start()?;
        if let Some(refused) = refused {
            log::error(refused);
        }
        let settings = settings.at_start();
        log::info(format_args!(
            "{}; settings in force: {}",
            version(),
            settings.in_force()
        ));
        let fault = injected_fault();
        let start = host::now();
        let found = if settings.counts_passes_only() {
            // In this mode stock records when passes ran, and never reads it.
            state::Loaded::default()
        } else {
            state::load(&settings.state_dir, !settings.quirks.has_no_state_file)
        };
        for line in &found.complaints {
            log::error(line);
        }
        for line in &found.notes {
            log::verbose(line);
        }
        let last_reset = found.last_reset.unwrap_or(start);
        let shared = Shared {
            charged_until: ChargedUntil::new(found.last_ran),
            resets: ResetSchedule::new(
                settings.config.priority_usage_reset_period,
                settings.config.compat,
                last_reset,
            ),
            decay: engine::decay(&settings.config),
            journal: Journal::default(),
            ended: Vec::new(),
            run_times: Vec::new(),
            restore: found.saved.map(Box::new),
            usage_as_of: found.usage_as_of,
        };
        let dir = &settings.state_dir;
        let keeps_ledger = settings.can_keep_ledger()
            && (settings.by_ledger() || state::ledger_files::exists(dir));
        Ok(Plugin {
            fault,
            settings: RwLock::new(Arc::new(settings)),
            shared: Mutex::new(shared),
            published: RwLock::default(),
            line: Mutex::new(StandingLine::knowing(&found.order)),
            factors: RwLock::default(),
            scratch: Mutex::default(),
            thread: Thread::default(),
            clock: ClockWatch::default(),
            saving: Mutex::default(),
            saver: Saver::default(),
            keeps_ledger: AtomicBool::new(keeps_ledger),
            ledger: Arc::default(),
            others: Arc::default(),
            saved: Arc::new(Saved::new(found.last_ran, found.order)),
            accepted: Mutex::new(accepted),
            announced: AtomicI64::new(found.next_pass.unwrap_or(i64::MIN)),
        })
    }

    pub(in crate::slurm) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    /// Applies new settings; invalid ones are refused by name, and the old ones stay.
    pub(in crate::slurm) fn reconfigure(&self, lock: bool) {
        match Settings::read(lock) {
            Ok(settings) => {
                let config = &settings.config;
                let mut shared = self.shared.lock();
                shared
                    .resets
                    .set_period(config.priority_usage_reset_period, config.compat);
                if settings.quirks.resets_again {
                    // Stock resets again (RESET NOW) whenever it rereads its settings.
                    shared.resets.arm();
                }
                drop(shared);
                if settings.by_ledger() {
                    self.keeps_ledger.store(true, Ordering::Relaxed);
                }
                log::info(format_args!("settings in force: {}", settings.in_force()));
                *self.settings.write() = Arc::new(settings);
            }
            Err(error) => {
                log::error(format_args!(
                    "{error}; keeping the old settings; slurmctld will not start again with the new ones"
                ));
                log::info(format_args!(
                    "settings in force: {}",
                    self.settings().in_force()
                ));
            }
        }
    }

    /// Returns true if there is a ledger to which runs must be reported.
    pub(in crate::slurm) fn keeps_ledger(&self, settings: &Settings) -> bool {
        settings.can_keep_ledger() && self.keeps_ledger.load(Ordering::Relaxed)
    }

    /// Saves accepted settings, once. Not in init, which may be called under all of slurmctld's
    /// locks.
    pub(in crate::slurm) fn remember_settings(&self) {
        let Some(accepted) = self.accepted.lock().take() else {
            return;
        };
        let dir = self.settings().state_dir.clone();
        let store: Job = Box::new(move |wanted| accepted_settings::store(&dir, &accepted, wanted));
        if let Err(error) = self.saver.save(store) {
            log::error(format_args!("cannot save the accepted settings: {error}"));
        }
    }

    /// Called before state is saved that announces no pass before this time.
    pub(in crate::slurm) fn announce(&self, next_pass: i64) {
        self.announced.fetch_max(next_pass, Ordering::Relaxed);
    }

    /// Returns true if saved state announces no pass until after `now`.
    pub(in crate::slurm) fn is_before_announced(&self, now: i64) -> bool {
        now < self.announced.load(Ordering::Relaxed)
    }

    /// Called when no state on disk announces a later pass any more.
    pub(in crate::slurm) fn withdraw_announced(&self, now: i64) {
        self.announced.store(now, Ordering::Relaxed);
    }

    /// Scratch memory for one job; return it with [`Plugin::give_back`].
    pub(in crate::slurm) fn scratch(&self) -> Box<Scratch> {
        self.scratch.lock().pop().unwrap_or_default()
    }

    pub(in crate::slurm) fn give_back(&self, scratch: Box<Scratch>) {
        let mut kept = self.scratch.lock();
        if kept.len() < 4 {
            kept.push(scratch);
        }
    }

    /// Restores usage from our own state file, once, before anything is charged. Not while
    /// slurmctld has no associations.
    pub(in crate::slurm) fn restore(&self, lock: &UsageLock) {
        if !host::has_root() {
            return;
        }
        let saved = self.shared.lock().restore.take();
        if let Some(mut saved) = saved {
            saved.put_back(lock);
            log::info(format_args!(
                "usage restored from the plugin's state file (pass at {})",
                saved.last_ran
            ));
        }
    }
}

fn injected_fault() -> FaultInjection {
    let Ok(text) = std::env::var(fault_injection::VARIABLE) else {
        return FaultInjection::default();
    };
    match FaultInjection::parse(&text) {
        Ok(fault) => {
            let place = fault.place().unwrap_or("nowhere");
            log::info(format_args!(
                "{}={text}: fault injection is active at {place}",
                fault_injection::VARIABLE
            ));
            fault
        }
        Err(error) => {
            log::error(error);
            FaultInjection::default()
        }
    }
}

/// Sets the plugin up; afterwards all data of hooks and thread exists. A second call has no effect.
pub(in crate::slurm) fn init() -> Result<Arc<Plugin>, String> {
    let plugin = PLUGIN.get_or_try_init(|| {
        guard::silence();
        Plugin::start()
    })?;
    log::verbose(format_args!(
        "fairtree {} for Slurm {RELEASE} loaded",
        env!("CARGO_PKG_VERSION")
    ));
    Ok(plugin)
}

/// The plugin, between init and fini.
pub(in crate::slurm) fn get() -> Option<Arc<Plugin>> {
    PLUGIN.get()
}

/// Removes the plugin and returns it.
pub(in crate::slurm) fn take() -> Option<Arc<Plugin>> {
    PLUGIN.take()
}
