//! Results that a pass will write, and how the engine computes them from rows of the host.
//!
//! This module does not depend on the layout of slurmctld's rows: [`PassRows`] hides it, and in the
//! tests a simulated host of plain rows replaces slurmctld.

use crate::config::Config;
use crate::engine::{Accruing, AssocResult, Engine, Host, Input, Outcome, RunKey};
use crate::extended::Extended;
use crate::fairshare::{Entitlement, HostMath, RecordState};
use crate::priority::{AssocFactors, Job};
use crate::slurm::state::quirks::Quirks;
use crate::tree::Tree;
use crate::usage::{Charge, UsageChange, UsageError};
use std::sync::Arc;

use super::moment::Moment;

/// The rows of a snapshot, as a pass reads them, and the rows that it writes.
pub(in crate::slurm) trait PassRows {
    /// A row for a charge.
    type Charge;
    /// A row for the new content of an association's record.
    type Factors;

    /// Raw usage of each association, by position; `None` if the record has no finite number.
    fn usage(&self) -> impl ExactSizeIterator<Item = Option<Extended>>;

    /// The id of an association.
    fn assoc_id(&self, position: usize) -> u32;

    /// Number of jobs that may be charged.
    fn job_count(&self) -> usize;

    /// The run of a job.
    fn run(&self, job: usize) -> RunKey;

    /// Returns true if the job's run has begun.
    fn has_begun(&self, job: usize) -> bool;

    /// The jobs to price, in the order of the host's list, each with the number of jobs in
    /// `accruing` that precede it; see [`Engine::compute`].
    fn queue<'a>(&'a self, accruing: &'a [u32]) -> impl Iterator<Item = (Job, usize)> + 'a;

    /// Row for the charge of a job.
    fn charge(&self, job: usize, accruing: &Accruing, charge: &Charge) -> Self::Charge;

    /// Row for the results of an association.
    fn factors(&self, found: &AssocResult<'_>) -> Self::Factors;

    /// Links each association to its charges, in their order.
    fn link(factors: &mut [Self::Factors], charges: &mut [Self::Charge]);
}

/// The engine's own tables of a pass.
pub(in crate::slurm) struct EngineTables<'a> {
    pub(in crate::slurm) config: &'a Config,
    pub(in crate::slurm) tree: &'a Arc<Tree>,
    /// State of the host's records, by position; under `compat=slurm`.
    pub(in crate::slurm) record_states: &'a mut [RecordState],
    /// Input of pricing, by position.
    pub(in crate::slurm) factors: &'a mut [AssocFactors],
    pub(in crate::slurm) host_math: HostMath,
    /// Entitlements of associations.
    pub(in crate::slurm) entitlement: &'a Entitlement,
    /// Usage by position, if a ledger provides it; otherwise the host's records do.
    pub(in crate::slurm) ledger: Option<&'a [Extended]>,
}

/// Numbers that a pass could not use: one line of the log for all of a kind.
#[derive(Debug, Default)]
pub(in crate::slurm) struct Complaints {
    /// Refused charges: the first job, the reason, and the number of others.
    pub(in crate::slurm) refused: Option<(u32, UsageError, usize)>,
    /// Raw usage that is not finite and counts as 0: the first association, and the number of
    /// others.
    pub(in crate::slurm) non_finite: Option<(u32, usize)>,
}

impl Complaints {
    fn refuse(&mut self, job_id: u32, error: UsageError) {
        match &mut self.refused {
            Some((_, _, more)) => *more += 1,
            first => *first = Some((job_id, error, 0)),
        }
    }

    fn not_finite(&mut self, assoc_id: u32) {
        match &mut self.non_finite {
            Some((_, more)) => *more += 1,
            first => *first = Some((assoc_id, 0)),
        }
    }
}

