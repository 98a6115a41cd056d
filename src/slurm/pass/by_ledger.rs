//! The ledger's part of a pass: it is fed with the runs of the snapshot, and records of associations
//! and QOS are set to its numbers.
//!
//! The records are set, not changed: whatever charges and resets did to them in between, they are
//! correct after the pass. Charges of hooks between the snapshot and that moment return to the
//! records with the next pass; that is at most the use of that time.

use super::ledger_upkeep::take_others;
use super::moment::Moment;
use crate::extended::Extended;
use crate::slurm::charges::run;
use crate::slurm::ledger::exchange::{LedgerComplaints, SeenQos, SeenSite};
use crate::slurm::ledger::plan::LedgerPlan;
use crate::slurm::ledger::run_ledgers::RunLedgers;
use crate::slurm::ledger::seen::SeenRun;
use crate::slurm::ledger::tree_ledger::Numbers;
use crate::slurm::ledger::written::Held;
use crate::slurm::rows::snapshot::{Snapshot, UsageUpdate, scaled};
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::{LedgerState, Plugin};
use crate::slurm::state::settings::Settings;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::Plan;
use crate::usage::window::Changed;
use jiff::tz::TimeZone;
use std::collections::HashMap;
use std::sync::Arc;

/// Numbers of the ledger that a pass will write. The next pass continues with them, and changes
/// those that are different by then.
pub(in crate::slurm) struct ByLedger {
    tree: Arc<Tree>,
    tres_count: usize,
    /// Raw usage, by position.
    usage: Vec<Extended>,
    /// One per association of the snapshot, followed by those to which a `leaf` refers.
    assocs: Vec<ffi::shim_usage_change>,
    /// Associations whose numbers have changed.
    touched: Vec<AssocIndex>,
    /// Associations that have a `leaf`.
    accounts: Vec<AssocIndex>,
    qos: HashMap<u32, ffi::shim_usage_change>,
    /// By row of the snapshot's present QOS.
    qos_rows: Vec<ffi::shim_usage_change>,
    /// QOS that were reset after the snapshot.
    reset_qos: Vec<u32>,
    /// A range of `tres_count` for each association by position, followed by those of other rows.
    tres: Vec<ffi::shim_extended>,
}

/// Feeds the ledger with the snapshot. `None`: usage does not come from a ledger. `before`: numbers
/// that the last pass wrote.
pub(in crate::slurm) fn feed(
    plugin: &Plugin,
    (settings, before): (&Settings, Option<ByLedger>),
    snapshot: &Snapshot,
    tables: &Tables,
    moment: &Moment,
) -> Option<ByLedger> {
    plugin.fault.inject("ledger");
    let rows = rows(plugin, snapshot, tables, moment);
    let feed = |ledger: &mut LedgerState, site: &SeenSite<'_>| {
        let LedgerState {
            ledgers,
            found,
            ended,
        } = ledger;
        let was_known = ledgers.known_since();
        let found = || found.take().unwrap_or_default();
        let complaints = ledgers.pass(site, found, ended, &rows);
        ended.clear();
        log_complaints(&complaints);
        take_others(plugin, ledgers);
        if was_known.is_none() {
            if let Some(since) = ledgers.known_since() {
                log::info(format_args!(
                    "the ledger of use starts {} s before now; jobs running at that time are \
                     included from their start",
                    moment.now - since
                ));
            }
        }
    };
    // Other changes of records since the last pass are found and reported when records are written.
    let sees = !snapshot.assocs_cached();
    tell(
        plugin,
        (settings, before),
        (snapshot, sees),
        tables,
        moment,
        feed,
    )
}

/// Feeds the ledger with associations that were copied again after their usage was written: with a
/// new tree, and with resets by an administrator.
pub(in crate::slurm) fn feed_again(
    plugin: &Plugin,
    (settings, before): (&Settings, Option<ByLedger>),
    snapshot: &Snapshot,
    tables: &Tables,
    moment: &Moment,
) -> Option<ByLedger> {
    let feed = |ledger: &mut LedgerState, site: &SeenSite<'_>| {
        log_complaints(&ledger.ledgers.pass_again(site));
    };
    tell(
        plugin,
        (settings, before),
        (snapshot, true),
        tables,
        moment,
        feed,
    )
}

