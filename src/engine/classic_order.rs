//! Classic fair share in the order of priority/multifactor.
//!
//! Stock computes the effective usage of accounts first, from the usage that the last pass
//! left; then it lets usage fade; then it goes once through the job list, charging each job and
//! pricing it if it waits. A user's effective usage is computed when the first of his jobs is
//! priced, from usage as it stands at that moment, and stays for the rest of the pass. So what
//! a job costs its neighbours in this pass depends on its place in the list.
//!
//! Depth-oblivious fair share of a user also looks at normalised usage of his siblings, each as
//! old as its own last pricing. That is not reproduced: there, users are computed from usage at
//! the end of the pass.

use super::accrue::charge_one;
use super::{Pass, PassInput, Refused, decay, fade, price_all, publish, rank};
use crate::fairshare::{Algorithm, AssocFairshare, recompute_user};
use crate::priority::{Job, PriorityError, Site};
use crate::tree::{AssocIndex, AssocKind, Shares};
use crate::usage::{Charge, Ledger, Period};

/// The pass of [`super::pass`] for classic algorithms under `compat=slurm`.
pub(super) fn pass(
    input: &PassInput,
    ledger: &mut Ledger,
    site: &mut Site,
) -> Result<Pass, PriorityError> {
    let mut users = Users::new(input, ledger);
    let stalled = input.last_ran.is_none_or(|last_ran| input.now <= last_ran);
    if stalled {
        let fairshare = users.finish(input, ledger);
        publish(&fairshare, site);
        return Ok(Pass {
            charges: vec![None; input.accruing.len()],
            refused: Vec::new(),
            fairshare,
            priced: None,
            last_ran: input.now,
        });
    }
    fade(ledger, &decay(input.config), input.last_ran, input.now);
    let mut charges = Charges::default();
    for (position, job) in input.jobs.iter().enumerate() {
        let before = input.accruing_before.map(|before| before[position]);
        charges.up_to(before.unwrap_or(input.accruing.len()), input, ledger);
        if let Some(assoc) = payer(input, job) {
            users.see(assoc, input, ledger);
        }
    }
    charges.up_to(input.accruing.len(), input, ledger);
    let fairshare = users.finish(input, ledger);
    publish(&fairshare, site);
    Ok(Pass {
        charges: charges.done,
        refused: charges.refused,
        fairshare,
        priced: Some(price_all(input, site)?),
        last_ran: input.now,
    })
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
        let decay = decay(input.config);
        let period = Period::pass(input.last_ran, input.now);
        while self.done.len() < end {
            let job = self.done.len();
            let charged = charge_one(input.tree, ledger, &decay, &period, &input.accruing[job]);
            self.done.push(charged.unwrap_or_else(|error| {
                self.refused.push(Refused { job, error });
                None
            }));
        }
    }
}

/// Fair share of accounts from the start of the pass, and of the users seen so far.
struct Users {
    fairshare: Vec<AssocFairshare>,
    seen: Vec<bool>,
}

impl Users {
    fn new(input: &PassInput, ledger: &Ledger) -> Users {
        Users {
            fairshare: rank(input.config, input.tree, ledger),
            seen: vec![false; input.tree.len()],
        }
    }

    /// Computes the factor of a user at this moment, once.
    fn see(&mut self, assoc: AssocIndex, input: &PassInput, ledger: &Ledger) {
        let Algorithm::Classic { dampening } = input.config.algorithm() else {
            return;
        };
        if has_own_usage(input, assoc) && !std::mem::replace(&mut self.seen[assoc.get()], true) {
            let (tree, compat) = (input.tree, input.config.compat);
            let results = &mut self.fairshare;
            recompute_user(tree, compat, ledger.raw(), dampening, assoc, results);
        }
    }

    /// Computes the users that no job asked for, as sshare would right after the pass.
    fn finish(mut self, input: &PassInput, ledger: &Ledger) -> Vec<AssocFairshare> {
        if let Algorithm::DepthOblivious { .. } = input.config.algorithm() {
            let after = rank(input.config, input.tree, ledger);
            for (position, found) in after.into_iter().enumerate() {
                if has_own_usage(input, AssocIndex::new(position)) {
                    self.fairshare[position] = found;
                }
            }
        }
        for position in 0..input.tree.len() {
            self.see(AssocIndex::new(position), input, ledger);
            self.fairshare[position].raw_usage = ledger.raw()[position];
        }
        self.fairshare
    }
}

/// True for users whose effective usage is their own, not that of an account.
fn has_own_usage(input: &PassInput, assoc: AssocIndex) -> bool {
    let row = &input.tree.rows()[assoc.get()];
    row.kind == AssocKind::User && row.shares != Shares::Parent
}
