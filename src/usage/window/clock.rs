//! Runs that are charged by the clock.
//!
//! Of most runs that go on nothing is new from pass to pass but the time. Such a run is *clocked in*:
//! from then on [`WindowLedger::move_clock`] charges it up to the ledger's moment, with all others of its
//! kind at once, and looks at none of them. Each node has the sum of the rates of the clocked runs below
//! it, by which what it used grows with the time. The segments of a clocked run, and the buckets of its
//! leaf, end where it was clocked in or renewed last; they are brought up to date when it is clocked
//! out, and before the window's far edge comes there, so that all that is charged by the clock alone is inside
//! the window.
//!
//! Without this a pass with a window takes 25 % more CPU time with 100,000 waiting and 10,000 running jobs and
//! 50,000 users (`time_pass` of the bench host, alternating processes).

use std::collections::VecDeque;

use super::amount::{LIMIT, amount};
use super::history::{check_amounts, hold};
use super::run::{Run, Segment};
use super::{Rate, RunId, WindowLedger};
use crate::tree::{AssocIndex, AssocKind, Tree};

/// The most that a run may be charged by the clock, in units: a million such runs are below [`LIMIT`].
const MOST: u128 = LIMIT >> 20;

/// Runs that have been clocked out may stand in [`Clock::due`], as many as those that are clocked in, and so many.
const OUTDATED: usize = 1_000;

/// The clock of a ledger.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    /// Up to when it has charged.
    until: i64,
    /// Runs that are clocked in, by the end of their segments, and some that have been clocked out since.
    due: VecDeque<(i64, RunId)>,
    /// How many are clocked in.
    runs: usize,
    /// By position in the tree: how many of them. Shorter where those behind have none.
    runs_of: Vec<u32>,
    /// It has moved since changes were last asked for.
    has_moved: bool,
    /// How often all runs were clocked out.
    stops: u32,
}

impl Clock {
    pub(super) fn new(now: i64) -> Clock {
        Clock {
            until: now,
            due: VecDeque::new(),
            runs: 0,
            runs_of: Vec::new(),
            has_moved: false,
            stops: 0,
        }
    }

    /// Up to when clocked runs are charged, seconds since 1970.
    pub(super) fn until(&self) -> i64 {
        self.until
    }

    /// Up to when a run is charged, seconds since 1970.
    pub(super) fn until_of(&self, run: &Run) -> i64 {
        match run.is_clocked {
            true => self.until.max(run.last.to),
            false => run.last.to,
        }
    }

    /// Those who pay for what it has charged since this was last asked, ascending.
    pub(super) fn take_payers(&mut self) -> impl Iterator<Item = AssocIndex> {
        let has_moved = std::mem::take(&mut self.has_moved);
        let of_runs = self.runs_of.iter().enumerate();
        let payers = of_runs.filter(move |(_, runs)| has_moved && **runs > 0);
        payers.map(|(at, _)| AssocIndex::new(at))
    }

    fn count(&mut self, payer: AssocIndex, add: bool) {
        let at = payer.get();
        if self.runs_of.len() <= at {
            self.runs_of.resize(at + 1, 0);
        }
        match add {
            true => (self.runs, self.runs_of[at]) = (self.runs + 1, self.runs_of[at] + 1),
            false => (self.runs, self.runs_of[at]) = (self.runs - 1, self.runs_of[at] - 1),
        }
    }

    /// All runs are clocked out; tells which these may be.
    fn take_all(&mut self) -> VecDeque<(i64, RunId)> {
        self.stops = self.stops.wrapping_add(1);
        self.runs = 0;
        self.runs_of.clear();
        std::mem::take(&mut self.due)
    }
}

impl Run {
    /// What the clock has charged up to `until`, and the segments do not have.
    pub(super) fn by_clock(&self, until: i64) -> Option<Segment> {
        let from = self.last.to;
        (self.is_clocked && from < until).then(|| Segment {
            from,
            to: until,
            rate: self.last.rate.clone(),
        })
    }
}

