//! Fair Tree as Slurm documents it.
//!
//! Every association has a level fairshare, `LF = S / U`: its part of the shares on its level over
//! its part of its parent's usage. A walk from the root visits the associations of a level in
//! descending order of LF; it visits all below an account before the next association. Users are
//! ranked in the order in which the walk finds them, the best first.
//!
//! Ties, from the rules of fair_tree.shtml:
//! * users of a level with the same LF share a rank, and the ranks after it are skipped (4, 4, 2);
//! * accounts with the same LF are visited as one: their children form one level, which may again
//!   contain accounts that tie, also from different parents;
//! * users that tie with accounts share the rank of the best user below these accounts, however
//!   deep, even if there are empty accounts before it.
//!
//! LF values are compared exactly, so equal ratios tie and the order of rows does not matter.

use std::cmp::Ordering;

use super::exact::Level;
use super::ranking_input::RankingInput;
use super::rule::{Columns, Comparison, EffectiveUsage, Order, Results, Rule, Whole};
use super::{AssocFairshare, Ranking, Usage, stock_tree};
use crate::compat::Compat;
use crate::extended::Extended;
use crate::order;
use crate::tree::{AssocIndex, AssocKind, Shares, Tree};

/// `fair_tree`: ranks by a depth-first walk; Slurm's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairTree;

impl Ranking {
    /// `fair_tree`.
    pub const FAIR_TREE: Ranking = Ranking::FairTree(FairTree);
}

impl Rule for FairTree {
    const NAME: &'static str = "fair_tree";
    const TITLE: &'static str = "Fair Tree";
    const EXPLAINED: &'static str =
        "The higher level fairshare (due over used) comes first, level by level.";
    const FLAG: Option<&'static str> = Some("");
    const KEEPS_LEVELS: bool = true;
    const WHOLE: Whole = Whole::Above;
    const EFFECTIVE_USAGE: EffectiveUsage = EffectiveUsage::OfAbove;
    const COMPARISON: Comparison = Comparison::Level;
    const COLUMNS: Columns = Columns {
        level_fs: true,
        account_factor: false,
        entitled: false,
    };

    fn parse(argument: Option<&str>) -> Option<Self> {
        argument.is_none().then_some(Self)
    }

    fn level(&self) -> Option<order::Level> {
        Some(order::Level::Depth(1))
    }

    fn order<'a>(&self, input: &RankingInput<'a>, found: &'a [AssocFairshare]) -> Order<'a> {
        if input.compat.is_slurm() {
            let level_fs = |index: AssocIndex| found[index.get()].level_fs;
            return Box::new(move |a, b| level_fs(b).cmp(&level_fs(a)));
        }
        let (tree, usage) = (input.tree, input.usage());
        let exact = move |index| level(tree, |at| usage.raw(at), index);
        Box::new(move |a, b| exact(b).cmp(&exact(a)))
    }

    fn compute(
        &self,
        input: &RankingInput<'_>,
        mut spare: Vec<AssocFairshare>,
    ) -> Vec<AssocFairshare> {
        let (tree, compat) = (input.tree, input.compat);
        match compat {
            Compat::Documented => {
                let numbers = Numbers::new(tree, input.usage());
                spare.clear();
                spare.extend(tree.indices().map(|index| numbers.fairshare(index)));
                spare
            }
            Compat::Slurm(_) => {
                let usage = Usage::as_kept(tree, input.raw_usage);
                stock_tree::compute(tree, tree.norm_shares_on_level(compat), &usage, spare)
            }
        }
    }

    fn results<'a>(&self, input: &RankingInput<'a>) -> Results<'a> {
        match input.compat {
            Compat::Documented => Results::FairTree(Numbers::new(input.tree, input.usage())),
            Compat::Slurm(_) => Results::All(self.compute(input, Vec::new())),
        }
    }
}

/// Ranks of all users; the other numbers are computed for single associations on demand.
pub(crate) struct Numbers<'a> {
    tree: &'a Tree,
    usage: Usage<'a>,
    /// By position; 0 for accounts.
    ranks: Vec<u32>,
}

impl<'a> Numbers<'a> {
    fn new(tree: &'a Tree, usage: Usage<'a>) -> Numbers<'a> {
        let ranks = Walk::new(tree, &usage).run();
        Numbers { tree, usage, ranks }
    }

    /// Fair share of one association.
    pub(crate) fn fairshare(&self, index: AssocIndex) -> AssocFairshare {
        let (tree, usage) = (self.tree, &self.usage);
        let norm_usage = usage.norm(index);
        let rank = self.ranks[index.get()];
        AssocFairshare {
            norm_shares: tree.norm_share_of_level(index, Compat::Documented),
            raw_usage: usage.raw(index),
            norm_usage,
            effective_usage: match tree.fs_parent(index) {
                Some(parent) => usage.ratio(index, parent),
                None => norm_usage,
            },
            level_fs: level(tree, |at| usage.raw(at), index).map(|level| level.rounded()),
            fs_factor: (rank > 0).then(|| f64::from(rank) / tree.user_count() as f64),
        }
    }
}

