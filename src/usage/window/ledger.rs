//! Usage in a window, and since dates, of every node of a tree.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::history::{check_amounts, check_cover, hold};
use super::run::Runs;
use super::slot::{Parts, Slot, secs_since};
use super::span::{check_interval, check_time, pieces};
use super::store::Other;
use super::sums::{Delta, Sums, WINDOW};
use super::{Columns, LeafKey, LedgerRun, Rate, Source, Spans, Used, Window, WindowError};
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::Plan;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// Whose usage changed, see [`WindowLedger::take_changed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// Anybody's: the tree, a plan or the window changed.
    All,
    /// That of these, each once, and of all above them.
    Some(Vec<AssocIndex>),
}

impl Changed {
    /// The same with all above them, ascending, each once.
    pub(crate) fn and_above(self, tree: &Tree) -> Changed {
        let Changed::Some(leaves) = self else {
            return Changed::All;
        };
        let mut is_changed = vec![false; tree.len()];
        for leaf in leaves {
            let mut next = Some(leaf);
            while let Some(node) = next.filter(|node| !is_changed[node.get()]) {
                is_changed[node.get()] = true;
                next = tree.parent(node);
            }
        }
        let nodes = tree.indices().filter(|node| is_changed[node.get()]);
        Changed::Some(nodes.collect())
    }
}

/// Usage in a window, and since dates, of every node of one tree; see the [module](super).
///
/// As in [`crate::usage::RawUsage`], positions are those of the tree; [`WindowLedger::follow_tree`]
/// takes over an edited tree, and all functions panic with a tree of another size.
#[derive(Clone, Debug)]
pub struct WindowLedger {
    pub(super) window: Window,
    pub(super) keep_secs: u64,
    pub(super) columns: Columns,
    pub(super) now: i64,
    /// The bucket at the far edge of the window.
    pub(super) edge: i64,
    /// The oldest bucket that is kept.
    pub(super) floor: i64,
    pub(super) source: Source,
    /// Other sources, by label.
    pub(super) others: BTreeMap<String, Other>,
    pub(super) slots: Vec<Slot>,
    pub(super) free: Vec<u32>,
    /// By position in the tree: the slot of what it was charged here.
    pub(super) slot_of: Vec<u32>,
    pub(super) runs: Runs,
    pub(super) default_plan: Plan,
    pub(super) plans: HashMap<AssocId, Plan>,
    pub(super) dates: Vec<i64>,
    pub(super) sums: Sums,
    /// Slots by the bucket with which they have to be looked at.
    pub(super) calendar: BinaryHeap<Reverse<(i64, u32)>>,
    /// Slots with something in the bucket at the edge.
    pub(super) at_edge: Vec<u32>,
    pub(super) prunings: BinaryHeap<Reverse<(i64, u32)>>,
    /// Slots of which the usage changed, and where they were in the tree.
    pub(super) changed: Vec<(u32, AssocIndex)>,
    pub(super) all_changed: bool,
    /// At least all that the slots hold, per column.
    pub(super) held: Vec<u128>,
}

impl WindowLedger {
    /// Nothing used yet, at the moment `now` (seconds since 1970).
    ///
    /// * `keep_secs`: for how long buckets are kept; at least the window.
    /// * `source`: the name of the cluster that is charged here.
    ///
    /// # Errors
    /// [`WindowError::NotKept`] for a window longer than `keep_secs`, [`WindowError::Time`].
    pub fn new(
        tree: &Tree,
        window: Window,
        keep_secs: u64,
        columns: Columns,
        source: &str,
        now: i64,
    ) -> Result<WindowLedger, WindowError> {
        check_kept(window, keep_secs)?;
        check_time("now", now)?;
        let width = columns.width();
        Ok(WindowLedger {
            window,
            keep_secs: keep_secs.min(Window::MAX_LENGTH_SECS),
            columns,
            now,
            edge: window.bucket(now - window.length()),
            floor: window.bucket(now - keep_secs.min(Window::MAX_LENGTH_SECS) as i64),
            source: Source {
                name: source.to_owned(),
                as_of: now,
                covered: Spans::default(),
            },
            others: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            slot_of: vec![NONE; tree.len()],
            runs: Runs::default(),
            default_plan: Plan::Window,
            plans: HashMap::new(),
            dates: Vec::new(),
            sums: Sums::new(width, vec![WINDOW; tree.len()]),
            calendar: BinaryHeap::new(),
            at_edge: Vec::new(),
            prunings: BinaryHeap::new(),
            changed: Vec::new(),
            all_changed: true,
            held: vec![0; width],
        })
    }

