//! Loading a tree, and ranking it from scratch.

mod common;

use std::hint::black_box;

use common::Order;
use criterion::{BatchSize, Criterion, Throughput};
use fairtree::compat::{Compat, Release};
use fairtree::fairshare::{Ranking, compute};

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
            let ledger = common::raw_usage(&tree);
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

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    load(&mut criterion);
    from_scratch(&mut criterion);
    criterion.final_summary();
}
