//! The walk that numbers users, limited to the parts that changed.

use super::LevelRanks;
use super::level;
use super::rule::{Rule, Scope};
use super::slot::{Member, Slot};
use crate::tree::AssocIndex;

/// State of a walk when it enters the children of an account, or of several that tie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Rank of the next user if it is not tied.
    next_rank: u32,
    /// Rank of the next user if it is tied. Documented: the rank of users that tie with an account
    /// above, 0 if there are none. `compat=slurm`: the rank given last.
    tied_rank: u32,
    /// `compat=slurm`: true if the account was tied.
    account_tied: bool,
}

impl State {
    /// Offset, if this state is a pure shift of the other.
    fn moved_from(self, other: State) -> Option<u32> {
        let by = self.next_rank.wrapping_sub(other.next_rank);
        (self == other.moved(by)).then_some(by)
    }

    fn moved(self, by: u32) -> State {
        State {
            next_rank: self.next_rank.wrapping_add(by),
            tied_rank: match self.tied_rank {
                0 => 0,
                rank => rank.wrapping_add(by),
            },
            ..self
        }
    }
}

/// Data of the last walk through an account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// Number of users below it.
    pub(super) users_below: u32,
    /// The first of the accounts with which it was walked as one; itself if alone.
    leader: Option<AssocIndex>,
    /// Valid for the leader: number of these accounts, and the states at the beginning and the end.
    size: u32,
    entered: State,
    left: State,
    /// Valid if touched: range of places among its own children that changed.
    pub(super) window: (u32, u32),
}

/// Children that are being visited.
struct Frame {
    leader: AssocIndex,
    /// True if the children belong to several accounts and are in `Walk::merged`; those of one
    /// account are a part of the kept order.
    merged: bool,
    start: usize,
    next: usize,
    end: usize,
    /// Nothing has changed from this place on, after the next member that does not tie.
    unchanged: usize,
}

pub(super) struct Walk<'a, R: Rule> {
    rule: &'a R,
    ranking: &'a mut LevelRanks,
    state: State,
    frames: Vec<Frame>,
    merged: Vec<Slot>,
    /// Accounts with equal LF that have users below.
    group: Vec<AssocIndex>,
    /// Accounts whose users must still be moved.
    to_move: Vec<AssocIndex>,
    members: Vec<Member>,
}

impl<'a, R: Rule> Walk<'a, R> {
    pub(super) fn new(rule: &'a R, ranking: &'a mut LevelRanks) -> Walk<'a, R> {
        Walk {
            rule,
            state: State {
                next_rank: ranking.user_count,
                tied_rank: if R::MERGES { 0 } else { ranking.user_count },
                account_tied: false,
            },
            ranking,
            frames: Vec::new(),
            merged: Vec::new(),
            group: Vec::new(),
            to_move: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Walks from the root.
    pub(super) fn run(mut self) {
        match self.rule.tree().root() {
            Some(root) if self.has_users(root) => self.group.push(root),
            _ => return,
        }
        self.visit_group();
        while let Some(frame) = self.frames.last() {
            if frame.next == frame.end {
                self.leave();
            } else if frame.next >= frame.unchanged {
                self.skip_rest();
            } else if R::MERGES {
                self.visit_equals();
            } else {
                self.visit_one();
            }
        }
    }

    fn slots(&self, frame: &Frame) -> &[Slot] {
        if frame.merged {
            &self.merged
        } else {
            &self.ranking.order
        }
    }

    fn has_users(&self, account: AssocIndex) -> bool {
        self.ranking.node(account).users_below > 0
    }

    /// Documented: ranks the users of a group of equals (they come first), then descends into its
    /// accounts.
    fn visit_equals(&mut self) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let slots = &self.slots(frame)[frame.next..frame.end];
        let equals = 1 + slots[1..].iter().take_while(|slot| slot.ties).count();
        let users = slots[..equals]
            .iter()
            .take_while(|slot| slot.is_user)
            .count();
        let (merged, start) = (frame.merged, frame.next);
        let mut shared = 0;
        if users > 0 {
            shared = match std::mem::take(&mut self.state.tied_rank) {
                0 => self.state.next_rank,
                tied => tied,
            };
            self.state.next_rank -= users as u32;
        }
        self.group.clear();
        for at in start..start + equals {
            let slot = if merged {
                self.merged[at]
            } else {
                self.ranking.order[at]
            };
            if slot.is_user {
                self.set_rank(slot.index, shared);
            } else if self.has_users(slot.index) {
                self.group.push(slot.index);
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.next += equals;
        }
        if !self.group.is_empty() {
            if shared > 0 {
                // There are users below, and the first one takes the rank.
                self.state.tied_rank = shared;
            }
            self.visit_group();
        }
    }

    /// `compat=slurm`: ranks one user, or descends into one account.
    fn visit_one(&mut self) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let slot = self.ranking.order[frame.next];
        let entered = self.ranking.node(frame.leader).entered;
        let ties = slot.ties || (frame.next == frame.start && entered.account_tied);
        frame.next += 1;
        if slot.is_user {
            if !ties {
                self.state.tied_rank = self.state.next_rank;
            }
            self.state.next_rank -= 1;
            self.set_rank(slot.index, self.state.tied_rank);
        } else if self.has_users(slot.index) {
            self.group.clear();
            self.group.push(slot.index);
            self.state.account_tied = ties;
            self.visit_group();
        }
    }

