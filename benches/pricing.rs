//! Pricing a queue, beside copying the same bytes: the jobs read, the prices written.

mod common;

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use fairtree::priority::{Priced, Pricer};

const SIZES: [(&str, usize); 4] = [
    ("jobs_10k", 10_000),
    ("jobs_100k", 100_000),
    ("jobs_1m", 1_000_000),
    ("jobs_4m", 4_000_000),
];

fn pricing(c: &mut Criterion) {
    let mut group = c.benchmark_group("price");
    group.sample_size(10);
    for (name, count) in SIZES {
        group.throughput(Throughput::Elements(count as u64));
        let mut site = common::site(100_000);
        let jobs = common::jobs(&mut site, count);
        let mut priced = vec![Priced::default(); count];
        for (mode, config) in [
            ("all_weights", common::config()),
            ("with_tres", common::config_tres()),
        ] {
            let pricer = Pricer::new(&config, &site, common::NOW).expect("a sound site");
            group.bench_function(format!("{name}/{mode}"), |b| {
                b.iter(|| pricer.price_all(black_box(&jobs), black_box(&mut priced)));
            });
        }
        let (from, mut to) = (jobs.clone(), jobs.clone());
        group.bench_function(format!("{name}/copy_jobs"), |b| {
            b.iter(|| black_box(&mut to).copy_from_slice(black_box(&from)));
        });
        let from = priced.clone();
        group.bench_function(format!("{name}/copy_prices"), |b| {
            b.iter(|| black_box(&mut priced).copy_from_slice(black_box(&from)));
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    pricing(&mut criterion);
    criterion.final_summary();
}
