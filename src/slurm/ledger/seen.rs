//! A run of a job as it was seen at one moment.

use crate::engine::RunKey;
use crate::tree::AssocId;
use crate::usage::EndState;
use std::borrow::Cow;

/// A run, and what it used by then.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::slurm) struct SeenRun<'a> {
    /// Job id and start time.
    pub(in crate::slurm) run: RunKey,
    /// The association that pays; 0: none.
    pub(in crate::slurm) assoc_id: AssocId,
    /// The QOS that pay; 0: none.
    pub(in crate::slurm) qos_ids: [u32; 2],
    /// Up to when it used something, seconds since 1970: now, its suspension, or its end.
    pub(in crate::slurm) until: i64,
    /// For how many seconds it has run by then, without those in which it was suspended.
    pub(in crate::slurm) ran_secs: i64,
    /// Billing TRES per second.
    pub(in crate::slurm) billing: f64,
    /// `UsageFactor` of its QOS.
    pub(in crate::slurm) factor: f64,
    /// Allocated TRES in the host's order; empty: none.
    pub(in crate::slurm) tres: Cow<'a, [u64]>,
    /// How it ended; `None`: it goes on.
    pub(in crate::slurm) end: Option<RunEnd>,
}

impl SeenRun<'_> {
    /// Who ran it, and for how many seconds, if that says something of the next runs: not where the
    /// cluster ended it, nor while it goes on.
    pub(in crate::slurm) fn run_time(&self) -> Option<(AssocId, u32)> {
        let ended = self.end.is_some_and(|end| end.state.ran_its_course());
        let secs = u32::try_from(self.ran_secs.max(0)).unwrap_or(u32::MAX);
        (ended && self.assoc_id != 0).then_some((self.assoc_id, secs))
    }

    /// The same for longer than the snapshot.
    pub(in crate::slurm) fn into_owned(self) -> SeenRun<'static> {
        SeenRun {
            run: self.run,
            assoc_id: self.assoc_id,
            qos_ids: self.qos_ids,
            until: self.until,
            ran_secs: self.ran_secs,
            billing: self.billing,
            factor: self.factor,
            tres: self.tres.into_owned().into(),
            end: self.end,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slurm) struct RunEnd {
    pub(in crate::slurm) state: EndState,
    /// What the script returned.
    pub(in crate::slurm) exit_code: u8,
}

/// How long a run has run up to `until`: `ran_before` seconds before it was suspended or resumed last,
/// at `suspend_time` (0: never), and, unless `is_suspended`, since then.
pub(in crate::slurm) fn ran_secs(
    start_time: i64,
    until: i64,
    ran_before: i64,
    suspend_time: i64,
    is_suspended: bool,
) -> i64 {
    let ran = match suspend_time {
        0 => until - start_time,
        _ if is_suspended => ran_before,
        resumed => ran_before + (until - resumed).max(0),
    };
    // Whatever the record says, it did not run longer than there was time.
    ran.clamp(0, (until - start_time).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspended_time_is_no_run_time() {
        // By hand: started at 100; suspended at 130; resumed at 200.
        assert_eq!(ran_secs(100, 120, 0, 0, false), 20);
        assert_eq!(ran_secs(100, 130, 30, 130, true), 30);
        assert_eq!(ran_secs(100, 210, 30, 200, false), 40);
        // It ended while it was suspended: its end is when it was suspended.
        assert_eq!(ran_secs(100, 130, 30, 130, false), 30);
        // Nonsense.
        assert_eq!(ran_secs(100, 120, 900, 110, false), 20);
        assert_eq!(ran_secs(100, 90, 0, 0, false), 0);
    }
}
