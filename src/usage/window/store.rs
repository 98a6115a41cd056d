//! Between a ledger and histories: its own file, and other sources.

use super::history::{UsageHistory, check_sum};
use super::ledger::NONE;
use super::run::Run;
use super::slot::Slot;
use super::{LeafKey, Source, WindowError, WindowLedger};
use crate::tree::{AssocIndex, Tree};

/// Another source's part of a ledger.
#[derive(Clone, Debug)]
pub(super) struct Other {
    pub sources: Vec<Source>,
    /// At least all that the slots hold, per column.
    pub held: Vec<u128>,
    pub slots: Vec<u32>,
}

fn add(held: &mut [u128], more: &[u128]) {
    for (held, more) in held.iter_mut().zip(more) {
        *held += more;
    }
}

/// What became of the leaves of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// How many are in the tree now.
    pub placed: usize,
    /// Those that are not in the tree, ascending: they count for no node.
    pub unplaced: Vec<LeafKey>,
}

impl WindowLedger {
    /// Goes on where a history ended: this ledger's own file, as [`WindowLedger::save`] wrote
    /// it.
    ///
    /// `place`: the association of a name, by position; `None` where there is none now, as for
    /// one that was removed in the meantime. Such use is kept and saved again. (To count it
    /// for the account, give the account's position.)
    ///
    /// The ledger moves to the moment of the history if that is later. Shorter buckets than
    /// the ledger's are put together; TRES that it does not count are dropped.
    ///
    /// # Errors
    /// [`WindowError::OtherSource`] for use of another cluster, [`WindowError::CoveredTwice`],
    /// [`WindowError::Coarsen`], [`WindowError::DateCount`], [`WindowError::TooMuch`],
    /// [`WindowError::Position`], and [`WindowError::Overlap`] for a run that is open here, too.
    /// Nothing is changed then.
    pub fn restore(
        &mut self,
        tree: &Tree,
        history: UsageHistory,
        place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) -> Result<Placed, WindowError> {
        self.check_size(tree);
        if history
            .sources
            .iter()
            .any(|source| source.name != self.source.name)
        {
            let found = history.sources.iter().map(|source| source.name.clone());
            return Err(WindowError::OtherSource {
                expected: self.source.name.clone(),
                found: found.collect(),
            });
        }
        for theirs in &history.sources {
            self.source.check_apart(theirs)?;
            for other in self.others.values().flat_map(|other| &other.sources) {
                other.check_apart(theirs)?;
            }
        }
        for ((_, run), charged) in history.runs.iter() {
            for segment in charged.segments() {
                let key = || (*run, 0);
                self.runs
                    .check(*run, key, Some(NONE - 1), segment.from, segment.to)?;
            }
        }
        let (history, places) = self.prepare(tree, history, place)?;
        let source = &history.sources[0];
        for (from, to) in source.covered.as_slice() {
            self.source.covered.add(*from, *to);
        }
        self.now = self.now.max(source.as_of);
        self.source.as_of = self.now;
        add(&mut self.held, &history.held);
        let width = self.columns.width();
        let kept = self.window.bucket(self.now - self.keep_secs as i64);
        let floor = self.floor.max(history.floor).max(kept);
        if floor > self.floor {
            self.floor = floor;
            self.source.covered.trim(floor * self.window.resolution());
            for slot in self.slots.iter_mut().filter(|slot| slot.own) {
                slot.leaf.buckets.merge(width, floor);
            }
        }
        let mut placed = Placed::default();
        let mut slots = Vec::with_capacity(places.len());
        let leaves = history.keys.into_iter().zip(history.leaves);
        for ((key, leaf), assoc) in leaves.zip(places) {
            let known = assoc.map_or(NONE, |assoc| self.slot_of[assoc.get()]);
            if known != NONE {
                placed.placed += 1;
                self.slots[known as usize].leaf.add_all(&leaf, width);
                slots.push(known);
                continue;
            }
            let at = self.take_slot(assoc, true);
            let slot = &mut self.slots[at as usize];
            slot.leaf = leaf;
            match assoc {
                Some(_) => placed.placed += 1,
                None => {
                    placed.unplaced.push(key.clone());
                    slot.key = Some(key);
                }
            }
            slots.push(at);
        }
        for ((_, id), mut run) in history.runs.into_runs() {
            run.leaf = slots[run.leaf as usize];
            self.runs.insert(id, run);
        }
        placed.unplaced.sort();
        self.rebuild(tree);
        Ok(placed)
    }

    /// Counts another history, and no more the one that had the same label: of another cluster,
    /// or of times that this ledger does not cover.
    ///
    /// It is not written into this ledger's file. `place` as for [`WindowLedger::restore`]; use
    /// that is not placed is not kept. Buckets of time to come, from a clock that is ahead,
    /// count.
    ///
    /// # Errors
    /// [`WindowError::CoveredTwice`] where it covers times that this ledger or another label has
    /// of the same cluster, [`WindowError::Coarsen`], [`WindowError::DateCount`],
    /// [`WindowError::TooMuch`], [`WindowError::Position`]. Nothing is changed then.
    pub fn set_other(
        &mut self,
        tree: &Tree,
        label: &str,
        history: UsageHistory,
        place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) -> Result<Placed, WindowError> {
        self.check_size(tree);
        for theirs in &history.sources {
            self.source.check_apart(theirs)?;
            for (_, other) in self.others.iter().filter(|(known, _)| *known != label) {
                for other in &other.sources {
                    other.check_apart(theirs)?;
                }
            }
        }
        let (history, places) = self.prepare(tree, history, place)?;
        self.remove_other(tree, label);
        let mut placed = Placed::default();
        let mut slots = Vec::with_capacity(places.len());
        let leaves = history.keys.into_iter().zip(history.leaves);
        for ((key, leaf), assoc) in leaves.zip(places) {
            let Some(assoc) = assoc else {
                placed.unplaced.push(key);
                continue;
            };
            placed.placed += 1;
            let at = self.take_slot(Some(assoc), false);
            self.slots[at as usize].leaf = leaf;
            self.enter(tree, at);
            slots.push(at);
        }
        placed.unplaced.sort();
        add(&mut self.held, &history.held);
        let other = Other {
            sources: history.sources,
            held: history.held,
            slots,
        };
        self.others.insert(label.to_owned(), other);
        Ok(placed)
    }

