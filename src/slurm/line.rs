//! The order in which waiting jobs start, if `order=` requests one, as numbers that replace
//! priorities. It is kept until the next pass, for jobs that arrive before that.

use crate::config::{Config, Expect, Order, Tiers};
use crate::engine::{ChargedTo, Competitors, longest_secs, units};
use crate::extended::Extended;
use crate::fairshare::Entitlement;
use crate::order::{Forest, Job, JobLine, Level, OrderError, Placed};
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::state::OrderState;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::RunTimes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The order of the last pass, and the jobs that arrived since.
#[derive(Default)]
pub(in crate::slurm) struct StandingLine {
    /// True if there is an order; otherwise waiting jobs have their weighted sums.
    is_formed: bool,
    /// True if a job arrived while there was no order, after the last snapshot.
    missed: bool,
    line: JobLine,
    charged_to: ChargedTo,
    tree: Arc<Tree>,
    /// Times when jobs were first submitted, by job number: a requeue changes the submit time in
    /// slurmctld's record, but the job keeps its place. Contains jobs whose record has a different
    /// time, and running jobs that may be requeued.
    submitted: BTreeMap<u32, i64>,
    /// Run times up to the last pass, under `expect=history`.
    run_times: Arc<RunTimes>,
    /// Jobs that arrived since the last snapshot, by id, and the association to which they were
    /// charged.
    came: BTreeMap<u64, (Job, Option<AssocId>)>,
}

/// Input of orders, kept from pass to pass: while shares do not change, only usage is read again.
#[derive(Default)]
pub(in crate::slurm) struct LineWorkspace {
    tree: Arc<Tree>,
    entitlement: Entitlement,
    competitors: Competitors,
    /// Forest of the competitors.
    forest: Option<Arc<Forest>>,
    jobs: Vec<Placed>,
    /// Row of each job in the snapshot.
    rows: Vec<u32>,
}

impl LineWorkspace {
    fn competitors(&mut self, tree: &Arc<Tree>, entitlement: &Entitlement) -> &Competitors {
        if !Arc::ptr_eq(&self.tree, tree) || self.entitlement != *entitlement {
            self.competitors = Competitors::new(tree, entitlement);
            self.entitlement = entitlement.clone();
            self.tree = Arc::clone(tree);
            self.forest = None;
        }
        &self.competitors
    }

    /// Forest of the competitors' nodes, which compete on this level.
    fn forest(&mut self, used: &[u128], level: Level) -> Result<Arc<Forest>, OrderError> {
        if let Some(forest) = self
            .forest
            .as_ref()
            .filter(|forest| forest.level() == level)
        {
            return Ok(Arc::clone(forest));
        }
        let nodes = self.competitors.nodes(used);
        let forest = Arc::new(Forest::new(&nodes, level)?);
        self.forest = Some(Arc::clone(&forest));
        Ok(forest)
    }
}

/// Returns true if jobs have an order.
pub(in crate::slurm) fn is_asked_for(config: &Config) -> bool {
    config.order() != Order::Weighted
}

/// Returns true if the expected use of jobs counts.
pub(in crate::slurm) fn expects(config: &Config) -> bool {
    config.order() == Order::Interleaved
}

/// Returns true if the partition of a waiting job can affect its place.
pub(in crate::slurm) fn reads_partitions(config: &Config) -> bool {
    // A partition may limit the run time of a job.
    config.tiers() == Tiers::Partition || expects(config)
}

/// Returns true if the run times of ended jobs count.
pub(in crate::slurm) fn learns(config: &Config) -> bool {
    is_asked_for(config) && config.expect() == Expect::History
}

/// Returns true if new settings change the order of waiting jobs, or begin or end one.
pub(in crate::slurm) fn changes(before: &Config, now: &Config) -> bool {
    (is_asked_for(before) || is_asked_for(now)) && before != now
}

