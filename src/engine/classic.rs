//! A pass under a classic algorithm, over raw usage alone: hosts keep the rest.
//!
//! Documented, it goes like any other: usage fades, jobs are charged, and everybody's fair share
//! follows.
//!
//! Stock computes the effective usage of accounts first, from the usage that the last pass
//! left; then it lets usage fade; then it goes once through the job list, charging each job and
//! pricing it if it waits. A user's effective usage is computed when the first of his jobs is
//! priced, from usage as it stands at that moment, and stays for the rest of the pass. So what
//! a job costs its neighbours in this pass depends on its place in the list.

use super::accrue::{Charged, charge_raw};
use super::{Pass, PassInput, Refused, decay, price_all, publish, rank};
use crate::config::Config;
use crate::extended::Extended;
use crate::fairshare::stock_records::Records;
use crate::fairshare::{self, HostMath, Kept, Results};
use crate::priority::{Job, PriorityError, Site};
use crate::tree::{AssocIndex, Tree};
use crate::usage::{self, Charge, Ledger, Period, Weights};

/// A pass over raw usage alone.
#[derive(Clone, Copy)]
pub(crate) struct ClassicPass<'a> {
    pub(crate) config: &'a Config,
    pub(crate) tree: &'a Tree,
    pub(crate) host_math: HostMath,
    /// As in [`PassInput`], as the following.
    pub(crate) accruing: &'a [super::Accruing],
    pub(crate) last_ran: Option<i64>,
    pub(crate) now: i64,
}

impl<'a> ClassicPass<'a> {
    /// Lets `raw`, one usage per association by position, fade, charges all accruing jobs, and
    /// tells `each` what each was charged. [`ClassicPass::fairshare`] is what follows.
    pub(crate) fn charge(&self, raw: &mut [Extended], mut each: impl FnMut(usize, Charged)) {
        self.fade(raw);
        let mut weights = Weights::new(&decay(self.config));
        self.charge_some(raw, 0..self.accruing.len(), &mut weights, &mut each);
    }

    /// Documented fair share of usage as it is.
    pub(crate) fn fairshare<'b>(&self, raw: &'b [Extended]) -> Results<'b>
    where
        'a: 'b,
    {
        let (ranking, compat) = (self.config.ranking(), self.config.compat);
        fairshare::results(self.host_math, ranking, compat, self.tree, raw)
    }

    /// The same as stock does it; `records` become what slurmctld's are after it.
    ///
    /// `jobs`: those to price in the order of slurmctld's list, each with the number of accruing
    /// ones that stand before it, itself included. False when stock makes no pass: then nothing
    /// is charged and no job is to be priced.
    pub(crate) fn stock(
        &self,
        raw: &mut [Extended],
        records: &mut Records,
        jobs: impl Iterator<Item = (Job, usize)>,
        mut each: impl FnMut(usize, Charged),
    ) -> bool {
        records.begin_pass(raw);
        if self.last_ran.is_none_or(|last_ran| self.now <= last_ran) {
            return false;
        }
        self.fade(raw);
        let mut weights = Weights::new(&decay(self.config));
        let mut charged = 0;
        for (job, before) in jobs {
            if charged < before {
                self.charge_some(raw, charged..before, &mut weights, &mut each);
                charged = before;
            }
            if let Some(assoc) = self.payer(&job) {
                records.ask(assoc, raw);
            }
        }
        self.charge_some(raw, charged..self.accruing.len(), &mut weights, &mut each);
        true
    }

    /// Slurmctld's records, to be changed by [`ClassicPass::stock`].
    pub(crate) fn records<'b>(&self, kept: &'b mut [Kept]) -> Records<'b>
    where
        'a: 'b,
    {
        let (ranking, compat) = (self.config.ranking(), self.config.compat);
        Records::new(self.tree, self.host_math, ranking, compat, kept)
    }

    fn fade(&self, raw: &mut [Extended]) {
        if let Some(last_ran) = self.last_ran {
            let passed = self.now.saturating_sub(last_ran);
            usage::fade(raw, decay(self.config).factor(passed));
        }
    }

    fn charge_some(
        &self,
        raw: &mut [Extended],
        jobs: std::ops::Range<usize>,
        weights: &mut Weights,
        each: &mut impl FnMut(usize, Charged),
    ) {
        let period = Period::pass(self.last_ran, self.now);
        for at in jobs {
            let job = &self.accruing[at];
            each(at, charge_raw(self.tree, raw, weights, &period, job));
        }
    }

    /// The association whose factor pricing this job asks for, if it asks.
    fn payer(&self, job: &Job) -> Option<AssocIndex> {
        let held = job.priority == 0;
        let weighs = self.config.priority_weight_fairshare != 0;
        job.assoc.filter(|_| weighs && !held && !job.direct)
    }
}

