//! The thread that makes passes, and its period.
//!
//! Waits use the C library's monotonic clock: steps of the wall clock neither delay a pass nor
//! cause several passes in a row, and after a stall the period starts again.

use super::sync::thread::{Builder, JoinHandle};
use super::sync::{AtomicBool, InterruptibleWait, Mutex, Ordering};
use crate::config::Config;
use std::mem::MaybeUninit;
use std::time::Duration;

/// A thread that can be started once, and stopped without delay.
#[derive(Default)]
pub(in crate::slurm) struct Thread {
    handle: Mutex<Option<JoinHandle<()>>>,
    stop: AtomicBool,
    /// True if a pass must be made at once.
    asked: AtomicBool,
    wait: InterruptibleWait,
}

impl Thread {
    /// Starts `body`; does nothing if it runs already, or after a stop was requested.
    pub(in crate::slurm) fn start(
        &self,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<()> {
        let mut handle = self.handle.lock();
        if handle.is_none() && !self.stopping() {
            *handle = Some(Builder::new().name("fairtree".into()).spawn(body)?);
        }
        Ok(())
    }

    /// Requests the thread to end, and waits until it has ended.
    pub(in crate::slurm) fn stop(&self) {
        // Under the lock, so that a concurrent start either comes before, or does nothing.
        let handle = {
            let mut handle = self.handle.lock();
            self.stop.store(true, Ordering::SeqCst);
            handle.take()
        };
        self.wait.wake();
        if let Some(handle) = handle {
            // The body runs inside a guard; a panic that still gets here was reported.
            let _ = handle.join();
        }
    }

    pub(in crate::slurm) fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Ends the thread's present wait for a pass, or its next one, at once. Never waits itself.
    pub(in crate::slurm) fn ask_for_pass(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.wait.wake();
    }

    /// Returns true if a pass was requested since the last call.
    pub(in crate::slurm) fn take_asked(&self) -> bool {
        self.asked.swap(false, Ordering::SeqCst)
    }

    /// Waits until `deadline` of [`monotonic`], until a pass is requested, or until the thread must
    /// stop. Returns true if only the deadline ended the wait.
    pub(in crate::slurm) fn wait_until(&self, deadline: Duration) -> bool {
        let interrupted = || self.stopping() || self.asked.load(Ordering::SeqCst);
        self.wait.wait_until(deadline, interrupted);
        !interrupted()
    }
}

/// Time since an arbitrary start; never steps back.
pub(in crate::slurm) fn monotonic() -> Duration {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the clock exists on every Linux, and the call then fills `now`.
    let now = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr());
        now.assume_init()
    };
    let secs = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(secs, u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Time at which the next pass is due, from the time of the last one: one period later, or after a
/// stall of more than a period, one period from now.
pub(in crate::slurm) fn next_deadline(last: Duration, period: Duration, now: Duration) -> Duration {
    let next = last + period;
    if now > next + period {
        now + period
    } else {
        next
    }
}

/// Reports a clock that is behind, once per occurrence.
#[derive(Default)]
pub(in crate::slurm) struct ClockWatch {
    reported: AtomicBool,
}

impl ClockWatch {
    /// [`clock_complaint`], if it is new.
    pub(in crate::slurm) fn complaint(
        &self,
        config: &Config,
        last_ran: Option<i64>,
        now: i64,
    ) -> Option<String> {
        let complaint = clock_complaint(config, last_ran, now);
        let reported = self.reported.swap(complaint.is_some(), Ordering::Relaxed);
        complaint.filter(|_| !reported)
    }
}

/// Message for the administrator about a clock that is behind the last pass by more than a period.
/// Time that was charged once is not charged again: until the clock reaches that time, jobs that
/// existed at that pass are not charged. `compat=slurm` continues from the clock.
fn clock_complaint(config: &Config, last_ran: Option<i64>, now: i64) -> Option<String> {
    let behind = last_ran?.saturating_sub(now);
    let tolerated = i64::from(config.priority_calc_period_secs);
    (behind > tolerated && !config.compat.is_slurm()).then(|| {
        format!(
            "the clock is {behind} s before the time of the last pass; until it passes that time, \
             only jobs that start from now on are charged"
        )
    })
}

#[cfg(all(test, not(feature = "models")))]
mod tests {
    use super::*;
    use crate::compat::{Compat, Release};

    #[test]
    fn a_stall_does_not_make_passes_follow_each_other() {
        let secs = Duration::from_secs;
        assert_eq!(next_deadline(secs(100), secs(10), secs(101)), secs(110));
        assert_eq!(next_deadline(secs(100), secs(10), secs(119)), secs(110));
        assert_eq!(next_deadline(secs(100), secs(10), secs(200)), secs(210));
    }

    #[test]
    fn a_clock_far_behind_the_last_pass_is_reported() {
        let config = Config {
            priority_calc_period_secs: 300,
            ..Config::default()
        };
        let complaint = |last_ran, now| clock_complaint(&config, last_ran, now);
        assert_eq!(complaint(None, 1_000), None);
        assert_eq!(complaint(Some(1_300), 1_000), None);
        let line = complaint(Some(1_301), 1_000).unwrap();
        assert!(
            line.contains("301 s before the time of the last pass"),
            "{line}"
        );
        assert!(complaint(Some(i64::MAX), i64::MIN).is_some());
        let stock = Config {
            compat: Compat::Slurm(Release::V22_05_8),
            ..config.clone()
        };
        assert_eq!(clock_complaint(&stock, Some(9_999), 1_000), None);
    }

    #[test]
    fn a_clock_that_stays_behind_is_reported_once() {
        let config = Config {
            priority_calc_period_secs: 300,
            ..Config::default()
        };
        let watch = ClockWatch::default();
        let reports = |now| watch.complaint(&config, Some(10_000), now).is_some();
        assert_eq!(
            [1_000, 1_300, 9_800, 1_000].map(reports),
            [true, false, false, true]
        );
    }

    #[test]
    fn does_not_start_after_its_stop() {
        let thread = Thread::default();
        thread.stop();
        thread.start(|| unreachable!()).unwrap();
        thread.stop();
    }

    #[test]
    fn stops_while_it_waits() {
        let thread = std::sync::Arc::new(Thread::default());
        let inside = std::sync::Arc::clone(&thread);
        thread
            .start(move || {
                inside.wait_until(monotonic() + Duration::from_secs(3600));
            })
            .unwrap();
        thread.stop();
        assert!(thread.stopping());
    }

    #[test]
    fn a_pass_that_is_asked_for_ends_a_wait_once() {
        let thread = std::sync::Arc::new(Thread::default());
        let far = monotonic() + Duration::from_secs(3600);
        let inside = std::sync::Arc::clone(&thread);
        let asking = std::thread::spawn(move || inside.ask_for_pass());
        assert!(!thread.wait_until(far));
        asking.join().unwrap();
        assert!(thread.take_asked());
        assert!(!thread.take_asked());
        assert!(thread.wait_until(monotonic()));
        // A request while nobody waits counts for the next wait.
        thread.ask_for_pass();
        assert!(!thread.wait_until(far));
    }
}
