//! The middle of a pass: computes charges and factors from a snapshot with the engine. No lock is
//! held.

use super::by_ledger::{self, ByLedger};
use super::computed::{Complaints, EngineTables, PassRows};
use super::error::ComputeError;
use super::moment::Moment;
use super::pending::Pending;
use super::workspace::Workspace;
use crate::compat::Compat;
use crate::engine::{Accruing, AssocResult, RunKey};
use crate::extended::Extended;
use crate::priority::Job;
use crate::slurm::charges::run::{recounts, run_of, state_of, to_shim};
use crate::slurm::charges::unreported_ends::ended_unreported;
use crate::slurm::rows::assoc_row;
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::{Plugin, Shared};
use crate::slurm::state::settings::Settings;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::{Charge, accrues};
use std::sync::Arc;

/// Computes the results to write from a snapshot.
pub(in crate::slurm) fn compute(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), ComputeError> {
    plugin.fault.inject("compute");
    let Workspace {
        snapshot,
        tables,
        pending,
        computed,
        by_ledger,
        ..
    } = work;
    let before = by_ledger.take();
    tables.fill(snapshot)?;
    log_excess(&tables.entitle(settings));
    pending.begin(snapshot);
    if settings.is_stock_classic() {
        // In this case jobs also decide fair share. Otherwise they are collected when they are
        // priced.
        pending.collect(settings, snapshot, tables, usize::MAX);
    }
    let has_usage = settings.has_slurmdbd && !snapshot.assocs().is_empty();
    computed.begin(has_usage, moment);
    if has_usage {
        let tree = Arc::clone(&tables.tree);
        if plugin.keeps_ledger(settings) {
            *by_ledger = by_ledger::feed(plugin, (settings, before), snapshot, tables, moment);
        }
        let rows = SnapshotRows::new(settings, snapshot, pending, &tree);
        {
            let shared = plugin.shared.lock();
            computed.take_jobs(&rows, &settings.config, |job| {
                accruing(settings, snapshot, tables, &shared, moment.now, job)
            });
        }
        let tables = EngineTables {
            ledger: by_ledger.as_ref().map(ByLedger::usage),
            ..engine_tables(settings, tables)
        };
        log_complaints(&computed.compute(&rows, tables, moment));
    } else if settings.prices_in_new_time_only() {
        // At its start stock prices once, outside its passes.
        let last_ran = moment.last_ran;
        computed.outcome.prices = last_ran.is_none_or(|last_ran| moment.now > last_ran);
    }
    if computed.outcome.prices {
        // Jobs are priced later, when their factors can be written; errors must be found here.
        tables.pricer(settings, snapshot, moment.now)?;
    } else {
        // Nor does stock read jobs in this case.
        pending.clear();
        computed.billables.clear();
    }
    Ok(())
}

/// Ranks the associations that are in the snapshot now.
pub(in crate::slurm) fn rank_again(
    plugin: &Plugin,
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), ComputeError> {
    let Workspace {
        snapshot,
        tables,
        pending,
        computed,
        by_ledger,
        ..
    } = work;
    let before = by_ledger.take();
    tables.fill(snapshot)?;
    log_excess(&tables.entitle(settings));
    computed.has_usage = !snapshot.assocs().is_empty();
    if computed.has_usage {
        let tree = Arc::clone(&tables.tree);
        if plugin.keeps_ledger(settings) {
            *by_ledger =
                by_ledger::feed_again(plugin, (settings, before), snapshot, tables, moment);
        }
        let rows = SnapshotRows::new(settings, snapshot, pending, &tree);
        let tables = EngineTables {
            ledger: by_ledger.as_ref().map(ByLedger::usage),
            ..engine_tables(settings, tables)
        };
        log_complaints(&computed.rank_again(&rows, tables, moment));
    }
    tables.pricer(settings, snapshot, moment.now)?;
    Ok(())
}

fn engine_tables<'a>(settings: &'a Settings, tables: &'a mut Tables) -> EngineTables<'a> {
    EngineTables {
        config: &settings.config,
        tree: &tables.tree,
        record_states: &mut tables.record_states,
        factors: &mut tables.job_tables.assocs,
        host_math: host::math(),
        entitlement: &tables.entitlement,
        ledger: None,
    }
}

/// Logs accounts whose children have more minutes than they have.
fn log_excess(exceeded: &[(AssocId, u64)]) {
    if let [(parent, given), others @ ..] = exceeded {
        log::error(format_args!(
            "children of association {parent} have {given} minutes, more than it has ({} more such \
             accounts); each has its part of its account's minutes",
            others.len()
        ));
    }
}

