//! The middle of a pass: from a snapshot to charges, factors and priorities. No lock is held.

use super::computed::Computed;
use super::error::ComputeError;
use super::moment::Moment;
use super::pending::Pending;
use super::workspace::Workspace;
use crate::compat::Compat;
use crate::engine::{self, Accruing, Charged, ClassicPass, Follower};
use crate::extended::Extended;
use crate::fairshare::AssocFairshare;
use crate::priority::Site;
use crate::slurm::charges::run::{recounts, run_of, state_of, to_shim};
use crate::slurm::charges::unreported_ends::ended_unreported;
use crate::slurm::rows::assoc_row;
use crate::slurm::rows::snapshot::Snapshot;
use crate::slurm::rows::tables::{self, NonFinite, Tables};
use crate::slurm::runtime::host::{self, NONE};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::Plugin;
use crate::slurm::state::settings::Settings;
use crate::tree::{AssocIndex, Tree};
use crate::usage::{Charge, Period, UsageError, accrues};
use std::sync::Arc;

/// From a snapshot to what will be written.
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
        ..
    } = work;
    tables.fill(snapshot)?;
    pending.begin(snapshot);
    if settings.is_stock_classic() {
        // There they decide fair share, too. Else they are taken as they are priced.
        pending.collect(settings, snapshot, tables, usize::MAX);
    }
    computed.begin(settings, snapshot, moment);
    let mut prices = true;
    if computed.has_usage {
        computed.take_accruing(plugin, settings, snapshot, tables, moment);
        computed.take_runs(settings, snapshot);
        if settings.is_fair_tree() {
            computed.fair_tree(settings, snapshot, tables, moment);
        } else {
            prices = computed.classic(settings, snapshot, tables, pending, moment);
        }
    }
    if prices {
        // They are priced when their factors can be written; what is wrong is found here.
        tables.pricer(settings, snapshot, moment.now)?;
    } else {
        // Nor does stock look at jobs then.
        pending.clear();
        computed.billables.clear();
    }
    Ok(())
}

/// Ranks what the snapshot has of associations now. Nothing fades and nobody is charged: that was
/// done.
pub(in crate::slurm) fn rank_again(
    settings: &Settings,
    work: &mut Workspace,
    moment: &Moment,
) -> Result<(), ComputeError> {
    let Workspace {
        snapshot,
        tables,
        computed,
        ..
    } = work;
    tables.fill(snapshot)?;
    computed.has_usage = !snapshot.assocs().is_empty();
    computed.decay_factor = 1.0;
    computed.charges.clear();
    computed.factors.clear();
    computed.accruing.clear();
    computed.rows.clear();
    if computed.has_usage {
        computed.fair_tree(settings, snapshot, tables, moment);
    }
    tables.pricer(settings, snapshot, moment.now)?;
    Ok(())
}

impl Computed {
    /// Charges and fair share, following the last pass.
    fn fair_tree(
        &mut self,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &mut Tables,
        moment: &Moment,
    ) {
        let config = &settings.config;
        let mut non_finite = NonFinite::default();
        let usage = snapshot.assocs().iter();
        let usage = usage.map(|row| tables::usage(config.compat, row, &mut non_finite));
        let mut follower = std::mem::take(&mut self.follower);
        follower.observe(&tables.tree, usage);
        non_finite.log();
        let (decay, decay_factor) = (engine::decay(config), self.decay_factor);
        let period = Period::pass(moment.last_ran, moment.now);
        let accruing = std::mem::take(&mut self.accruing);
        let rows = std::mem::take(&mut self.rows);
        let mut refused = Refusals::default();
        follower.pass(
            config.compat,
            (decay_factor, &decay),
            &period,
            &accruing,
            &tables.kept,
            |position, charge| match charge {
                Ok(None) => {}
                Ok(Some(charge)) => {
                    self.add_charge(&charge, &accruing[position], rows[position], snapshot);
                }
                Err(error) => refused.note(rows[position], error),
            },
        );
        refused.log(snapshot);
        (self.accruing, self.rows) = (accruing, rows);
        publish(&follower, &mut tables.site);
        self.last_ran = match moment.last_ran {
            Some(last_ran) if !config.compat.is_slurm() => last_ran.max(moment.now),
            _ => moment.now,
        };
        self.take_fair_tree(config.compat, tables, &follower);
        assoc_row::link(&mut self.factors, &mut self.charges);
        self.follower = follower;
    }

    /// Takes what was found for each association.
    fn take_fair_tree(&mut self, compat: Compat, tables: &Tables, follower: &Follower) {
        let tree = &tables.tree;
        let mut numbers = follower.all_numbers(compat);
        let found = tree.indices().map(|index| {
            let kept = tables.kept.get(index.get());
            let numbers = numbers.of(index, kept.map_or(0.0, |kept| kept.norm_shares));
            let fs_factor = follower.fs_factor(index);
            assoc_row::fair_tree(tree, follower.raw(), index, &numbers, fs_factor)
        });
        self.factors.reserve_exact(tree.len());
        self.factors.extend(found);
    }

