//! Models of concurrent hooks and the plugin's thread, run by loom in every order.
//!
//! The tested code is the real one: [`Thread`], [`PluginInstance`], [`ChargesSincePass`], the locks
//! of `sync` and the engine's `charge`. slurmctld is simulated here: its locks of jobs and of
//! usage, one job, one counter of usage, and a clock that advances whenever it is read. The steps
//! of a pass and of the hook are those of `pass`, `compute`, `apply` and `charge`.

use super::charges_since_pass::ChargesSincePass;
use super::published_factors::PublishedFactors;
use crate::compat::Compat;
use crate::priority::TimeLimit;
use crate::slurm::runtime::plugin_instance::{self, PluginInstance};
use crate::slurm::runtime::sync::{Arc, AtomicBool, Mutex, Ordering, RwLock, thread};
use crate::slurm::runtime::thread::{Thread, monotonic};
use crate::usage::{Decay, Period, Phase, Run, RunState, charge};
use std::time::Duration;

const FAR: Duration = Duration::from_secs(3600);
const JOB: u32 = 7;
const START: i64 = 100;

#[test]
fn a_stop_ends_a_thread_however_it_sleeps() {
    loom::model(|| {
        let thread = Arc::new(Thread::default());
        let inside = Arc::clone(&thread);
        let body = move || {
            while !inside.stopping() {
                inside.wait_until(monotonic() + FAR);
            }
        };
        thread.start(body).unwrap();
        thread.stop();
    });
}

#[test]
fn a_pass_that_is_asked_for_ends_a_sleep() {
    loom::model(|| {
        let thread = Arc::new(Thread::default());
        let inside = Arc::clone(&thread);
        let sleeper = thread::spawn(move || inside.wait_until(monotonic() + FAR));
        thread.ask_for_pass();
        // In every order: loom reports a sleeper that is never woken.
        assert!(!sleeper.join().unwrap());
        assert!(thread.take_asked());
    });
}

#[test]
fn a_stop_beside_a_start_leaves_no_thread() {
    loom::model(|| {
        let thread = Arc::new(Thread::default());
        let starter = {
            let thread = Arc::clone(&thread);
            thread::spawn(move || {
                let inside = Arc::clone(&thread);
                let body = move || {
                    inside.wait_until(monotonic() + FAR);
                };
                thread.start(body).unwrap();
            })
        };
        thread.stop();
        starter.join().unwrap();
        // In every order, no thread sleeps for ever: loom reports one that does.
    });
}

#[test]
fn fini_outlives_every_hook() {
    loom::model(|| {
        let slot: Arc<PluginInstance<AtomicBool>> = Arc::new(PluginInstance::new());
        slot.get_or_try_init(|| Ok::<_, ()>(AtomicBool::new(false)))
            .unwrap();
        let hooks: Vec<_> = (0..2)
            .map(|_| {
                let slot = Arc::clone(&slot);
                thread::spawn(move || {
                    if let Some(ended) = slot.get() {
                        assert!(!ended.load(Ordering::SeqCst), "a hook after the end");
                    }
                })
            })
            .collect();
        let value = slot.take().unwrap();
        plugin_instance::wait_until_unused(&value, || {
            thread::yield_now();
            true
        });
        value.store(true, Ordering::SeqCst);
        drop(value);
        assert!(slot.get().is_none());
        for hook in hooks {
            hook.join().unwrap();
        }
    });
}

/// slurmctld's record of a job.
#[derive(Clone, Copy)]
struct Job {
    end_time: i64,
    resize_time: i64,
    resizing: bool,
    charged: bool,
}

struct Shared {
    last_ran: Option<i64>,
    charges_since_pass: ChargesSincePass,
}