/// The order of the waiting jobs of a pass. `by_row` gets the number of each row of the snapshot;
/// 0: keep the weighted priority. Unchanged on error. `raw`: usage of the associations, if there are
/// any; `before`: when jobs were first submitted;
/// `run_times`: run times so far.
pub(in crate::slurm) fn form(
    config: &Config,
    (snapshot, tables): (&Snapshot, &Tables),
    raw: Option<&[Extended]>,
    now: i64,
    before: &BTreeMap<u32, i64>,
    run_times: Arc<RunTimes>,
    (kept, by_row): (&mut LineWorkspace, &mut Vec<u32>),
) -> Result<StandingLine, OrderError> {
    let raw = raw.filter(|raw| raw.len() == tables.tree.len());
    let nobody = Arc::default();
    let (tree, raw) = raw.map_or((&nobody, &[][..]), |raw| (&tables.tree, raw));
    let competitors = kept.competitors(tree, &tables.entitlement);
    let mut used = competitors.used(raw);
    if expects(config) {
        for row in snapshot.accruing() {
            if let Some(assoc) = snapshot.assoc_row(row.assoc_id).filter(|_| row.running) {
                let due = due(row, now, &run_times);
                competitors.commit(&mut used, AssocIndex::new(assoc as usize), due);
            }
        }
    }
    let mut submitted = Vec::new();
    for row in snapshot.accruing() {
        if let Some(at) = before.get(&row.job_id) {
            submitted.push((row.job_id, *at));
        }
    }
    let charged_to = competitors.charged_to().clone();
    kept.rows.clear();
    kept.jobs.clear();
    let mut fixed = BTreeSet::new();
    let rows = JobRows::new(config, (snapshot, tables), &run_times);
    for (at, row) in (0..).zip(rows.waiting) {
        let stands = row.is(ffi::SHIM_PENDING)
            && row.is(ffi::SHIM_HAS_DETAILS)
            && !row.is(ffi::SHIM_POWERING_UP);
        if row.is(ffi::SHIM_DIRECT) {
            fixed.insert(row.priority);
        } else if stands {
            let assoc = snapshot.assoc_row(row.assoc_id);
            let assoc = assoc.map(|assoc| AssocIndex::new(assoc as usize));
            let node = charged_to.of(assoc);
            let mut job = rows.job(at as usize, node);
            if let Some(at) = before
                .get(&row.job_id)
                .copied()
                .filter(|at| *at < job.submit)
            {
                job.submit = at;
                submitted.push((row.job_id, at));
            }
            kept.rows.push(at);
            kept.jobs.push(Placed {
                job,
                number: row.priority,
            });
        }
    }
    let forest = kept.forest(&used, config.ranking().level().unwrap_or(Level::Leaf))?;
    let interleaves = expects(config);
    let (line, numbers) = JobLine::ordered(&forest, used, interleaves, &kept.jobs, fixed)?;
    by_row.clear();
    by_row.resize(snapshot.waiting().len(), 0);
    for (row, number) in kept.rows.iter().zip(&numbers) {
        by_row[*row as usize] = *number;
    }
    Ok(StandingLine {
        is_formed: true,
        missed: false,
        line,
        charged_to,
        tree: Arc::clone(&tables.tree),
        submitted: submitted.into_iter().collect(),
        run_times,
        came: BTreeMap::new(),
    })
}

impl StandingLine {
    /// A line without an order, with the data that the last slurmctld saved.
    pub(in crate::slurm) fn knowing(found: &OrderState) -> StandingLine {
        StandingLine {
            submitted: found.submits.iter().copied().collect(),
            run_times: Arc::clone(&found.run_times),
            ..StandingLine::default()
        }
    }

    /// Returns true if there is an order; otherwise waiting jobs have their weighted sums.
    pub(in crate::slurm) fn is_formed(&self) -> bool {
        self.is_formed
    }

    /// Data that would be lost by a restart.
    pub(in crate::slurm) fn to_save(&self) -> OrderState {
        OrderState {
            submits: self.submitted.iter().map(|(id, at)| (*id, *at)).collect(),
            run_times: Arc::clone(&self.run_times),
        }
    }

    /// Run times up to the last pass.
    pub(in crate::slurm) fn run_times(&self) -> Arc<RunTimes> {
        Arc::clone(&self.run_times)
    }

    /// Times when jobs were first submitted, if their records may have a different time; includes
    /// those of the running jobs `running` that had a place in the line before.
    pub(in crate::slurm) fn submitted(
        &self,
        running: impl Iterator<Item = u32>,
    ) -> BTreeMap<u32, i64> {
        let started = running.filter(|id| !self.submitted.contains_key(id));
        let known = self.line.submits(started.map(u64::from));
        if known.is_empty() {
            return self.submitted.clone();
        }
        let known = known.into_iter().map(|(id, at)| (id as u32, at));
        let mut submitted = self.submitted.clone();
        submitted.extend(known);
        submitted
    }

    /// Called before a snapshot is taken; it will contain all jobs that have arrived and still
    /// wait. The others are forgotten.
    pub(in crate::slurm) fn before_snapshot(&mut self) {
        self.missed = false;
        self.came.clear();
    }

    /// Removes the order, because none is requested any more, and keeps only the first submit
    /// times. Returns the old line, which should be dropped where nobody waits for it.
    pub(in crate::slurm) fn dissolve(&mut self) -> Option<StandingLine> {
        self.is_formed.then(|| {
            let without = StandingLine {
                submitted: std::mem::take(&mut self.submitted),
                run_times: std::mem::take(&mut self.run_times),
                ..StandingLine::default()
            };
            std::mem::replace(self, without)
        })
    }