#[cfg_attr(
    not(any(feature = "slurm", test)),
    expect(dead_code, reason = "the plugin's")
)]
impl WindowLedger {
    /// How often all runs were clocked out, by [`WindowLedger::stop_clock`] and by what changes the tree,
    /// plans, columns or the window.
    pub(crate) fn clock_stops(&self) -> u32 {
        self.clock.stops
    }

    /// Lets the clock charge a run from now on: one that has been charged at this rate up to the
    /// moment of the ledger, at which the clock stands. False, and nothing changes, where it was
    /// not, where an account pays, of which the use of its own is asked for, and at a rate of more than
    /// 2^90 units in a window.
    ///
    /// Before anything else is done with the run it is clocked out.
    pub(crate) fn clock_in(
        &mut self,
        tree: &Tree,
        index: AssocIndex,
        id: RunId,
        rate: &Rate,
    ) -> bool {
        self.check_size(tree);
        let (now, slot) = (self.now, self.slot_of[index.get()]);
        let is_dated = self.dates.last().is_some_and(|since| *since > now);
        if self.clock.until != now || is_dated || tree.rows()[index.get()].kind != AssocKind::User {
            return false;
        }
        let secs = self.window.length();
        let fits = |units: &u128| amount(*units, secs).is_some_and(|most| most < MOST);
        let is_small = rate.units.iter().all(fits);
        let Some(run) = self.runs.get_mut(&id).filter(|_| is_small) else {
            return false;
        };
        if run.is_clocked || run.leaf != slot || run.last.to != now || run.last.rate != *rate {
            return run.is_clocked;
        }
        run.is_clocked = true;
        self.sums.clock(tree, index, &rate.units, now, true);
        self.clock.count(index, true);
        self.clock.due.push_back((now, id));
        if self.clock.due.len() > 2 * self.clock.runs + OUTDATED {
            let runs = &self.runs;
            let is_in = |from: i64, run: &Run| run.is_clocked && run.last.to == from;
            let due = &mut self.clock.due;
            due.retain(|(from, id)| runs.get(id).is_some_and(|run| is_in(*from, run)));
        }
        true
    }

    /// Moves the clock to the moment of the ledger.
    pub(crate) fn move_clock(&mut self) {
        if self.clock.until < self.now {
            self.clock.until = self.now;
            self.clock.has_moved = true;
        }
    }

    /// Lets the clock charge a run no more; nothing where it does not.
    pub(crate) fn clock_out(&mut self, tree: &Tree, id: RunId) {
        if self.clock.runs == 0 {
            return;
        }
        let Some(run) = self.runs.get_mut(&id).filter(|run| run.is_clocked) else {
            return;
        };
        let (leaf, from) = (run.leaf, run.last.to);
        let by_clock = run.by_clock(self.clock.until);
        run.is_clocked = false;
        let assoc = self.slots[leaf as usize].assoc;
        let assoc = assoc.expect("a clocked run is of an association");
        let rate = match &by_clock {
            Some(segment) => &segment.rate,
            None => &run.last.rate,
        };
        self.sums.clock(tree, assoc, &rate.units, from, false);
        self.clock.count(assoc, false);
        let Some(segment) = by_clock else {
            return;
        };
        if self.has_room(&segment) {
            self.take_over(id, &segment);
            self.change(tree, leaf, (from, segment.to), &segment.rate, true);
        } else {
            self.note_changed(leaf);
        }
    }

    /// Clocks out all runs.
    pub(crate) fn stop_clock(&mut self, tree: &Tree) {
        for (_, id) in std::mem::take(&mut self.clock.due) {
            self.clock_out(tree, id);
        }
        self.clock.take_all();
    }
}

impl WindowLedger {
    /// Whether the ledger may hold so much more. A run whose use it may not hold is charged no further,
    /// as the next charge says.
    fn has_room(&self, by_clock: &Segment) -> bool {
        let secs = by_clock.to - by_clock.from;
        check_amounts(&self.held, &by_clock.rate, secs, String::new).is_ok()
    }

    /// Makes what the clock has charged a part of a run's last segment.
    fn take_over(&mut self, id: RunId, by_clock: &Segment) {
        hold(
            &mut self.held,
            &by_clock.rate,
            by_clock.to - by_clock.from,
            true,
        );
        if let Some(run) = self.runs.get_mut(&id) {
            run.last.to = by_clock.to;
        }
    }

