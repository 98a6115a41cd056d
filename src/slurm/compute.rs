//! The middle of a pass: from a snapshot to charges, factors and priorities. No lock is held.

use super::charge::{run_of, state_of, to_shim};
use super::harvest::ended_unreported;
use super::host::{self, NONE, ffi};
use super::log;
use super::pass::{Moment, Workspace};
use super::plugin::Plugin;
use super::settings::Settings;
use super::snapshot::Snapshot;
use crate::engine::{self, Accruing, PassInput};
use crate::fairshare::AssocFairshare;
use crate::priority::{Job, Priced, Pricer, PriorityError};
use crate::tree::{AssocIndex, TreeError};
use crate::usage::{Ledger, UsageError, accrues};

/// Why nothing was computed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ComputeError {
    #[error("associations: {0}")]
    Tree(#[from] TreeError),
    #[error("usage: {0}")]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Priority(#[from] PriorityError),
}

/// What a pass is about to write.
#[derive(Default)]
pub(super) struct Computed {
    /// Are there associations at all? Without, time does not pass for usage.
    pub(super) has_usage: bool,
    /// What the next pass starts from.
    pub(super) last_ran: i64,
    /// What is left of all usage.
    pub(super) fading: f64,
    pub(super) charges: Vec<ffi::shim_charge>,
    /// For each charge, when that run of the job started.
    pub(super) start_times: Vec<i64>,
    /// Ends that nobody reported: job and start time.
    pub(super) ends: Vec<(u32, i64)>,
    /// Jobs whose billing was worked out anew: job, start time, billing.
    pub(super) billables: Vec<(u32, i64, f64)>,
    /// Under stock's classic order, by position: left for whoever asks. Empty elsewhere.
    pub(super) left_open: Vec<bool>,
    /// By position in the tree.
    pub(super) fairshare: Vec<AssocFairshare>,
}

/// Waiting jobs with their prices; memory that passes reuse.
#[derive(Default)]
pub(super) struct Pending {
    /// Rows of the snapshot's waiting jobs that are priced.
    pub(super) rows: Vec<u32>,
    pub(super) jobs: Vec<Job>,
    pub(super) priced: Vec<Priced>,
    /// Priorities per partition and QOS, job after job.
    pub(super) variants: Vec<u32>,
    /// Where those of a job end.
    pub(super) variant_ends: Vec<u32>,
    /// Weighted TRES terms, job after job, if TRES are weighed.
    pub(super) tres_terms: Vec<f64>,
    /// One per TRES, if TRES are weighed.
    pub(super) tres_weights: Vec<f64>,
}

impl Computed {
    pub(super) fn new(
        plugin: &Plugin,
        settings: &Settings,
        work: &mut Workspace,
        moment: &Moment,
    ) -> Result<Computed, ComputeError> {
        plugin.fault.strike("compute");
        let snapshot = &work.snapshot;
        let mut names = host::tres_names();
        names.resize(snapshot.tres_count(), String::new());
        work.tables.fill(settings.config.compat, snapshot, names)?;
        work.pending.collect(settings, snapshot, &work.tables);

        let mut computed = Computed {
            has_usage: settings.has_slurmdbd && !snapshot.assocs().is_empty(),
            last_ran: moment.last_ran.unwrap_or(0),
            fading: 1.0,
            ..Computed::default()
        };
        let mut prices = true;
        if computed.has_usage {
            prices = computed.usage(plugin, settings, work, moment)?;
        }
        if prices {
            work.pending
                .price(settings, &work.tables.site, moment.now)?;
        } else {
            work.pending.clear();
        }
        Ok(computed)
    }

