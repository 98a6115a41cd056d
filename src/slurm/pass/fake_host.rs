//! A host of plain rows, for passes without Slurm.
//!
//! It keeps records of associations and jobs. Between the snapshot and the apply step of a pass,
//! jobs start, end and are resized, administrators set usage, and the clock steps back. Usage is
//! compared with the results of a naive host that keeps every second of every run.

use super::computed::{Complaints, Computed, EngineTables, PassRows};
use super::moment::Moment;
use crate::compat::{Compat, Release};
use crate::config::Config;
use crate::engine::{Accruing, AssocResult, RunKey};
use crate::extended::Extended;
use crate::fairshare::{Entitlement, HostMath, RecordState};
use crate::priority::{AssocFactors, Job, TimeLimit};
use crate::slurm::shared::charged_until::ChargedUntil;
use crate::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::{Charge, Decay, Period, Phase, Run, RunState, charge};
use std::sync::Arc;

pub(super) const START: i64 = 1_000_000;
pub(super) const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

/// A job in the host's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobRecord {
    pub(super) id: u32,
    pub(super) assoc: AssocIndex,
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) tres: f64,
    /// Its end has been charged.
    pub(super) charged: bool,
}

/// slurmctld's data, as far as usage is concerned.
pub(super) struct FakeHost {
    pub(super) config: Config,
    pub(super) tree: Arc<Tree>,
    pub(super) now: i64,
    /// By position.
    pub(super) usage: Vec<f64>,
    pub(super) fs_factor: Vec<f64>,
    pub(super) jobs: Vec<JobRecord>,
    pub(super) charged_until: ChargedUntil,
    pub(super) computed: Computed<ChargeRow, FactorsRow>,
    pub(super) record_states: Vec<RecordState>,
    pub(super) entitlement: Entitlement,
    /// Use according to a ledger.
    pub(super) ledger: Option<Vec<Extended>>,
    pub(super) priced_with: Vec<AssocFactors>,
}

pub(super) struct ChargeRow {
    pub(super) run: RunKey,
    pub(super) assoc: AssocIndex,
    pub(super) usage: f64,
    pub(super) next: Option<usize>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct FactorsRow {
    pub(super) fs_factor: f64,
    pub(super) first_charge: Option<usize>,
}

/// The rows of a snapshot.
pub(super) struct FakeRows {
    pub(super) usage: Vec<f64>,
    pub(super) jobs: Vec<JobRecord>,
    pub(super) ids: Vec<u32>,
}

impl PassRows for FakeRows {
    type Charge = ChargeRow;
    type Factors = FactorsRow;

    fn usage(&self) -> impl ExactSizeIterator<Item = Option<Extended>> {
        let finite = |usage: &f64| Extended::from_f64(*usage).filter(|usage| !usage.is_infinite());
        self.usage.iter().map(finite)
    }

    fn assoc_id(&self, position: usize) -> u32 {
        self.ids[position]
    }

    fn job_count(&self) -> usize {
        self.jobs.len()
    }

    fn run(&self, job: usize) -> RunKey {
        (self.jobs[job].id, self.jobs[job].start)
    }

    fn has_begun(&self, _job: usize) -> bool {
        true
    }

    fn queue<'a>(&'a self, accruing: &'a [u32]) -> impl Iterator<Item = (Job, usize)> + 'a {
        // One waiting job of each user, after all running jobs.
        let users = (3..self.usage.len()).map(AssocIndex::new);
        users.map(|assoc| {
            let job = Job {
                assoc: Some(assoc),
                ..Job::new(100)
            };
            (job, accruing.len())
        })
    }

    fn charge(&self, job: usize, accruing: &Accruing, charge: &Charge) -> ChargeRow {
        ChargeRow {
            run: self.run(job),
            assoc: accruing.assoc,
            usage: charge.decayed.usage,
            next: None,
        }
    }

    fn factors(&self, found: &AssocResult<'_>) -> FactorsRow {
        FactorsRow {
            fs_factor: found.fairshare.fs_factor.unwrap_or(0.0),
            first_charge: None,
        }
    }