    /// Before the far edge moves to the bucket `edge`: brings those clocked runs up to date of which the clock
    /// would have charged something outside the window.
    pub(super) fn renew_clocked(&mut self, tree: &Tree, edge: i64) {
        let inside_from = (edge + 1) * self.window.resolution();
        let until = self.clock.until;
        if until < inside_from {
            if !self.clock.due.is_empty() {
                self.stop_clock(tree);
            }
            return;
        }
        while let Some((from, id)) = self.clock.due.front().copied() {
            if from >= inside_from {
                return;
            }
            self.clock.due.pop_front();
            let run = self.runs.get(&id).filter(|run| run.last.to == from);
            let Some((leaf, segment)) = run.and_then(|run| Some((run.leaf, run.by_clock(until)?)))
            else {
                continue;
            };
            if !self.has_room(&segment) {
                self.clock_out(tree, id);
                self.clock.stops = self.clock.stops.wrapping_add(1);
                continue;
            }
            self.take_over(id, &segment);
            // The sums of nodes have it.
            self.change_leaf(leaf, (from, until), &segment.rate, true);
            self.clock.due.push_back((until, id));
        }
    }

    /// Clocks out all runs where the sums are made anew afterwards.
    pub(super) fn stop_clock_without_sums(&mut self) {
        let (resolution, until) = (self.window.resolution(), self.clock.until);
        for (_, id) in self.clock.take_all() {
            let Some(run) = self.runs.get_mut(&id) else {
                continue;
            };
            let (leaf, by_clock) = (run.leaf, run.by_clock(until));
            run.is_clocked = false;
            if let Some(segment) = by_clock.filter(|segment| self.has_room(segment)) {
                self.take_over(id, &segment);
                let leaf = &mut self.slots[leaf as usize].leaf;
                leaf.change(resolution, self.floor, &self.dates, &segment, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Assoc, Shares};
    use crate::usage::window::{Column, Columns, History, LeafKey, Window, WindowError};

    const START: i64 = 1_000_000;
    const RUN: RunId = RunId { job: 7, run: 1 };

    /// root 1 -> user 2.
    fn tree() -> Tree {
        let row = |id, parent, kind| Assoc {
            id,
            parent,
            kind,
            shares: Shares::Raw(1),
        };
        let root = row(1, None, AssocKind::Account);
        Tree::from_rows([root, row(2, Some(1), AssocKind::User)]).unwrap()
    }

    /// A run of 4 CPUs that the clock charges from 10 s on, in a window of a day.
    fn clocked(tree: &Tree) -> (WindowLedger, Rate) {
        let columns = Columns::new(["cpu"]).unwrap();
        let rate = columns.rate(4.0, 1.0, &[(0, 4)]).unwrap();
        let window = Window::new(86_400, 100).unwrap();
        let mut ledger = WindowLedger::new(tree, window, 86_400, columns, "hpc", START).unwrap();
        ledger.advance(tree, START + 10).unwrap();
        let user = AssocIndex::new(1);
        let charged = ledger.charge(tree, user, RUN, START, START + 10, &rate);
        charged.unwrap();
        assert!(
            !ledger.clock_in(tree, user, RUN, &rate),
            "the clock is late"
        );
        ledger.move_clock();
        assert!(ledger.clock_in(tree, user, RUN, &rate));
        (ledger, rate)
    }

    #[test]
    fn a_run_at_an_absurd_rate_is_not_left_to_the_clock() {
        let tree = tree();
        let (mut ledger, _) = clocked(&tree);
        let user = AssocIndex::new(1);
        let rate = ledger.columns().rate(1.0, 1.0, &[(0, u64::MAX)]).unwrap();
        let run = RunId { job: 8, run: 1 };
        let now = START + 10;
        (ledger.charge(&tree, user, run, now - 1, now, &rate)).unwrap();
        assert!(!ledger.clock_in(&tree, user, run, &rate));
    }

    fn used(ledger: &WindowLedger) -> [f64; 2] {
        [0, 1].map(|at| ledger.used(AssocIndex::new(at), Column::Billing).to_f64())
    }

    fn name(index: AssocIndex) -> LeafKey {
        LeafKey::new(["root", "a"][index.get()], "", "").unwrap()
    }

    #[test]
    fn the_clock_charges_by_hand() {
        let tree = tree();
        let (mut ledger, rate) = clocked(&tree);
        ledger.take_changed();
        assert_eq!(used(&ledger), [40.0; 2]);
        ledger.advance(&tree, START + 30).unwrap();
        assert_eq!(used(&ledger), [40.0; 2], "the clock has not moved yet");
        ledger.move_clock();
        assert_eq!(used(&ledger), [120.0; 2]);
        let user = AssocIndex::new(1);
        let changed = super::super::Changed::Some(vec![user]);
        assert_eq!(ledger.take_changed(), changed);
        assert_eq!(ledger.charged_until(RUN), Some(START + 30));
        assert_eq!(ledger.charged_secs(RUN), Some(30));
        let (payer, charged) = ledger.charged_to(RUN).unwrap();
        assert_eq!((payer, charged[0].to_f64()), (Some(user), 120.0));
        // Renewed, and when half of it has left the window.
        for at in [5_000, 10_000, 86_400 + 15_000] {
            ledger.advance(&tree, START + at).unwrap();
            ledger.move_clock();
            assert!(ledger.runs.get(&RUN).unwrap().is_clocked || at > 10_000);
            assert_eq!(ledger.clock.runs, usize::from(at <= 10_000));
        }
        assert_eq!(ledger.clock_stops(), 1, "a day without a pass");
        // By hand: charged up to 10,000 s, of which the window has nothing left.
        assert_eq!(used(&ledger), [0.0; 2]);
        let now = ledger.now();
        let charged = ledger.charge(&tree, user, RUN, START + 10_000, now, &rate);
        charged.unwrap();
        assert_eq!(used(&ledger), [4.0 * 86_400.0; 2]);
        assert!(ledger.take_back(&tree, RUN));
        assert_eq!(used(&ledger), [0.0; 2]);
    }

    #[test]
    fn a_file_of_a_run_that_goes_on_is_read_as_one_without() {
        let tree = tree();
        let (mut ledger, _) = clocked(&tree);
        ledger.advance(&tree, START + 1_000).unwrap();
        ledger.move_clock();
        let bytes = ledger.save(name).unwrap();
        assert_eq!(bytes[8], 2);
        let history = History::load(&bytes).unwrap();
        assert!(history == ledger.to_history(name).unwrap());
        ledger.clock_out(&tree, RUN);
        assert_eq!(ledger.save(name).unwrap(), history.save());
        assert_eq!(history.save()[8], 1);
        let key = LeafKey::new("a", "", "").unwrap();
        let used = history.used(&key, START, START + 1_000, Column::Wall);
        assert_eq!(used.unwrap().to_f64(), 1_000.0);
    }

    #[test]
    fn damage_in_such_a_file_is_noticed() {
        let tree = tree();
        let (mut ledger, _) = clocked(&tree);
        ledger.advance(&tree, START + 1_000).unwrap();
        ledger.move_clock();
        let bytes = ledger.save(name).unwrap();
        for len in 0..bytes.len() {
            assert!(History::load(&bytes[..len]).is_err(), "cut at {len}");
        }
        let end = bytes.len() - 4;
        let mut loaded = 0;
        for (at, byte) in (8..end).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
            let mut wrong = bytes.clone();
            wrong[at] = byte;
            let checksum = crc32fast::hash(&wrong[..end]);
            wrong[end..].copy_from_slice(&checksum.to_le_bytes());
            match History::load(&wrong) {
                Ok(mut history) => {
                    loaded += 1;
                    let saved = history.save();
                    assert!(History::load(&saved).unwrap() == history);
                    history.take_back(RUN);
                }
                Err(WindowError::Damaged { offset, .. }) => assert!((12..=end).contains(&offset)),
                Err(WindowError::Version { .. }) => assert!((8..12).contains(&at)),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(loaded > 0);
    }
}
