//! Figures of a ranking that is kept from pass to pass, for `cargo testbed bench`: one line of
//! `name=value` words, medians of the thread's processor time. Also the gain from several threads:
//! medians of the time until the work was done.
//!
//! `cargo run --release -p fairtree-figures -- ASSOCS`

#[path = "../../common/mod.rs"]
mod common;

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use common::Order;
use fairtree::compat::Compat;
use fairtree::fairshare::{self, LevelRanks, Ranking};
use fairtree::parallel::Threads;
use fairtree::priority::{Priced, Pricer};
use fairtree::tree::Tree;
use fairtree::usage::Ledger;
use nix::time::{ClockId, clock_gettime};

const TURNS: usize = 21;

/// Milliseconds that this thread has been on a processor.
fn cpu_millis() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a clock that Linux has");
    time.tv_sec() as f64 * 1e3 + time.tv_nsec() as f64 / 1e6
}

fn median(mut turns: Vec<f64>) -> f64 {
    turns.sort_by(f64::total_cmp);
    turns[turns.len() / 2]
}

fn scratch(ranking: &mut LevelRanks, tree: &Tree, ledger: &Ledger) -> f64 {
    let turn = |_| {
        let before = cpu_millis();
        ranking.rebuild(tree, black_box(ledger.raw()));
        cpu_millis() - before
    };
    median((0..TURNS / 4).map(turn).collect())
}

/// Decays all usage, charges some users, and updates ranks: counts only the update.
fn following(ranking: &mut LevelRanks, tree: &Tree, ledger: &mut Ledger, charged: usize) -> f64 {
    let users = common::some_users(tree, charged);
    let mut pass = || {
        ledger.decay(0.999);
        for user in &users {
            ledger.charge(tree, *user, 1e5).expect("a number from 0 up");
        }
        let before = cpu_millis();
        ranking.update(tree, ledger.raw(), 0.999, &users);
        cpu_millis() - before
    };
    pass();
    median((0..TURNS).map(|_| pass()).collect())
}

/// Milliseconds of several turns of `work`.
fn elapsed(mut work: impl FnMut()) -> f64 {
    let turn = |_| {
        let before = Instant::now();
        work();
        before.elapsed().as_secs_f64() * 1e3
    };
    median((0..TURNS / 3).map(turn).collect())
}

/// Compares one thread with one thread per processor.
fn shared(tree: &Tree, ledger: &Ledger) {
    const JOBS: usize = 1_000_000;
    let count = thread::available_parallelism().expect("a number of processors");
    let threads = Threads::new(count).expect("as many threads");
    let (ranking, compat) = (Ranking::FAIR_TREE, Compat::Documented);
    let alone = elapsed(|| drop(fairshare::compute(ranking, compat, tree, ledger.raw())));
    let with = elapsed(|| drop(threads.fairshare(ranking, compat, tree, ledger.raw())));
    print!(" threads={count} factors_alone_ms={alone:.4} factors_shared_ms={with:.4}");
    let (config, mut tables) = (common::config(), common::tables(tree.len()));
    let jobs = common::jobs(&mut tables, JOBS);
    let pricer = Pricer::new(&config, &tables, common::NOW).expect("sound tables");
    let mut priced = vec![Priced::default(); JOBS];
    let alone = elapsed(|| pricer.price_all(&jobs, &mut priced));
    let with = elapsed(|| threads.price_all(&pricer, &jobs, &mut priced));
    print!(" prices_alone_ms={alone:.4} prices_shared_ms={with:.4}");
}

fn main() {
    let number = std::env::args().filter_map(|word| word.parse().ok()).next();
    let assocs = number.unwrap_or(100_000);
    let tree = common::tree(&common::rows(assocs, Order::DepthFirst));
    let mut ledger = common::ledger(&tree);
    let mut ranking = LevelRanks::new(Compat::Documented, &tree, ledger.raw());
    print!("scratch_ms={:.4}", scratch(&mut ranking, &tree, &ledger));
    for charged in [0, 10, 100] {
        let millis = following(&mut ranking, &tree, &mut ledger, charged);
        print!(" charged_{charged}_ms={millis:.4}");
    }
    shared(&tree, &ledger);
    println!();
}