    /// Charges and fair share. False when this pass is to leave priorities alone.
    fn usage(
        &mut self,
        plugin: &Plugin,
        settings: &Settings,
        work: &mut Workspace,
        moment: &Moment,
    ) -> Result<bool, ComputeError> {
        let config = &settings.config;
        let tables = &mut work.tables;
        let (accruing, rows) = self.accruing(plugin, settings, &work.snapshot, tables, moment);
        let interleaved = settings.is_stock_classic();
        let before = interleaved.then(|| work.pending.accruing_before(&work.snapshot, &rows));
        let tree = std::sync::Arc::clone(&tables.tree);
        let mut ledger = Ledger::as_kept(&tree, &tables.raw_usage);
        let input = PassInput {
            config,
            tree: &tree,
            accruing: &accruing,
            // Only there does the order of jobs decide fair share; elsewhere pricing is ours.
            jobs: if interleaved {
                &work.pending.jobs[..]
            } else {
                &[]
            },
            accruing_before: before.as_deref(),
            kept: config.compat.is_slurm().then_some(&tables.kept[..]),
            host_math: host::math(),
            last_ran: moment.last_ran,
            now: moment.now,
        };
        let found = engine::pass(&input, &mut ledger, &mut tables.site)?;
        if let Some(refused) = found.refused.first() {
            let job = work.snapshot.accruing()[rows[refused.job]].job_id;
            let more = found.refused.len() - 1;
            log::error(format_args!(
                "job {job} and {more} more are not charged: {}",
                refused.error
            ));
        }
        for (position, charge) in found.charges.iter().enumerate() {
            let Some(charge) = charge else { continue };
            let row = &work.snapshot.accruing()[rows[position]];
            let assoc = accruing[position].assoc.get();
            self.add_charge(charge, row, assoc, &work.snapshot);
            if accruing[position].at_end {
                self.ends.push((row.job_id, row.start_time));
            }
        }
        let passed = moment
            .now
            .saturating_sub(moment.last_ran.unwrap_or(moment.now));
        self.fading = engine::decay(config).factor(passed);
        self.last_ran = found.last_ran;
        self.left_open = found.left_open;
        self.fairshare = found.fairshare;
        Ok(found.priced.is_some())
    }

    fn add_charge(
        &mut self,
        charge: &crate::usage::Charge,
        row: &ffi::shim_accruing,
        assoc: usize,
        snapshot: &Snapshot,
    ) {
        let (qos, partition_qos) = snapshot.qos_rows(row);
        let (qos, partition_qos) = (qos.unwrap_or(NONE), partition_qos.unwrap_or(NONE));
        let assoc = u32::try_from(assoc).unwrap_or(NONE);
        self.charges
            .push(to_shim(charge, row, assoc, qos, partition_qos));
        self.start_times.push(row.start_time);
    }

    /// The jobs to charge, and their rows in the snapshot.
    fn accruing(
        &mut self,
        plugin: &Plugin,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &super::tables::Tables,
        moment: &Moment,
    ) -> (Vec<Accruing>, Vec<usize>) {
        let config = &settings.config;
        let shared = plugin.shared.lock();
        let (mut jobs, mut rows) = (Vec::new(), Vec::new());
        for (position, row) in snapshot.accruing().iter().enumerate() {
            let state = state_of(row);
            let running = config.priority_flags.calculate_running;
            let at_end = ended_unreported(settings, snapshot, row);
            if !at_end && !accrues(config.compat, running, state, row.start_time) {
                continue;
            }
            let Some(assoc) = snapshot.assoc_row(row.assoc_id) else {
                continue;
            };
            let factor = tables
                .qos_row(row.qos_id)
                .map_or(1.0, |qos| snapshot.qos()[qos.get()].usage_factor);
            let until = shared.charged_until(row, snapshot.enforces_limits());
            let run = run_of(row, factor, until, moment.last_ran);
            let from = moment.last_ran.unwrap_or(0).max(row.start_time);
            if super::charge::recounts(row, from) {
                self.billables
                    .push((row.job_id, row.start_time, row.billable_now));
            }
            jobs.push(Accruing {
                assoc: AssocIndex::new(assoc as usize),
                run,
                at_end,
            });
            rows.push(position);
        }
        (jobs, rows)
    }
}

