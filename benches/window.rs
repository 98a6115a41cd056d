//! The window ledger: charging, rolling the window over, saving and loading.
//!
//! `charge`: a pass over running jobs of random leaves, five minutes each. `roll`: an hour passes
//! for 500 active leaves, with a rest of the tree of any size. `file`: a month of jobs, one after
//! the other, in 5 % of the leaves.

mod common;

use std::time::{Duration, Instant};

use common::{Order, random::Random};
use criterion::{Criterion, Throughput};
use fairtree::tree::{AssocIndex, AssocKind, Tree};
use fairtree::usage::window::{
    Columns, LeafKey, LedgerRun, Rate, UsageHistory, Window, WindowLedger,
};

const SIZES: [(&str, usize); 3] = [
    ("assocs_1k", 1_000),
    ("assocs_100k", 100_000),
    ("assocs_1m", 1_000_000),
];

const DAY: i64 = 86_400;
const JOBS: usize = 100_000;
const ACTIVE: usize = 500;

fn columns() -> Columns {
    Columns::new(["cpu", "mem", "node", "gres/gpu"]).expect("names")
}

fn rates() -> Vec<Rate> {
    let rate = |cpus: u64| {
        let counts = [(0, cpus), (1, cpus * 4000), (2, 1)];
        columns().rate(cpus as f64, 1.0, &counts).expect("a rate")
    };
    (1..=64).map(rate).collect()
}

fn ledger(tree: &Tree, now: i64) -> WindowLedger {
    let window = Window::new(28 * DAY as u64, 3600).expect("a window");
    let keep_secs = 30 * DAY as u64;
    WindowLedger::new(tree, window, keep_secs, columns(), "bench", now).expect("a ledger")
}

fn users(tree: &Tree) -> Vec<AssocIndex> {
    let is_user = |index: &AssocIndex| tree.rows()[index.get()].kind == AssocKind::User;
    tree.indices().filter(is_user).collect()
}

fn tree(len: usize) -> Tree {
    common::tree(&common::rows(len, Order::DepthFirst))
}

fn charge(c: &mut Criterion) {
    let mut group = c.benchmark_group("window_charge");
    group.sample_size(10);
    group.throughput(Throughput::Elements(JOBS as u64));
    for (name, len) in SIZES {
        let tree = tree(len);
        let (users, rates) = (users(&tree), rates());
        let mut random = Random::new(1);
        let mut below = |limit: usize| random.below(limit as u64) as usize;
        let jobs: Vec<_> = (0..JOBS)
            .map(|_| (users[below(users.len())], below(rates.len())))
            .collect();
        let mut ledger = ledger(&tree, common::NOW);
        group.bench_function(name, |b| {
            b.iter_custom(|passes| {
                let mut spent = Duration::ZERO;
                for _ in 0..passes {
                    let from = ledger.now();
                    ledger.advance(&tree, from + 300).expect("a moment");
                    let start = Instant::now();
                    for (job, (user, rate)) in jobs.iter().enumerate() {
                        let run = LedgerRun {
                            job: job as u32,
                            run: 0,
                        };
                        let charged =
                            ledger.charge(&tree, *user, run, from, from + 300, &rates[*rate]);
                        charged.expect("a charge");
                    }
                    spent += start.elapsed();
                }
                spent
            });
        });
    }
    group.finish();
}

fn roll(c: &mut Criterion) {
    let mut group = c.benchmark_group("window_roll");
    group.sample_size(10);
    for (name, len) in SIZES {
        let tree = tree(len);
        let users = users(&tree);
        let rate = &rates()[2];
        let mut ledger = ledger(&tree, common::NOW);
        let mut hour = 0;
        group.bench_function(format!("{name}/active_{ACTIVE}"), |b| {
            b.iter_custom(|hours| {
                let mut spent = Duration::ZERO;
                for _ in 0..hours {
                    // The periods vary, so that none is a part of the previous one.
                    let from = ledger.now();
                    hour += 1;
                    let start = Instant::now();
                    ledger.advance(&tree, from + 3600).expect("a moment");
                    spent += start.elapsed();
                    for at in 0..ACTIVE {
                        let user = users[at * (users.len() / ACTIVE).max(1) % users.len()];
                        let to = from + 3600 - (at as i64 + hour) % 50;
                        let charged = ledger.charge_interval(&tree, user, from, to, rate);
                        charged.expect("a charge");
                    }
                }
                spent
            });
        });
    }
    group.finish();
}

fn file(c: &mut Criterion) {
    let mut group = c.benchmark_group("window_file");
    group.sample_size(10);
    for (name, len) in SIZES {
        let tree = tree(len);
        let (users, rates) = (users(&tree), rates());
        let mut random = Random::new(2);
        let mut ledger = ledger(&tree, common::NOW);
        for user in users.iter().step_by(20) {
            let mut at = common::NOW - 30 * DAY + random.below(DAY as u64) as i64;
            while at < common::NOW {
                let to = at + 600 + random.below(12 * 3600) as i64;
                let rate = &rates[random.below(64) as usize];
                let charged = ledger.charge_interval(&tree, *user, at, to.min(common::NOW), rate);
                charged.expect("a charge");
                at = to + random.below(12 * 3600) as i64;
            }
        }
        let key = |index: AssocIndex| {
            let user = format!("user{}", index.get());
            LeafKey::new("account", &user, "").expect("a name")
        };
        let bytes = ledger.save(key).expect("names");
        println!("{name}: {} bytes saved", bytes.len());
        group.bench_function(format!("{name}/save"), |b| {
            b.iter_with_large_drop(|| ledger.save(key).expect("names"));
        });
        let place = |key: &LeafKey| key.user()[4..].parse().ok().map(AssocIndex::new);
        group.bench_function(format!("{name}/load"), |b| {
            b.iter_with_large_drop(|| {
                let history = UsageHistory::load(&bytes).expect("a history");
                let mut ledger = self::ledger(&tree, common::NOW);
                ledger.restore(&tree, history, place).expect("a ledger");
                ledger
            });
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    charge(&mut criterion);
    roll(&mut criterion);
    file(&mut criterion);
    criterion.final_summary();
}
