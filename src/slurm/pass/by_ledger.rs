//! The ledger's part of a pass: the runs of the snapshot are reported to it, and records of
//! associations and QOS are set to its numbers.
//!
//! The records are set, not changed: whatever charges and resets did to them in between, they are
//! correct after the pass. Charges of hooks between the snapshot and that moment return to the
//! records with the next pass; that is at most the use of that time.

use super::moment::Moment;
use crate::config::Scope;
use crate::extended::Extended;
use crate::slurm::charges::run;
use crate::slurm::ledger::book::Numbers;
use crate::slurm::ledger::exchange::{Found, LedgerComplaints, SeenQos, SeenSite};
use crate::slurm::ledger::keeper::Keeper;
use crate::slurm::ledger::plan::LedgerPlan;
use crate::slurm::ledger::seen::SeenRun;
use crate::slurm::ledger::written::Held;
use crate::slurm::rows::snapshot::{Snapshot, UsageUpdate, scaled};
use crate::slurm::rows::tables::Tables;
use crate::slurm::runtime::host::{self, NONE, ffi};
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::{Ledger, Plugin};
use crate::slurm::state::ledger_files;
use crate::slurm::state::saver::Job;
use crate::slurm::state::settings::Settings;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::Plan;
use crate::usage::window::{Changed, source_file};
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

/// Makes sure that the content of the files is loaded, before a snapshot asks how far the ledger
/// knows ends.
pub(in crate::slurm) fn open(plugin: &Plugin, settings: &Settings) {
    if !plugin.keeps_ledger(settings) {
        return;
    }
    let mut ledger = plugin.ledger.lock();
    ledger.keeper.recover();
    if ledger.keeper.is_open() || ledger.found.is_some() {
        return;
    }
    let own = ledger_files::load(&settings.state_dir, &settings.cluster);
    for line in &own.complaints {
        log::error(line);
    }
    let as_of = own.assocs.as_ref();
    let as_of = as_of.and_then(|history| Some(history.sources().first()?.as_of));
    // The last pass according to the other files is that of the ledger, or the one after it.
    let last_ran = plugin.shared.lock().charged_until.last_ran();
    let period = i64::from(settings.config.priority_calc_period_secs);
    let continues = as_of
        .zip(last_ran)
        .is_some_and(|(as_of, last_ran)| last_ran <= as_of.saturating_add(2 * period));
    ledger.found = Some(Found {
        assocs: own.assocs,
        qos: own.qos,
        continues,
    });
    drop(ledger);
    let mut others = plugin.others.lock();
    others.forget();
    look(&mut others, settings);
}

fn look(others: &mut ledger_files::Others, settings: &Settings) {
    let all_clusters = settings.config.scope() == Scope::AllClusters;
    others.look(&settings.state_dir, &settings.cluster, all_clusters);
}

