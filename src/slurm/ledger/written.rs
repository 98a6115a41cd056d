//! What a pass has set records to, and which of them were reset since.

use crate::extended::Extended;
use crate::tree::{AssocIndex, AssocKind, Tree};
use std::cell::OnceCell;
use std::sync::Arc;

/// What a record has of usage, as far as a reset shows: where billing costs nothing there is wall time alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::slurm) struct Held {
    /// Raw usage.
    pub(in crate::slurm) usage: Extended,
    /// Seconds.
    pub(in crate::slurm) wall: f64,
}

impl Held {
    /// Is there less of something than before?
    pub(in crate::slurm) fn is_less_than(self, before: Held) -> bool {
        self.usage < before.usage || self.wall < before.wall
    }

    fn is_nothing(self) -> bool {
        self.usage.is_zero() && self.wall == 0.0
    }
}

/// What records of a tree's nodes were set to.
#[derive(Debug, Default)]
pub(super) struct Written {
    tree: Option<Arc<Tree>>,
    /// By position.
    held: Vec<Held>,
    /// See [`not_moved`]; all questions are about one later tree.
    not_moved: OnceCell<Vec<bool>>,
}

impl Written {
    pub(super) fn new(tree: &Arc<Tree>, held: Vec<Held>) -> Written {
        Written {
            tree: Some(Arc::clone(tree)),
            held,
            not_moved: OnceCell::new(),
        }
    }

    /// Whether the node at `index` of `tree`, which may be a later one, was reset, as records of that tree have
    /// this `now` (`None`: no number). Until the next pass, ends of jobs only add: a user, or a QOS, was
    /// reset if it has less. An account also has less when associations are moved; one that was reset has
    /// nothing, or was charged since, and then all users below it have less; and one whose users were
    /// moved away has nothing, too.
    pub(super) fn was_reset(
        &self,
        tree: &Arc<Tree>,
        index: AssocIndex,
        now: impl Fn(AssocIndex) -> Option<Held>,
    ) -> bool {
        let (Some(then), Some(has)) = (&self.tree, now(index)) else {
            return false;
        };
        let row = &tree.rows()[index.get()];
        let is_same = Arc::ptr_eq(then, tree);
        let before = match is_same {
            true => Some(index),
            false => then.index_of(row.id),
        };
        let had = before.map_or(Held::default(), |before| self.held[before.get()]);
        match row.kind {
            AssocKind::User => has.is_less_than(had),
            AssocKind::Account if !has.is_nothing() || had.is_nothing() => false,
            AssocKind::Account => {
                let find = || not_moved((then, &self.held), tree, now);
                is_same || self.not_moved.get_or_init(find)[index.get()]
            }
        }
    }
}

/// For each node of a `tree` whether, if it has nothing, that is not because associations were moved: a user
/// below it has less than `before`, or nobody below it then who had used something is elsewhere now.
fn not_moved(
    (then, before): (&Tree, &[Held]),
    tree: &Tree,
    now: impl Fn(AssocIndex) -> Option<Held>,
) -> Vec<bool> {
    let mut has_less = vec![false; tree.len()];
    let mut lost = vec![false; tree.len()];
    for ((at, row), had) in then.indices().zip(then.rows()).zip(before) {
        let Some(index) = tree.index_of(row.id).filter(|_| !had.is_nothing()) else {
            continue;
        };
        for account in above(then, at) {
            let account = tree.index_of(then.rows()[account.get()].id);
            let is_gone = |account: &AssocIndex| above(tree, index).all(|one| one != *account);
            if let Some(account) = account.filter(is_gone) {
                lost[account.get()] = true;
            }
        }
        if row.kind == AssocKind::User && now(index).is_some_and(|has| has.is_less_than(*had)) {
            above(tree, index).for_each(|account| has_less[account.get()] = true);
        }
    }
    let both = has_less.iter().zip(lost);
    both.map(|(has_less, lost)| *has_less || !lost).collect()
}

/// Those above a node, the nearest first.
fn above(tree: &Tree, index: AssocIndex) -> impl Iterator<Item = AssocIndex> + '_ {
    std::iter::successors(tree.parent(index), |at| tree.parent(*at))
}
