//! Changes to the tree, the plans and the window under a ledger.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::history::sorted_dates;
use super::ledger::{NONE, check_kept};
use super::run::Runs;
use super::slot::Leaf;
use super::sums::{Delta, Sums, plans_of};
use super::{Window, WindowError, WindowLedger};
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::Plan;

impl WindowLedger {
    /// By which usage nodes are judged: `plans` for these and all below them, `default` for the
    /// rest. Ids that are not in the tree wait until they are.
    ///
    /// Totals of dates that were asked for before stay. What a new date has at first is what the buckets from it on hold, and of the bucket that it
    /// falls into a part in proportion.
    ///
    /// # Errors
    /// [`WindowError::DateCount`]; nothing is changed then.
    pub fn set_plans(
        &mut self,
        tree: &Tree,
        default: Plan,
        plans: impl IntoIterator<Item = (AssocId, Plan)>,
    ) -> Result<(), WindowError> {
        self.check_size(tree);
        let plans: HashMap<AssocId, Plan> = plans.into_iter().collect();
        let since = |plan: &Plan| match plan {
            Plan::Window => None,
            Plan::Total(total) => Some(total.since()),
        };
        let new = plans.values().chain([&default]).filter_map(since);
        let dates: Vec<i64> = self.dates.iter().copied().chain(new).collect();
        let dates = sorted_dates(&dates)?;
        self.set_dates(dates);
        self.default_plan = default;
        self.plans = plans;
        self.rebuild(tree);
        Ok(())
    }

    pub(super) fn set_dates(&mut self, dates: Vec<i64>) {
        if dates == self.dates {
            return;
        }
        // As in a history: runs that go on are counted to the second.
        self.change_runs(false);
        let (resolution, width) = (self.window.resolution(), self.columns.width());
        for slot in &mut self.slots {
            slot.leaf.set_dates(&self.dates, &dates, resolution, width);
        }
        self.dates = dates;
        self.change_runs(true);
    }

    fn change_runs(&mut self, add: bool) {
        let resolution = self.window.resolution();
        for (_, run) in self.runs.iter() {
            let leaf = &mut self.slots[run.leaf as usize].leaf;
            for segment in run.segments() {
                leaf.change(resolution, self.floor, &self.dates, segment, add);
            }
        }
    }

    /// Another length, with the same resolution.
    ///
    /// # Errors
    /// [`WindowError::Length`], [`WindowError::NotKept`] for one that is longer than what is
    /// kept.
    pub fn set_length(&mut self, tree: &Tree, length_secs: u64) -> Result<(), WindowError> {
        self.check_size(tree);
        let window = Window::new(length_secs, u64::from(self.window.resolution_secs()))?;
        check_kept(window, self.keep_secs)?;
        self.window = window;
        self.rebuild(tree);
        Ok(())
    }

    /// How long buckets are kept from now on. What is gone does not come back.
    ///
    /// # Errors
    /// [`WindowError::NotKept`] for less than the window.
    pub fn set_keep(&mut self, keep_secs: u64) -> Result<(), WindowError> {
        check_kept(self.window, keep_secs)?;
        self.keep_secs = keep_secs.min(Window::MAX_LENGTH_SECS);
        Ok(())
    }

    /// Keeps buckets for at least so long from now on, at most [`Window::MAX_LENGTH_SECS`].
    pub fn keep_at_least(&mut self, keep_secs: u64) {
        self.keep_secs = self.keep_secs.max(keep_secs.min(Window::MAX_LENGTH_SECS));
    }

    /// Longer buckets, of which the length is a multiple of what it is.
    ///
    /// # Errors
    /// [`WindowError::Coarsen`], [`WindowError::Resolution`], [`WindowError::Length`] above the
    /// window.
    pub fn coarsen(&mut self, tree: &Tree, resolution_secs: u32) -> Result<(), WindowError> {
        self.check_size(tree);
        let (found, have_secs) = (resolution_secs, self.window.resolution_secs());
        let window = Window::new(self.window.length_secs(), u64::from(found))?;
        if found % have_secs != 0 {
            return Err(WindowError::Coarsen { found, have_secs });
        }
        let factor = i64::from(found / have_secs);
        let width = self.columns.width();
        let columns: Vec<_> = (0..width).map(Some).collect();
        // A bucket of which the older part was dropped is dropped whole.
        self.floor = (self.floor + factor - 1).div_euclid(factor);
        for slot in &mut self.slots {
            slot.leaf = slot.leaf.converted(&columns, width, factor);
            slot.leaf.buckets.merge(width, self.floor);
        }
        self.window = window;
        self.rebuild(tree);
        Ok(())
    }

    /// Adds all of one slot to another, and frees it.
    pub(super) fn join(&mut self, into: u32, from: u32) {
        let leaf = std::mem::take(&mut self.slots[from as usize].leaf);
        self.slots[into as usize]
            .leaf
            .add_all(&leaf, self.columns.width());
        for run in self.runs.iter_mut().filter(|run| run.leaf == from) {
            run.leaf = into;
        }
        self.drop_slot(from);
    }

    /// Frees a slot, which has no runs. The sums are the caller's business.
    pub(super) fn drop_slot(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        slot.leaf = Leaf::default();
        slot.assoc = None;
        slot.key = None;
        slot.used = false;
        slot.next = i64::MAX;
        slot.prune_at = i64::MAX;
        slot.at_edge = Vec::new();
        self.free.push(at);
    }

    /// Forgets the usage of an association and of all below it (`RawUsage=0` of sacctmgr). Runs
    /// that go on begin again: what they were charged is not taken back later.
    pub fn reset_assoc(&mut self, tree: &Tree, index: AssocIndex) {
        let slots = self.forget_below(tree, index);
        self.runs.retain(|_, run| !slots[run.leaf as usize]);
        self.rebuild(tree);
    }

