//! Converts a seen run to charges in a ledger.

use super::seen::SeenRun;
use crate::engine::RunKey;
use crate::tree::{AssocIndex, Tree};
use crate::usage::window::{LedgerRun, Rate, WindowError, WindowLedger};

/// Parts of one run that were charged to different leaves are separate runs in the ledger: the
/// number of the part is in the bits above the start time.
const PART: u32 = 40;

/// Maximum number of parts: no running job is moved to other associations more often.
const MOST_PARTS: i64 = 1 << 10;

/// Payer of a run: if there are several, each has its own lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The association, or the job's QOS.
    First,
    /// The partition's QOS.
    Second,
}

fn part(run: RunKey, lane: Lane, part: i64) -> LedgerRun {
    let (job, start) = run;
    let lane = match lane {
        Lane::First => 0,
        Lane::Second => MOST_PARTS,
    };
    LedgerRun {
        job,
        run: start | (lane + part) << PART,
    }
}

/// The run that a part belongs to.
pub(super) fn run_of(id: LedgerRun) -> RunKey {
    (id.job, id.run & ((1 << PART) - 1))
}

/// State of a continuing run in a ledger.
struct Charged {
    /// Number of its parts.
    parts: i64,
    secs: i64,
    until: i64,
}

/// Visits all parts of a run.
fn meet(ledger: &mut WindowLedger, run: RunKey, lane: Lane) -> Charged {
    let mut charged = Charged {
        parts: 0,
        secs: 0,
        until: run.1,
    };
    while charged.parts < MOST_PARTS {
        let id = part(run, lane, charged.parts);
        let Some((secs, until)) = ledger.meet(id) else {
            break;
        };
        charged.secs += secs;
        charged.until = charged.until.max(until);
        charged.parts += 1;
    }
    charged
}

/// Returns true if the ledger knows this run and it continues.
pub(super) fn is_open(ledger: &WindowLedger, run: RunKey) -> bool {
    let known = |lane| ledger.charged_until(part(run, lane, 0)).is_some();
    known(Lane::First) || known(Lane::Second)
}

/// Charges the uncharged part of a run, from `not_before`, to a leaf; returns the start of the
/// charged time, or its end if nothing was uncharged. Times are seconds since 1970. Suspended time
/// is not charged: the time that the job ran since the last charge is taken from the end of that
/// interval. So it may be placed too late within one pass, but the total is exact.
///
/// # Errors
/// Those of [`WindowLedger::charge`]; nothing is charged on error.
pub(super) fn charge(
    (ledger, tree): (&mut WindowLedger, &Tree),
    (leaf, lane): (AssocIndex, Lane),
    seen: &SeenRun<'_>,
    not_before: i64,
    rate: &Rate,
) -> Result<i64, WindowError> {
    let to = seen.until.min(ledger.now());
    let known = meet(ledger, seen.run, lane);
    let due = (seen.ran_secs - known.secs).max(0);
    let from = to.saturating_sub(due).max(known.until).max(not_before);
    if from >= to {
        return Ok(to);
    }
    let last = (known.parts - 1).max(0);
    let last_part = part(seen.run, lane, last);
    match ledger.charge(tree, leaf, last_part, from, to, rate) {
        Err(WindowError::OtherLeaf { .. }) => {
            let next = part(seen.run, lane, last + 1);
            ledger.charge(tree, leaf, next, from, to, rate)?;
        }
        charged => charged?,
    }
    Ok(from)
}

/// All charges of a run, lane by lane and part by part.
pub(super) fn parts(ledger: &WindowLedger, run: RunKey) -> Vec<LedgerRun> {
    let mut parts = Vec::new();
    for lane in [Lane::First, Lane::Second] {
        let ids = (0..MOST_PARTS).map(|at| part(run, lane, at));
        parts.extend(ids.take_while(|id| ledger.charged_until(*id).is_some()));
    }
    parts
}
