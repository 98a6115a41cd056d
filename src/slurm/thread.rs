//! The thread that makes the passes, and its period.
//!
//! Waiting is the C library's, on the monotonic clock: steps of the wall clock neither delay a
//! pass nor make several follow each other, and after a stall the period starts anew.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;

use crate::config::Config;

/// A thread that can be started once and stopped at once.
#[derive(Default)]
pub(super) struct Thread {
    handle: Mutex<Option<JoinHandle<()>>>,
    stop: AtomicBool,
    bell: Bell,
}

impl Thread {
    /// Starts `body`; does nothing if it runs already.
    pub(super) fn start(&self, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let mut handle = self.handle.lock();
        if handle.is_none() {
            self.stop.store(false, Ordering::SeqCst);
            let thread = std::thread::Builder::new().name("fairtree".into());
            *handle = Some(thread.spawn(body)?);
        }
        Ok(())
    }

    /// Tells the thread to end, and waits until it has.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.bell.ring();
        if let Some(handle) = self.handle.lock().take() {
            // The body runs inside a guard; a panic that still got here was reported.
            let _ = handle.join();
        }
    }

    pub(super) fn stopping(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Waits until `deadline` of [`monotonic`], or until the thread is to stop.
    pub(super) fn wait_until(&self, deadline: Duration) {
        self.bell.wait_until(deadline, || self.stopping());
    }
}

/// Time since some start, never stepping back.
pub(super) fn monotonic() -> Duration {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the clock exists on every Linux, and the call then fills `now`.
    let now = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr());
        now.assume_init()
    };
    let secs = u64::try_from(now.tv_sec).unwrap_or(0);
    Duration::new(secs, u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// When the next pass is due, from when the last one was: one period later, and after a stall of
/// more than a period one period from now.
pub(super) fn next_deadline(last: Duration, period: Duration, now: Duration) -> Duration {
    let next = last + period;
    if now > next + period {
        now + period
    } else {
        next
    }
}

/// What an administrator has to know about a clock that is behind the last pass by more than a
/// period. Time that was charged once is not charged again: until the clock gets there nobody is
/// charged. `compat=slurm` goes on from the clock.
pub(super) fn clock_complaint(config: &Config, last_ran: Option<i64>, now: i64) -> Option<String> {
    let behind = last_ran?.saturating_sub(now);
    let tolerated = i64::from(config.priority_calc_period_secs);
    (behind > tolerated && !config.compat.is_slurm()).then(|| {
        format!(
            "the clock is {behind} s behind the last pass: no usage is charged until it gets there"
        )
    })
}

/// A condition variable of the C library with its mutex.
struct Bell {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    condition: UnsafeCell<libc::pthread_cond_t>,
    monotonic: Once,
}

// SAFETY: mutex and condition variable are made for use by several threads; nothing else is in
// there.
unsafe impl Send for Bell {}
// SAFETY: as above.
unsafe impl Sync for Bell {}

impl Default for Bell {
    fn default() -> Bell {
        Bell {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            condition: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            monotonic: Once::new(),
        }
    }
}

impl Bell {
    /// Sets the clock before the first use, when the bell has its place in memory.
    fn ready(&self) {
        self.monotonic.call_once(|| {
            let mut attributes = MaybeUninit::uninit();
            // SAFETY: nobody waits yet, and `call_once` keeps others out; attributes are
            // initialised before use. The bell lives in the plugin's Arc and does not move.
            unsafe {
                libc::pthread_condattr_init(attributes.as_mut_ptr());
                libc::pthread_condattr_setclock(attributes.as_mut_ptr(), libc::CLOCK_MONOTONIC);
                libc::pthread_cond_init(self.condition.get(), attributes.as_ptr());
                libc::pthread_condattr_destroy(attributes.as_mut_ptr());
            }
        });
    }

    fn ring(&self) {
        self.ready();
        // SAFETY: initialised, at a fixed place; the mutex makes sure that a waiter either sees
        // the flag that was set before, or waits already.
        unsafe {
            libc::pthread_mutex_lock(self.mutex.get());
            libc::pthread_cond_broadcast(self.condition.get());
            libc::pthread_mutex_unlock(self.mutex.get());
        }
    }

    fn wait_until(&self, deadline: Duration, enough: impl Fn() -> bool) {
        self.ready();
        let until = libc::timespec {
            tv_sec: deadline.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: deadline.subsec_nanos().into(),
        };
        // SAFETY: as for `ring`; the mutex is held by this thread around the wait.
        unsafe {
            libc::pthread_mutex_lock(self.mutex.get());
            while !enough() {
                let (condition, mutex) = (self.condition.get(), self.mutex.get());
                if libc::pthread_cond_timedwait(condition, mutex, &raw const until) != 0 {
                    break;
                }
            }
            libc::pthread_mutex_unlock(self.mutex.get());
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // SAFETY: nobody waits any more: whoever could has a reference.
        unsafe {
            libc::pthread_cond_destroy(self.condition.get());
            libc::pthread_mutex_destroy(self.mutex.get());
        }
    }
}

#[cfg(test)]
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
    fn a_clock_far_behind_the_last_pass_is_told() {
        let config = Config {
            priority_calc_period_secs: 300,
            ..Config::default()
        };
        let complaint = |last_ran, now| clock_complaint(&config, last_ran, now);
        assert_eq!(complaint(None, 1_000), None);
        assert_eq!(complaint(Some(1_300), 1_000), None);
        let line = complaint(Some(1_301), 1_000).unwrap();
        assert!(line.contains("301 s behind the last pass"), "{line}");
        assert!(complaint(Some(i64::MAX), i64::MIN).is_some());
        let stock = Config {
            compat: Compat::Slurm(Release::V22_05_8),
            ..config.clone()
        };
        assert_eq!(clock_complaint(&stock, Some(9_999), 1_000), None);
    }

    #[test]
    fn stops_while_it_waits() {
        let thread = std::sync::Arc::new(Thread::default());
        let inside = std::sync::Arc::clone(&thread);
        thread
            .start(move || inside.wait_until(monotonic() + Duration::from_secs(3600)))
            .unwrap();
        thread.stop();
        assert!(thread.stopping());
    }
}