    /// Moves the window to end at `now`. False, and nothing changes, unless that is later than
    /// it was: a clock that steps back makes nobody's use come back.
    ///
    /// Costs time for the leaves with something in the buckets that the far edge reaches.
    ///
    /// # Errors
    /// [`WindowError::Time`].
    pub fn advance(&mut self, tree: &Tree, now: i64) -> Result<bool, WindowError> {
        self.check_size(tree);
        check_time("now", now)?;
        if now <= self.now {
            return Ok(false);
        }
        let edge = self.window.bucket(now - self.window.length());
        self.now = now;
        self.source.as_of = now;
        for at in 0..self.at_edge.len() {
            self.note_changed(self.at_edge[at]);
        }
        if edge > self.edge {
            self.move_edge(tree, edge);
        }
        self.prune();
        Ok(true)
    }

    fn move_edge(&mut self, tree: &Tree, edge: i64) {
        self.edge = edge;
        let mut behind = std::mem::take(&mut self.at_edge);
        for slot in behind.drain(..) {
            let slot = &mut self.slots[slot as usize];
            let gone = std::mem::take(&mut slot.at_edge);
            if let Some(assoc) = slot.assoc {
                let change = Delta {
                    inside: &[],
                    edge: &gone,
                    totals: &[],
                    add: false,
                };
                self.sums.change(tree, assoc, &change);
            }
        }
        self.at_edge = behind;
        let width = self.columns.width();
        while let Some(&Reverse((bucket, at))) = self.calendar.peek() {
            if bucket > edge {
                break;
            }
            self.calendar.pop();
            let slot = &mut self.slots[at as usize];
            if slot.next != bucket || !slot.used {
                continue;
            }
            let mut at_edge = vec![0; width];
            slot.leaf.buckets.sum(edge, edge + 1, &mut at_edge);
            let mut leaving = at_edge.clone();
            slot.leaf.buckets.sum(bucket, edge, &mut leaving);
            slot.leaf.buckets.leave_behind(edge, width);
            if let Some(assoc) = slot.assoc {
                let out = Delta {
                    inside: &leaving,
                    edge: &[],
                    totals: &[],
                    add: false,
                };
                self.sums.change(tree, assoc, &out);
                let into = Delta {
                    inside: &[],
                    edge: &at_edge,
                    totals: &[],
                    add: true,
                };
                self.sums.change(tree, assoc, &into);
            }
            if at_edge.iter().any(|amount| *amount != 0) {
                slot.at_edge = at_edge;
                self.at_edge.push(at);
            }
            slot.next = i64::MAX;
            if let Some(next) = slot.leaf.buckets.first_from(edge + 1, width) {
                slot.next = next;
                self.calendar.push(Reverse((next, at)));
            }
            self.note_changed(at);
        }
    }

    /// Drops buckets that are too old, each leaf's a few times in the time that they are kept.
    fn prune(&mut self) {
        let floor = self.window.bucket(self.now - self.keep_secs as i64);
        if floor <= self.floor {
            return;
        }
        self.floor = floor;
        self.source.covered.trim(floor * self.window.resolution());
        let (slack, width) = (self.slack(), self.columns.width());
        while let Some(&Reverse((bucket, at))) = self.prunings.peek() {
            if bucket > floor {
                return;
            }
            self.prunings.pop();
            let slot = &mut self.slots[at as usize];
            if slot.prune_at != bucket {
                continue;
            }
            let buckets = &mut slot.leaf.buckets;
            buckets.merge(width, floor);
            buckets.leave_behind(self.edge, width);
            slot.prune_at = i64::MAX;
            if let Some(first) = buckets.first_from(floor, width) {
                slot.prune_at = first + slack;
                self.prunings.push(Reverse((slot.prune_at, at)));
            }
        }
    }

    /// Buckets that a leaf may keep too long.
    pub(super) fn slack(&self) -> i64 {
        1 + self.keep_secs as i64 / self.window.resolution() / 8
    }

    /// Charges what an association used in `[from, to)` in a run that goes on, or whose end was
    /// not looked at yet; nothing if that is empty. Time in which the run is suspended is not
    /// charged.
    ///
    /// # Errors
    /// [`WindowError::Reversed`], [`WindowError::Time`], [`WindowError::Future`] beyond the
    /// moment that the ledger stands at, [`WindowError::Overlap`] with what the run was charged
    /// before, [`WindowError::OtherLeaf`], [`WindowError::Width`], [`WindowError::TooMuch`],
    /// [`WindowError::Position`].
    pub fn charge(
        &mut self,
        tree: &Tree,
        index: AssocIndex,
        run: LedgerRun,
        from: i64,
        to: i64,
        rate: &Rate,
    ) -> Result<(), WindowError> {
        self.check_charge(tree, index, (from, to), rate, Some(run))?;
        let slot = self.slot_of[index.get()];
        let leaf = (slot != NONE).then_some(slot);
        let id = || (run, tree.rows()[index.get()].id);
        self.runs.check(run, id, leaf, from, to)?;
        if from == to {
            return Ok(());
        }
        let slot = leaf.unwrap_or_else(|| self.take_slot(Some(index), true));
        self.runs.note(run, slot, from, to, rate);
        hold(&mut self.held, rate, to - from, true);
        self.change(tree, slot, (from, to), rate, true);
        Ok(())
    }

