//! Fair Tree ranks, updated incrementally from pass to pass.
//!
//! [`super::compute`] sorts every level. Between two passes little changes: all usage decays by
//! one factor, and some associations are charged. A [`LevelRanks`] stores the sorted levels, sorts
//! only those on the paths from charged associations to the root again, and renumbers only
//! the users whose rank changed. Its ranks are equal to those of [`super::compute`] on the same
//! numbers, ties included, for the following reasons.
//! **Charges.** Siblings under one account have level fairshare `LF = (s/S) (U/u)` with one `S`
//! and one `U`. So their order is the order of `s/u`, whatever is charged to the account, as long
//! as `U` is not 0: a charged child changes its place, and the order of all others is unchanged.
//! When `U` becomes 0 or stops being 0, the whole level is sorted. Under `compat=slurm` LF is
//! rounded, with a relative error below 2^-52, so `U` can change the order of neighbours that are
//! not steady (see below): levels with such neighbours are also sorted.
//!
//! **Decay** multiplies each usage by one factor and rounds to 64 bits. Without rounding, no
//! order and no tie would change. With rounding, each decay changes a usage by a fraction of at
//! most 2^-64, and the quotient of two LF, made of at most four usages, by less than 2^-61. Two
//! neighbours are therefore *steady* over many decays
//! * if their LF, compared as `f64`s that are accurate to 2^-48, differ by more than 2^-44 of the
//!   larger: 7000 decays change them by less than 2^-48;
//! * if both are infinite or both 0, which decay does not change;
//! * if they are siblings with the same shares and the same usage: they stay equal.
//!
//! A level with any other pair of neighbours is sorted after each decay. After 7000 decays, or when
//! the total decay is below 2^-400, everything is sorted. Usage outside 2^±400 is never steady;
//! usage inside cannot decay, before that, to a size at which rounding is coarser.
//!
//! **Ranks.** A walk enters a level with a state: the next rank, and the rank of an open tie. Below
//! a level without changes, a walk that enters with the same state gives the same ranks, so the
//! level is skipped; a walk that enters with a shifted state gives the same ranks, shifted by that
//! number. Accounts that tie are walked as one level, which is rebuilt if one of them changed, or
//! if a different set of accounts ties.

mod ahead;
mod level;
mod rule;
mod slot;
mod walk;

use super::usage::sound;
use crate::compat::Compat;
use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Tree};
use ahead::AHEAD;
use level::Touched;
use rule::{Documented, Numbers, Rule, Scope, Stock};
use slot::{Member, Slot};
use walk::{Node, Walk};

/// Fair Tree ranks of the users of one tree, updated from pass to pass.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::fairshare::LevelRanks;
/// use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
/// use fairtree::usage::Ledger;
/// let row = |id, parent, kind| Assoc { id, parent, kind, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([
///     row(1, None, AssocKind::Account),
///     row(2, Some(1), AssocKind::User),
///     row(3, Some(1), AssocKind::User),
/// ])?;
/// let (ann, bob) = (tree.index_of(2).unwrap(), tree.index_of(3).unwrap());
/// let mut ledger = Ledger::new(&tree);
/// let mut ranking = LevelRanks::new(Compat::Documented, &tree, ledger.raw());
/// assert_eq!((ranking.fs_factor(ann), ranking.fs_factor(bob)), (Some(1.0), Some(1.0)));
///
/// ledger.decay(0.5);
/// ledger.charge(&tree, bob, 100.0)?;
/// ranking.update(&tree, ledger.raw(), 0.5, &[bob]);
/// assert_eq!((ranking.fs_factor(ann), ranking.fs_factor(bob)), (Some(1.0), Some(0.5)));
/// assert_eq!(ranking.changed(), [bob]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LevelRanks {
    compat: Compat,
    /// [`Tree::edits`] of the tree when all was sorted.
    edits: u64,
    user_count: u32,
    /// The children of every account, sorted, in the ranges of [`Tree::fs_children_range`].
    order: Vec<Slot>,
    /// 0 for accounts; by position.
    ranks: Vec<u32>,
    /// Index of an account's node, by position; users have none.
    places: Vec<u32>,
    /// Nodes of accounts, by position.
    nodes: Vec<Node>,
    /// By position.
    flags: Vec<Flags>,
    /// Accounts for which decay may change something on their level or on that of their children.
    unsteady: Vec<AssocIndex>,
    /// Number of decays since everything was sorted, and the product of their factors.
    decays: u32,
    decayed: Extended,
    changed: Vec<AssocIndex>,
}

/// Returns true if usage decayed by at most [`MOST_DECAY_BITS`].
fn keeps_digits(decayed: Extended) -> bool {
    let top = |(_, lowest): (u64, i32)| lowest + 63;
    !decayed.is_zero() && decayed.to_parts().map(top) >= Some(-MOST_DECAY_BITS)
}

/// Flags of an association; some are valid only during a pass.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// Charged in this pass, or above a charged association, or must be sorted for another reason.
    touched: bool,
    /// Must be sorted from scratch in this pass.
    resort: bool,
    /// In `unsteady`.
    unsteady: bool,
    /// Had usage when its children were last sorted.
    used: bool,
}

