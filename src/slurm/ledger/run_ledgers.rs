//! Keeps the ledgers of associations and of QOS from pass to pass.

use super::both_ledgers::{BothLedgers, placing, qos_name};
use super::exchange::{Found, LedgerComplaints, QosChange, SeenSite};
use super::seen::SeenRun;
use super::tree_ledger::Numbers;
use super::written::Held;
use crate::extended::Extended;
use crate::tree::{AssocIndex, Tree};
use crate::usage::window::{Changed, LeafKey, OWN_FILE, QOS_FILE, UsageHistory, WindowError};
use std::collections::HashMap;
use std::sync::Arc;

/// The ledgers, once they exist.
#[derive(Debug, Default)]
pub(in crate::slurm) struct RunLedgers {
    both: Option<BothLedgers>,
    /// True during a change: after a panic the ledgers are incomplete and are discarded.
    busy: bool,
    /// True if the content of the files must be forgotten once it is read.
    clears_found: bool,
}

impl RunLedgers {
    /// Returns true if there are ledgers in memory.
    pub(in crate::slurm) fn is_open(&self) -> bool {
        self.both.is_some()
    }

    /// Discards ledgers that a panic may have left incomplete; the files are complete.
    pub(in crate::slurm) fn recover(&mut self) {
        if std::mem::take(&mut self.busy) {
            self.both = None;
        }
    }