/// Feeds the ledger, and takes its numbers. `sees`: the snapshot has the present values of
/// associations' records.
fn tell(
    plugin: &Plugin,
    (settings, before): (&Settings, Option<ByLedger>),
    (snapshot, sees): (&Snapshot, bool),
    tables: &Tables,
    moment: &Moment,
    feed: impl FnOnce(&mut LedgerState, &SeenSite<'_>),
) -> Option<ByLedger> {
    let tres = host::tres_names();
    let plan = LedgerPlan::new(&settings.config, &TimeZone::system());
    let plans = plans(&plan);
    let qos: Vec<SeenQos> = snapshot.qos().iter().map(seen_qos).collect();
    let held = |index: AssocIndex| {
        let row = &snapshot.assocs()[index.get()];
        held(row.usage(), row.wall)
    };
    let site = SeenSite {
        cluster: &settings.cluster,
        tree: &tables.tree,
        tres: &tres,
        qos: &qos,
        now: moment.now,
        plan: &plan,
        plans: &plans,
        held: sees.then_some(&held),
        names: &host::assoc_names,
    };
    let mut ledger = plugin.ledger.lock();
    feed(&mut ledger, &site);
    settings
        .by_ledger()
        .then(|| ByLedger::new(&mut ledger.ledgers, before, &tables.tree, snapshot))
        .flatten()
}

/// All runs of the snapshot.
fn rows<'a>(
    plugin: &Plugin,
    snapshot: &'a Snapshot,
    tables: &Tables,
    moment: &Moment,
) -> Vec<SeenRun<'a>> {
    let shared = plugin.shared.lock();
    let seen = |row: &ffi::shim_accruing| {
        let factor = tables
            .qos_row(row.qos_id)
            .map_or(1.0, |qos| snapshot.qos()[qos.get()].usage_factor);
        let passed = shared.passes_charged_until(row, moment.now);
        run::seen(snapshot, row, factor, passed, moment.now)
    };
    let mut rows = Vec::with_capacity(snapshot.accruing().len());
    rows.extend(snapshot.accruing().iter().filter_map(seen));
    rows
}

fn seen_qos(row: &ffi::shim_qos) -> SeenQos {
    SeenQos {
        id: row.id,
        no_decay: row.no_decay,
        held: qos_held(row),
    }
}

/// Values of a record; `None` if usage is not a number.
fn held(usage: Option<Extended>, wall: f64) -> Option<Held> {
    usage.map(|usage| Held { usage, wall })
}

fn qos_held(row: &ffi::shim_qos) -> Option<Held> {
    let usage = Extended::from_x87(row.usage_mantissa, row.usage_sign_exponent);
    held(usage, row.wall)
}

/// Values of a QOS in the snapshot.
fn seen_held(snapshot: &Snapshot, id: u32) -> Option<Held> {
    let seen = snapshot.qos().iter().find(|seen| seen.id == id);
    seen.and_then(qos_held)
}

/// Plans of accounts, by the present ids of their associations.
fn plans(plan: &LedgerPlan) -> Vec<(AssocId, Plan)> {
    if plan.accounts.is_empty() {
        return Vec::new();
    }
    let ids = host::account_ids(plan.accounts.iter().map(|(name, _)| name.as_str()));
    let plans = plan.accounts.iter().zip(ids);
    plans
        .filter_map(|((_, plan), id)| Some((id?, *plan)))
        .collect()
}

fn log_complaints(complaints: &LedgerComplaints) {
    for line in &complaints.lines {
        log::error(line);
    }
    if let Some(((job, _), error, more)) = &complaints.refused {
        log::error(format_args!(
            "cannot add job {job} and {more} other jobs to the ledger: {error}"
        ));
    }
}

