//! The ledger of one tree.

use super::feed::{self, Lane};
use super::plan::LedgerPlan;
use super::seen::SeenRun;
use super::written::{Held, Written};
use crate::engine::RunKey;
use crate::extended::Extended;
use crate::tree::{AssocId, AssocIndex, Tree};
use crate::usage::Plan;
use crate::usage::window::{
    Changed, Column, Columns, LeafKey, Rate, UsageHistory, Used, WindowError, WindowLedger,
};
use std::sync::Arc;

/// Name of the billing TRES in slurmctld's list of TRES.
const BILLING: &str = "billing";

/// The TRES that is not charged.
const ENERGY: &str = "energy";

/// All numbers of usage of an association or a QOS.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::slurm) struct Numbers {
    /// Billing TRES-seconds.
    pub(in crate::slurm) billing: Extended,
    /// Seconds.
    pub(in crate::slurm) wall: Extended,
    /// TRES-seconds, in the host's order.
    pub(in crate::slurm) tres: Vec<Extended>,
}

impl Numbers {
    pub(super) fn add(&mut self, more: &Numbers) {
        self.billing += more.billing;
        self.wall += more.wall;
        self.tres
            .resize(self.tres.len().max(more.tres.len()), Extended::ZERO);
        for (number, more) in self.tres.iter_mut().zip(&more.tres) {
            *number += *more;
        }
    }

    pub(super) fn subtract(&mut self, less: &Numbers) {
        self.billing -= less.billing;
        self.wall -= less.wall;
        self.tres
            .resize(self.tres.len().max(less.tres.len()), Extended::ZERO);
        for (number, less) in self.tres.iter_mut().zip(&less.tres) {
            *number -= *less;
        }
    }
}

/// Place of a host's TRES in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Billing,
    /// A column of the ledger.
    Tres(usize),
    Nowhere,
}

/// The ledger of one tree whose leaves are charged, and the host's TRES.
#[derive(Debug)]
pub(super) struct TreeLedger {
    tree: Arc<Tree>,
    ledger: WindowLedger,
    places: Vec<Place>,
    /// Nodes whose usage may have changed since the last query.
    touched: Changed,
}

/// Columns for the host's TRES.
fn columns(tres: &[String]) -> Result<Columns, WindowError> {
    let counted = tres
        .iter()
        .filter(|name| *name != BILLING && *name != ENERGY);
    // No site has this many; those beyond the limit are not counted.
    Columns::new(counted.take(Columns::MAX_TRES).cloned())
}

impl TreeLedger {
    /// An empty ledger. `tres`: names of the host's TRES.
    pub(super) fn new(
        tree: &Arc<Tree>,
        plan: &LedgerPlan,
        resolution_secs: u32,
        (cluster, tres): (&str, &[String]),
        now: i64,
    ) -> Result<TreeLedger, WindowError> {
        let columns = columns(tres)?;
        let place = |name: &String| match (name.as_str(), columns.find(name)) {
            (BILLING, _) => Place::Billing,
            (_, Some(Column::Tres(at))) => Place::Tres(at),
            _ => Place::Nowhere,
        };
        let places = tres.iter().map(place).collect();
        let window = plan.window(resolution_secs)?;
        let keep_secs = plan.keep_secs().max(window.length_secs());
        let ledger = WindowLedger::new(tree, window, keep_secs, columns, cluster, now)?;
        Ok(TreeLedger {
            tree: Arc::clone(tree),
            ledger,
            places,
            touched: Changed::All,
        })
    }

    pub(super) fn ledger(&self) -> &WindowLedger {
        &self.ledger
    }

    pub(super) fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Continues from the end of a history. `place`: returns the position of a name.
    pub(super) fn restore(
        &mut self,
        history: UsageHistory,
        place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) -> Result<(), WindowError> {
        self.touched = Changed::All;
        self.ledger.restore(&self.tree, history, place).map(|_| ())
    }

    /// The same ledger for another list of TRES.
    pub(super) fn with_tres(
        &self,
        plan: &LedgerPlan,
        (cluster, tres): (&str, &[String]),
        name: impl FnMut(AssocIndex) -> LeafKey,
        place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) -> Result<TreeLedger, WindowError> {
        let ledger = self.ledger();
        let history = ledger.to_history(name)?;
        let (resolution, now) = (ledger.window().resolution_secs(), ledger.now());
        let mut tree_ledger = TreeLedger::new(&self.tree, plan, resolution, (cluster, tres), now)?;
        tree_ledger.restore(history, place)?;
        Ok(tree_ledger)
    }