/// Ends after this time may be missing in the ledger.
pub(in crate::slurm) fn fed_until(plugin: &Plugin) -> i64 {
    let ledger = plugin.ledger.lock();
    let found = ledger
        .found
        .as_ref()
        .and_then(|found| found.assocs.as_ref());
    let found = found.and_then(|history| Some(history.sources().first()?.as_of));
    let until = ledger.keeper.fed_until().or(found);
    // Without a ledger, ends from now on. An end in this very second may be reported twice; that is
    // detected.
    until.unwrap_or_else(host::now).saturating_sub(1)
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
    let feed = |desk: &mut Ledger, site: &SeenSite<'_>| {
        let Ledger {
            keeper,
            found,
            ended,
        } = desk;
        let was_known = keeper.known_since();
        let found = || found.take().unwrap_or_default();
        let complaints = keeper.pass(site, found, ended, &rows);
        ended.clear();
        log_complaints(&complaints);
        take_others(plugin, keeper);
        if was_known.is_none() {
            if let Some(since) = keeper.known_since() {
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
    let feed = |desk: &mut Ledger, site: &SeenSite<'_>| {
        log_complaints(&desk.keeper.pass_again(site));
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
    feed: impl FnOnce(&mut Ledger, &SeenSite<'_>),
) -> Option<ByLedger> {
    let tres = host::tres_names();
    let plan = LedgerPlan::new(&settings.config, &TimeZone::system());
    let plans = plans(&plan);
    let qos: Vec<SeenQos> = snapshot.qos().iter().map(seen_qos).collect();
    let held = |index: AssocIndex| snapshot.assocs()[index.get()].held();
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
    let mut desk = plugin.ledger.lock();
    feed(&mut desk, &site);
    settings
        .by_ledger()
        .then(|| ByLedger::new(&mut desk.keeper, before, &tables.tree, snapshot))
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
        held: row.held(),
    }
}

/// Values of a QOS in the snapshot.
fn seen_held(snapshot: &Snapshot, id: u32) -> Option<Held> {
    let seen = snapshot.qos().iter().find(|seen| seen.id == id);
    seen.and_then(|seen| seen.held())
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

/// Adds histories of other sources, or leaves them for later if their lock is held because of a
/// slow disk.
fn take_others(plugin: &Plugin, keeper: &mut Keeper) {
    let Some(mut others) = plugin.others.try_lock() else {
        return;
    };
    let news = others.news();
    drop(others);
    for line in &news.complaints {
        log::error(line);
    }
    if news.changed.is_empty() && news.gone.is_empty() {
        return;
    }
    keeper.set_others(news.changed, &news.gone, |label, error| {
        let file = source_file(label).unwrap_or_default();
        log::error(format_args!(
            "history file {file} ignored: {error}; its previous version, if any, stays in use"
        ));
    });
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

/// Saves the ledger before `job` is saved, and looks for files of other sources. The saver's thread
/// also serialises the ledger, which takes longer than the rest of a pass; the thread that makes
/// passes waits for it anyway, for a bounded time. If it starts late, the ledger is of a later
/// moment, and equally good.
pub(in crate::slurm) fn saving(plugin: &Plugin, settings: &Settings, job: Job) -> Job {
    if !plugin.keeps_ledger(settings) {
        return job;
    }
    let ledger = Arc::clone(&plugin.ledger);
    let (others, settings) = (plugin.others.clone(), settings.clone());
    Box::new(move |wanted| {
        let files = ledger.lock().keeper.files();
        let files = files.unwrap_or_else(|error| {
            log::error(format_args!("cannot save the ledger: {error}"));
            Vec::new()
        });
        look(&mut others.lock(), &settings);
        // Before the state file, which contains the time of the last reset: a reset that it knows
        // of must be in the ledger.
        let stored = ledger_files::store(&settings.state_dir, &files, wanted);
        job(wanted).and(stored)
    })
}

/// Adds ends after the last pass, when no further pass will follow.
pub(in crate::slurm) fn take_last_ends(plugin: &Plugin) {
    let ended = plugin.shared.lock().take_ended();
    let mut desk = plugin.ledger.lock();
    let Ledger {
        keeper,
        ended: before,
        ..
    } = &mut *desk;
    keeper.recover();
    before.extend(ended);
    keeper.end(before);
    before.clear();
}

impl ByLedger {
    fn new(
        keeper: &mut Keeper,
        before: Option<ByLedger>,
        tree: &Arc<Tree>,
        snapshot: &Snapshot,
    ) -> Option<ByLedger> {
        let tres_count = snapshot.tres_count();
        let before = before.filter(|made| made.tres_count == tres_count);
        let mut made = match (keeper.take_touched(), before) {
            (Changed::Some(touched), Some(mut made)) if Arc::ptr_eq(&made.tree, tree) => {
                made.take(keeper, touched)?;
                made
            }
            (_, before) => {
                let mut made = ByLedger::unused(tree, tres_count);
                made.take(keeper, tree.indices())?;
                if let Some(before) = before {
                    made.compare(&before);
                }
                made
            }
        };
        made.take_accounts(keeper);
        made.take_qos(keeper);
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
    fn take(&mut self, keeper: &Keeper, of: impl IntoIterator<Item = AssocIndex>) -> Option<()> {
        for index in self.touched.drain(..) {
            self.assocs[index.get()].stays = true;
        }
        self.touched.extend(of);
        let count = self.tres_count;
        let (usage, assocs, of_tres) = (&mut self.usage, &mut self.assocs, &mut self.tres);
        let mut fits = true;
        let read = keeper.read(&self.tree, &self.touched, |index, [billing, wall], tres| {
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
    fn take_accounts(&mut self, keeper: &Keeper) {
        self.assocs.truncate(self.tree.len());
        self.tres.truncate(self.tree.len() * self.tres_count);
        for account in self.accounts.drain(..) {
            self.assocs[account.get()].leaf = NONE;
        }
        for (index, left) in keeper.left_in_accounts() {
            let leaf = u32::try_from(self.assocs.len()).unwrap_or(NONE);
            let row = self.set(&left);
            self.assocs.push(row);
            let account = &mut self.assocs[index.get()];
            account.leaf = leaf;
            account.stays = false;
            self.accounts.push(index);
        }
    }

    fn take_qos(&mut self, keeper: &Keeper) {
        self.qos.clear();
        for change in keeper.qos_changes() {
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
            let held = now.held().zip(seen_held(snapshot, now.id));
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
                false => now.held(),
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
