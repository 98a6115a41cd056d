//! The plugin's ledger between passes: its files, those of other sources, and ends after the last
//! pass.

use crate::config::Scope;
use crate::slurm::ledger::exchange::Found;
use crate::slurm::ledger::run_ledgers::RunLedgers;
use crate::slurm::runtime::host;
use crate::slurm::runtime::log;
use crate::slurm::shared::plugin::{LedgerState, Plugin};
use crate::slurm::state::ledger_files;
use crate::slurm::state::saver::Job;
use crate::slurm::state::settings::Settings;
use crate::usage::window::source_file;
use std::sync::Arc;

/// Makes sure that the content of the files is loaded, before a snapshot asks how far the ledger
/// knows ends.
pub(in crate::slurm) fn open(plugin: &Plugin, settings: &Settings) {
    if !plugin.keeps_ledger(settings) {
        return;
    }
    let mut ledger = plugin.ledger.lock();
    ledger.ledgers.recover();
    if ledger.ledgers.is_open() || ledger.found.is_some() {
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
    let until = ledger.ledgers.fed_until().or(found);
    // Without a ledger, ends from now on. An end in this very second may be reported twice; that is
    // detected.
    until.unwrap_or_else(host::now).saturating_sub(1)
}

/// Adds histories of other sources, or leaves them for later if their lock is held because of a
/// slow disk.
pub(super) fn take_others(plugin: &Plugin, ledgers: &mut RunLedgers) {
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
    ledgers.set_others(news.changed, &news.gone, |label, error| {
        let file = source_file(label).unwrap_or_default();
        log::error(format_args!(
            "history file {file} ignored: {error}; its previous version, if any, stays in use"
        ));
    });
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
        let files = ledger.lock().ledgers.files();
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
    let mut ledger = plugin.ledger.lock();
    let LedgerState {
        ledgers,
        ended: before,
        ..
    } = &mut *ledger;
    ledgers.recover();
    before.extend(ended);
    ledgers.end(before);
    before.clear();
}
