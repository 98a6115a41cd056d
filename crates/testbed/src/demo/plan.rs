//! The site of the tour: its accounts and users, and their jobs.

use crate::cluster::Plan;
use crate::cluster::accounting::{Account, Accounting, FairShare, Qos};
use crate::cluster::client::NewJob;
use crate::cluster::conf::{Nodes, Partition, PriorityType};
use xtask::release::Release;

/// Nodes that together run 16 CPUs' worth of sleeping jobs.
const NODES: Nodes = Nodes { count: 4, cpus: 4 };

/// The cluster of the tour.
pub fn plan(release: &Release, priority: PriorityType) -> Plan {
    let mut settings = vec![
        ("PriorityWeightFairshare", "100000".to_owned()),
        ("PriorityWeightAge", "1000".to_owned()),
        ("PriorityMaxAge", "0-1".to_owned()),
        ("PriorityWeightJobSize", "1000".to_owned()),
        ("PriorityWeightPartition", "5000".to_owned()),
        ("PriorityWeightQOS", "10000".to_owned()),
        // An hour, so that one can watch usage decay.
        ("PriorityDecayHalfLife", "0-1".to_owned()),
        ("PriorityCalcPeriod", "1".to_owned()),
    ];
    if priority == PriorityType::Fairtree {
        settings.push(("PriorityParameters", "calc_period=5".to_owned()));
    }
    Plan {
        release: release.clone(),
        priority,
        nodes: NODES,
        partitions: vec![
            Partition {
                name: "main",
                priority_job_factor: 10,
                max_time: "1-0",
            },
            Partition {
                name: "debug",
                priority_job_factor: 100,
                max_time: "30",
            },
        ],
        accounting: accounting(),
        settings,
    }
}

/// Two faculties, three levels, six users.
fn accounting() -> Accounting {
    use FairShare::{Parent, Raw};
    let account = |name, parent, shares, users: &[(&'static str, FairShare)]| Account {
        name,
        parent,
        fair_share: Raw(shares),
        users: users.to_vec(),
    };
    Accounting {
        accounts: vec![
            account("science", None, 60, &[]),
            account(
                "physics",
                Some("science"),
                2,
                &[("alice", Raw(1)), ("bob", Raw(2))],
            ),
            account(
                "biology",
                Some("science"),
                1,
                &[("carol", Parent), ("dave", Parent)],
            ),
            account("medicine", None, 40, &[]),
            account("imaging", Some("medicine"), 3, &[("erin", Raw(1))]),
            account(
                "genomics",
                Some("medicine"),
                1,
                &[("frank", Raw(1)), ("alice", Raw(1))],
            ),
        ],
        qos: vec![
            Qos {
                name: "urgent",
                priority: 100,
            },
            Qos {
                name: "scavenger",
                priority: 1,
            },
        ],
    }
}

/// Each user's part of the queue, out of 20: not in proportion to shares.
const APPETITE: [(&str, &str, u32); 7] = [
    ("alice", "physics", 5),
    ("bob", "physics", 3),
    ("carol", "biology", 4),
    ("dave", "biology", 1),
    ("erin", "imaging", 2),
    ("frank", "genomics", 4),
    ("alice", "genomics", 1),
];

/// The jobs of the tour, in order of submission.
pub fn jobs(count: u32) -> Vec<NewJob<'static>> {
    let owners: Vec<_> = APPETITE
        .iter()
        .flat_map(|&(user, account, part)| (0..part).map(move |_| (user, account)))
        .collect();
    (0..count)
        .map(|index| {
            // 7 has no common factor with 20: every owner's turn comes early.
            let (user, account) = owners[index as usize * 7 % owners.len()];
            NewJob {
                user,
                account,
                partition: if index % 9 == 0 { "debug" } else { "main" },
                qos: match index % 17 {
                    0 => "urgent",
                    5 | 6 => "scavenger",
                    _ => "normal",
                },
                cpus: 1 + index % 3,
                nodes: 1,
                secs: 4 + index * 5 % 13,
                options: vec![format!("--time={}", 5 + index % 4 * 5)],
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_owner_submits_early_and_as_a_member_of_the_account() {
        let accounting = accounting();
        let jobs = jobs(20);
        for (user, account, part) in APPETITE {
            let turns = jobs
                .iter()
                .filter(|job| (job.user, job.account) == (user, account));
            assert_eq!(turns.count(), part as usize, "{user}");
            let account = accounting
                .accounts
                .iter()
                .find(|row| row.name == account)
                .unwrap();
            assert!(account.users.iter().any(|(name, _)| *name == user));
        }
    }
}