/// What the jobs of a pass were charged.
struct Charges {
    done: Vec<Option<Charge>>,
    refused: Vec<Refused>,
    /// The usage of each charge.
    exact: Vec<(usize, Extended)>,
}

impl Charges {
    fn note(&mut self, job: usize, found: Charged) {
        match found {
            Ok(None) => {}
            Ok(Some((charge, usage))) => {
                self.done[job] = Some(charge);
                self.exact.push((job, usage));
            }
            Err(error) => self.refused.push(Refused { job, error }),
        }
    }
}

/// The pass of [`super::pass`] for classic algorithms.
pub(super) fn pass(
    input: &PassInput,
    ledger: &mut Ledger,
    site: &mut Site,
) -> Result<Pass, PriorityError> {
    let this = ClassicPass {
        config: input.config,
        tree: input.tree,
        host_math: input.host_math,
        accruing: input.accruing,
        last_ran: input.last_ran,
        now: input.now,
    };
    let mut charges = Charges {
        done: vec![None; input.accruing.len()],
        refused: Vec::new(),
        exact: Vec::new(),
    };
    let each = |job, found| charges.note(job, found);
    let (mut passes, mut last_ran, mut left_open) = (true, input.now, Vec::new());
    let fairshare = if input.config.compat.is_slurm() {
        let mut kept = kept(input, ledger);
        let (_, raw) = ledger.own_and_raw();
        let mut records = this.records(&mut kept);
        passes = this.stock(raw, &mut records, jobs(input), each);
        left_open.extend(input.tree.indices().map(|index| records.is_open(index)));
        let all = input.tree.indices();
        all.map(|index| records.fairshare(index, raw)).collect()
    } else {
        last_ran = last_ran.max(input.last_ran.unwrap_or(last_ran));
        let (_, raw) = ledger.own_and_raw();
        this.charge(raw, each);
        this.fairshare(raw).all()
    };
    let (own, _) = ledger.own_and_raw();
    if passes {
        this.fade(own);
    }
    for &(job, usage) in &charges.exact {
        own[input.accruing[job].assoc.get()] += usage;
    }
    publish(&fairshare, site);
    Ok(Pass {
        charges: charges.done,
        refused: charges.refused,
        fairshare,
        left_open,
        priced: passes.then(|| price_all(input, site)).transpose()?,
        last_ran,
    })
}

/// The jobs to price, each with the number of accruing ones before it.
fn jobs<'a>(input: &PassInput<'a>) -> impl Iterator<Item = (Job, usize)> + 'a {
    let all = input.accruing.len();
    let before = input.accruing_before;
    input.jobs.iter().enumerate().map(move |(position, job)| {
        let before = before.map_or(all, |before| before[position]);
        (*job, before)
    })
}

/// The records as the host keeps them, or as if all had been computed just before this pass.
fn kept(input: &PassInput, ledger: &Ledger) -> Vec<Kept> {
    match input.kept {
        Some(kept) => kept.to_vec(),
        None => rank(input.config, input.tree, ledger)
            .iter()
            .map(Kept::from)
            .collect(),
    }
}