impl ByLedger {
    fn new(
        ledgers: &mut RunLedgers,
        before: Option<ByLedger>,
        tree: &Arc<Tree>,
        snapshot: &Snapshot,
    ) -> Option<ByLedger> {
        let tres_count = snapshot.tres_count();
        let before = before.filter(|made| made.tres_count == tres_count);
        let mut made = match (ledgers.take_touched(), before) {
            (Changed::Some(touched), Some(mut made)) if Arc::ptr_eq(&made.tree, tree) => {
                made.take(ledgers, touched)?;
                made
            }
            (_, before) => {
                let mut made = ByLedger::unused(tree, tres_count);
                made.take(ledgers, tree.indices())?;
                if let Some(before) = before {
                    made.compare(&before);
                }
                made
            }
        };
        made.take_accounts(ledgers);
        made.take_qos(ledgers);
        Some(made)
    }

    /// Nobody has used anything.
    fn unused(tree: &Arc<Tree>, tres_count: usize) -> ByLedger {
        let row = |position: usize| ffi::shim_usage_change {
            add_tres: u32::try_from(position * tres_count).unwrap_or(NONE),
            ..scaled(0.0)
        };
        ByLedger {
            tree: Arc::clone(tree),
            tres_count,
            usage: vec![Extended::ZERO; tree.len()],
            assocs: (0..tree.len()).map(row).collect(),
            touched: Vec::new(),
            accounts: Vec::new(),
            qos: HashMap::new(),
            qos_rows: Vec::new(),
            reset_qos: Vec::new(),
            tres: vec![ffi::shim_extended::default(); tree.len() * tres_count],
        }
    }

    /// Takes the numbers of some associations. `None`: the list of TRES has changed; the next pass
    /// applies that.
    fn take(
        &mut self,
        ledgers: &RunLedgers,
        of: impl IntoIterator<Item = AssocIndex>,
    ) -> Option<()> {
        for index in self.touched.drain(..) {
            self.assocs[index.get()].stays = true;
        }
        self.touched.extend(of);
        let count = self.tres_count;
        let (usage, assocs, of_tres) = (&mut self.usage, &mut self.assocs, &mut self.tres);
        let mut fits = true;
        let read = ledgers.read(&self.tree, &self.touched, |index, [billing, wall], tres| {
            let at = index.get();
            fits &= tres.len() == count;
            usage[at] = billing;
            let row = &mut assocs[at];
            row.add_usage = host::shim_extended(billing);
            row.add_wall = wall.to_f64();
            row.stays = false;
            for (to, number) in of_tres[at * count..][..count].iter_mut().zip(tres) {
                *to = host::shim_extended(*number);
            }
        });
        read.filter(|()| fits)
    }

    /// Finds the associations whose numbers have not changed, in a different tree.
    fn compare(&mut self, before: &ByLedger) {
        for (at, row) in self.tree.rows().iter().enumerate() {
            let Some(then) = before.tree.index_of(row.id).map(AssocIndex::get) else {
                continue;
            };
            let (is, was) = (self.assocs[at], before.assocs[then]);
            self.assocs[at].stays = self.usage[at] == before.usage[then]
                && is.add_wall.to_bits() == was.add_wall.to_bits()
                && self.tres_of(at).eq(before.tres_of(then));
        }
    }

    fn tres_of(&self, at: usize) -> impl Iterator<Item = (u64, u16)> {
        let tres = &self.tres[at * self.tres_count..][..self.tres_count];
        tres.iter()
            .map(|number| (number.mantissa, number.sign_exponent))
    }

    /// Takes the use of accounts themselves.
    fn take_accounts(&mut self, ledgers: &RunLedgers) {
        self.assocs.truncate(self.tree.len());
        self.tres.truncate(self.tree.len() * self.tres_count);
        for account in self.accounts.drain(..) {
            self.assocs[account.get()].leaf = NONE;
        }
        for (index, left) in ledgers.left_in_accounts() {
            let leaf = u32::try_from(self.assocs.len()).unwrap_or(NONE);
            let row = self.set(&left);
            self.assocs.push(row);
            let account = &mut self.assocs[index.get()];
            account.leaf = leaf;
            account.stays = false;
            self.accounts.push(index);
        }
    }

