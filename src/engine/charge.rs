//! Charging the jobs of a pass, one by one in their order.

use super::charged_by_passes::RunKey;
use crate::config::{Config, Counts};
use crate::tree::{AssocIndex, Tree};
use crate::usage::window::LedgerRun;
use crate::usage::{Charge, Model, Period, Run, UsageError, Use, due};

/// A job that used resources since the last pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accruing {
    /// Number of the job; with the start time it identifies the run.
    pub job: u32,
    /// The association that is charged.
    pub assoc: AssocIndex,
    /// The job.
    pub run: Run,
    /// The job has ended, and this charges its end.
    pub at_end: bool,
}

impl Accruing {
    /// Job and start time.
    pub fn key(&self) -> RunKey {
        (self.job, self.run.start_time)
    }
}

/// A charge that is NaN or infinite; it changed nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Position in the accruing jobs.
    pub job: usize,
    /// Association and number.
    pub error: UsageError,
}

/// Charges one job for `period` to its association and all above. `tres`: the allocated count of
/// each TRES, if the model keeps usage of these.
///
/// A model that keeps charges run by run continues where it charged the run last, and ends the run
/// at its end where all ends count.
///
/// `None`: nothing was due (see [`due`]). NaN and infinite charges are refused and change nothing.
/// Negative ones, which only `compat=slurm` makes, are subtracted.
pub(super) fn charge_one(
    model: &mut dyn Model,
    (config, tree): (&Config, &Tree),
    period: &Period,
    job: &Accruing,
    tres: &[u64],
) -> Result<Option<Charge>, UsageError> {
    let Some(mut due) = due(config.compat, &job.run, period, job.at_end) else {
        return Ok(None);
    };
    let run = LedgerRun {
        job: job.job,
        run: job.run.start_time,
    };
    due.from = model.charged_until(run).unwrap_or(due.from);
    due.to = due.to.max(due.from);
    let used = Use {
        run: Some(run),
        ..due.used(&job.run, tres)
    };
    let counted = model.charge(tree, job.assoc, &used)?;
    if job.at_end && job.run.end_time <= period.now && *config.counts() == Counts::All {
        model.end_run(tree, run, true);
    }
    Ok(Some(due.charge(&job.run, counted, config.compat)))
}