/// Number of decays after which everything is sorted again.
const MOST_DECAYS: u32 = 7000;
/// Total decay, as a power of two, after which everything is sorted again.
const MOST_DECAY_BITS: i32 = 400;

impl LevelRanks {
    /// Ranks all users of `tree`.
    ///
    /// `raw_usage`: one per association by position, as for [`super::compute`]; panics if its
    /// length is different.
    pub fn new(compat: Compat, tree: &Tree, raw_usage: &[Extended]) -> LevelRanks {
        let mut ranking = LevelRanks {
            compat,
            edits: 0,
            user_count: 0,
            order: Vec::new(),
            ranks: Vec::new(),
            places: Vec::new(),
            nodes: Vec::new(),
            flags: Vec::new(),
            unsteady: Vec::new(),
            decays: 0,
            decayed: Extended::ONE,
            changed: Vec::new(),
        };
        ranking.rebuild(tree, raw_usage);
        ranking
    }

    /// Ranks all users from scratch, after any change of usage or tree. All users count as changed.
    ///
    /// Panics unless there is one usage per association.
    pub fn rebuild(&mut self, tree: &Tree, raw_usage: &[Extended]) {
        reset(&mut self.ranks, tree.len(), 0);
        self.sort_all(tree, raw_usage);
    }

    /// Sorts and walks everything; compares with the old ranks to find changes.
    fn sort_all(&mut self, tree: &Tree, raw_usage: &[Extended]) {
        assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
        let len = tree.len();
        self.edits = tree.edits();
        self.user_count = tree.user_count() as u32;
        self.decays = 0;
        self.decayed = Extended::ONE;
        self.unsteady.clear();
        self.changed.clear();
        reset(
            &mut self.flags,
            len,
            Flags {
                touched: true,
                resort: true,
                ..Flags::default()
            },
        );
        self.count_users(tree);
        self.order.clear();
        self.order.reserve_exact(len.saturating_sub(1));
        for index in tree.indices() {
            let children = tree.fs_children(index).iter();
            self.order
                .extend(children.map(|child| Slot::new(*child, tree)));
        }
        let all: Vec<AssocIndex> = tree.parents_first().to_vec();
        self.rank(tree, raw_usage, &all);
    }

    /// Updates the ranks after all usage decayed by `factor` (see [`crate::usage::Ledger::decay`];
    /// 1: no decay), and amounts were charged to, or refunded to, `charged` and all above.
    ///
    /// `raw_usage` is the present usage; `charged` may have any order and repetitions. After any
    /// other change of usage, such as a reset, call [`LevelRanks::rebuild`]. An edit of the tree is
    /// detected, and everything is ranked again; a replaced tree is not detected. Time is
    /// proportional to the levels on the paths of `charged` and to the number of ranks that change.
    ///
    /// Panics unless there is one usage per association, and `factor` in 0..=1.
    pub fn update(
        &mut self,
        tree: &Tree,
        raw_usage: &[Extended],
        factor: f64,
        charged: &[AssocIndex],
    ) {
        assert_eq!(raw_usage.len(), tree.len(), "one usage per association");
        assert!(
            (0.0..=1.0).contains(&factor),
            "a decay factor is in 0..=1, not {factor}"
        );
        if factor != 1.0 {
            self.decays += 1;
            self.decayed *= Extended::from_f64(factor).expect("not NaN");
        }
        if self.edits != tree.edits() || self.ranks.len() != tree.len() {
            return self.rebuild(tree, raw_usage);
        }
        if self.decays > MOST_DECAYS || !keeps_digits(self.decayed) {
            return self.sort_all(tree, raw_usage);
        }
        self.changed.clear();
        let mut touched = Vec::with_capacity(2 * charged.len() + self.unsteady.len());
        if factor != 1.0 {
            for index in std::mem::take(&mut self.unsteady) {
                let flags = &mut self.flags[index.get()];
                flags.unsteady = false;
                flags.resort = true;
                self.touch(tree, index, &mut touched);
            }
        }
        for &index in charged {
            self.touch(tree, index, &mut touched);
        }
        self.rank(tree, raw_usage, &touched);
    }

    /// The rank of a user: the first user has the number of users, the last at least 1. `None` for
    /// accounts. Panics at a position beyond the tree.
    pub fn rank_of(&self, index: AssocIndex) -> Option<u32> {
        Some(self.ranks[index.get()]).filter(|rank| *rank > 0)
    }

    /// The fair-share factor, rank over number of users, in (0, 1]; `None` for accounts. Equals
    /// [`super::AssocFairshare::fs_factor`] of [`super::compute`].
    pub fn fs_factor(&self, index: AssocIndex) -> Option<f64> {
        let rank = self.rank_of(index)?;
        Some(f64::from(rank) / f64::from(self.user_count))
    }

    /// The users whose factor the last update changed, each once, in no particular order.
    pub fn changed(&self) -> &[AssocIndex] {
        &self.changed
    }

