//! Waiting for a condition, never for a span of time.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use xtask::interrupt;

/// Interval between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(100);

/// Calls `probe` until it returns a value.
///
/// `deadline` is generous: it only distinguishes a hang from slowness.
///
/// # Errors
/// Fails if `probe` fails, at an interruption, or if `what` did not happen in time.
pub fn until<T>(
    what: &str,
    deadline: Duration,
    probe: impl FnMut() -> Result<Option<T>>,
) -> Result<T> {
    match before(Instant::now() + deadline, probe)? {
        Some(found) => Ok(found),
        None => bail!("waited {} s in vain: {what}", deadline.as_secs()),
    }
}

/// Calls `probe` until it returns a value, or until a moment: `None`.
///
/// # Errors
/// Fails if `probe` fails, or at an interruption.
pub fn before<T>(
    deadline: Instant,
    mut probe: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    loop {
        interrupt::check()?;
        if let Some(found) = probe()? {
            return Ok(Some(found));
        }
        if Instant::now() > deadline {
            return Ok(None);
        }
        sleep(PAUSE);
    }
}

/// [`until`] for a condition without a value.
pub fn until_true(
    what: &str,
    deadline: Duration,
    mut probe: impl FnMut() -> Result<bool>,
) -> Result<()> {
    until(what, deadline, || Ok(probe()?.then_some(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_what_the_probe_finds() {
        let mut calls = 0;
        let found = until("three calls", Duration::from_secs(60), || {
            calls += 1;
            Ok((calls == 3).then_some(calls))
        });
        assert_eq!(found.unwrap(), 3);
    }

    #[test]
    fn names_what_did_not_happen() {
        let error = until_true("the moon turns green", Duration::ZERO, || Ok(false)).unwrap_err();
        assert!(
            error.to_string().contains("the moon turns green"),
            "{error}"
        );
    }
}