    fn take_qos(&mut self, ledgers: &RunLedgers) {
        self.qos.clear();
        for change in ledgers.qos_changes() {
            let mut row = self.set(&change.numbers);
            if change.adds {
                row.scale = 1.0;
            }
            self.qos.insert(change.id, row);
        }
    }

    /// Change that sets a record to these numbers. Without numbers of TRES, those in the record
    /// become 0 or stay.
    fn set(&mut self, numbers: &Numbers) -> ffi::shim_usage_change {
        let mut add_tres = NONE;
        if numbers.tres.len() == self.tres_count {
            // Each change has a whole range of the array.
            add_tres = u32::try_from(self.tres.len()).unwrap_or(NONE);
            let tres = numbers.tres.iter();
            self.tres
                .extend(tres.map(|number| host::shim_extended(*number)));
        }
        ffi::shim_usage_change {
            add_wall: numbers.wall.to_f64(),
            add_usage: host::shim_extended(numbers.billing),
            add_tres,
            ..scaled(0.0)
        }
    }

    /// Raw usage, by position.
    pub(in crate::slurm) fn usage(&self) -> &[Extended] {
        &self.usage
    }

    /// Values to which records of associations are set, by position.
    pub(in crate::slurm) fn held(&self) -> Vec<Held> {
        let rows = self.usage.iter().zip(&self.assocs);
        rows.map(|(usage, row)| Held {
            usage: *usage,
            wall: row.add_wall,
        })
        .collect()
    }

    /// Changes of the records. An association newer than the snapshot has used nothing yet, and a
    /// QOS newer than it keeps its values. So does a QOS that was reset after the snapshot, so that
    /// the next pass sees the reset.
    pub(super) fn update(&mut self, snapshot: &Snapshot) -> UsageUpdate<'_> {
        let was_reset = |now: &&ffi::shim_qos| {
            let held = qos_held(now).zip(seen_held(snapshot, now.id));
            held.is_some_and(|(now, seen)| now.is_less_than(seen))
        };
        let reset = snapshot.qos_now().iter().filter(was_reset);
        self.reset_qos.clear();
        self.reset_qos.extend(reset.map(|qos| qos.id));
        let qos = snapshot.qos_now().iter().map(|now| {
            let change = self.qos.get(&now.id);
            let change = change.filter(|_| !self.reset_qos.contains(&now.id));
            change.copied().unwrap_or(scaled(1.0))
        });
        self.qos_rows.clear();
        self.qos_rows.extend(qos);
        UsageUpdate {
            scale: 0.0,
            assocs: Some(&self.assocs),
            qos: &self.qos_rows,
            tres: &self.tres,
            changes_only: false,
        }
    }

    /// Values of QOS records after they were written and charged. For those that were reset after
    /// the snapshot: the values before the reset, so that the next pass sees it.
    pub(super) fn qos_held(&self, snapshot: &Snapshot) -> impl Iterator<Item = (u32, Held)> {
        snapshot.qos_now().iter().filter_map(|now| {
            let held = match self.reset_qos.contains(&now.id) {
                true => seen_held(snapshot, now.id),
                false => qos_held(now),
            };
            Some((now.id, held?))
        })
    }

    /// Changes after the ledger was fed with associations again: other changes of records after
    /// [`ByLedger::update`] are kept.
    pub(super) fn changes(&mut self, snapshot: &Snapshot) -> UsageUpdate<'_> {
        self.qos_rows.clear();
        self.qos_rows.resize(snapshot.qos_now().len(), scaled(1.0));
        UsageUpdate {
            scale: 1.0,
            assocs: Some(&self.assocs),
            qos: &self.qos_rows,
            tres: &self.tres,
            changes_only: true,
        }
    }
}