    /// Marks an association and all above it.
    fn touch(&mut self, tree: &Tree, index: AssocIndex, touched: &mut Vec<AssocIndex>) {
        let mut next = Some(index);
        while let Some(at) = next {
            let flags = &mut self.flags[at.get()];
            if std::mem::replace(&mut flags.touched, true) {
                return;
            }
            touched.push(at);
            next = tree.fs_parent(at);
        }
    }

    /// Sorts the levels of touched accounts, and walks where ranks may change.
    fn rank(&mut self, tree: &Tree, raw_usage: &[Extended], touched: &[AssocIndex]) {
        let numbers = Numbers::new(tree, raw_usage, self.decayed);
        match self.compat {
            Compat::Documented => self.rank_by(&Documented(numbers), touched),
            Compat::Slurm(_) => self.rank_by(&Stock(numbers, self.compat), touched),
        }
    }

    fn rank_by<R: Rule>(&mut self, rule: &R, touched: &[AssocIndex]) {
        let tree = rule.tree();
        let mut members = Vec::new();
        let pairs = self.by_parent(tree, touched);
        let levels = touched.iter().copied();
        let levels = levels.filter(|account| !tree.fs_children_range(*account).is_empty());
        let levels: Vec<_> = levels
            .map(|account| Touched::below(account, &pairs))
            .collect();
        for levels in levels.chunks(AHEAD) {
            if !pairs.is_empty() {
                self.read_ahead(rule, levels);
            }
            for level in levels {
                self.sort_level(rule, &mut members, *level);
            }
        }
        if !touched.is_empty() {
            if !pairs.is_empty() {
                self.read_ahead_of_walk(touched);
            }
            Walk::new(rule, self).run();
        }
        for &index in touched {
            let flags = &mut self.flags[index.get()];
            flags.touched = false;
            flags.resort = false;
        }
    }

    /// Sorts a level: all of it if necessary, otherwise only touched members.
    fn sort_level<R: Rule>(
        &mut self,
        rule: &R,
        members: &mut Vec<Member>,
        Touched { account, children }: Touched,
    ) {
        let range = rule.tree().fs_children_range(account);
        let flags = self.flags[account.get()];
        let used = !sound(rule.raw_usage()[account.get()]).is_zero();
        let level = &mut self.order[range.clone()];
        let (steady, window) =
            if flags.resort || flags.used != used || (R::ROUNDS && flags.unsteady) {
                let steady = level::sort(rule, members, level, Scope::Siblings);
                (steady, 0..level.len())
            } else {
                let moves = |index: AssocIndex| match children.len() {
                    // Usually there is one, and its place in memory is unrelated to its
                    // neighbours'.
                    0..=4 => children.iter().any(|(_, child)| *child == index),
                    _ => self.flags[index.get()].touched,
                };
                let done = level::reposition(rule, members, level, moves);
                (done.steady, done.window)
            };
        self.flags[account.get()].used = used;
        self.node_mut(account).window = (
            (range.start + window.start) as u32,
            (range.start + window.end) as u32,
        );
        if !steady {
            self.mark_unsteady(account);
        }
    }

    /// Touched associations with their `fs_parent`, in order of the latter; empty if all levels are
    /// sorted anyway.
    fn by_parent(&self, tree: &Tree, touched: &[AssocIndex]) -> Vec<(AssocIndex, AssocIndex)> {
        if touched.iter().all(|index| self.flags[index.get()].resort) {
            return Vec::new();
        }
        let pair = |index: &AssocIndex| Some((tree.fs_parent(*index)?, *index));
        let mut pairs = Vec::with_capacity(touched.len());
        pairs.extend(touched.iter().filter_map(pair));
        pairs.sort_unstable();
        pairs
    }

    fn mark_unsteady(&mut self, account: AssocIndex) {
        if !std::mem::replace(&mut self.flags[account.get()].unsteady, true) {
            self.unsteady.push(account);
        }
    }

    /// Makes the nodes, with the number of users below each.
    fn count_users(&mut self, tree: &Tree) {
        self.places.clear();
        self.nodes.clear();
        for row in tree.rows() {
            if row.kind == AssocKind::User {
                self.places.push(u32::MAX);
            } else {
                self.places.push(self.nodes.len() as u32);
                self.nodes.push(Node::default());
            }
        }
        for &index in tree.parents_first().iter().rev() {
            if let Some(parent) = tree.fs_parent(index) {
                let users = match tree.rows()[index.get()].kind {
                    AssocKind::User => 1,
                    AssocKind::Account => self.node(index).users_below,
                };
                self.node_mut(parent).users_below += users;
            }
        }
    }

    fn node(&self, account: AssocIndex) -> &Node {
        &self.nodes[self.places[account.get()] as usize]
    }

    fn node_mut(&mut self, account: AssocIndex) -> &mut Node {
        &mut self.nodes[self.places[account.get()] as usize]
    }
}

fn reset<T: Clone>(list: &mut Vec<T>, len: usize, value: T) {
    list.clear();
    list.resize(len, value);
}
