//! What `order=` remembers over a restart, as a part of `priority_fairtree_state`.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | number of jobs, and for each: its number (4), when it was first submitted (8); ascending by number |
//! | 4 | number of associations, and for each: its id (4), the seconds of its last run (4), those of the run before (4, all bits: none); ascending by id |

use crate::usage::{LastRuns, RunTimes};
use std::sync::Arc;

/// A job, and when it was first submitted: seconds since 1970.
pub(in crate::slurm) type FirstSubmit = (u32, i64);

/// What `order=` remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::slurm) struct OrderState {
    /// When jobs were first submitted, ascending by their number. There are those of which
    /// slurmctld's own records do not tell it, or will not once they are requeued.
    pub(in crate::slurm) submits: Vec<FirstSubmit>,
    /// How long the last runs took, under `expect=history`.
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

/// `rows` as they are, if these ascend without repetition.
pub(super) fn ascending<T>(rows: Vec<(u32, T)>) -> Option<Vec<(u32, T)>> {
    let ascend = rows.windows(2).all(|pair| pair[0].0 < pair[1].0);
    ascend.then_some(rows)
}

/// The last runs that were written as these two numbers.
pub(super) fn last_runs(last: u32, before: u32) -> LastRuns {
    LastRuns {
        last,
        before: Some(before).filter(|before| *before != NO_RUN),
    }
}
