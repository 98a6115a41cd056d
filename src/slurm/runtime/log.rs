//! slurmctld's log.

use super::host::{self, ffi};
use std::ffi::{CStr, CString};
use std::fmt::Display;

/// Severity of a message; as in `SlurmctldDebug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Error,
    Info,
    Verbose,
    Debug,
    Debug2,
}

pub(in crate::slurm) fn error(message: impl Display) {
    write(Level::Error, &message);
}

pub(in crate::slurm) fn info(message: impl Display) {
    write(Level::Info, &message);
}

pub(in crate::slurm) fn verbose(message: impl Display) {
    write(Level::Verbose, &message);
}

pub(in crate::slurm) fn debug(message: impl Display) {
    write(Level::Debug, &message);
}

pub(in crate::slurm) fn debug2(message: impl Display) {
    write(Level::Debug2, &message);
}

/// Returns true if the administrator wants a line per priority (`DebugFlags=Priority`).
pub(in crate::slurm) fn tells_priorities() -> bool {
    host::debug_priority() && enabled(Level::Info)
}

/// Logs at level info with `DebugFlags=Priority`, otherwise not at all.
pub(in crate::slurm) fn priority(message: impl FnOnce() -> String) {
    if host::debug_priority() {
        write(Level::Info, &message());
    }
}

fn level(level: Level) -> ffi::shim_log_level {
    match level {
        Level::Error => ffi::SHIM_LOG_ERROR,
        Level::Info => ffi::SHIM_LOG_INFO,
        Level::Verbose => ffi::SHIM_LOG_VERBOSE,
        Level::Debug => ffi::SHIM_LOG_DEBUG,
        Level::Debug2 => ffi::SHIM_LOG_DEBUG2,
    }
}

fn enabled(at: Level) -> bool {
    // SAFETY: reads Slurm's log level.
    unsafe { ffi::shim_log_enabled(level(at)) }
}

fn log_line(at: Level, message: &CStr) {
    // SAFETY: a NUL-terminated string that Slurm copies.
    unsafe { ffi::shim_log(level(at), message.as_ptr()) }
}

/// Maximum length of a line, in characters: lines may quote text of users.
const MOST_CHARS: usize = 2000;

fn write(level: Level, message: &dyn Display) {
    if !enabled(level) {
        return;
    }
    // A message must stay on one line, whatever it quotes.
    let line: String = format!("priority/fairtree: {message}")
        .chars()
        .take(MOST_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if let Ok(line) = CString::new(line) {
        log_line(level, &line);
    }
}
