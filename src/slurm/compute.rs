//! The middle of a pass: from a snapshot to charges, factors and priorities. No lock is held.

use super::charge::{run_of, state_of, to_shim};
use super::harvest::ended_unreported;
use super::host::{self, NONE, ffi};
use super::log;
use super::pass::{Moment, Workspace};
use super::plugin::Plugin;
use super::recent::RunKey;
use super::settings::Settings;
use super::snapshot::Snapshot;
use crate::engine::{self, Accruing, PassInput};
use crate::fairshare::AssocFairshare;
use crate::priority::PriorityError;
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
    /// All runs that are there, charged or not, ascending; `None` under `compat=slurm`.
    pub(super) runs: Option<Vec<RunKey>>,
    /// Ends that nobody reported.
    pub(super) ends: Vec<RunKey>,
    /// Jobs whose billing was worked out anew: job, start time, billing.
    pub(super) billables: Vec<(u32, i64, f64)>,
    /// Under stock's classic order, by position: left for whoever asks. Empty elsewhere.
    pub(super) left_open: Vec<bool>,
    /// By position in the tree.
    pub(super) fairshare: Vec<AssocFairshare>,
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
        work.pending.collect(settings, snapshot);

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
                .price(settings, &work.snapshot, &work.tables, moment.now)?;
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
        // Only there does the order of jobs decide fair share; elsewhere pricing is ours.
        let mut jobs = Vec::new();
        if interleaved {
            let all = 0..work.pending.len();
            jobs.extend(work.pending.jobs(settings, &work.snapshot, tables, all));
        }
        let before = interleaved.then(|| work.pending.accruing_before(&work.snapshot, &rows));
        let tree = std::sync::Arc::clone(&tables.tree);
        let mut ledger = Ledger::as_kept(&tree, &tables.raw_usage);
        let input = PassInput {
            config,
            tree: &tree,
            accruing: &accruing,
            jobs: &jobs,
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
        let runs = work.snapshot.accruing().iter();
        let runs = runs.map(|row| (row.job_id, row.start_time));
        if !config.compat.is_slurm() {
            let mut runs: Vec<RunKey> = runs.collect();
            runs.sort_unstable();
            self.runs = Some(runs);
        }
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
            let until = shared.charged_at_snapshot(row, snapshot.enforces_limits());
            let passed = shared.passed(row, moment.now);
            let run = run_of(row, factor, until, passed);
            let from = passed.unwrap_or(0).max(row.start_time);
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
