//! Where the ways to two users part, and what decides there.

use std::cmp::Ordering;

use serde::Serialize;

use super::RankedSite;
use super::path::{PathStep, chain};
use fairtree::fairshare::{Comparison, order_on_level};
use fairtree::order::Level;
use fairtree::tree::{AssocIndex, AssocKind};
use fairtree_model::cluster::Names;

/// The deciding difference between two users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Fair Tree: one of the two compared has the higher level fairshare, and all its users come
    /// first.
    LevelFs,
    /// Fair Tree: two users with equal level fairshare share a rank.
    UsersTie,
    /// Fair Tree: a user with the level fairshare of an account shares the rank of the account's
    /// best user.
    UserTiesWithAccount,
    /// `compat=slurm`: the accounts have equal level fairshare. The stock plugin does not merge
    /// them, so the order of its list decides.
    ListOrder,
    /// `compat=slurm`: a tie elsewhere was handed on to one of the two, so that the ranks are not
    /// what the level fairshares say. A fault of the stock plugin.
    TieHandedOn,
    /// `least_used`: one of the two compared used less of what it is entitled to, and all below it
    /// come first.
    Ratio,
    /// `weighted_walk`: one of the two compared has the higher weight, and all below it come first.
    Weight,
    /// Classic fair share: no levels; each user has a factor of its own from usage over shares.
    Factor,
}

/// The first level where the ways part and the two sides differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parting {
    /// The accounts whose children are compared; two different ones only where tied accounts
    /// were merged.
    pub below: [String; 2],
    /// Fair Tree: pairs of accounts further up that have equal level fairshare, so that their
    /// children are compared as those of one.
    pub merged: Vec<[PathStep; 2]>,
    /// The two that are compared: accounts or users.
    pub members: [PathStep; 2],
    /// The deciding difference.
    pub reason: Reason,
}

/// A parting by positions.
#[derive(Clone, Debug)]
pub(super) struct PartingIndices {
    pub(super) merged: Vec<[AssocIndex; 2]>,
    pub(super) members: [AssocIndex; 2],
    pub(super) reason: Reason,
}

/// Finds the parting of two different users.
pub(super) fn part(ranked: &RankedSite<'_>, users: [AssocIndex; 2]) -> PartingIndices {
    let chains = users.map(|user| chain(ranked.tree, user));
    let pairs = chains[0].iter().zip(&chains[1]);
    let mut pairs = pairs.map(|(a, b)| [*a, *b]).skip_while(|[a, b]| a == b);
    // Users are leaves, so neither way is a part of the other.
    let mut members = pairs.next().expect("two users part somewhere");
    let mut merged = Vec::new();
    if let Some(found) = by_place(ranked, users) {
        return found;
    }
    if ranked.config.ranking().comparison() == Comparison::Factor {
        return PartingIndices {
            merged,
            members,
            reason: Reason::Factor,
        };
    }
    let reason = loop {
        let order = order(ranked, members);
        let is_user = members.map(|index| ranked.is_user(index));
        match (order, is_user) {
            (Ordering::Less | Ordering::Greater, _) => break Reason::LevelFs,
            (Ordering::Equal, [true, true]) => break Reason::UsersTie,
            (Ordering::Equal, [false, false]) if ranked.config.compat.is_slurm() => {
                break Reason::ListOrder;
            }
            (Ordering::Equal, [false, false]) => match pairs.next() {
                Some(next) => {
                    merged.push(members);
                    members = next;
                }
                None => unreachable!("both ways go on below accounts"),
            },
            (Ordering::Equal, _) => break Reason::UserTiesWithAccount,
        }
    };
    let found = PartingIndices {
        merged,
        members,
        reason,
    };
    if agrees(ranked, users, &found) {
        found
    } else {
        PartingIndices {
            reason: Reason::TieHandedOn,
            ..found
        }
    }
}

