//! Charging the jobs of a pass, one by one in their order.

use crate::compat::Compat;
use crate::tree::{AssocIndex, Tree};
use crate::usage::{Charge, Model, Period, Run, UsageError, due};

/// A job that used resources since the last pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accruing {
    /// The association that is charged.
    pub assoc: AssocIndex,
    /// The job.
    pub run: Run,
    /// The job has ended, and this charges its end.
    pub at_end: bool,
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
/// `None`: nothing was due (see [`due`]). NaN and infinite charges are refused and change nothing.
/// Negative ones, which only `compat=slurm` makes, are subtracted.
pub(super) fn charge_one<M: Model + ?Sized>(
    model: &mut M,
    (compat, tree): (Compat, &Tree),
    period: &Period,
    job: &Accruing,
    tres: &[u64],
) -> Result<Option<Charge>, UsageError> {
    let Some(due) = due(compat, &job.run, period, job.at_end) else {
        return Ok(None);
    };
    let counted = model.charge(tree, job.assoc, &due.used(&job.run, tres))?;
    Ok(Some(due.charge(&job.run, counted, compat)))
}