    /// Replaces the line `before`, and adds the jobs that arrived there after the snapshot. Returns
    /// true if a job arrived while there was no order, and so has no place yet. Also returns the
    /// old line, which should be dropped where nobody waits for it.
    pub(in crate::slurm) fn follow(mut self, before: &mut StandingLine) -> (bool, StandingLine) {
        for (mut job, assoc) in std::mem::take(&mut before.came).into_values() {
            let id = job.id as u32;
            if !self.line.contains(job.id) && !self.submitted.contains_key(&id) {
                let known = assoc.and_then(|id| self.tree.index_of(id));
                job.node = self.charged_to.of(known);
                let had = before.line.remove(job.id).map(|placed| placed.number);
                if let Some(at) = before.submitted.get(&id).copied() {
                    self.submitted.insert(id, at);
                }
                // The node always exists in the line.
                let _ = self.line.insert(job, had);
                self.came.insert(job.id, (job, assoc));
            }
        }
        (before.missed, std::mem::replace(before, self))
    }

    /// Number of a job that has arrived or changed since the pass: the only waiting job of
    /// `snapshot`. `above`: its association and the ancestors of that, nearest first. `None`: there
    /// is no order yet, and the job has its weighted sum, as all others.
    pub(in crate::slurm) fn number(
        &mut self,
        config: &Config,
        snapshot: &Snapshot,
        tables: &Tables,
        above: impl Iterator<Item = AssocId>,
    ) -> Result<Option<u32>, OrderError> {
        if !self.is_formed {
            self.missed = true;
            return Ok(None);
        }
        let mut above = above.filter_map(|id| Some((id, self.tree.index_of(id)?)));
        let (assoc, known) = above.next().unzip();
        let node = self.charged_to.of(known);
        let mut job = JobRows::new(config, (snapshot, tables), &self.run_times).job(0, node);
        let id = snapshot.waiting()[0].job_id;
        let before = self.line.remove(job.id);
        let had = before.map(|placed| placed.number);
        let stood = before.map(|placed| placed.job.submit);
        let first = self.submitted.get(&id).copied().or(stood);
        if let Some(first) = first.filter(|first| *first < job.submit) {
            job.submit = first;
            self.submitted.insert(id, first);
        }
        self.came.insert(job.id, (job, assoc));
        self.line.insert(job, had).map(Some)
    }
}

/// Expected remaining use of a running job.
fn due(row: &ffi::shim_accruing, now: i64, run_times: &RunTimes) -> u128 {
    let limit = host::time_limit(row.time_limit, row.time_limit_infinite, false);
    let limit = longest_secs(limit, None);
    let ran = (now - row.start_time).max(0) as f64;
    let rest = run_times.expected(row.assoc_id, limit, ran) - ran;
    let billing = match row.billable_known {
        true => row.billable_tres,
        false => row.billable_now,
    };
    units(rest.max(0.0) * billing)
}

/// Data of waiting jobs' rows for an order.
struct JobRows<'a> {
    waiting: &'a [ffi::shim_waiting],
    queued: &'a [ffi::shim_queued],
    partitions: &'a [ffi::shim_partition],
    tables: &'a Tables,
    run_times: &'a RunTimes,
    tiers: Tiers,
    expects: bool,
}

impl<'a> JobRows<'a> {
    fn new(
        config: &Config,
        (snapshot, tables): (&'a Snapshot, &'a Tables),
        run_times: &'a RunTimes,
    ) -> JobRows<'a> {
        JobRows {
            waiting: snapshot.waiting(),
            queued: snapshot.queued(),
            partitions: snapshot.partitions(),
            tables,
            run_times,
            tiers: config.tiers(),
            expects: expects(config),
        }
    }

    /// A waiting job, which is charged to a node, as a row of an order. Inlined: a call for each
    /// job, with rows fetched job by job, adds 0.4 ms to a pass of 45 ms with 100,000 waiting jobs
    /// (samples of passes of the bench host).
    #[inline(always)]
    fn job(&self, at: usize, node: u32) -> Job {
        let row = &self.waiting[at];
        let queued = self.queued.get(at).copied().unwrap_or_default();
        let partition = (row.partition != NONE).then(|| &self.partitions[row.partition as usize]);
        let tier = match self.tiers {
            Tiers::None => 0,
            Tiers::Partition => partition.map_or(0, |row| row.priority_job_factor.into()),
            Tiers::Qos => {
                let qos = self.tables.job_tables.qos.get(row.qos as usize);
                qos.map_or(0, |qos| qos.priority.into())
            }
        };
        Job {
            node,
            tier,
            nice: row.nice.into(),
            submit: queued.submit_time,
            id: row.job_id.into(),
            expected: if self.expects {
                let max_time_mins = partition.filter(|row| !row.max_time_infinite);
                let limit = longest_secs(row.limit(), max_time_mins.map(|row| row.max_time));
                let takes = self.run_times.expected(row.assoc_id, limit, 0.0);
                units(takes * queued.billing as f64)
            } else {
                0
            },
        }
    }
}