/// The exact level fairshare; `None` for the root and for accounts with `FairShare=parent`.
///
/// `usage` is raw usage as returned by [`Usage::raw`].
pub(super) fn level(
    tree: &Tree,
    usage: impl Fn(AssocIndex) -> Extended,
    index: AssocIndex,
) -> Option<Level> {
    let parent = tree.fs_parent(index)?;
    let row = &tree.rows()[index.get()];
    match (row.shares, row.kind) {
        (Shares::Parent, AssocKind::User) => Some(Level::Infinite),
        (Shares::Parent, AssocKind::Account) => None,
        (Shares::Raw(shares), _) => {
            let (used, total) = (usage(index), usage(parent));
            Some(Level::new(shares, tree.child_shares(parent), used, total))
        }
    }
}

/// Order of two associations that Fair Tree compares on one level; the better one is greater.
///
/// `raw_usage`: one per association by position. Level fairshare is compared as an exact number, so
/// equal ratios are equal whatever their size; two associations without usage are equal, and so are
/// two without shares. `None` if one of them is on no level: the root, or an account with
/// `FairShare=parent`. The caller must make sure that both are on the same level.
///
/// # Panics
/// If an association is not in this tree, or `raw_usage` is shorter than the tree.
///
/// ```
/// use fairtree::extended::Extended;
/// use fairtree::fairshare::order_on_level;
/// use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
/// let user = |id, shares| Assoc { id, parent: Some(1), kind: AssocKind::User, shares: Shares::Raw(shares) };
/// let root = Assoc { id: 1, parent: None, kind: AssocKind::Account, shares: Shares::Raw(1) };
/// let tree = Tree::from_rows([root, user(2, 1), user(3, 2)])?;
/// let usage = [30_u64, 10, 20].map(Extended::from);
/// let [root, a, b] = [0, 1, 2].map(AssocIndex::new);
/// assert_eq!(order_on_level(&tree, &usage, a, b), Some(std::cmp::Ordering::Equal));
/// assert_eq!(order_on_level(&tree, &usage, root, b), None);
/// # Ok::<(), fairtree::tree::TreeError>(())
/// ```
pub fn order_on_level(
    tree: &Tree,
    raw_usage: &[Extended],
    a: AssocIndex,
    b: AssocIndex,
) -> Option<std::cmp::Ordering> {
    let usage = Usage::new(tree, raw_usage);
    let exact = |index| level(tree, |at| usage.raw(at), index);
    let (a, b) = (exact(a)?, exact(b)?);
    Some(a.cmp(&b))
}

/// One member of a level that is being walked.
#[derive(Clone, Copy)]
struct Member {
    key: Key,
    index: AssocIndex,
    is_user: bool,
}

/// LF as the bits of an `f64`, which have the same order as the numbers. Keys never contradict the
/// order of two members, and nearly always decide it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    const ZERO: Key = Key(0);
    const INFINITE: Key = Key(u64::MAX);

    fn new(level: Level) -> Key {
        match level {
            Level::Zero => Key::ZERO,
            Level::Infinite => Key::INFINITE,
            // A finite number may be rounded to 0.
            Level::Finite(_) => Key(level.rounded().to_f64().to_bits().max(1)),
        }
    }

    /// Returns true if all members with this key are equal.
    fn is_exact(self) -> bool {
        self == Key::ZERO || self == Key::INFINITE
    }
}

/// A level (of one account, or of several that tie), sorted, partly visited.
struct Frame {
    /// Its members are `members[start..end]`; `end` is the end of the frame above it.
    start: usize,
    next: usize,
    end: usize,
    /// Users tied with the account of this level wait for its best user, but not longer.
    owns_tie: bool,
}

struct Walk<'a> {
    tree: &'a Tree,
    usage: &'a Usage<'a>,
    /// By position; 0 for accounts.
    ranks: Vec<u32>,
    members: Vec<Member>,
    frames: Vec<Frame>,
    /// Rank of the next user if it is not tied.
    next_rank: u32,
    /// Rank of users that tie with an account on the path to the present position, until that
    /// account's best user is found.
    tied_rank: Option<u32>,
}

impl<'a> Walk<'a> {
    fn new(tree: &'a Tree, usage: &'a Usage<'a>) -> Self {
        Walk {
            tree,
            usage,
            ranks: vec![0; tree.len()],
            members: Vec::new(),
            frames: Vec::new(),
            next_rank: tree.user_count() as u32,
            tied_rank: None,
        }
    }

