//! Data that `order=` keeps over a restart, as a part of `priority_fairtree_state`.
//!
//! | bytes | contents |
//! |---|---|
//! | 4 | number of jobs, and for each: its number (4), the time of its first submission (8); ascending by number |
//! | 4 | number of associations, and for each: its id (4), the seconds of its last run (4), those of the previous run (4; all bits set if there was only one run); ascending by id |

use crate::usage::{LastRuns, RunTimes};
use std::sync::Arc;

/// A job, and the time of its first submission: seconds since 1970.
pub(in crate::slurm) type FirstSubmit = (u32, i64);

/// Data that `order=` keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::slurm) struct OrderState {
    /// Times of first submissions, ascending by the number of the job. Only of jobs for which
    /// slurmctld's own records do not have that time, or will not have it after a requeue.
    pub(in crate::slurm) submits: Vec<FirstSubmit>,
    /// Lengths of the last runs, under `expect=history`.
    pub(in crate::slurm) run_times: Arc<RunTimes>,
}

const NO_RUN: u32 = u32::MAX;

impl OrderState {
    pub(super) fn encode(&self) -> Vec<u8> {
        let runs = self.run_times.iter();
        let mut bytes = Vec::with_capacity(8 + 12 * (self.submits.len() + runs.len()));
        bytes.extend_from_slice(&(self.submits.len() as u32).to_le_bytes());
        for (id, submit) in &self.submits {
            bytes.extend_from_slice(&id.to_le_bytes());
            bytes.extend_from_slice(&submit.to_le_bytes());
        }
        bytes.extend_from_slice(&(runs.len() as u32).to_le_bytes());
        for (assoc, runs) in runs {
            let before = runs.before.unwrap_or(NO_RUN);
            for number in [assoc, runs.last, before] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        bytes
    }
}

/// `rows` unchanged, if their numbers ascend without repetition.
pub(super) fn ascending<T>(rows: Vec<(u32, T)>) -> Option<Vec<(u32, T)>> {
    let ascend = rows.windows(2).all(|pair| pair[0].0 < pair[1].0);
    ascend.then_some(rows)
}

/// The last runs, from the two numbers of the file.
pub(super) fn last_runs(last: u32, before: u32) -> LastRuns {
    LastRuns {
        last,
        before: Some(before).filter(|before| *before != NO_RUN),
    }
}
