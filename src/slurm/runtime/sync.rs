//! Types for sharing data between threads: the same names in slurmctld and in the models of
//! `model`.
//!
//! With the feature `models` these are loom's types, and loom runs a model in every possible order
//! of its threads. The rest of the plugin does not depend on this.

#[cfg(not(feature = "models"))]
pub(in crate::slurm) use super::interruptible_wait::InterruptibleWait;
#[cfg(not(feature = "models"))]
pub(in crate::slurm) use parking_lot::Mutex;
#[cfg(all(feature = "slurm", not(feature = "models")))]
pub(in crate::slurm) use parking_lot::RwLock;
#[cfg(not(feature = "models"))]
pub(in crate::slurm) use std::sync::Arc;
#[cfg(not(feature = "models"))]
pub(in crate::slurm) use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(feature = "models"))]
pub(in crate::slurm) use std::thread;

#[cfg(feature = "models")]
pub(in crate::slurm) use loom::sync::Arc;
#[cfg(feature = "models")]
pub(in crate::slurm) use loom::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "models")]
pub(in crate::slurm) use loom::thread;
#[cfg(feature = "models")]
pub(in crate::slurm) use modelled::{InterruptibleWait, Mutex, RwLock};

/// loom's locks, which may poison, with the interface of parking_lot's.
#[cfg(feature = "models")]
mod modelled {
    use loom::sync::{Condvar, MutexGuard, RwLockReadGuard, RwLockWriteGuard};
    use std::time::Duration;

    #[derive(Debug)]
    pub(in crate::slurm) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(in crate::slurm) fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(in crate::slurm) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("a model does not go on after a panic")
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Mutex<T> {
            Mutex::new(T::default())
        }
    }

    #[derive(Debug)]
    pub(in crate::slurm) struct RwLock<T>(loom::sync::RwLock<T>);

    impl<T> RwLock<T> {
        pub(in crate::slurm) fn new(value: T) -> RwLock<T> {
            RwLock(loom::sync::RwLock::new(value))
        }

        pub(in crate::slurm) fn read(&self) -> RwLockReadGuard<'_, T> {
            self.0.read().expect("a model does not go on after a panic")
        }

        pub(in crate::slurm) fn write(&self) -> RwLockWriteGuard<'_, T> {
            self.0
                .write()
                .expect("a model does not go on after a panic")
        }
    }

    /// The wait of `interruptible_wait.rs` on loom's condition variable. A model has no time: a
    /// wait ends when `enough` returns true.
    #[derive(Default)]
    pub(in crate::slurm) struct InterruptibleWait {
        mutex: Mutex<()>,
        condition: Condition,
    }

    struct Condition(Condvar);

    impl Default for Condition {
        fn default() -> Condition {
            Condition(Condvar::new())
        }
    }

    impl InterruptibleWait {
        pub(in crate::slurm) fn wake(&self) {
            let _inside = self.mutex.lock();
            self.condition.0.notify_all();
        }

        pub(in crate::slurm) fn wait_until(&self, _: Duration, enough: impl Fn() -> bool) {
            let mut inside = self.mutex.lock();
            while !enough() {
                inside = self
                    .condition
                    .0
                    .wait(inside)
                    .expect("a model does not go on after a panic");
            }
        }
    }
}