fn log_complaints(complaints: &Complaints) {
    if let Some((first, more)) = complaints.non_finite {
        log::error(format_args!(
            "RawUsage of association {first} and {more} others is not a finite number; treated as 0"
        ));
    }
    if let Some((job, error, more)) = &complaints.refused {
        log::error(format_args!(
            "cannot charge job {job} and {more} other jobs: {error}"
        ));
    }
}

/// A job that may be charged as the engine's row, and its billing if slurmctld's record of it must
/// be renewed; `None`: this pass does not charge it.
fn accruing(
    settings: &Settings,
    snapshot: &Snapshot,
    tables: &Tables,
    shared: &Shared,
    now: i64,
    job: usize,
) -> Option<(Accruing, Option<f64>)> {
    let config = &settings.config;
    let row = &snapshot.accruing()[job];
    let state = state_of(row);
    let running = config.priority_flags.calculate_running;
    let at_end = ended_unreported(settings, snapshot, row);
    if !at_end && !accrues(config.compat, running, state, row.start_time) {
        return None;
    }
    let assoc = snapshot.assoc_row(row.assoc_id)?;
    let factor = tables
        .qos_row(row.qos_id)
        .map_or(1.0, |qos| snapshot.qos()[qos.get()].usage_factor);
    let until = shared.charged_beyond_pass_at_snapshot(row, snapshot.enforces_limits());
    let passed = shared.passes_charged_until(row, now);
    let from = passed.unwrap_or(0).max(row.start_time);
    let accruing = Accruing {
        job: row.job_id,
        assoc: AssocIndex::new(assoc as usize),
        run: run_of(row, factor, until, passed),
        at_end,
    };
    Some((accruing, recounts(row, from).then_some(row.billable_now)))
}

/// The rows of a snapshot of slurmctld.
struct SnapshotRows<'a> {
    snapshot: &'a Snapshot,
    pending: &'a Pending,
    tree: &'a Tree,
    compat: Compat,
    is_fair_tree: bool,
    keeps_level_fs: bool,
}

impl<'a> SnapshotRows<'a> {
    fn new(
        settings: &Settings,
        snapshot: &'a Snapshot,
        pending: &'a Pending,
        tree: &'a Tree,
    ) -> SnapshotRows<'a> {
        SnapshotRows {
            snapshot,
            pending,
            tree,
            compat: settings.config.compat,
            is_fair_tree: settings.is_fair_tree(),
            keeps_level_fs: !settings.config.ranking_of_flags().keeps_levels(),
        }
    }

    fn job(&self, job: usize) -> &ffi::shim_accruing {
        &self.snapshot.accruing()[job]
    }
}

impl PassRows for SnapshotRows<'_> {
    type Charge = ffi::shim_charge;
    type Factors = ffi::shim_assoc_factors;

    fn usage(&self) -> impl ExactSizeIterator<Item = Option<Extended>> {
        let assocs = self.snapshot.assocs().iter();
        assocs.map(|row| row.usage().filter(|usage| !usage.is_infinite()))
    }

    fn assoc_id(&self, position: usize) -> u32 {
        self.snapshot.assocs()[position].id
    }

    fn job_count(&self) -> usize {
        self.snapshot.accruing().len()
    }

    fn run(&self, job: usize) -> RunKey {
        let row = self.job(job);
        (row.job_id, row.start_time)
    }

    fn has_begun(&self, job: usize) -> bool {
        let row = self.job(job);
        !row.pending || row.completing
    }

    fn queue<'a>(&'a self, accruing: &'a [u32]) -> impl Iterator<Item = (Job, usize)> + 'a {
        self.pending.among(self.snapshot, accruing)
    }

    fn charge(&self, job: usize, accruing: &Accruing, charge: &Charge) -> ffi::shim_charge {
        let row = self.job(job);
        let assoc = u32::try_from(accruing.assoc.get()).unwrap_or(NONE);
        let qos = self.snapshot.qos_rows(row);
        to_shim(charge, row, assoc, self.snapshot, qos)
    }

    #[inline]
    fn factors(&self, found: &AssocResult<'_>) -> ffi::shim_assoc_factors {
        if self.is_fair_tree {
            assoc_row::fair_tree(self.tree, found)
        } else {
            assoc_row::classic((self.compat, self.keeps_level_fs), self.tree, found)
        }
    }

    fn link(factors: &mut [ffi::shim_assoc_factors], charges: &mut [ffi::shim_charge]) {
        assoc_row::link(factors, charges);
    }
}