    /// Changes to a different tree. `place`: returns the positions of names that were in no tree.
    pub(super) fn follow(
        &mut self,
        tree: &Arc<Tree>,
        place: impl FnMut(&LeafKey) -> Option<AssocIndex>,
    ) {
        self.touched = Changed::All;
        self.ledger.follow_tree(&self.tree, tree);
        self.tree = Arc::clone(tree);
        self.ledger.place_again(tree, place);
    }

    /// Applies lengths, and plans of nodes.
    pub(super) fn take_plan(
        &mut self,
        plan: &LedgerPlan,
        plans: impl IntoIterator<Item = (AssocId, Plan)>,
    ) -> Result<(), WindowError> {
        let (tree, ledger) = (&*self.tree, &mut self.ledger);
        let window = plan.window(ledger.window().resolution_secs())?;
        self.touched = Changed::All;
        ledger.keep_at_least(window.length_secs());
        ledger.set_length(tree, window.length_secs())?;
        ledger.set_keep(plan.keep_secs().max(window.length_secs()))?;
        ledger.set_plans(tree, plan.default, plans)
    }

    /// Makes buckets longer. Returns false if the present buckets do not fit into the new ones;
    /// they stay.
    pub(super) fn coarsen(&mut self, resolution_secs: u32) -> bool {
        let (tree, ledger) = (&*self.tree, &mut self.ledger);
        self.touched = Changed::All;
        // The window must have room for at least one bucket.
        ledger.keep_at_least(resolution_secs.into());
        let length_secs = ledger.window().length_secs().max(resolution_secs.into());
        let set = ledger.set_length(tree, length_secs);
        set.and_then(|()| ledger.coarsen(tree, resolution_secs))
            .is_ok()
    }

    /// Records that everything in `[from, to)` is in the ledger.
    pub(super) fn cover(&mut self, from: i64, to: i64) -> Result<(), WindowError> {
        self.ledger.cover(from, to)
    }

    /// Prepares the ledger to be saved, see [`WindowLedger::merge_changes`].
    pub(super) fn merge_changes(&mut self) {
        self.ledger.merge_changes();
    }

    /// Changes the ledger in many small steps.
    pub(super) fn edit<R>(&mut self, edit: impl FnOnce(&mut OpenLedger<'_>) -> R) -> R {
        let result = edit(&mut OpenLedger {
            ledger: &mut self.ledger,
            tree: &self.tree,
            places: &self.places,
        });
        // The list may never be queried, and must not grow without limit.
        match (&mut self.touched, self.ledger.take_changed()) {
            (Changed::Some(touched), Changed::Some(more))
                if touched.len() + more.len() <= self.tree.len() =>
            {
                touched.extend(more);
            }
            (touched, _) => *touched = Changed::All,
        }
        result
    }

    /// Stores `held`, by position, as the values to which records are set.
    pub(super) fn written_as(&self, held: Vec<Held>) -> Written {
        Written::new(&self.tree, held)
    }

    /// Values of records that hold exactly the ledger's numbers.
    pub(super) fn written(&self) -> Written {
        let mut held = vec![Held::default(); self.tree.len()];
        self.read(self.tree.parents_first(), |index, [usage, wall], _| {
            let wall = wall.to_f64();
            held[index.get()] = Held { usage, wall };
        });
        self.written_as(held)
    }

    /// Nodes whose numbers may have changed since the last query, with all nodes above them.
    pub(super) fn take_touched(&mut self) -> Changed {
        let touched = std::mem::replace(&mut self.touched, Changed::Some(Vec::new()));
        touched.and_above(&self.tree)
    }

    /// Reports all numbers of nodes: billing TRES-seconds and seconds, and TRES-seconds in the
    /// host's order.
    pub(super) fn read(
        &self,
        nodes: &[AssocIndex],
        mut each: impl FnMut(AssocIndex, [Extended; 2], &[Extended]),
    ) {
        let mut tres = vec![Extended::ZERO; self.places.len()];
        self.ledger.each_used(nodes, |node, columns| {
            for (number, place) in tres.iter_mut().zip(&self.places) {
                *number = match place {
                    Place::Billing => columns[0],
                    Place::Tres(at) => columns[2 + at],
                    Place::Nowhere => Extended::ZERO,
                };
            }
            each(node, [columns[0], columns[1]], &tres);
        });
    }

    /// Use of accounts themselves, without the nodes below.
    pub(super) fn left_in_accounts(&self) -> Vec<(AssocIndex, Numbers)> {
        let left = self.ledger().left_in_accounts(&self.tree).into_iter();
        left.map(|(index, used)| (index, numbers_of(&self.places, &used)))
            .collect()
    }
}

/// A ledger that is being written.
pub(super) struct OpenLedger<'a> {
    ledger: &'a mut WindowLedger,
    tree: &'a Tree,
    places: &'a [Place],
}