/// The parting under rankings that give places by level: at the level where nodes of the whole tree
/// compete, or below it. `None`: the ranking is none of these, or its places do not follow from one
/// level alone, as with ties of users and accounts.
fn by_place(ranked: &RankedSite<'_>, users: [AssocIndex; 2]) -> Option<PartingIndices> {
    let ranking = ranked.config.ranking();
    let is_place = ranking.comparison() == Comparison::Factor && ranking.columns().level_fs;
    if !is_place {
        return None;
    }
    let ratio = |index: AssocIndex| ranked.fairshare[index.get()].level_fs;
    // Users of an account that competes as one have no ratio of their own.
    let ways = users.map(|user| {
        let mut way = chain(ranked.tree, user);
        way.retain(|index| ratio(*index).is_some());
        way
    });
    let first = match ranking.level() {
        None => 0,
        Some(Level::Depth(depth)) => depth.max(1) as usize - 1,
        Some(Level::Leaf) => usize::MAX,
    };
    let longest = ways[0].len().max(ways[1].len());
    let node = |way: &[AssocIndex], depth: usize| way.get(depth).or(way.last()).copied();
    let mut merged = Vec::new();
    for depth in first.min(longest.checked_sub(1)?)..longest {
        let members = [node(&ways[0], depth)?, node(&ways[1], depth)?];
        if members[0] == members[1] {
            continue;
        }
        let order = ratio(members[0])?.cmp(&ratio(members[1])?);
        if order == Ordering::Equal {
            merged.push(members);
            continue;
        }
        let reason = match ranking.level() {
            Some(_) => Reason::Ratio,
            None => Reason::Weight,
        };
        let found = PartingIndices {
            merged,
            members,
            reason,
        };
        return (order == order_of_factors(ranked, users)).then_some(found);
    }
    None
}

/// Which of two members of a level comes first, the better one greater.
fn order(ranked: &RankedSite<'_>, [a, b]: [AssocIndex; 2]) -> Ordering {
    if ranked.config.compat.is_slurm() {
        let level_fs = |index: AssocIndex| ranked.fairshare[index.get()].level_fs;
        return level_fs(a).cmp(&level_fs(b));
    }
    order_on_level(ranked.tree, ranked.raw, a, b).unwrap_or(Ordering::Equal)
}

/// Returns true if the ranks are as the reason predicts.
fn agrees(ranked: &RankedSite<'_>, users: [AssocIndex; 2], found: &PartingIndices) -> bool {
    let ranks = order_of_factors(ranked, users);
    match found.reason {
        Reason::LevelFs => ranks == order(ranked, found.members),
        Reason::UsersTie => ranks == Ordering::Equal,
        Reason::UserTiesWithAccount => {
            let first_is_user = ranked.is_user(found.members[0]);
            let against = if first_is_user {
                Ordering::Less
            } else {
                Ordering::Greater
            };
            ranks != against
        }
        Reason::ListOrder
        | Reason::TieHandedOn
        | Reason::Ratio
        | Reason::Weight
        | Reason::Factor => true,
    }
}

/// The order of two users by their factors, the better one greater.
pub(super) fn order_of_factors(ranked: &RankedSite<'_>, users: [AssocIndex; 2]) -> Ordering {
    let [a, b] = users.map(|user| ranked.fairshare[user.get()].fs_factor.unwrap_or(0.0));
    a.total_cmp(&b)
}

impl PartingIndices {
    /// With names and numbers; `paths` are the ways to the two users.
    pub(super) fn shown(
        &self,
        ranked: &RankedSite<'_>,
        names: &dyn Names,
        paths: [&[PathStep]; 2],
    ) -> Parting {
        let step = |side: usize, index: AssocIndex| {
            let id = ranked.tree.rows()[index.get()].id;
            let found = paths[side].iter().find(|step| step.assoc == id);
            found.cloned().expect("members stand on the ways")
        };
        let both = |pair: &[AssocIndex; 2]| [step(0, pair[0]), step(1, pair[1])];
        Parting {
            below: self.members.map(|member| {
                let parent = ranked.tree.fs_parent(member);
                parent.map_or_else(String::new, |parent| names.assoc(parent))
            }),
            merged: self.merged.iter().map(both).collect(),
            members: both(&self.members),
            reason: self.reason,
        }
    }

    /// The member of one side, if it is an account.
    pub(super) fn account(&self, ranked: &RankedSite<'_>, side: usize) -> Option<AssocIndex> {
        let member = self.members[side];
        (ranked.tree.rows()[member.get()].kind == AssocKind::Account).then_some(member)
    }
}