    /// The same for the classic algorithms. False when this pass is to leave priorities alone.
    fn classic(
        &mut self,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &mut Tables,
        pending: &Pending,
        moment: &Moment,
    ) -> bool {
        // It knows nothing of this pass.
        self.follower = Follower::default();
        let config = &settings.config;
        let mut non_finite = NonFinite::default();
        let usage = snapshot.assocs().iter();
        let usage = usage.map(|row| tables::usage(config.compat, row, &mut non_finite));
        let mut raw: Vec<_> = usage.collect();
        non_finite.log();
        let tree = Arc::clone(&tables.tree);
        let accruing = std::mem::take(&mut self.accruing);
        let rows = std::mem::take(&mut self.rows);
        let pass = ClassicPass {
            config,
            tree: &tree,
            host_math: host::math(),
            accruing: &accruing,
            last_ran: moment.last_ran,
            now: moment.now,
        };
        let mut refused = Refusals::default();
        let each = |position, charge: Charged| match charge {
            Ok(None) => {}
            Ok(Some((charge, _))) => {
                self.add_charge(&charge, &accruing[position], rows[position], snapshot);
            }
            Err(error) => refused.note(rows[position], error),
        };
        let site = &mut tables.site;
        let prices = if settings.is_stock_classic() {
            // Only there does the order of jobs decide fair share; elsewhere pricing is ours.
            let mut records = pass.records(&mut tables.kept);
            let jobs = pending.among(snapshot, &rows);
            let prices = pass.stock(&mut raw, &mut records, jobs, each);
            let found = |index| (records.fairshare(index, &raw), records.is_open(index));
            self.take_classic(config.compat, &tree, &raw, site, found);
            self.last_ran = moment.now;
            prices
        } else {
            pass.charge(&mut raw, each);
            let numbers = pass.fairshare(&raw);
            let found = |index| (numbers.of(index), false);
            self.take_classic(config.compat, &tree, &raw, site, found);
            self.last_ran = moment.now.max(moment.last_ran.unwrap_or(moment.now));
            true
        };
        refused.log(snapshot);
        (self.accruing, self.rows) = (accruing, rows);
        prices
    }

    /// Takes what was found for each association, and whether it is left to whoever asks.
    fn take_classic(
        &mut self,
        compat: Compat,
        tree: &Tree,
        raw: &[Extended],
        site: &mut Site,
        found: impl Fn(AssocIndex) -> (AssocFairshare, bool),
    ) {
        self.factors.reserve_exact(tree.len());
        for (index, assoc) in tree.indices().zip(&mut site.assocs) {
            let (fairshare, open) = found(index);
            assoc.fs_factor = fairshare.fs_factor.unwrap_or(0.0);
            let row = index.get();
            let factors = assoc_row::classic(compat, tree, raw, row, &fairshare, open);
            self.factors.push(factors);
        }
        assoc_row::link(&mut self.factors, &mut self.charges);
    }

    fn add_charge(&mut self, charge: &Charge, job: &Accruing, row: u32, snapshot: &Snapshot) {
        let row = &snapshot.accruing()[row as usize];
        let assoc = u32::try_from(job.assoc.get()).unwrap_or(NONE);
        self.charges.push(to_shim(
            charge,
            row,
            assoc,
            snapshot,
            snapshot.qos_rows(row),
        ));
        if job.at_end {
            self.ends.push((row.job_id, row.start_time));
        }
    }

    /// The jobs to charge, and their rows in the snapshot.
    fn take_accruing(
        &mut self,
        plugin: &Plugin,
        settings: &Settings,
        snapshot: &Snapshot,
        tables: &Tables,
        moment: &Moment,
    ) {
        let config = &settings.config;
        let shared = plugin.shared.lock();
        self.accruing.reserve_exact(snapshot.accruing().len());
        self.charges.reserve_exact(snapshot.accruing().len());
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
            let until = shared.charged_beyond_pass_at_snapshot(row, snapshot.enforces_limits());
            let passed = shared.passes_charged_until(row, moment.now);
            let run = run_of(row, factor, until, passed);
            let from = passed.unwrap_or(0).max(row.start_time);
            if recounts(row, from) {
                self.billables
                    .push((row.job_id, row.start_time, row.billable_now));
            }
            self.accruing.push(Accruing {
                assoc: AssocIndex::new(assoc as usize),
                run,
                at_end,
            });
            self.rows.push(u32::try_from(position).unwrap_or(NONE));
        }
    }
}

/// Writes the factors that changed to the table that pricing reads.
fn publish(follower: &Follower, site: &mut Site) {
    let factor = |index| follower.fs_factor(index).unwrap_or(0.0);
    let Some(changed) = follower.changed() else {
        for (position, assoc) in site.assocs.iter_mut().enumerate() {
            assoc.fs_factor = factor(AssocIndex::new(position));
        }
        return;
    };
    for &index in changed {
        site.assocs[index.get()].fs_factor = factor(index);
    }
}

/// Charges that are no numbers. One line for all of them.
#[derive(Default)]
struct Refusals {
    first: Option<(u32, UsageError)>,
    more: usize,
}

impl Refusals {
    fn note(&mut self, row: u32, error: UsageError) {
        if self.first.is_none() {
            self.first = Some((row, error));
        } else {
            self.more += 1;
        }
    }

    fn log(&self, snapshot: &Snapshot) {
        if let Some((row, error)) = &self.first {
            let job = snapshot.accruing()[*row as usize].job_id;
            log::error(format_args!(
                "job {job} and {} more are not charged: {error}",
                self.more
            ));
        }
    }
}