/// Results that a pass will write. Memory is kept from pass to pass.
pub(in crate::slurm) struct Computed<C, F> {
    /// True if there are associations. Without any, usage does not decay.
    pub(in crate::slurm) has_usage: bool,
    /// Changes of usage, and the state with which the next pass starts.
    pub(in crate::slurm) outcome: Outcome,
    pub(in crate::slurm) charges: Vec<C>,
    /// All existing runs, charged or not; `None` under `compat=slurm`.
    pub(in crate::slurm) runs: Option<Vec<RunKey>>,
    /// Ends that were not reported.
    pub(in crate::slurm) ends: Vec<RunKey>,
    /// Jobs whose billing was recomputed.
    pub(in crate::slurm) billables: Vec<(RunKey, f64)>,
    /// New content of the host's records, one per association.
    pub(in crate::slurm) factors: Vec<F>,
    /// The jobs that may be charged, and their rows in the snapshot.
    accruing: Vec<Accruing>,
    accruing_rows: Vec<u32>,
    engine: Engine,
}

/// Before a pass, and if there are no associations.
const NOTHING: Outcome = Outcome {
    change: UsageChange::Factor(1.0),
    last_ran: 0,
    prices: true,
};

impl<C, F> Default for Computed<C, F> {
    fn default() -> Computed<C, F> {
        Computed {
            has_usage: false,
            outcome: NOTHING,
            charges: Vec::new(),
            runs: None,
            ends: Vec::new(),
            billables: Vec::new(),
            factors: Vec::new(),
            accruing: Vec::new(),
            accruing_rows: Vec::new(),
            engine: Engine::default(),
        }
    }
}

impl<C, F> Computed<C, F> {
    /// Called before a snapshot is computed. `has_usage`: there are associations.
    pub(in crate::slurm) fn begin(&mut self, has_usage: bool, moment: &Moment) {
        self.has_usage = has_usage;
        self.outcome = Outcome {
            last_ran: moment.last_ran.unwrap_or(0),
            ..NOTHING
        };
        self.charges.clear();
        self.runs = None;
        self.ends.clear();
        self.billables.clear();
        self.factors.clear();
        self.accruing.clear();
        self.accruing_rows.clear();
    }

    /// Takes the jobs that must be charged, and all existing runs.
    ///
    /// `accruing`: returns a job as the engine's row, and its billing if the host's record of it
    /// must be renewed; `None`: this pass does not charge it.
    pub(in crate::slurm) fn take_jobs(
        &mut self,
        rows: &impl PassRows<Charge = C, Factors = F>,
        config: &Config,
        accruing: impl Fn(usize) -> Option<(Accruing, Option<f64>)>,
    ) {
        self.accruing.reserve_exact(rows.job_count());
        self.charges.reserve_exact(rows.job_count());
        for job in 0..rows.job_count() {
            let Some((accruing, renewed)) = accruing(job) else {
                continue;
            };
            if let Some(billable) = renewed {
                self.billables.push((rows.run(job), billable));
            }
            self.accruing.push(accruing);
            let row = u32::try_from(job).unwrap_or(u32::MAX);
            self.accruing_rows.push(row);
        }
        if !Quirks::of(config.compat).keeps_no_runs {
            let jobs = (0..rows.job_count()).filter(|job| rows.has_begun(*job));
            let mut runs: Vec<RunKey> = Vec::with_capacity(rows.job_count());
            runs.extend(jobs.map(|job| rows.run(job)));
            // Done here, because the pass is later committed under locks.
            runs.sort_unstable();
            self.runs = Some(runs);
        }
    }

    /// The pass itself: computes charges and factors from usage, jobs and associations.
    pub(in crate::slurm) fn compute(
        &mut self,
        rows: &impl PassRows<Charge = C, Factors = F>,
        tables: EngineTables<'_>,
        moment: &Moment,
    ) -> Complaints {
        let complaints = self.observe(rows, &tables, moment.last_ran);
        let mut publisher = Publisher {
            rows,
            accruing: &self.accruing,
            accruing_rows: &self.accruing_rows,
            charges: &mut self.charges,
            ends: &mut self.ends,
            factors: &mut self.factors,
            complaints,
        };
        let queue = rows.queue(&self.accruing_rows);
        let (input, factors) = tables.input(&self.accruing, moment.last_ran, moment.now);
        self.outcome = self.engine.compute(input, queue, factors, &mut publisher);
        publisher.finish()
    }