    /// What every charge must be.
    pub(super) fn check_charge(
        &self,
        tree: &Tree,
        index: AssocIndex,
        (from, to): (i64, i64),
        rate: &Rate,
        run: Option<LedgerRun>,
    ) -> Result<(), WindowError> {
        self.check_size(tree);
        let (found, len) = (index.get(), tree.len());
        if found >= len {
            return Err(WindowError::Position { found, len });
        }
        // Only where something is wrong: a row is a cache miss.
        let id = || tree.rows()[found].id;
        let place = || match run {
            Some(run) => format!("association {}, {run}", id()),
            None => format!("association {}", id()),
        };
        check_interval(place, from, to)?;
        if to > self.now {
            let (place, now) = (place(), self.now);
            return Err(WindowError::Future { place, to, now });
        }
        check_amounts(&self.held, rate, to - from, place)
    }

    /// Charges what an association used in `[from, to)`, for a caller that keeps by itself which
    /// run was charged what; nothing if that is empty.
    ///
    /// # Errors
    /// As [`WindowLedger::charge`], but for those about runs.
    pub fn charge_interval(
        &mut self,
        tree: &Tree,
        index: AssocIndex,
        from: i64,
        to: i64,
        rate: &Rate,
    ) -> Result<(), WindowError> {
        self.check_charge(tree, index, (from, to), rate, None)?;
        if from < to {
            let slot = match self.slot_of[index.get()] {
                NONE => self.take_slot(Some(index), true),
                slot => slot,
            };
            hold(&mut self.held, rate, to - from, true);
            self.change(tree, slot, (from, to), rate, true);
        }
        Ok(())
    }

    /// Takes back all that a run was charged, from wherever in the past, and forgets the run:
    /// its end does not count. False if it is not known.
    pub fn take_back(&mut self, tree: &Tree, run: LedgerRun) -> bool {
        self.check_size(tree);
        let Some(run) = self.runs.remove(&run) else {
            return false;
        };
        for segment in run.segments() {
            let (from, to) = (segment.from, segment.to);
            hold(&mut self.held, &segment.rate, to - from, false);
            self.change(tree, run.leaf, (from, to), &segment.rate, false);
        }
        true
    }

    /// Forgets a run that has ended and counts. False if it is not known.
    pub fn close(&mut self, run: LedgerRun) -> bool {
        self.runs.remove(&run).is_some()
    }

    /// Up to when a run was charged, seconds since 1970; `None` if it is not known.
    pub fn charged_until(&self, run: LedgerRun) -> Option<i64> {
        self.runs.get(&run).map(|run| run.last.to)
    }

    /// What a run was charged, all columns (billing, wall time, TRES in their order), and to whom;
    /// `None` if it is not known. Nobody: its association is not in the tree.
    pub fn charged_to(&self, run: LedgerRun) -> Option<(Option<AssocIndex>, Vec<Used>)> {
        let run = self.runs.get(&run)?;
        let mut used = vec![
            Used {
                numerator: 0,
                denominator: 1,
            };
            self.columns.width()
        ];
        for segment in run.segments() {
            let secs = (segment.to - segment.from) as u128;
            for (used, units) in used.iter_mut().zip(&segment.rate.units) {
                used.numerator += units * secs;
            }
        }
        Some((self.slots[run.leaf as usize].assoc, used))
    }

    /// Runs that have not ended.
    pub fn open_runs(&self) -> impl Iterator<Item = LedgerRun> {
        self.runs.iter().map(|(run, _)| *run)
    }

    /// Adds or takes away what was used in an interval.
    pub(super) fn change(
        &mut self,
        tree: &Tree,
        at: u32,
        (from, to): (i64, i64),
        rate: &Rate,
        add: bool,
    ) {
        let parts = self.change_leaf(at, (from, to), rate, add);
        let (units, slot) = (&rate.units, &mut self.slots[at as usize]);
        let amounts = |secs: i64| units.iter().map(move |units| units * secs as u128);
        let some = |secs: i64| match secs {
            0 => Vec::new(),
            _ => amounts(secs).collect(),
        };
        let (inside, edge): (Vec<u128>, Vec<u128>) =
            (some(parts.inside_secs), some(parts.edge_secs));
        let since = self.dates.iter().map(|since| secs_since(*since, from, to));
        let totals: Vec<u128> = since.flat_map(amounts).collect();
        if !edge.is_empty() {
            if slot.at_edge.is_empty() {
                slot.at_edge = vec![0; units.len()];
                self.at_edge.push(at);
            }
            for (sum, amount) in slot.at_edge.iter_mut().zip(&edge) {
                *sum = match add {
                    true => *sum + amount,
                    false => *sum - amount,
                };
            }
        }
        if let Some(assoc) = slot.assoc {
            let change = Delta {
                inside: &inside,
                edge: &edge,
                totals: &totals,
                add,
            };
            self.sums.change(tree, assoc, &change);
        }
        self.note_changed(at);
    }

