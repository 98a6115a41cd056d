//! slurmctld's log.

use super::host;
use std::ffi::CString;
use std::fmt::Display;

/// How much an administrator should care; as in `SlurmctldDebug`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Info,
    Verbose,
    Debug,
    Debug2,
}

pub(super) fn error(message: impl Display) {
    write(Level::Error, &message);
}

pub(super) fn info(message: impl Display) {
    write(Level::Info, &message);
}

pub(super) fn verbose(message: impl Display) {
    write(Level::Verbose, &message);
}

pub(super) fn debug(message: impl Display) {
    write(Level::Debug, &message);
}

pub(super) fn debug2(message: impl Display) {
    write(Level::Debug2, &message);
}

/// Does the administrator want a line per priority (`DebugFlags=Priority`)?
pub(super) fn tells_priorities() -> bool {
    host::debug_priority() && host::log_enabled(Level::Info)
}

/// With `DebugFlags=Priority` at level info, else not at all.
pub(super) fn priority(message: impl FnOnce() -> String) {
    if host::debug_priority() {
        write(Level::Info, &message());
    }
}

fn write(level: Level, message: &dyn Display) {
    if !host::log_enabled(level) {
        return;
    }
    // One line of the log is one line: whatever a message quotes.
    let line: String = format!("priority/fairtree: {message}")
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if let Ok(line) = CString::new(line) {
        host::log(level, &line);
    }
}