    /// One pass: the ledgers apply changes of the host, advance, and are fed.
    ///
    /// `found`: returns the content of the files; called if there are no ledgers yet. `ended`: runs
    /// whose end was reported since the last pass. `rows`: all existing runs, including ended ones
    /// that the host remembers.
    pub(in crate::slurm) fn pass(
        &mut self,
        site: &SeenSite<'_>,
        found: impl FnOnce() -> Found,
        ended: &[SeenRun<'_>],
        rows: &[SeenRun<'_>],
    ) -> LedgerComplaints {
        let mut complaints = LedgerComplaints::default();
        self.busy = true;
        let both = match self.both.take() {
            Some(both) => Ok(both),
            None => BothLedgers::open(site, found(), &mut complaints),
        };
        match both {
            Ok(mut both) => {
                both.is_cleared |= std::mem::take(&mut self.clears_found);
                both.follow(site, &mut complaints);
                both.feed(site, ended, rows, &mut complaints);
                self.both = Some(both);
            }
            Err(error) => complaints
                .lines
                .push(format!("cannot open the ledger: {error}")),
        }
        self.busy = false;
        complaints
    }

    /// The same pass again, because associations differed when their records were written: the
    /// ledgers change to the new tree, and apply resets by an administrator. Call
    /// [`RunLedgers::set_written`] first.
    pub(in crate::slurm) fn pass_again(&mut self, site: &SeenSite<'_>) -> LedgerComplaints {
        let mut complaints = LedgerComplaints::default();
        self.busy = true;
        if let Some(both) = &mut self.both {
            both.follow(site, &mut complaints);
            both.take_resets(site);
        }
        self.busy = false;
        complaints
    }

    /// Adds ends after the last pass, when the plugin stops.
    pub(in crate::slurm) fn end(&mut self, ended: &[SeenRun<'_>]) {
        self.busy = true;
        if let Some(both) = &mut self.both {
            let mut complaints = LedgerComplaints::default();
            let latest = ended.iter().map(|seen| seen.until).max();
            let now = both.assocs.ledger().now().max(latest.unwrap_or(0));
            let resets = [Vec::new(), Vec::new()];
            both.feeding(&resets, &mut complaints, |feeding| {
                feeding.advance(now);
                feeding.take_ended(ended);
            });
        }
        self.busy = false;
    }

    /// All usage is reset: nobody is charged for use until the next pass.
    pub(in crate::slurm) fn clear(&mut self) {
        match &mut self.both {
            Some(both) => both.is_cleared = true,
            None => self.clears_found = true,
        }
    }

    /// Records hold the ledgers' numbers; those of associations are `held`, by position.
    pub(in crate::slurm) fn set_written(&mut self, held: Vec<Held>) {
        if let Some(both) = &mut self.both {
            let of_assocs = both.assocs.written_as(held);
            both.written = [of_assocs, both.qos.written()];
            both.taken_back.clear();
        }
    }

    /// Sets the values in the records of QOS after a pass has written and charged them, by id.
    pub(in crate::slurm) fn set_qos_held(&mut self, held: impl Iterator<Item = (u32, Held)>) {
        if let Some(both) = &mut self.both {
            both.qos_held.clear();
            both.qos_held.extend(held);
        }
    }

    /// Time at which the ledgers were last fed.
    pub(in crate::slurm) fn fed_until(&self) -> Option<i64> {
        self.both.as_ref().map(|both| both.assocs.ledger().now())
    }

    /// Associations whose numbers may have changed since the last query; all if there are no
    /// ledgers.
    pub(in crate::slurm) fn take_touched(&mut self) -> Changed {
        let both = self.both.as_mut();
        both.map_or(Changed::All, |both| both.assocs.take_touched())
    }

    /// Reports all numbers of associations: billing TRES-seconds and seconds, and TRES-seconds in
    /// the host's order. `None` if there are no ledgers, or they have a different tree.
    pub(in crate::slurm) fn read(
        &self,
        tree: &Arc<Tree>,
        nodes: &[AssocIndex],
        each: impl FnMut(AssocIndex, [Extended; 2], &[Extended]),
    ) -> Option<()> {
        let both = self.both.as_ref()?;
        Arc::ptr_eq(both.assocs.tree(), tree).then(|| both.assocs.read(nodes, each))
    }

    /// Use of the accounts themselves.
    pub(in crate::slurm) fn left_in_accounts(&self) -> Vec<(AssocIndex, Numbers)> {
        let both = self.both.as_ref();
        both.map_or_else(Vec::new, |both| both.assocs.left_in_accounts())
    }

    /// Changes of QOS records, ascending by id.
    pub(in crate::slurm) fn qos_changes(&self) -> Vec<QosChange> {
        self.both
            .as_ref()
            .map_or_else(Vec::new, BothLedgers::qos_changes)
    }

    /// Replaces the histories of other sources. `problem`: receives a label and the reason why a
    /// history is ignored.
    pub(in crate::slurm) fn set_others(
        &mut self,
        changed: Vec<(String, UsageHistory)>,
        gone: &[String],
        mut problem: impl FnMut(&str, WindowError),
    ) {
        let Some(both) = &mut self.both else {
            return;
        };
        self.busy = true;
        let tree = Arc::clone(both.assocs.tree());
        let place = placing(&tree, &both.names);
        let mut edits = Vec::new();
        for (label, history) in changed {
            let mut places = HashMap::new();
            for key in history.leaves() {
                places.insert(key.clone(), place(key));
            }
            edits.push((label, history, places));
        }
        both.assocs.edit(|open| {
            for label in gone {
                open.ledger().remove_other(&tree, label);
            }
            for (label, history, places) in edits {
                let place = |key: &LeafKey| places.get(key).copied().flatten();
                if let Err(error) = open.ledger().set_other(&tree, &label, history, place) {
                    problem(&label, error);
                }
            }
        });
        self.busy = false;
    }

    /// Files of the ledgers: names and contents; empty if there are no ledgers, or during a change.
    ///
    /// # Errors
    /// If associations have the same name.
    pub(in crate::slurm) fn files(&mut self) -> Result<Vec<(&'static str, Vec<u8>)>, WindowError> {
        let Some(both) = self.both.as_mut().filter(|_| !self.busy) else {
            return Ok(Vec::new());
        };
        self.busy = true;
        both.assocs.merge_changes();
        both.qos.merge_changes();
        self.busy = false;
        let tree = both.assocs.tree();
        let name = |index: AssocIndex| both.name(tree.rows()[index.get()].id);
        let assocs = both.assocs.ledger().save(name)?;
        let qos = both.qos.tree();
        let name = |index: AssocIndex| qos_name(qos.rows()[index.get()].id);
        let qos = both.qos.ledger().save(name)?;
        Ok(vec![(OWN_FILE, assocs), (QOS_FILE, qos)])
    }

    /// Time since which the ledger knows all use without a gap; `None` before its second pass.
    pub(in crate::slurm) fn known_since(&self) -> Option<i64> {
        let spans = &self.both.as_ref()?.assocs.ledger().source().covered;
        spans.as_slice().last().map(|(from, _)| *from)
    }
}
