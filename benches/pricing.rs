//! Pricing a queue, compared with copying the same bytes: jobs read, prices written.

mod common;

use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, Throughput};
use fairtree::config::Config;
use fairtree::priority::{Job, JobTables, Priced, Pricer};

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
        let mut tables = common::tables(100_000);
        let jobs = common::jobs(&mut tables, count);
        let mut priced = vec![Priced::default(); count];
        for (mode, config) in modes() {
            let pricer = Pricer::new(&config, &tables, common::NOW).expect("sound tables");
            group.bench_function(format!("{name}/{mode}"), |b| {
                b.iter(|| pricer.price_all(black_box(&jobs), black_box(&mut priced)));
            });
        }
        let mut copies = (jobs.clone(), priced.clone());
        group.bench_function(format!("{name}/copy"), |b| {
            b.iter(|| copy((&jobs, &priced), black_box(&mut copies)));
        });
        print_ratios(name, &tables, &jobs, &mut priced, &mut copies);
    }
    group.finish();
}

/// Copies the bytes that pricing reads and writes.
fn copy((jobs, priced): (&[Job], &[Priced]), copies: &mut (Vec<Job>, Vec<Priced>)) {
    copies.0.copy_from_slice(black_box(jobs));
    copies.1.copy_from_slice(black_box(priced));
}

/// Prices and copies in turns, so that other load on the machine slows both, and prints the median
/// of the ratios.
fn print_ratios(
    name: &str,
    tables: &JobTables,
    jobs: &[Job],
    priced: &mut [Priced],
    copies: &mut (Vec<Job>, Vec<Priced>),
) {
    const TURNS: usize = 21;
    for (mode, config) in modes() {
        let pricer = Pricer::new(&config, tables, common::NOW).expect("sound tables");
        let mut ratios: Vec<f64> = (0..TURNS)
            .map(|_| {
                let start = Instant::now();
                pricer.price_all(black_box(jobs), black_box(priced));
                let pricing = start.elapsed();
                let start = Instant::now();
                copy((jobs, priced), black_box(copies));
                pricing.as_secs_f64() / start.elapsed().as_secs_f64()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "price/{name}/{mode}: {:.2} x copy (median)",
            ratios[TURNS / 2]
        );
    }
}

fn modes() -> [(&'static str, Config); 2] {
    [
        ("all_weights", common::config()),
        ("with_tres", common::config_tres()),
    ]
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    pricing(&mut criterion);
    criterion.final_summary();
}
