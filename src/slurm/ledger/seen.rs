//! State of a job's run at one moment.

use crate::engine::RunKey;
use crate::tree::AssocId;
use crate::usage::EndState;
use std::borrow::Cow;

/// A run, and its use up to a moment.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::slurm) struct SeenRun<'a> {
    /// Job id and start time.
    pub(in crate::slurm) run: RunKey,
    /// The association that pays; 0 if there is none.
    pub(in crate::slurm) assoc_id: AssocId,
    /// The QOS that pay; 0 if there is none.
    pub(in crate::slurm) qos_ids: [u32; 2],
    /// End of its use so far, seconds since 1970: now, its suspension, or its end.
    pub(in crate::slurm) until: i64,
    /// Seconds that it has run by then, without suspended time.
    pub(in crate::slurm) ran_secs: i64,
    /// Billing TRES per second.
    pub(in crate::slurm) billing: f64,
    /// `UsageFactor` of its QOS.
    pub(in crate::slurm) factor: f64,
    /// Allocated TRES in the host's order; may be empty.
    pub(in crate::slurm) tres: Cow<'a, [u64]>,
    /// Its end; `None` if it continues.
    pub(in crate::slurm) end: Option<RunEnd>,
}

impl SeenRun<'_> {
    /// Association and run time in seconds, if they help to predict the next runs: `None` if the
    /// cluster ended the run, or while it continues.
    pub(in crate::slurm) fn run_time(&self) -> Option<(AssocId, u32)> {
        let ended = self.end.is_some_and(|end| end.state.ran_its_course());
        let secs = u32::try_from(self.ran_secs.max(0)).unwrap_or(u32::MAX);
        (ended && self.assoc_id != 0).then_some((self.assoc_id, secs))
    }

    /// The same, with a lifetime independent of the snapshot.
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

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slurm) struct RunEnd {
    pub(in crate::slurm) state: EndState,
    /// Exit code of the script.
    pub(in crate::slurm) exit_code: u8,
}

/// Run time up to `until`: `ran_before` seconds before the last suspend or resume, which was at
/// `suspend_time` (0: never), plus the time since then unless `is_suspended`.
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
    // Whatever the record says, the run time cannot exceed the elapsed time.
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
        // It ended while suspended: its end is the time of suspension.
        assert_eq!(ran_secs(100, 130, 30, 130, false), 30);
        // Inconsistent record.
        assert_eq!(ran_secs(100, 120, 900, 110, false), 20);
        assert_eq!(ran_secs(100, 90, 0, 0, false), 0);
    }
}