    /// Descends into the accounts of `group` as one, or skips them.
    fn visit_group(&mut self) {
        let leader = self.group[0];
        if let Some(by) = self.moved_by(leader) {
            if by != 0 {
                self.move_users(by);
            }
            self.state = self.ranking.node(leader).left;
            return;
        }
        if self.group.len() == 1 {
            self.enter(leader);
            return;
        }
        for account in &self.group {
            let node = self.ranking.node_mut(*account);
            node.leader = Some(leader);
            node.size = self.group.len() as u32;
            node.entered = self.state;
        }
        let range = self.merge();
        self.frames.push(Frame {
            leader,
            merged: true,
            start: range.start,
            next: range.start,
            end: range.end,
            unchanged: range.end,
        });
    }

    /// Descends into one account. If the walk enters in the state of the last time, it starts
    /// shortly before the first place that changed.
    fn enter(&mut self, account: AssocIndex) {
        let range = self.rule.tree().fs_children_range(account);
        let mut frame = Frame {
            leader: account,
            merged: false,
            start: range.start,
            next: range.start,
            end: range.end,
            unchanged: range.end,
        };
        let node = *self.ranking.node(account);
        let as_before = node.leader == Some(account) && node.size == 1;
        if R::MERGES && as_before && node.entered == self.state && self.state.tied_rank == 0 {
            let first = node.window.0 as usize;
            frame.unchanged = node.window.1 as usize;
            let known = (range.start + 1..=first).rev();
            if let Some((at, state)) = known
                .filter_map(|at| Some((at, self.state_before(at, range.end)?)))
                .next()
            {
                frame.next = at;
                self.state = state;
            }
        }
        let node = self.ranking.node_mut(account);
        if frame.next == frame.start {
            node.leader = Some(account);
            node.size = 1;
            node.entered = self.state;
        }
        self.frames.push(frame);
    }

    /// State of the last walk at the place `at` of a level, if it can be derived from the member
    /// before, which has not changed since.
    ///
    /// Requires that the walk entered the level without an open tie.
    fn state_before(&self, at: usize, end: usize) -> Option<State> {
        let slot = self.ranking.order[at - 1];
        if slot.ties || (at < end && self.ranking.order[at].ties) {
            return None;
        }
        if slot.is_user {
            // It is not tied, so its rank was the next rank.
            return Some(State {
                next_rank: self.ranking.ranks[slot.index.get()] - 1,
                ..State::default()
            });
        }
        let node = self.ranking.node(slot.index);
        let alone = node.leader == Some(slot.index) && node.size == 1;
        alone.then_some(node.left)
    }

    /// Skips the rest of the level, and leaves with the state of the last walk.
    ///
    /// After the window the state equals that of the last walk: both entered with the same state,
    /// and ranked the same users up to here, possibly in a different order.
    fn skip_rest(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = frame.end;
            self.state = self.ranking.node(frame.leader).left;
        }
    }

    /// Offset of all ranks below `group`, if nothing else changes there.
    fn moved_by(&self, leader: AssocIndex) -> Option<u32> {
        let node = *self.ranking.node(leader);
        let same = node.size as usize == self.group.len()
            && self.group.iter().all(|account| {
                self.ranking.node(*account).leader == Some(leader)
                    && !self.ranking.flags[account.get()].touched
            });
        if same {
            self.state.moved_from(node.entered)
        } else {
            None
        }
    }

    /// Shifts the ranks of all users below `group`.
    fn move_users(&mut self, by: u32) {
        self.to_move.clone_from(&self.group);
        while let Some(account) = self.to_move.pop() {
            let node = self.ranking.node_mut(account);
            node.entered = node.entered.moved(by);
            node.left = node.left.moved(by);
            for at in self.rule.tree().fs_children_range(account) {
                let slot = self.ranking.order[at];
                if slot.is_user {
                    let rank = self.ranking.ranks[slot.index.get()].wrapping_add(by);
                    self.set_rank(slot.index, rank);
                } else if self.has_users(slot.index) {
                    self.to_move.push(slot.index);
                }
            }
        }
    }

    /// Merges the children of all accounts of `group` into one level at the end of `merged`.
    fn merge(&mut self) -> std::ops::Range<usize> {
        let start = self.merged.len();
        for account in &self.group {
            let range = self.rule.tree().fs_children_range(*account);
            self.merged.extend_from_slice(&self.ranking.order[range]);
        }
        if !level::sort(
            self.rule,
            &mut self.members,
            &mut self.merged[start..],
            Scope::Merged,
        ) {
            for account in &self.group {
                self.ranking.mark_unsteady(*account);
            }
        }
        start..self.merged.len()
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        if frame.merged {
            self.merged.truncate(frame.start);
        }
        self.ranking.node_mut(frame.leader).left = self.state;
    }

    fn set_rank(&mut self, user: AssocIndex, rank: u32) {
        let old = &mut self.ranking.ranks[user.get()];
        if *old != rank {
            *old = rank;
            self.ranking.changed.push(user);
        }
    }
}