    /// Ranks the present associations of `rows`, without decay and charges: these were done
    /// already, and the state with which the next pass starts does not change.
    pub(in crate::slurm) fn rank_again(
        &mut self,
        rows: &impl PassRows<Charge = C, Factors = F>,
        tables: EngineTables<'_>,
        moment: &Moment,
    ) -> Complaints {
        self.charges.clear();
        self.factors.clear();
        let last_ran = Some(self.outcome.last_ran);
        let complaints = self.observe(rows, &tables, last_ran);
        let mut publisher = Publisher {
            rows,
            accruing: &[],
            accruing_rows: &[],
            charges: &mut self.charges,
            ends: &mut self.ends,
            factors: &mut self.factors,
            complaints,
        };
        let (input, factors) = tables.input(&[], last_ran, moment.now);
        self.engine.rank_again(input, factors, &mut publisher);
        publisher.finish()
    }

    /// Raw usage of the associations, by position; `None`: there are no associations.
    pub(in crate::slurm) fn raw(&self) -> Option<&[Extended]> {
        self.has_usage.then(|| self.engine.model().raw())
    }

    /// Takes usage from the host's records, valued at `as_of`.
    ///
    /// Usage that is NaN or infinite counts as 0: one wrong record is better than priorities that
    /// no longer change for anybody. A negative number counts as 0; stock calculates with it,
    /// because it is a rounding error of a removal.
    fn observe(
        &mut self,
        rows: &impl PassRows<Charge = C, Factors = F>,
        tables: &EngineTables<'_>,
        as_of: Option<i64>,
    ) -> Complaints {
        self.engine.configure(tables.config);
        self.engine.entitle(tables.entitlement);
        let mut complaints = Complaints::default();
        let takes_negative = Quirks::of(tables.config.compat).negative_usage;
        if let Some(usage) = tables.ledger {
            self.engine.observe(as_of, usage.iter().copied());
            self.factors.reserve_exact(tables.tree.len());
            return complaints;
        }
        let usage = rows.usage().enumerate();
        let usage = usage.map(|(position, usage)| match usage {
            Some(usage) if takes_negative || !usage.is_negative() => usage,
            Some(_) => Extended::ZERO,
            None => {
                complaints.not_finite(rows.assoc_id(position));
                Extended::ZERO
            }
        });
        self.engine.observe(as_of, usage);
        self.factors.reserve_exact(tables.tree.len());
        complaints
    }
}

impl<'a> EngineTables<'a> {
    /// Input of the engine, and the factors that it writes.
    fn input(
        self,
        accruing: &'a [Accruing],
        last_ran: Option<i64>,
        now: i64,
    ) -> (Input<'a>, &'a mut [AssocFactors]) {
        let input = Input {
            config: self.config,
            tree: self.tree,
            accruing,
            record_states: self.record_states,
            host_math: self.host_math,
            // The host has reset its records before.
            clears: false,
            last_ran,
            now,
        };
        (input, self.factors)
    }
}

/// Converts results of the engine to rows that must be written.
struct Publisher<'a, R: PassRows> {
    rows: &'a R,
    accruing: &'a [Accruing],
    accruing_rows: &'a [u32],
    charges: &'a mut Vec<R::Charge>,
    ends: &'a mut Vec<RunKey>,
    factors: &'a mut Vec<R::Factors>,
    complaints: Complaints,
}

impl<R: PassRows> Publisher<'_, R> {
    fn finish(self) -> Complaints {
        R::link(self.factors, self.charges);
        self.complaints
    }
}

impl<R: PassRows> Host for Publisher<'_, R> {
    fn charged(&mut self, job: usize, charge: Result<Option<Charge>, UsageError>) {
        let row = self.accruing_rows[job] as usize;
        match charge {
            Ok(None) => {}
            Ok(Some(charge)) => {
                let accruing = &self.accruing[job];
                self.charges.push(self.rows.charge(row, accruing, &charge));
                if accruing.at_end {
                    self.ends.push(self.rows.run(row));
                }
            }
            Err(error) => self.complaints.refuse(self.rows.run(row).0, error),
        }
    }

    #[inline]
    fn ranked(&mut self, found: &AssocResult<'_>) {
        self.factors.push(self.rows.factors(found));
    }
}