    fn link(factors: &mut [FactorsRow], charges: &mut [ChargeRow]) {
        for (at, charge) in charges.iter_mut().enumerate().rev() {
            let first = &mut factors[charge.assoc.get()].first_charge;
            charge.next = first.replace(at);
        }
    }
}

/// root 1 -> accounts 2, 3; 2 -> users 4, 5; 3 -> user 6.
pub(super) fn tree() -> Arc<Tree> {
    let row = |id, parent, kind| Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    };
    Arc::new(
        Tree::from_rows([
            row(1, None, AssocKind::Account),
            row(2, Some(1), AssocKind::Account),
            row(3, Some(1), AssocKind::Account),
            row(4, Some(2), AssocKind::User),
            row(5, Some(2), AssocKind::User),
            row(6, Some(3), AssocKind::User),
        ])
        .unwrap(),
    )
}

impl FakeHost {
    pub(super) fn new(config: Config) -> FakeHost {
        let tree = tree();
        let state = |norm_shares| RecordState {
            norm_shares,
            norm_usage: Some(Extended::ZERO),
            effective_usage: Some(Extended::ZERO),
        };
        let shares = if config.ranking().keeps_levels() {
            tree.norm_shares_on_level(config.compat)
        } else {
            tree.norm_shares_on_path(config.compat)
        };
        FakeHost {
            now: START,
            usage: vec![0.0; tree.len()],
            fs_factor: vec![0.0; tree.len()],
            jobs: Vec::new(),
            charged_until: ChargedUntil::new(Some(START)),
            computed: Computed::default(),
            record_states: match config.compat {
                Compat::Documented => Vec::new(),
                Compat::Slurm(_) => shares.into_iter().map(state).collect(),
            },
            entitlement: Entitlement::SHARES,
            ledger: None,
            priced_with: vec![AssocFactors::default(); tree.len()],
            config,
            tree,
        }
    }

    pub(super) fn start(&mut self, id: u32, assoc: usize, tres: f64) {
        self.jobs.push(JobRecord {
            id,
            assoc: AssocIndex::new(assoc),
            start: self.now,
            end: None,
            tres,
            charged: false,
        });
    }

    pub(super) fn decay(&self) -> Decay {
        Decay::new(
            self.config.priority_decay_half_life_secs,
            self.config.compat,
        )
    }

    pub(super) fn run_of(&self, job: &JobRecord, charged_until: Option<i64>) -> Run {
        let phase = match job.end {
            None => Phase::Running,
            Some(_) => Phase::Finished,
        };
        Run {
            state: RunState {
                phase,
                ..RunState::default()
            },
            start_time: job.start,
            end_time: job.end.unwrap_or(0),
            end_time_exp: (!job.charged).then_some(job.start + 36_000),
            time_limit: TimeLimit::Minutes(600),
            billable_tres: job.tres,
            usage_factor: 1.0,
            charged_until,
            passed: self.charged_until.by_passes((job.id, job.start), self.now),
            run_secs_renewed: false,
        }
    }

    pub(super) fn add(&mut self, assoc: AssocIndex, usage: f64) {
        let tree = Arc::clone(&self.tree);
        let mut next = Some(assoc);
        while let Some(index) = next {
            self.usage[index.get()] += usage;
            next = tree.parent(index);
        }
    }

    /// The hook: a job ends now and is charged at once.
    pub(super) fn end(&mut self, id: u32) {
        let last_ran = self.charged_until.last_ran();
        let period = Period::between_passes(last_ran, self.now);
        let Some(at) = self
            .jobs
            .iter()
            .position(|job| job.id == id && job.end.is_none())
        else {
            return;
        };
        let since = &self.charged_until.since_pass;
        let until = since.until(id, self.jobs[at].start);
        self.jobs[at].end = Some(self.now.max(self.jobs[at].start));
        let job = self.jobs[at];
        let run = self.run_of(&job, until);
        if let Some(charged) = charge(&self.decay(), &run, &period, true) {
            self.add(job.assoc, charged.decayed.usage);
            let since = &mut self.charged_until.since_pass;
            since.note(id, job.start, self.now, true);
        }
        self.jobs[at].charged = true;
    }

