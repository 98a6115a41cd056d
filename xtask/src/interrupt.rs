//! Ctrl-C and similar signals cause an error at the next wait, instead of an immediate end.
//!
//! So the same `Drop` takes a cluster down on success, failure and interruption.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
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
///
/// # Errors
/// Fails if the system refuses the handlers.
pub fn install() -> io::Result<()> {
    let flag_set = FLAG.get_or_init(Default::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(flag_set))?;
        flag::register(signal, Arc::clone(flag_set))?;
    }
    Ok(())
}

/// Makes [`check`] fail from now on, as a signal does: to stop other threads.
pub fn stop() {
    if let Some(flag) = FLAG.get() {
        flag.store(true, Ordering::Relaxed);
    }
}

/// Fails after a signal.
///
/// # Errors
/// Fails if a signal has come, or if [`stop`] was called.
pub fn check() -> std::result::Result<(), Interrupted> {
    match FLAG.get() {
        Some(flag) if flag.load(Ordering::Relaxed) => Err(Interrupted),
        _ => Ok(()),
    }
}

/// Exit code of a program: 0, 130 after a signal, or 1 with the error on standard error.
pub fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<Interrupted>() => {
            eprintln!("interrupted");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