impl OpenLedger<'_> {
    pub(super) fn ledger(&mut self) -> &mut WindowLedger {
        self.ledger
    }

    /// Position of an association or a QOS; `None` for id 0 (no association or QOS).
    pub(super) fn index_of(&self, id: AssocId) -> Option<AssocIndex> {
        self.tree.index_of(id).filter(|_| id != 0)
    }

    pub(super) fn is_open(&self, run: RunKey) -> bool {
        feed::is_open(self.ledger, run)
    }

    /// Begins a round in which all runs are reported.
    pub(super) fn begin_round(&mut self) {
        self.ledger.begin_round();
    }

    /// Ends the round. Returns the runs that continue in the ledger but were not reported, or may
    /// not have been, each once or more.
    pub(super) fn end_round(&mut self) -> Vec<RunKey> {
        self.ledger.unmet_runs().map(feed::run_of).collect()
    }

    /// Present time of the ledger.
    pub(super) fn now(&self) -> i64 {
        self.ledger.now()
    }

    /// Moves the window to end at `now`, unless it ends later.
    pub(super) fn advance(&mut self, now: i64) {
        // If the ledger cannot represent the time, nothing changes.
        let _ = self.ledger.advance(self.tree, now);
    }

    /// Forgets the use of a node and those below it. Runs stay known, with no use; a run that has
    /// ended counts as charged up to the moment returned by `goes_on`.
    pub(super) fn reset(&mut self, index: AssocIndex, goes_on: impl Fn(RunKey) -> Option<i64>) {
        let goes_on = |id| goes_on(feed::run_of(id));
        self.ledger
            .reset_assoc_of_known_runs(self.tree, index, goes_on);
    }

    /// The rate of a run that costs nothing.
    pub(super) fn no_rate(&self) -> Rate {
        let rate = self.ledger.columns().rate(0.0, 0.0, &[]);
        rate.expect("nothing is a rate")
    }

    /// Writes the use of a run per second into a rate of this ledger.
    pub(super) fn set_rate(&self, rate: &mut Rate, seen: &SeenRun<'_>) -> Result<(), WindowError> {
        let counts = self.places.iter().zip(&*seen.tres);
        let counts = counts.filter_map(|(place, count)| match place {
            Place::Tres(at) => Some((*at, *count)),
            Place::Billing | Place::Nowhere => None,
        });
        // A running job never reduces usage. A rate that is not a number is kept here and refused
        // later.
        let billing = match seen.billing < 0.0 {
            true => 0.0,
            false => seen.billing,
        };
        let columns = self.ledger.columns();
        columns.set_rate(rate, billing, seen.factor, counts)
    }

    /// Charges the uncharged part of a run, see [`feed::charge`].
    pub(super) fn charge(
        &mut self,
        to: (AssocIndex, Lane),
        seen: &SeenRun<'_>,
        not_before: i64,
        rate: &Rate,
    ) -> Result<i64, WindowError> {
        feed::charge((self.ledger, self.tree), to, seen, not_before, rate)
    }

    /// Closes a run that has ended and counts.
    pub(super) fn close(&mut self, run: RunKey) {
        for part in feed::parts(self.ledger, run) {
            self.ledger.close(part);
        }
    }

    /// Removes a run that has ended and does not count; returns its charges and who was charged.
    pub(super) fn take_back(&mut self, run: RunKey) -> Vec<(AssocId, Numbers)> {
        let mut taken = Vec::new();
        for part in feed::parts(self.ledger, run) {
            if let Some((Some(index), used)) = self.ledger.charged_to(part) {
                let id = self.tree.rows()[index.get()].id;
                taken.push((id, numbers_of(self.places, &used)));
            }
            self.ledger.take_back(self.tree, part);
        }
        taken
    }
}

/// Converts amounts of all columns to numbers of the host.
fn numbers_of(places: &[Place], used: &[Used]) -> Numbers {
    let of = |at: usize| {
        let used = used.get(at);
        used.map_or(Extended::ZERO, |used| used.to_extended())
    };
    let tres = places.iter().map(|place| match place {
        Place::Billing => of(0),
        Place::Tres(at) => of(2 + at),
        Place::Nowhere => Extended::ZERO,
    });
    Numbers {
        billing: of(0),
        wall: of(1),
        tres: tres.collect(),
    }
}
