//! Stops panics: no hook lets one reach slurmctld.

use super::log;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// Place of the last panic in this thread, for its line in the log.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Failure log of a hook: the first failure is logged; the following ones are not, until
/// [`Hook::forget`] (once per pass) or a success.
pub(in crate::slurm) struct Hook {
    name: &'static str,
    failed: AtomicBool,
}

impl Hook {
    pub(in crate::slurm) const fn new(name: &'static str) -> Hook {
        Hook {
            name,
            failed: AtomicBool::new(false),
        }
    }

    /// Runs `body`; `None` if it panicked.
    pub(in crate::slurm) fn run<T>(&self, body: impl FnOnce() -> T) -> Option<T> {
        // Data that a body leaves incomplete is either its own or rebuilt by the next pass; the
        // plugin's mutexes do not poison.
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(value) => {
                self.failed.store(false, Ordering::Relaxed);
                Some(value)
            }
            Err(payload) => {
                self.report(&describe(payload.as_ref()));
                None
            }
        }
    }

    /// Lets the next failure be logged again.
    pub(in crate::slurm) fn forget(&self) {
        self.failed.store(false, Ordering::Relaxed);
    }

    fn report(&self, what: &str) {
        if self.failed.swap(true, Ordering::Relaxed) {
            return;
        }
        let place = PLACE.with_borrow(String::clone);
        log::error(format_args!(
            "{}: internal error at {place}: {what}; priorities do not change",
            self.name
        ));
    }
}

fn describe(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_string()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_string()
    }
}

/// Suppresses the usual panic message; only the line in slurmctld's log remains. The plugin has its
/// own standard library, so panics of other code are not affected.
pub(in crate::slurm) fn silence() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(
            || "an unknown place".to_string(),
            |at| format!("{}:{}", at.file(), at.line()),
        );
        PLACE.with_borrow_mut(|last| *last = place);
    }));
}

/// Undoes [`silence`].
pub(in crate::slurm) fn restore() {
    drop(std::panic::take_hook());
}