/// slurmctld, and the plugin in it.
struct World {
    clock: Mutex<i64>,
    jobs: Mutex<Job>,
    usage: Mutex<f64>,
    shared: Mutex<Shared>,
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            clock: Mutex::new(200),
            jobs: Mutex::new(Job {
                end_time: 0,
                resize_time: 0,
                resizing: false,
                charged: false,
            }),
            usage: Mutex::new(0.0),
            shared: Mutex::new(Shared {
                last_ran: Some(START),
                charges_since_pass: ChargesSincePass::default(),
            }),
        })
    }

    fn now(&self) -> i64 {
        let mut clock = self.clock.lock();
        *clock += 10;
        *clock
    }

    /// Charge of the job from the last charge to its end, or to `now`.
    fn charge(job: &Job, shared: &Shared, last_ran: Option<i64>, now: i64, at_end: bool) -> f64 {
        let remembered = shared.charges_since_pass.until(JOB, START);
        let recorded = (!job.resizing && job.resize_time > START).then_some(job.resize_time);
        let phase = if job.end_time == 0 || job.resizing {
            Phase::Running
        } else {
            Phase::Finished
        };
        let run = Run {
            state: RunState {
                phase,
                resizing: job.resizing,
                ..RunState::default()
            },
            start_time: START,
            end_time: job.end_time,
            end_time_exp: (!job.charged).then_some(100_000),
            time_limit: TimeLimit::Minutes(1000),
            billable_tres: 1.0,
            usage_factor: 1.0,
            charged_until: remembered.max(recorded),
            passed: None,
            run_secs_renewed: false,
        };
        let decay = Decay::new(0, Compat::Documented);
        let period = Period::between_passes(last_ran, now);
        charge(&decay, &run, &period, at_end).map_or(0.0, |found| found.decayed.usage)
    }

    /// The hook: the job's record is in the state in which slurmctld calls it.
    fn job_end(&self, job: &mut Job) {
        let mut usage = self.usage.lock();
        let now = self.now();
        let mut shared = self.shared.lock();
        let used = World::charge(job, &shared, shared.last_ran, now, true);
        let until = if job.end_time != 0 {
            now.min(job.end_time)
        } else {
            now
        };
        shared
            .charges_since_pass
            .note(JOB, START, until, !job.resizing);
        drop(shared);
        *usage += used;
        drop(usage);
        job.charged |= !job.resizing;
    }

    fn end(&self) {
        let mut job = self.jobs.lock();
        job.end_time = self.now();
        self.job_end(&mut job);
    }

    fn resize(&self) {
        let mut job = self.jobs.lock();
        job.resizing = true;
        job.resize_time = self.now();
        self.job_end(&mut job);
        job.resizing = false;
    }

    fn pass(&self) {
        let (job, now, last_ran, snapshot) = {
            let job = self.jobs.lock();
            let _usage = self.usage.lock();
            let mut shared = self.shared.lock();
            (
                *job,
                self.now(),
                shared.last_ran,
                shared.charges_since_pass.snapshot(),
            )
        };
        let used = {
            let shared = self.shared.lock();
            World::charge(&job, &shared, last_ran, now, false)
        };
        let mut usage = self.usage.lock();
        let mut shared = self.shared.lock();
        if !shared.charges_since_pass.is_since(snapshot, JOB, START) {
            *usage += used;
        }
        shared.last_ran = Some(now);
        shared.charges_since_pass.pass(now);
    }
}

/// Runs `hooks` concurrently with passes; afterwards every second of the job is charged exactly
/// once.
fn every_second_counts_once(hooks: fn(&World)) {
    loom::model(move || {
        let world = World::new();
        let hook = {
            let world = Arc::clone(&world);
            thread::spawn(move || hooks(&world))
        };
        world.pass();
        world.pass();
        hook.join().unwrap();
        world.pass();
        let end_time = world.jobs.lock().end_time;
        assert_eq!(*world.usage.lock(), (end_time - START) as f64);
    });
}

#[test]
fn an_end_beside_passes_is_charged_once() {
    every_second_counts_once(World::end);
}

#[test]
fn a_resize_and_an_end_beside_passes_are_charged_once() {
    every_second_counts_once(|world| {
        world.resize();
        world.end();
    });
}

#[test]
fn a_price_sees_the_factors_of_one_pass() {
    loom::model(|| {
        let published: Arc<RwLock<PublishedFactors>> =
            Arc::new(RwLock::new(PublishedFactors::default()));
        let pricing = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                assert_eq!(published.read().factor_or_estimate(&[]), None);
            })
        };
        *published.write() = PublishedFactors::default();
        pricing.join().unwrap();
    });
}
