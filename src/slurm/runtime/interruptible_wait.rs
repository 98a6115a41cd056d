//! Interruptible timed wait (pthread condition variable on CLOCK_MONOTONIC).

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::time::Duration;

/// A condition variable of the C library with its mutex.
pub(in crate::slurm) struct InterruptibleWait {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    condition: UnsafeCell<libc::pthread_cond_t>,
    monotonic: Once,
}

// SAFETY: mutex and condition variable are made for use by several threads; the struct contains
// nothing else.
unsafe impl Send for InterruptibleWait {}
// SAFETY: as above.
unsafe impl Sync for InterruptibleWait {}

impl Default for InterruptibleWait {
    fn default() -> InterruptibleWait {
        InterruptibleWait {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            condition: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            monotonic: Once::new(),
        }
    }
}

impl InterruptibleWait {
    /// Sets the clock before the first use, when the value is at its final address.
    fn ready(&self) {
        self.monotonic.call_once(|| {
            let mut attributes = MaybeUninit::uninit();
            // SAFETY: no thread waits yet, and `call_once` keeps others out; attributes are
            // initialised before use. It is in the plugin's Arc and does not move.
            unsafe {
                libc::pthread_condattr_init(attributes.as_mut_ptr());
                libc::pthread_condattr_setclock(attributes.as_mut_ptr(), libc::CLOCK_MONOTONIC);
                libc::pthread_cond_init(self.condition.get(), attributes.as_ptr());
                libc::pthread_condattr_destroy(attributes.as_mut_ptr());
            }
        });
    }

    /// Wakes all waiters, which check their condition again.
    pub(in crate::slurm) fn wake(&self) {
        self.ready();
        // SAFETY: initialised, at a fixed address; because of the mutex a waiter either sees the
        // flag that was set before, or waits already.
        unsafe {
            libc::pthread_mutex_lock(self.mutex.get());
            libc::pthread_cond_broadcast(self.condition.get());
            libc::pthread_mutex_unlock(self.mutex.get());
        }
    }

    /// Waits until `deadline` on the monotonic clock, or until `enough` returns true; it is called
    /// before each wait.
    pub(in crate::slurm) fn wait_until(&self, deadline: Duration, enough: impl Fn() -> bool) {
        self.ready();
        let until = libc::timespec {
            tv_sec: deadline.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: deadline.subsec_nanos().into(),
        };
        // SAFETY: as in `wake`; the mutex is held by this thread around the wait.
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

impl Drop for InterruptibleWait {
    fn drop(&mut self) {
        // SAFETY: no thread waits any more: a waiter would hold a reference.
        unsafe {
            libc::pthread_cond_destroy(self.condition.get());
            libc::pthread_mutex_destroy(self.mutex.get());
        }
    }
}