    pub(super) fn snapshot(&mut self) -> (FakeRows, Moment) {
        let moment = Moment {
            now: self.now,
            last_ran: self.charged_until.last_ran(),
            charges_seen: self.charged_until.since_pass.snapshot(),
        };
        let rows = FakeRows {
            usage: self.usage.clone(),
            jobs: self.jobs.clone(),
            ids: self.tree.rows().iter().map(|row| row.id).collect(),
        };
        (rows, moment)
    }

    pub(super) fn compute(&mut self, rows: &FakeRows, moment: &Moment) -> Complaints {
        let mut computed = std::mem::take(&mut self.computed);
        computed.begin(true, moment);
        computed.take_jobs(rows, &self.config, |job| {
            let job = &rows.jobs[job];
            let since = &self.charged_until.since_pass;
            let until = since.until_at_snapshot(job.id, job.start);
            let accruing = Accruing {
                job: job.id,
                assoc: job.assoc,
                run: self.run_of(job, until),
                at_end: false,
            };
            job.end.is_none().then_some((accruing, None))
        });
        let tables = EngineTables {
            config: &self.config,
            tree: &self.tree,
            record_states: &mut self.record_states,
            factors: &mut self.priced_with,
            host_math: HostMath::default(),
            entitlement: &self.entitlement,
            ledger: self.ledger.as_deref(),
        };
        let complaints = computed.compute(rows, tables, moment);
        self.computed = computed;
        complaints
    }

    /// Adds the computed results to the present values of the records.
    pub(super) fn apply(&mut self, moment: &Moment) {
        let mut computed = std::mem::take(&mut self.computed);
        let factor = computed.outcome.change.factor();
        for usage in &mut self.usage {
            *usage *= factor;
        }
        for position in 0..self.tree.len() {
            let found = computed.factors[position];
            self.fs_factor[position] = found.fs_factor;
            let mut next = found.first_charge;
            while let Some(at) = next {
                let charge = &computed.charges[at];
                next = charge.next;
                let (seen, run) = (moment.charges_seen, charge.run);
                if !self.charged_until.is_charged_since(seen, run) {
                    self.add(charge.assoc, charge.usage);
                }
            }
        }
        let (last_ran, runs) = (computed.outcome.last_ran, computed.runs.take());
        self.charged_until.commit(last_ran, moment.now, runs);
        self.computed = computed;
    }

    pub(super) fn pass(&mut self) -> Complaints {
        let (rows, moment) = self.snapshot();
        let complaints = self.compute(&rows, &moment);
        self.apply(&moment);
        complaints
    }

    /// Usage on a naive host: every second of every run from [`START`] on, decayed to the last
    /// pass.
    pub(super) fn naive(&self, assoc: usize) -> f64 {
        let last_ran = self.charged_until.last_ran().unwrap();
        let weight = |job: &JobRecord| {
            let to = job.end.unwrap_or(last_ran);
            job.tres * self.decay().weight(job.start.max(START), to, last_ran)
        };
        let own = |job: &&JobRecord| {
            let mut next = Some(job.assoc);
            while let Some(index) = next {
                if index.get() == assoc {
                    return true;
                }
                next = self.tree.parent(index);
            }
            false
        };
        self.jobs.iter().filter(own).map(weight).sum()
    }

    pub(super) fn agrees(&self) {
        for (position, usage) in self.usage.iter().enumerate() {
            let expected = self.naive(position);
            let close = (usage - expected).abs() <= 1e-9 * expected.max(1.0);
            assert!(close, "association {position}: {usage}, not {expected}");
        }
    }
}

pub(super) fn config(compat: Compat, half_life_secs: u32) -> Config {
    Config {
        compat,
        priority_decay_half_life_secs: half_life_secs,
        priority_weight_fairshare: 1_000,
        ..Config::default()
    }
}
