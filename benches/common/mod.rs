//! Trees, usage and queues of named sizes, the same in every run.

#![allow(dead_code)] // Each benchmark uses a part of this.

#[path = "../../tests/common/random.rs"]
pub mod random;

use fairtree::config::Config;
use fairtree::extended::Extended;
use fairtree::priority::{AssocFactors, Index, Job, JobTables, Partition, Qos, TimeLimit};
use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use fairtree::usage::RawUsage;
use random::Random;

/// Levels below the root; users are on the last one.
pub const DEPTH: u32 = 6;

/// Approximate number of users per account.
const USERS_PER_ACCOUNT: usize = 128;

/// The time of the pass.
pub const NOW: i64 = 1_800_000_000;

/// Order of the rows of a tree.
#[derive(Clone, Copy)]
pub enum Order {
    /// Each account followed by all below it, as slurmdbd sends them.
    DepthFirst,
    /// Random.
    Shuffled,
}

/// The rows of a tree of depth 6 with `len` associations: all accounts have the same number of
/// children, users are below the last accounts, shares are from 1 to 1000.
pub fn rows(len: usize, order: Order) -> Vec<Assoc> {
    let mut random = Random::new(len as u64);
    let lowest = (len / USERS_PER_ACCOUNT).max(1) as f64;
    let fan_out = lowest.powf(1.0 / f64::from(DEPTH - 1)).round().max(1.0) as usize;
    let accounts: usize = (0..DEPTH).map(|level| fan_out.pow(level)).sum();
    let users = len - accounts;
    let mut rows = Vec::with_capacity(len);
    // Accounts to do: parent and level. The users are distributed evenly.
    let mut todo = vec![(None, 0)];
    let (mut lowest_done, lowest) = (0, fan_out.pow(DEPTH - 1));
    while let Some((parent, level)) = todo.pop() {
        let id = add(&mut rows, parent, AssocKind::Account, &mut random);
        if level + 1 < DEPTH {
            todo.extend((0..fan_out).map(|_| (Some(id), level + 1)));
        } else {
            let share = |n: usize| users * n / lowest;
            for _ in share(lowest_done)..share(lowest_done + 1) {
                add(&mut rows, Some(id), AssocKind::User, &mut random);
            }
            lowest_done += 1;
        }
    }
    if let Order::Shuffled = order {
        for at in (1..rows.len()).rev() {
            rows.swap(at, random.below(at as u64 + 1) as usize);
        }
    }
    rows
}

fn add(rows: &mut Vec<Assoc>, parent: Option<u32>, kind: AssocKind, random: &mut Random) -> u32 {
    let id = rows.len() as u32 + 1;
    let shares = Shares::Raw(1 + random.below(1000) as u32);
    rows.push(Assoc {
        id,
        parent,
        kind,
        shares,
    });
    id
}

/// A tree of these rows.
pub fn tree(rows: &[Assoc]) -> Tree {
    Tree::from_rows(rows.iter().copied()).expect("a tree")
}

/// Usage of a tree: each user used up to 10^8 TRES-seconds, decayed; one in eight used nothing.
pub fn raw_usage(tree: &Tree) -> RawUsage {
    let mut random = Random::new(tree.len() as u64 + 1);
    let own: Vec<Extended> = (tree.rows().iter())
        .map(|row| {
            let used = row.kind == AssocKind::User && random.below(8) > 0;
            let usage = random.below(1 << 50) as f64 / 1e7;
            Extended::from_f64(if used { usage } else { 0.0 }).expect("a number")
        })
        .collect();
    RawUsage::from_own(tree, &own).expect("usage of every association")
}

/// Random users of a tree.
pub fn some_users(tree: &Tree, count: usize) -> Vec<AssocIndex> {
    let mut random = Random::new(count as u64);
    let mut users = Vec::new();
    while users.len() < count {
        let at = AssocIndex::new(random.below(tree.len() as u64) as usize);
        if tree.rows()[at.get()].kind == AssocKind::User {
            users.push(at);
        }
    }
    users
}

/// Settings with all weights except those of TRES.
pub fn config() -> Config {
    Config::builder()
        .priority_weight_age(1_000)
        .priority_weight_assoc(100)
        .priority_weight_fairshare(10_000)
        .priority_weight_job_size(500)
        .priority_weight_partition(1_000)
        .priority_weight_qos(2_000)
        .build()
        .expect("a sound configuration")
}

/// Like [`config`], with weights for CPUs, memory and GPUs.
pub fn config_tres() -> Config {
    let mut config = config();
    config.priority_weight_tres = [("cpu", 1000.0), ("mem", 500.0), ("gres/gpu", 3000.0)]
        .map(|(name, weight)| (name.to_owned(), weight))
        .into();
    config
}

/// Four partitions, eight QOS, `assocs` associations, six TRES, 10,000 nodes.
pub fn tables(assocs: usize) -> JobTables {
    let mut random = Random::new(7);
    let unit = |n: u64| n as f64 / 1000.0;
    let names = ["cpu", "mem", "energy", "node", "billing", "gres/gpu"];
    JobTables {
        partitions: (0..4)
            .map(|n| Partition {
                priority_job_factor: 10 * (n + 1),
                norm_priority: f64::from(n + 1) / 4.0,
                max_time_mins: Some(2880),
                tres: Some(Index::new(usize::from(n) * names.len())),
            })
            .collect(),
        qos: (0..8)
            .map(|n| Qos {
                priority: n * 100,
                norm_priority: f64::from(n) / 7.0,
            })
            .collect(),
        assocs: (0..assocs)
            .map(|_| AssocFactors {
                fs_factor: unit(random.below(1001)),
                priority: 0,
                norm_priority: 0.0,
            })
            .collect(),
        tres_names: names.map(str::to_owned).into(),
        tres_counts: [640_000, 2_000_000_000, 0, 10_000, 640_000, 4_000].repeat(4),
        cluster_cpus: 640_000,
        cluster_nodes: 10_000,
        ..JobTables::default()
    }
}

/// A queue of jobs; their TRES counts are added to `tables`.
pub fn jobs(tables: &mut JobTables, count: usize) -> Vec<Job> {
    let mut random = Random::new(count as u64);
    (1..=count)
        .map(|id| {
            let nodes = 1 + random.below(64) as u32;
            let tres = tables.tres_counts.len();
            let (cpus, memory) = (u64::from(nodes) * 64, u64::from(nodes) * 200_000);
            let counts = [cpus, memory, 0, u64::from(nodes), cpus, random.below(5)];
            tables.tres_counts.extend(counts);
            Job {
                assoc: Some(AssocIndex::new(
                    random.below(tables.assocs.len() as u64) as usize
                )),
                partition: Some(Index::new(random.below(4) as usize)),
                qos: Some(Index::new(random.below(8) as usize)),
                accrue_time: NOW - random.below(1_000_000) as i64,
                cpus: nodes * 64,
                nodes,
                time_limit: TimeLimit::Minutes(60 + random.below(1000) as u32),
                tres: Some(Index::new(tres)),
                ..Job::new(id as u32)
            }
        })
        .collect()
}