    /// The part of [`WindowLedger::change`] that is about the leaf alone, and when it has to be looked at.
    pub(super) fn change_leaf(
        &mut self,
        at: u32,
        (from, to): (i64, i64),
        rate: &Rate,
        add: bool,
    ) -> Parts {
        let (units, slot) = (&rate.units, &mut self.slots[at as usize]);
        let mut parts = Parts::default();
        let mut oldest = i64::MAX;
        for piece in pieces(self.window.resolution(), from, to) {
            if let Some(piece) = piece.since_bucket(self.floor) {
                slot.leaf.buckets.change(piece, units, add);
                parts.count(piece, self.edge);
                oldest = oldest.min(piece.first);
            }
        }
        slot.leaf.change_totals(&self.dates, from, to, units, add);
        if add && oldest < i64::MAX && slot.prune_at == i64::MAX {
            slot.prune_at = oldest + 1 + self.keep_secs as i64 / self.window.resolution() / 8;
            self.prunings.push(Reverse((slot.prune_at, at)));
        }
        if let Some(first) = parts.inside.filter(|first| add && *first < slot.next) {
            slot.next = first;
            self.calendar.push(Reverse((first, at)));
        }
        parts
    }

    pub(super) fn note_changed(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        if let Some(assoc) = slot.assoc.filter(|_| !slot.changed && !self.all_changed) {
            slot.changed = true;
            self.changed.push((at, assoc));
        }
    }

    /// Whose usage changed since this was last asked; all at first.
    pub fn take_changed(&mut self) -> Changed {
        let mut indices = Vec::with_capacity(self.changed.len());
        for (at, assoc) in self.changed.drain(..) {
            self.slots[at as usize].changed = false;
            indices.push(assoc);
        }
        if std::mem::take(&mut self.all_changed) {
            return Changed::All;
        }
        // Those of several sources may be of the same association.
        indices.sort_unstable();
        indices.dedup();
        Changed::Some(indices)
    }

    /// Notes that all use of the own cluster in `[from, to)` is in the ledger.
    ///
    /// # Errors
    /// [`WindowError::Reversed`], [`WindowError::Time`], [`WindowError::Future`],
    /// [`WindowError::CoveredTwice`] where another source has it.
    pub fn cover(&mut self, from: i64, to: i64) -> Result<(), WindowError> {
        check_cover(&self.source, self.now, from, to)?;
        let mut source = self.source.clone();
        source.covered = Spans::default();
        source.covered.add(from, to);
        for other in self.others.values().flat_map(|other| &other.sources) {
            other.check_apart(&source)?;
        }
        let since = from.max(self.floor * self.window.resolution());
        self.source.covered.add(since, to);
        Ok(())
    }

    /// A slot for an association or a name.
    pub(super) fn take_slot(&mut self, assoc: Option<AssocIndex>, own: bool) -> u32 {
        let at = match self.free.pop() {
            Some(at) => {
                // It may stand among the changes with what it was: that is another one.
                self.slots[at as usize] = Slot::new(assoc, own);
                at
            }
            None => {
                self.slots.push(Slot::new(assoc, own));
                u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 leaves")
            }
        };
        if let Some(assoc) = assoc.filter(|_| own) {
            self.slot_of[assoc.get()] = at;
        }
        at
    }

    pub(super) fn check_size(&self, tree: &Tree) {
        assert_eq!(
            self.slot_of.len(),
            tree.len(),
            "a ledger belongs to one tree"
        );
    }

    /// The name of a slot, of which `name` tells those that are in the tree.
    pub(super) fn key_of(
        slot: &Slot,
        name: &mut impl FnMut(AssocIndex) -> LeafKey,
    ) -> Option<LeafKey> {
        slot.assoc.map(name).or_else(|| slot.key.clone())
    }
}

/// Refuses a window that is longer than what is kept.
pub(super) fn check_kept(window: Window, kept_secs: u64) -> Result<(), WindowError> {
    let found = window.length_secs();
    match found <= kept_secs {
        true => Ok(()),
        false => Err(WindowError::NotKept { found, kept_secs }),
    }
}
