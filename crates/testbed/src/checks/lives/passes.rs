//! Start times of passes, as either plugin saves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval between looks at the file; passes are at least a second apart.
const PAUSE: Duration = Duration::from_millis(100);

/// The times of the passes so far, seconds since 1970.
pub struct Passes {
    seen: Mutex<Vec<i64>>,
}

impl Passes {
    /// Watches the cluster in `folder` while `life` lasts.
    pub fn during<T>(folder: PathBuf, life: impl FnOnce(&Passes) -> T) -> T {
        let passes = Passes {
            seen: Mutex::new(Vec::new()),
        };
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    passes.look(&folder);
                    thread::sleep(PAUSE);
                }
            });
            let outcome = life(&passes);
            over.store(true, Ordering::Relaxed);
            outcome
        })
    }

    fn look(&self, folder: &Path) {
        // Both plugins write the start of a pass at its end: eight bytes, most significant first.
        // Stock removes the file for an instant while it replaces it.
        let bytes = fs::read(folder.join("state/priority_last_decay_ran")).unwrap_or_default();
        let Some(begin) = bytes.first_chunk().map(|bytes| i64::from_be_bytes(*bytes)) else {
            return;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.last() != Some(&begin) {
            seen.push(begin);
        }
    }

    /// All times so far, ascending.
    pub fn all(&self) -> Vec<i64> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}