/// Jobs that a pass does not price although their state is one of those it prices.
fn passed_over(settings: &Settings, row: &ffi::shim_waiting) -> bool {
    if settings.is_stock_classic() || settings.passes_once() {
        // Stock prices a job right after it was charged, and not if it was not to be charged.
        let charges = settings.config.priority_flags.calculate_running || !row.pending;
        let charged = row.started && row.already_charged && row.assoc_id != 0;
        row.ended || (charges && charged)
    } else {
        // What has ended for good needs no priority any more.
        !settings.config.compat.is_slurm() && row.ended && !row.pending
    }
}

impl Pending {
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.jobs.clear();
        self.priced.clear();
        self.variants.clear();
        self.variant_ends.clear();
        self.tres_terms.clear();
        self.tres_weights.clear();
    }

    /// Takes the waiting jobs of a snapshot that a pass prices.
    fn collect(
        &mut self,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &super::tables::Tables,
    ) {
        self.clear();
        for (position, row) in snapshot.waiting().iter().enumerate() {
            if row.powering_up || !row.has_details || passed_over(settings, row) {
                continue;
            }
            let assoc = settings
                .has_slurmdbd
                .then(|| snapshot.assoc_row(row.assoc_id))
                .flatten();
            let assoc = assoc.map(|row| AssocIndex::new(row as usize));
            self.rows.push(u32::try_from(position).unwrap_or(NONE));
            self.jobs.push(tables.job(row, assoc));
        }
    }

    /// For each waiting job, how many of the accruing ones precede it in slurmctld's list.
    fn accruing_before(&self, snapshot: &Snapshot, accruing: &[usize]) -> Vec<usize> {
        let order = |row: usize| snapshot.accruing()[row].order;
        let mut next = 0;
        let rows = self.rows.iter();
        rows.map(|&row| {
            let own = snapshot.waiting()[row as usize].order;
            while next < accruing.len() && order(accruing[next]) <= own {
                next += 1;
            }
            next
        })
        .collect()
    }

    /// Prices all jobs.
    fn price(
        &mut self,
        settings: &Settings,
        site: &crate::priority::Site,
        now: i64,
    ) -> Result<(), PriorityError> {
        let pricer = Pricer::new(&settings.config, site, now)?;
        let tres = if settings.weighs_tres() {
            site.tres_names.len()
        } else {
            0
        };
        if tres > 0 {
            self.tres_weights.resize(tres, 0.0);
            pricer.tres_weights(&mut self.tres_weights);
        }
        for job in &self.jobs {
            let priced = pricer.price(job);
            log::priority(|| describe(job, &priced));
            let start = self.variants.len();
            self.variants.resize(start + pricer.variants(job).len(), 0);
            pricer.price_variants(job, &priced, &mut self.variants[start..]);
            let end = u32::try_from(self.variants.len()).unwrap_or(u32::MAX);
            self.variant_ends.push(end);
            if tres > 0 {
                let start = self.tres_terms.len();
                self.tres_terms.resize(start + tres, 0.0);
                pricer.tres_terms(job, &mut self.tres_terms[start..]);
            }
            self.priced.push(priced);
        }
        Ok(())
    }
}

/// A line of the log, as `DebugFlags=Priority` asks for it.
fn describe(job: &Job, priced: &Priced) -> String {
    format!(
        "job {}: {} = age {:.2} + assoc {:.2} + fairshare {:.2} + size {:.2} + partition {:.2} \
         + QOS {:.2} + TRES {:.2} + site {} - nice {}",
        job.id,
        priced.priority,
        priced.age,
        priced.assoc,
        priced.fairshare,
        priced.job_size,
        priced.partition,
        priced.qos,
        priced.tres,
        priced.site,
        priced.nice
    )
}
