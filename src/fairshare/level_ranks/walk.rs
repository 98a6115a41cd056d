//! The walk that numbers users, as far as something changed.

use super::LevelRanks;
use super::level;
use super::rule::{Rule, Scope};
use super::slot::{Member, Slot};
use crate::tree::AssocIndex;

/// In which state a walk enters the children of an account, or of several that tie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// What the next user gets if it ties with none.
    next_rank: u32,
    /// The rank that the next user gets if it ties: documented, the one of users that tie with an
    /// account above, 0 for none; `compat=slurm`, the one given last.
    tied_rank: u32,
    /// `compat=slurm`: the account was tied.
    account_tied: bool,
}

impl State {
    /// By how much this state is another one moved, if all of it is.
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

/// How an account was walked last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// How many users there are below.
    pub(super) users_below: u32,
    /// The first of the accounts that it was walked as one with; itself if alone.
    leader: Option<AssocIndex>,
    /// Of the leader: how many they were, and the states at the beginning and the end.
    size: u32,
    entered: State,
    left: State,
    /// When touched: where among its own children places have changed.
    pub(super) window: (u32, u32),
}

/// Children that are being visited.
struct Frame {
    leader: AssocIndex,
    /// The children of one account are a part of the kept order, others of `Walk::merged`.
    merged: bool,
    start: usize,
    next: usize,
    end: usize,
    /// From here on, at the next member that does not tie, nothing has changed.
    unchanged: usize,
}

pub(super) struct Walk<'a, R: Rule> {
    rule: &'a R,
    ranking: &'a mut LevelRanks,
    state: State,
    frames: Vec<Frame>,
    merged: Vec<Slot>,
    /// Accounts of one LF that have users below.
    group: Vec<AssocIndex>,
    /// Accounts whose users are still to be moved.
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

    /// Documented: ranks the users of a group of equals (they come first), then goes down into
    /// its accounts.
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
                // There are users below, and the first one takes it.
                self.state.tied_rank = shared;
            }
            self.visit_group();
        }
    }

    /// `compat=slurm`: ranks one user, or goes down into one account.
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

    /// Goes down into the accounts of `group` as one, or past them.
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

    /// Goes down into one account, if the walk enters as it did last time only from shortly
    /// before the first place that changed.
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

    /// The state in which the last walk came to the place `at` on a level, if what it left on the
    /// place before tells that. That place has not changed since.
    ///
    /// The walk entered the level without an open tie.
    fn state_before(&self, at: usize, end: usize) -> Option<State> {
        let slot = self.ranking.order[at - 1];
        if slot.ties || (at < end && self.ranking.order[at].ties) {
            return None;
        }
        if slot.is_user {
            // It ties with none, so it has the rank that was next.
            return Some(State {
                next_rank: self.ranking.ranks[slot.index.get()] - 1,
                ..State::default()
            });
        }
        let node = self.ranking.node(slot.index);
        let alone = node.leader == Some(slot.index) && node.size == 1;
        alone.then_some(node.left)
    }

    /// Leaves the level as the last walk left it.
    ///
    /// Behind the window the walk is in the state of last time: it entered in the same, and has
    /// ranked the same users since, if in another order.
    fn skip_rest(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.next = frame.end;
            self.state = self.ranking.node(frame.leader).left;
        }
    }

    /// By how much all ranks below `group` move, if that is all that happens there.
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

    /// Moves the ranks of all users below `group`.
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

    /// Puts the children of all of `group` together in one level at the end of `merged`.
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
