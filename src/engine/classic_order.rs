//! Classic fair share in the order of priority/multifactor.
//!
//! Stock computes the effective usage of accounts first, from the usage that the last pass
//! left; then it lets usage fade; then it goes once through the job list, charging each job and
//! pricing it if it waits. A user's effective usage is computed when the first of his jobs is
//! priced, from usage as it stands at that moment, and stays for the rest of the pass. So what
//! a job costs its neighbours in this pass depends on its place in the list.

use super::accrue::charge_one;
use super::{Pass, PassInput, Refused, decay, fade, price_all, publish, rank};
use crate::fairshare::stock_records::Records;
use crate::fairshare::{Algorithm, Kept};
use crate::priority::{Job, PriorityError, Site};
use crate::tree::AssocIndex;
use crate::usage::{Charge, Ledger, Period, Weights};

/// The pass of [`super::pass`] for classic algorithms under `compat=slurm`.
pub(super) fn pass(
    input: &PassInput,
    ledger: &mut Ledger,
    site: &mut Site,
) -> Result<Pass, PriorityError> {
    let mut records = records(input, ledger);
    records.begin_pass(ledger.raw());
    let stalled = input.last_ran.is_none_or(|last_ran| input.now <= last_ran);
    let mut charges = Charges::default();
    if stalled {
        charges.done = vec![None; input.accruing.len()];
    } else {
        fade(ledger, &decay(input.config), input.last_ran, input.now);
        charge_and_ask(input, ledger, &mut charges, &mut records);
    }
    let fairshare = records.results(ledger.raw(), dampening(input));
    publish(&fairshare, site);
    let priced = if stalled {
        None
    } else {
        Some(price_all(input, site)?)
    };
    Ok(Pass {
        charges: charges.done,
        refused: charges.refused,
        left_open: input.tree.indices().map(|i| records.is_open(i)).collect(),
        fairshare,
        priced,
        last_ran: input.now,
    })
}

/// The records as the host keeps them, or as if all had been computed just before this pass.
fn records<'a>(input: &PassInput<'a>, ledger: &Ledger) -> Records<'a> {
    let kept = match input.kept {
        Some(kept) => kept.to_vec(),
        None => rank(input.config, input.tree, ledger)
            .iter()
            .map(Kept::from)
            .collect(),
    };
    let (algorithm, compat) = (input.config.algorithm(), input.config.compat);
    Records::new(input.tree, input.host_math, algorithm, compat, kept)
}

fn dampening(input: &PassInput) -> u16 {
    match input.config.algorithm() {
        Algorithm::Classic { dampening } | Algorithm::DepthOblivious { dampening } => dampening,
        Algorithm::FairTree => 1,
    }
}

/// Goes through the jobs as stock does.
fn charge_and_ask(
    input: &PassInput,
    ledger: &mut Ledger,
    charges: &mut Charges,
    records: &mut Records,
) {
    for (position, job) in input.jobs.iter().enumerate() {
        let before = input.accruing_before.map(|before| before[position]);
        charges.up_to(before.unwrap_or(input.accruing.len()), input, ledger);
        if let Some(assoc) = payer(input, job) {
            records.ask(assoc, ledger.raw());
        }
    }
    charges.up_to(input.accruing.len(), input, ledger);
}

/// The association whose factor pricing this job asks for, if it asks.
fn payer(input: &PassInput, job: &Job) -> Option<AssocIndex> {
    let held = job.priority == 0;
    let weighs = input.config.priority_weight_fairshare != 0;
    job.assoc.filter(|_| weighs && !held && !job.direct)
}

/// Jobs charged so far.
#[derive(Default)]
struct Charges {
    done: Vec<Option<Charge>>,
    refused: Vec<Refused>,
}

impl Charges {
    fn up_to(&mut self, end: usize, input: &PassInput, ledger: &mut Ledger) {
        let mut weights = Weights::new(&decay(input.config));
        let period = Period::pass(input.last_ran, input.now);
        while self.done.len() < end {
            let job = self.done.len();
            let charged = charge_one(
                input.tree,
                ledger,
                &mut weights,
                &period,
                &input.accruing[job],
            );
            self.done.push(charged.unwrap_or_else(|error| {
                self.refused.push(Refused { job, error });
                None
            }));
        }
    }
}
