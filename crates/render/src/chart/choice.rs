//! Which of many associations are drawn over time.

use super::forest::{Forest, Whole};
use super::style::LINES;
use fairtree_analysis::history::Timeline;
use fairtree_model::input::sshare::RowKind;

/// The nodes that are drawn over time, as positions in the forest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Accounts with those right below them.
    pub groups: Vec<Group>,
    /// The users with the most use, whose lines have colours, the most first.
    pub lines: Vec<usize>,
    /// More users, whose lines have none.
    pub others: Vec<usize>,
}

/// An account and those right below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The account.
    pub account: usize,
    /// Who is drawn, the most use first.
    pub members: Vec<usize>,
    /// How many are not.
    pub left_out: usize,
}

/// The largest number of accounts that open up, and of pictures in each.
const MAX_GROUPS: usize = 20;
const MAX_MEMBERS: usize = 12;
/// The largest number of lines without colour.
const MAX_OTHERS: usize = 120;

impl Choice {
    /// Chooses the parts of a timeline to draw; nothing if it has a single moment.
    pub fn new(timeline: &Timeline, forest: &Forest) -> Choice {
        let mut choice = Choice::default();
        if timeline.times.len() < 2 {
            return choice;
        }
        let weights = weights(timeline, forest);
        let most_first = |nodes: &mut Vec<usize>| {
            nodes.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
        };
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); forest.nodes.len()];
        let mut users = Vec::new();
        for (at, node) in forest
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| node.row.is_some())
        {
            if let Some(above) = node.parent {
                below[above].push(at);
            }
            if node.kind == RowKind::User {
                users.push(at);
            }
        }
        for (account, mut members) in below.into_iter().enumerate() {
            // One alone has all the shares and all the use.
            if members.len() < 2 {
                continue;
            }
            most_first(&mut members);
            let left_out = members.len().saturating_sub(MAX_MEMBERS);
            members.truncate(MAX_MEMBERS);
            choice.groups.push(Group {
                account,
                members,
                left_out,
            });
        }
        // Those with the most use, in the order of the tree.
        let mut accounts: Vec<usize> = choice.groups.iter().map(|group| group.account).collect();
        most_first(&mut accounts);
        accounts.truncate(MAX_GROUPS);
        choice
            .groups
            .retain(|group| accounts.contains(&group.account));
        most_first(&mut users);
        choice.lines = users.iter().copied().take(LINES).collect();
        choice.others = users.iter().copied().skip(LINES).take(MAX_OTHERS).collect();
        choice
    }

    /// All nodes that are drawn, ascending.
    pub fn nodes(&self) -> Vec<usize> {
        let members = self.groups.iter().flat_map(|group| group.members.iter());
        let all = members.chain(&self.lines).chain(&self.others);
        let mut nodes: Vec<usize> = all.copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

/// The mean part of the whole that each node used over time.
fn weights(timeline: &Timeline, forest: &Forest) -> Vec<f64> {
    let mut weights = vec![0.0; forest.nodes.len()];
    for (at, node) in forest.nodes.iter().enumerate() {
        let above = match forest.of {
            Whole::Above => node.parent.map_or(1.0, |above| weights[above]),
            Whole::Root => 1.0,
        };
        // The root has no use of anything above it.
        let own = node
            .row
            .map_or(0.0, |row| timeline.courses[row].mean_usage());
        weights[at] = above * own;
    }
    weights
}