    /// Counts a history no more. False if there is none with this label.
    pub fn remove_other(&mut self, tree: &Tree, label: &str) -> bool {
        self.check_size(tree);
        let Some(other) = self.others.remove(label) else {
            return false;
        };
        for (sum, held) in self.held.iter_mut().zip(&other.held) {
            *sum = sum.saturating_sub(*held);
        }
        for at in other.slots {
            self.note_changed(at);
            self.leave(tree, at);
        }
        true
    }

    /// A history with the ledger's columns, resolution and dates, and where its leaves go. The
    /// ledger's dates become those of both.
    fn prepare(
        &mut self,
        tree: &Tree,
        mut history: UsageHistory,
        mut place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) -> Result<(UsageHistory, Vec<Option<AssocIndex>>), WindowError> {
        let len = tree.len();
        let mut places = Vec::with_capacity(history.keys.len());
        for key in &history.keys {
            let assoc = place(key);
            if let Some(assoc) = assoc.filter(|assoc| assoc.get() >= len) {
                let found = assoc.get();
                return Err(WindowError::Position { found, len });
            }
            places.push(assoc);
        }
        history.set_columns(&self.columns);
        history.coarsen(self.window.resolution_secs())?;
        check_sum(&self.held, &history.held, "history")?;
        let dates: Vec<i64> = self.dates.iter().chain(&history.dates).copied().collect();
        history.set_dates(&dates)?;
        if history.dates != self.dates {
            self.set_dates(history.dates.clone());
            self.rebuild(tree);
        }
        Ok((history, places))
    }

    /// Places own use that was in no association, see [`WindowLedger::restore`].
    pub fn place_again(
        &mut self,
        tree: &Tree,
        mut place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) -> Placed {
        self.check_size(tree);
        let mut placed = Placed::default();
        for at in 0..self.slots.len() as u32 {
            let slot = &mut self.slots[at as usize];
            let Some(key) = slot.key.take_if(|_| slot.used) else {
                continue;
            };
            let Some(assoc) = place(&key) else {
                placed.unplaced.push(key.clone());
                self.slots[at as usize].key = Some(key);
                continue;
            };
            placed.placed += 1;
            match self.slot_of[assoc.get()] {
                NONE => {
                    self.slots[at as usize].assoc = Some(assoc);
                    self.slot_of[assoc.get()] = at;
                }
                known => self.join(known, at),
            }
        }
        placed.unplaced.sort();
        if placed.placed > 0 {
            self.rebuild(tree);
        }
        placed
    }

    /// The ledger's own use as a history: what is kept of it, without other sources.
    ///
    /// `name`: the name of an association, by position.
    ///
    /// # Errors
    /// [`WindowError::NameTwice`] where two associations have the same name.
    pub fn to_history(
        &self,
        mut name: impl FnMut(AssocIndex) -> LeafKey,
    ) -> Result<UsageHistory, WindowError> {
        let resolution = u64::from(self.window.resolution_secs());
        let columns = self.columns.clone();
        let source = &self.source.name;
        let mut history = UsageHistory::new(source, resolution, columns, &self.dates, self.now)?;
        history.sources = vec![self.source.clone()];
        history.floor = self.floor.max(0);
        let width = self.columns.width();
        for (at, key) in self.own_slots(&mut name)? {
            let mut leaf = self.slots[at as usize].leaf.clone();
            leaf.buckets.merge(width, self.floor);
            leaf.add_held(&mut history.held);
            history.add_leaf(key, leaf);
        }
        for (id, run) in self.runs.iter() {
            let slot = &self.slots[run.leaf as usize];
            let key = Self::key_of(slot, &mut name).expect("own slots have names");
            let leaf = history.positions[&key];
            let run = Run::new(leaf, run.last.clone(), run.earlier.clone());
            history.runs.insert((0, *id), run);
        }
        Ok(history)
    }

    /// Slots of the own source that hold something or may come to, by name.
    pub(super) fn own_slots(
        &self,
        name: &mut impl FnMut(AssocIndex) -> LeafKey,
    ) -> Result<Vec<(u32, LeafKey)>, WindowError> {
        let mut has_run = vec![false; self.slots.len()];
        for (_, run) in self.runs.iter() {
            has_run[run.leaf as usize] = true;
        }
        let holds = |slot: &Slot| {
            slot.leaf.has_totals() || !slot.leaf.buckets.is_empty(self.columns.width(), self.floor)
        };
        let mut named = Vec::new();
        for (at, slot) in self.slots.iter().enumerate() {
            if slot.used && slot.own && (has_run[at] || holds(slot)) {
                named.extend(Self::key_of(slot, name).map(|key| (at as u32, key)));
            }
        }
        named.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        match named.windows(2).find(|pair| pair[0].1 == pair[1].1) {
            Some(pair) => Err(WindowError::NameTwice {
                name: pair[0].1.to_string(),
            }),
            None => Ok(named),
        }
    }
}
