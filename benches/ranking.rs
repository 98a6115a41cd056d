//! Loading a tree, and ranking it from scratch.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::Order;
use criterion::{BatchSize, Criterion, Throughput};
use fairtree::compat::{Compat, Release};
use fairtree::fairshare::{LevelRanks, Ranking, compute};
use fairtree::usage::Ledger;

const SIZES: [(&str, usize); 4] = [
    ("assocs_1k", 1_000),
    ("assocs_10k", 10_000),
    ("assocs_100k", 100_000),
    ("assocs_1m", 1_000_000),
];

fn load(c: &mut Criterion) {
    let mut group = c.benchmark_group("load");
    group.sample_size(10);
    for (name, len) in SIZES {
        let rows = common::rows(len, Order::DepthFirst);
        group.throughput(Throughput::Elements(len as u64));
        group.bench_function(name, |b| {
            b.iter_batched(|| (), |()| common::tree(&rows), BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn from_scratch(c: &mut Criterion) {
    let mut group = c.benchmark_group("rank_from_scratch");
    group.sample_size(10);
    let slurm = Compat::Slurm(Release::V22_05_8);
    for (name, len) in SIZES {
        group.throughput(Throughput::Elements(len as u64));
        for (order_name, order) in [
            ("depth_first", Order::DepthFirst),
            ("shuffled", Order::Shuffled),
        ] {
            let tree = common::tree(&common::rows(len, order));
            let ledger = common::ledger(&tree);
            for (mode, compat) in [("documented", Compat::Documented), ("slurm", slurm)] {
                group.bench_function(format!("{name}/{order_name}/{mode}"), |b| {
                    b.iter_with_large_drop(|| {
                        compute(Ranking::FAIR_TREE, compat, &tree, black_box(ledger.raw()))
                    });
                });
            }
        }
    }
    group.finish();
}

/// Measures a kept ranking: from scratch, and after a pass in which all usage decayed and some
/// users were charged. The order of the rows matters little here.
fn following(c: &mut Criterion) {
    let slurm = Compat::Slurm(Release::V22_05_8);
    for (name, len) in SIZES {
        let tree = common::tree(&common::rows(len, Order::DepthFirst));
        for (mode, compat) in [("documented", Compat::Documented), ("slurm", slurm)] {
            let mut ledger = common::ledger(&tree);
            let mut ranking = LevelRanks::new(compat, &tree, ledger.raw());
            let mut group = c.benchmark_group("ranking");
            group.sample_size(10);
            group.bench_function(format!("{name}/{mode}/rebuild"), |b| {
                b.iter(|| ranking.rebuild(&tree, black_box(ledger.raw())));
            });
            for count in [0, 10, 100] {
                let users = common::some_users(&tree, count);
                let mut passes = 0;
                let mut changed = 0;
                group.bench_function(format!("{name}/{mode}/charged_{count}"), |b| {
                    let charge = |ledger: &mut Ledger| {
                        for user in &users {
                            let charged = ledger.charge(&tree, *user, 1e5);
                            charged.expect("a number from 0 up");
                        }
                    };
                    b.iter_custom(|passes_here| {
                        let mut spent = Duration::ZERO;
                        for _ in 0..passes_here {
                            ledger.decay(0.999);
                            charge(&mut ledger);
                            let start = Instant::now();
                            ranking.update(&tree, ledger.raw(), 0.999, &users);
                            spent += start.elapsed();
                            passes += 1;
                            changed += ranking.changed().len();
                        }
                        spent
                    });
                });
                println!("factors changed per pass: {}", changed / passes.max(1));
            }
            group.finish();
        }
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    load(&mut criterion);
    from_scratch(&mut criterion);
    following(&mut criterion);
    criterion.final_summary();
}
