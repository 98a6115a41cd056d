//! Log lines about state that cannot be saved.
//!
//! Passes come every few seconds, and a disk may stay full for weeks: a line per pass would hide
//! everything else in the log, and fill the rest of the disk. So one line is logged at the first
//! failure, one every hour with the number of passes, and one at the first success.

use std::time::Duration;

/// Time between two lines about the same failure.
const AGAIN: Duration = Duration::from_secs(3600);

/// Keeps the time since which saving has failed.
#[derive(Debug, Default)]
pub(in crate::slurm) struct SaveAlerts(Option<Trouble>);

#[derive(Debug)]
struct Trouble {
    since: Duration,
    logged: Duration,
    /// Passes whose state was not saved.
    passes: u64,
}

/// A line for the log.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::slurm) enum AlertLine {
    Error(String),
    Info(String),
}

impl SaveAlerts {
    /// The line for a pass whose state was or was not saved, if there is one. `now`: time of a
    /// monotonic clock.
    pub(in crate::slurm) fn pass(
        &mut self,
        stored: Result<(), String>,
        now: Duration,
    ) -> Option<AlertLine> {
        match stored {
            Ok(()) => self
                .0
                .take()
                .map(|trouble| AlertLine::Info(trouble.end(now))),
            Err(error) => self.failed(&error, now).map(AlertLine::Error),
        }
    }

    fn failed(&mut self, error: &str, now: Duration) -> Option<String> {
        let Some(trouble) = &mut self.0 else {
            self.0 = Some(Trouble {
                since: now,
                logged: now,
                passes: 1,
            });
            return Some(format!(
                "cannot save state: {error}; usage continues in memory, the last save stays on disk, \
                 and every pass tries again"
            ));
        };
        trouble.passes += 1;
        if now.saturating_sub(trouble.logged) < AGAIN {
            return None;
        }
        trouble.logged = now;
        Some(format!(
            "state has not been saved for {}: {error}; every pass tries again",
            trouble.length(now)
        ))
    }
}

impl Trouble {
    fn end(&self, now: Duration) -> String {
        format!(
            "state is saved again; it was not saved for {}",
            self.length(now)
        )
    }

    fn length(&self, now: Duration) -> String {
        let secs = now.saturating_sub(self.since).as_secs();
        let ending = if self.passes == 1 { "" } else { "es" };
        format!("{} pass{ending} ({secs} s)", self.passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Result<(), String> {
        Err("/state/x: No space left on device (os error 28)".to_string())
    }

    #[test]
    fn a_full_disk_is_logged_once_an_hour_and_at_its_end() {
        let mut watch = SaveAlerts::default();
        let mut logged = vec![];
        let mut pass = |stored, secs| {
            if let Some(line) = watch.pass(stored, Duration::from_secs(secs)) {
                logged.push((secs, line));
            }
        };
        pass(Ok(()), 90);
        for secs in (100..=7_900).step_by(10) {
            pass(full(), secs);
        }
        pass(Ok(()), 7_910);
        pass(Ok(()), 7_920);
        pass(full(), 7_930);
        pass(Ok(()), 7_940);

        let what = "/state/x: No space left on device (os error 28)";
        let begin = || {
            AlertLine::Error(format!(
                "cannot save state: {what}; usage continues in memory, the last save stays on disk, \
                 and every pass tries again"
            ))
        };
        let still = |length: &str| {
            AlertLine::Error(format!(
                "state has not been saved for {length}: {what}; every pass tries again"
            ))
        };
        let end = |length: &str| {
            AlertLine::Info(format!(
                "state is saved again; it was not saved for {length}"
            ))
        };
        assert_eq!(
            logged,
            [
                (100, begin()),
                (3_700, still("361 passes (3600 s)")),
                (7_300, still("721 passes (7200 s)")),
                (7_910, end("781 passes (7810 s)")),
                (7_930, begin()),
                (7_940, end("1 pass (10 s)")),
            ]
        );
    }
}
