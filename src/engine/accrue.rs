//! The first half of a pass: usage fades, then jobs are charged, one by one in their order.

use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::{self, Charge, Decay, Ledger, Period, Run, UsageError, Weights, charge_next};

/// A job that used resources since the last pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accruing {
    /// The association that pays.
    pub assoc: AssocIndex,
    /// The job.
    pub run: Run,
    /// The job has ended, and this charges its end.
    pub at_end: bool,
}

/// What one job was charged, and its usage as an exact number: `None` where nothing.
pub(crate) type Charged = Result<Option<(Charge, Extended)>, UsageError>;

/// A charge that is no number; it changed nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Position in the accruing jobs.
    pub job: usize,
    /// Association and number.
    pub error: UsageError,
}

/// Lets all usage fade from `last_ran` to `now`; nothing without a last pass.
pub fn fade(ledger: &mut Ledger, decay: &Decay, last_ran: Option<i64>, now: i64) {
    if let Some(last_ran) = last_ran {
        ledger.decay(decay.factor(now.saturating_sub(last_ran)));
    }
}

/// Charges jobs for `period`, in their order, each to its association and all above.
///
/// Returns what each was charged, and the charges that were refused: NaN and infinite ones.
/// Negative ones, which only `compat=slurm` makes, are subtracted.
///
/// Panics when the ledger is not of this tree.
pub fn accrue(
    tree: &Tree,
    ledger: &mut Ledger,
    decay: &Decay,
    period: &Period,
    jobs: &[Accruing],
) -> (Vec<Option<Charge>>, Vec<Refused>) {
    assert_eq!(
        ledger.raw().len(),
        tree.len(),
        "a ledger belongs to one tree"
    );
    let mut refused = Vec::new();
    let mut weights = Weights::new(decay);
    let charges = jobs
        .iter()
        .enumerate()
        .map(|(position, job)| {
            let charged = charge_one(tree, ledger, &mut weights, period, job);
            charged.unwrap_or_else(|error| {
                refused.push(Refused {
                    job: position,
                    error,
                });
                None
            })
        })
        .collect();
    (charges, refused)
}

/// Charges one job; see [`accrue`].
fn charge_one(
    tree: &Tree,
    ledger: &mut Ledger,
    weights: &mut Weights,
    period: &Period,
    job: &Accruing,
) -> Result<Option<Charge>, UsageError> {
    let Some((charged, usage)) = exact_charge(tree, weights, period, job)? else {
        return Ok(None);
    };
    ledger.add(tree, job.assoc, usage);
    Ok(Some(charged))
}

/// The same where nothing but raw usage is kept; says the usage as an exact number as well.
pub(super) fn charge_raw(
    tree: &Tree,
    raw: &mut [Extended],
    weights: &mut Weights,
    period: &Period,
    job: &Accruing,
) -> Charged {
    let charged = exact_charge(tree, weights, period, job)?;
    if let Some((_, usage)) = &charged {
        usage::add(tree, raw, job.assoc, *usage);
    }
    Ok(charged)
}

/// What one job is to be charged, and its usage as an exact number.
fn exact_charge(tree: &Tree, weights: &mut Weights, period: &Period, job: &Accruing) -> Charged {
    let Some(charged) = charge_next(weights, &job.run, period, job.at_end) else {
        return Ok(None);
    };
    let usage = charged.decayed.usage;
    let exact = Extended::from_f64(usage)
        .filter(|usage| !usage.is_infinite())
        .ok_or(UsageError::NotANumber {
            id: tree.rows()[job.assoc.get()].id,
            value: usage,
        })?;
    Ok(Some((charged, exact)))
}