    /// Ranks of all associations, by position; 0 for accounts.
    fn run(mut self) -> Vec<u32> {
        let Some(root) = self.tree.root() else {
            return self.ranks;
        };
        self.add_children(root);
        self.descend(0, false);
        while let Some(frame) = self.frames.last_mut() {
            if frame.next == frame.end {
                self.members.truncate(frame.start);
                if frame.owns_tie {
                    self.tied_rank = None;
                }
                self.frames.pop();
            } else {
                let (begin, end) = (frame.next, frame.end);
                let group = begin..self.end_of_tie(begin, end);
                if let Some(frame) = self.frames.last_mut() {
                    frame.next = group.end;
                }
                self.visit(group);
            }
        }
        self.ranks
    }

    /// Ranks the users of a group of equals (they come first), then descends into its accounts.
    fn visit(&mut self, group: std::ops::Range<usize>) {
        let members = &self.members[group.clone()];
        let users = members.iter().take_while(|m| m.is_user).count();
        let mut rank = None;
        if users > 0 {
            let shared = self.tied_rank.take().unwrap_or(self.next_rank);
            for member in members.iter().take(users) {
                self.ranks[member.index.get()] = shared;
            }
            self.next_rank -= users as u32;
            rank = Some(shared);
        }
        let start = self.members.len();
        for at in group.skip(users) {
            self.add_children(self.members[at].index);
        }
        if self.members.len() > start {
            if rank.is_some() {
                self.tied_rank = rank;
            }
            self.descend(start, rank.is_some());
        }
    }

    /// Appends an account's children, except accounts with `FairShare=parent`: these have no
    /// children left and are not ranked.
    fn add_children(&mut self, account: AssocIndex) {
        for &index in self.tree.fs_children(account) {
            if let Some(level) = self.exact(index) {
                self.members.push(Member {
                    key: Key::new(level),
                    index,
                    is_user: self.tree.rows()[index.get()].kind == AssocKind::User,
                });
            }
        }
    }

    fn exact(&self, index: AssocIndex) -> Option<Level> {
        level(self.tree, |at| self.usage.raw(at), index)
    }

    /// Sorts the members from `start` on and makes them the next level to visit.
    fn descend(&mut self, start: usize, owns_tie: bool) {
        let mut members = std::mem::take(&mut self.members);
        members[start..].sort_unstable_by(|a, b| {
            let by_key = b.key.cmp(&a.key);
            let by_level = by_key.then_with(|| match a.key.is_exact() {
                true => Ordering::Equal,
                false => self.exact(b.index).cmp(&self.exact(a.index)),
            });
            by_level.then_with(|| b.is_user.cmp(&a.is_user))
        });
        self.members = members;
        self.frames.push(Frame {
            start,
            next: start,
            end: self.members.len(),
            owns_tie,
        });
    }

    /// The end of the run of members that equal the one at `begin`.
    fn end_of_tie(&self, begin: usize, end: usize) -> usize {
        let first = self.members[begin];
        let mut of_first = None;
        let run = self.members[begin + 1..end].iter().take_while(|m| {
            m.key == first.key
                && (first.key.is_exact() || {
                    let of_first = of_first.get_or_insert_with(|| self.exact(first.index));
                    *of_first == self.exact(m.index)
                })
        });
        begin + 1 + run.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::compute;
    use crate::tree::Assoc;

    #[test]
    fn levels_beyond_what_an_f64_can_hold_are_ranked() {
        let user = |id, shares| Assoc {
            id,
            parent: Some(1),
            kind: AssocKind::User,
            shares: Shares::Raw(shares),
        };
        let root = Assoc {
            id: 1,
            parent: None,
            kind: AssocKind::Account,
            shares: Shares::Raw(1),
        };
        let rows = [root, user(2, 1), user(3, 1), user(4, 1), user(5, 0)];
        let tree = Tree::from_rows(rows).unwrap();
        // 2^-1240: level fairshare is near 2^1240, and twice as much for the user with half of that
        // usage. It is infinite for the one without usage, and 0 for the one without shares.
        let little = (0..20).fold(Extended::ONE, |little, _| {
            little / Extended::from(1_u64 << 62)
        });
        let half = little / Extended::from(2_u64);
        let usage = [Extended::ONE, little, half, Extended::ZERO, half];
        let found = compute(Ranking::FAIR_TREE, Compat::Documented, &tree, &usage);
        let factors: Vec<_> = found.iter().map(|row| row.fs_factor).collect();
        assert_eq!(
            factors,
            [None, Some(0.5), Some(0.75), Some(1.0), Some(0.25)]
        );
    }
}
