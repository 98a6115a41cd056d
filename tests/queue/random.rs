//! Random trees and settings of queues.

use crate::common::random::Random;
use fairtree::engine::queue::{AccountRule, Choice, Counted, Settings};
use fairtree::order::Level;
use fairtree::tree::{Assoc, AssocKind, Shares, Tree};

pub fn row(id: u32, parent: u32, shares: u32) -> Assoc {
    Assoc {
        id,
        parent: (parent > 0).then_some(parent),
        kind: AssocKind::Account,
        shares: Shares::Raw(shares),
    }
}

pub fn random_tree(random: &mut Random) -> Tree {
    let mut rows = vec![row(1, 0, 1)];
    for id in 2..3 + random.below(12) as u32 {
        let accounts: Vec<u32> = (rows.iter())
            .filter(|row| row.kind == AssocKind::Account)
            .map(|row| row.id)
            .collect();
        let mut new = row(
            id,
            accounts[random.below(accounts.len() as u64) as usize],
            random.below(4) as u32,
        );
        if random.below(4) == 0 {
            new.shares = Shares::Parent;
        }
        if random.below(3) == 0 {
            new.kind = AssocKind::User;
        }
        rows.push(new);
    }
    Tree::from_rows(rows).expect("a tree")
}

pub fn random_settings(random: &mut Random, tree: &Tree) -> Settings {
    let level = random.below(4) as u32;
    let counted = |random: &mut Random| match random.below(3) {
        0 => Counted::Since(random.below(50) as i64),
        _ => Counted::Window(1 + random.below(60) as i64),
    };
    let mut accounts = Vec::new();
    let users_compete = random.below(2) == 0;
    for row in &tree.rows()[1..] {
        let aside = row.kind == AssocKind::User && row.parent != Some(1) && !users_compete;
        if row.shares != Shares::Parent && !aside && random.below(4) == 0 {
            let rule = AccountRule {
                minutes: Some(random.below(3)),
                counted: (random.below(2) == 0).then(|| counted(random)),
            };
            accounts.push((row.id, rule));
        }
    }
    Settings {
        level: if level == 3 {
            Level::Leaf
        } else {
            Level::Depth(level + 1)
        },
        choice: if random.below(2) == 0 {
            Choice::Strict
        } else {
            Choice::Interleaved
        },
        counted: counted(random),
        outcomes: "COMPLETED,FAILED:7".parse().unwrap(),
        // So that minutes and shares are of similar size.
        capacity: 1 + random.below(3) * 1_000_000,
        accounts,
        users_compete,
    }
}