    /// As [`WindowLedger::reset_assoc`], but runs stay known as charged, with nothing: none of their
    /// seconds is charged again, also where one that has ended, as `goes_on` says, turns up once more:
    /// then it goes on from that moment.
    #[cfg_attr(
        not(any(feature = "slurm", test)),
        expect(dead_code, reason = "the plugin's")
    )]
    pub(crate) fn reset_assoc_of_known_runs(
        &mut self,
        tree: &Tree,
        index: AssocIndex,
        goes_on: impl Fn(super::LedgerRun) -> Option<i64>,
    ) {
        let slots = self.forget_below(tree, index);
        self.runs
            .uncharge(|run| slots[run.leaf as usize], |key| goes_on(*key));
        self.rebuild(tree);
    }

    /// Forgets what was used at a node and below it; tells whose slots these are.
    fn forget_below(&mut self, tree: &Tree, index: AssocIndex) -> Vec<bool> {
        self.check_size(tree);
        let below = tree.is_below(index);
        let is_below = |slot: &super::slot::Slot| slot.assoc.is_some_and(|at| below[at.get()]);
        let slots: Vec<bool> = self.slots.iter().map(is_below).collect();
        for (slot, _) in self
            .slots
            .iter_mut()
            .zip(&slots)
            .filter(|(_, below)| **below)
        {
            slot.leaf = Leaf::default();
        }
        slots
    }

    /// Forgets all usage and all runs, of other sources as well until they are set again.
    pub fn clear(&mut self) {
        self.take_changed();
        self.all_changed = true;
        self.slots.clear();
        self.free.clear();
        self.slot_of.fill(NONE);
        self.others.clear();
        self.runs = Runs::default();
        self.sums.clear();
        self.calendar.clear();
        self.prunings.clear();
        self.at_edge.clear();
        self.held.fill(0);
    }

    /// Takes over another tree, by ids. What a removed association used itself becomes that of
    /// the nearest account above it that is still there; without one it is forgotten.
    pub fn follow_tree(&mut self, before: &Tree, after: &Tree) {
        self.check_size(before);
        let place = |index: AssocIndex| {
            let mut next = Some(index);
            while let Some(at) = next {
                let found = after.index_of(before.rows()[at.get()].id);
                if found.is_some() {
                    return found;
                }
                next = before.parent(at);
            }
            None
        };
        self.slot_of = vec![NONE; after.len()];
        for at in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[at as usize];
            let Some(assoc) = slot.assoc else { continue };
            slot.assoc = place(assoc);
            let (assoc, own) = (slot.assoc, slot.own);
            match assoc {
                None => {
                    self.runs.retain(|_, run| run.leaf != at);
                    self.drop_slot(at);
                }
                Some(assoc) if own => match self.slot_of[assoc.get()] {
                    NONE => self.slot_of[assoc.get()] = at,
                    known => self.join(known, at),
                },
                Some(_) => {}
            }
        }
        // Slots of other sources that were dropped may be in use again.
        for other in self.others.values_mut() {
            other.slots.retain(|at| self.slots[*at as usize].used);
        }
        self.rebuild(after);
    }

    /// Recomputes all sums.
    pub(super) fn rebuild(&mut self, tree: &Tree) {
        let own = |index: AssocIndex| self.plans.get(&tree.rows()[index.get()].id).copied();
        let plans = plans_of(tree, &self.dates, self.default_plan, own);
        self.sums = Sums::new(self.columns.width(), plans);
        self.edge = self.window.bucket(self.now - self.window.length());
        self.take_changed();
        self.all_changed = true;
        self.calendar.clear();
        self.prunings.clear();
        self.at_edge.clear();
        for at in 0..self.slots.len() {
            if self.slots[at].used {
                self.enter(tree, at as u32);
            }
        }
    }

    /// Adds what a slot holds to the sums, and puts it into the calendar.
    pub(super) fn enter(&mut self, tree: &Tree, at: u32) {
        let width = self.columns.width();
        let (inside, at_edge) = self.sums_of(&self.slots[at as usize], self.edge);
        self.change_sums(tree, at, (&inside, &at_edge), true);
        let (edge, slack) = (self.edge, self.slack());
        let slot = &mut self.slots[at as usize];
        slot.at_edge = Vec::new();
        if at_edge.iter().any(|amount| *amount != 0) {
            slot.at_edge = at_edge;
            self.at_edge.push(at);
        }
        slot.leaf.buckets.leave_behind(edge, width);
        slot.next = i64::MAX;
        if let Some(next) = slot.leaf.buckets.first_from(edge + 1, width) {
            slot.next = next;
            self.calendar.push(Reverse((next, at)));
        }
        slot.prune_at = i64::MAX;
        if let Some(first) = slot.leaf.buckets.first_from(i64::MIN, width) {
            slot.prune_at = first + slack;
            self.prunings.push(Reverse((slot.prune_at, at)));
        }
        self.note_changed(at);
    }

    /// Takes a slot away: out of the sums, and free.
    pub(super) fn leave(&mut self, tree: &Tree, at: u32) {
        let (inside, at_edge) = self.sums_of(&self.slots[at as usize], self.edge);
        self.change_sums(tree, at, (&inside, &at_edge), false);

        self.drop_slot(at);
    }

    fn change_sums(&mut self, tree: &Tree, at: u32, (inside, edge): (&[u128], &[u128]), add: bool) {
        let slot = &self.slots[at as usize];
        if let Some(assoc) = slot.assoc {
            let totals = &slot.leaf.totals;
            let change = Delta {
                inside,
                edge,
                totals,
                add,
            };
            self.sums.change(tree, assoc, &change);
        }
    }
}
