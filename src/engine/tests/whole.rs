//! A whole pass of a host that has everything in memory.

use super::super::assoc_result::AssocResult;
use super::super::charge::{Accruing, Refused};
use super::super::input::Input;
use super::super::pass::{Engine, Host, Outcome};
use crate::config::Config;
use crate::fairshare::{AssocFairshare, HostMath, RecordState};
use crate::priority::{Job, JobTables, Priced, Pricer, PriorityError};
use crate::tree::Tree;
use crate::usage::{Charge, UsageError};

/// The input of [`Engine::pass`].
#[derive(Clone, Copy, Debug)]
pub struct PassInput<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Associations.
    pub tree: &'a Tree,
    /// Jobs that used resources since the last pass, in the order of the host's job list.
    pub accruing: &'a [Accruing],
    /// Jobs to price, in the same order.
    pub jobs: &'a [Job],
    /// For each of `jobs`, how many of `accruing` stand before it in the host's job list, itself
    /// included; only classic fair share under `compat=slurm` asks. `None`: all do.
    pub accruing_before: Option<&'a [usize]>,
    /// As [`Input::record_states`]. `None`: as if all had been computed just before this pass.
    pub record_states: Option<&'a [RecordState]>,
    /// Functions of the host's C library; only `compat=slurm` asks.
    pub host_math: HostMath,
    /// The last pass, seconds since 1970; `None`: there was none.
    pub last_ran: Option<i64>,
    /// Now, seconds since 1970.
    pub now: i64,
}

/// The results of a whole pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// For each accruing job what it was charged, `None` where nothing (see
    /// [`crate::usage::charge`]) or refused.
    pub charges: Vec<Option<Charge>>,
    /// Charges that are no numbers; they changed nothing.
    pub refused: Vec<Refused>,
    /// Fair share, one per association by position.
    pub fairshare: Vec<AssocFairshare>,
    /// Associations, by position, whose effective usage stock computes on demand after the pass
    /// (see [`AssocResult::open`]).
    pub left_open: Vec<bool>,
    /// One per job; `None`: all priorities stay as they are.
    pub priced: Option<Vec<Priced>>,
    /// What became of usage, and what `last_ran` is for the next pass.
    pub outcome: Outcome,
}

/// Keeps everything that a pass tells.
#[derive(Default)]
struct Everything {
    charges: Vec<Option<Charge>>,
    refused: Vec<Refused>,
    fairshare: Vec<AssocFairshare>,
    left_open: Vec<bool>,
}

impl Host for Everything {
    fn charged(&mut self, job: usize, charge: Result<Option<Charge>, UsageError>) {
        match charge {
            Ok(charge) => self.charges[job] = charge,
            Err(error) => self.refused.push(Refused { job, error }),
        }
    }

    fn ranked(&mut self, found: &AssocResult<'_>) {
        self.fairshare.push(found.fairshare);
        self.left_open.push(found.open);
    }
}

impl Engine {
    /// One pass at `input.now`, all steps: what was charged, fair share of all associations, whose
    /// factors are also written to `tables.assocs`, and the prices of the jobs.
    ///
    /// # Errors
    /// Those of [`Pricer::new`] and [`JobTables::check_job`]; nothing was changed.
    ///
    /// # Panics
    /// When usage, `tables.assocs` or `record_states` are not one per association, or `accruing_before` not
    /// one per job.
    pub fn pass(
        &mut self,
        input: &PassInput,
        tables: &mut JobTables,
    ) -> Result<Pass, PriorityError> {
        let accruing_before = input.accruing_before;
        assert!(accruing_before.is_none_or(|before| before.len() == input.jobs.len()));
        assert_eq!(
            tables.assocs.len(),
            input.tree.len(),
            "one factor per association"
        );
        Pricer::new(input.config, tables, input.now)?;
        input
            .jobs
            .iter()
            .try_for_each(|job| tables.check_job(job))?;

        let mut record_states = input
            .record_states
            .map(<[RecordState]>::to_vec)
            .unwrap_or_default();
        let all = input.accruing.len();
        let mut found = Everything {
            charges: vec![None; all],
            ..Everything::default()
        };
        let steps = Input {
            config: input.config,
            tree: input.tree,
            accruing: input.accruing,
            record_states: &mut record_states,
            host_math: input.host_math,
            clears: false,
            last_ran: input.last_ran,
            now: input.now,
        };
        let queue = input.jobs.iter().enumerate();
        let before = |position: usize| accruing_before.map_or(all, |before| before[position]);
        let queue = queue.map(|(position, job)| (*job, before(position)));
        let outcome = self.compute(steps, queue, &mut tables.assocs, &mut found);
        let price = || {
            let mut priced = vec![Priced::default(); input.jobs.len()];
            Pricer::new(input.config, tables, input.now)?.price_all(input.jobs, &mut priced);
            Ok(priced)
        };
        Ok(Pass {
            charges: found.charges,
            refused: found.refused,
            fairshare: found.fairshare,
            left_open: found.left_open,
            priced: outcome.prices.then(price).transpose()?,
            outcome,
        })
    }
}
