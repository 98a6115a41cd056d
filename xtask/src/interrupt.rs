//! Ctrl-C and its relatives, as an error at the next wait instead of sudden death.
//!
//! So that a cluster is torn down by the same `Drop` on success, failure and interruption.

use std::io;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// A signal asked this program to stop.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Catches SIGINT, SIGTERM and SIGHUP from now on.
///
/// The first one makes [`check`] fail; a second one ends the program at once (the guard process
/// of a cluster then tears it down).
pub fn install() -> io::Result<()> {
    let flag_set = FLAG.get_or_init(Default::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag_set))?;
        flag::register(signal, Arc::clone(flag_set))?;
    }
    Ok(())
}

/// Makes [`check`] fail from now on, as a signal does: for work that others wait beside.
pub fn stop() {
    if let Some(flag) = FLAG.get() {
        flag.store(true, Ordering::Relaxed);
    }
}

/// Fails once a signal has come.
pub fn check() -> Result<(), Interrupted> {
    match FLAG.get() {
        Some(flag) if flag.load(Ordering::Relaxed) => Err(Interrupted),
        _ => Ok(()),
    }
}
