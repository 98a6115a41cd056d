//! A ranking that is kept from pass to pass, in figures for `cargo xtask bench`: one line of
//! `name=value` words, medians of the time that the thread was on a processor.
//!
//! `cargo bench --bench figures -- ASSOCS`

mod common;

use std::fs;
use std::hint::black_box;

use common::Order;
use fairtree::compat::Compat;
use fairtree::fairshare::Ranking;
use fairtree::tree::Tree;
use fairtree::usage::Ledger;

const TURNS: usize = 21;

/// Milliseconds that this thread has been on a processor.
fn cpu_millis() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux kernel's account");
    let nanos = text.split(' ').next().and_then(|word| word.parse().ok());
    nanos.map_or(f64::NAN, |nanos: f64| nanos / 1e6)
}

fn median(mut turns: Vec<f64>) -> f64 {
    turns.sort_by(f64::total_cmp);
    turns[turns.len() / 2]
}

fn scratch(ranking: &mut Ranking, tree: &Tree, ledger: &Ledger) -> f64 {
    let turn = |_| {
        let before = cpu_millis();
        ranking.rebuild(tree, black_box(ledger.raw()));
        cpu_millis() - before
    };
    median((0..TURNS / 4).map(turn).collect())
}

/// All usage fades, some users are charged, and ranks follow: only the last is counted. So many
/// passes are counted together that what counting takes does not matter.
fn following(ranking: &mut Ranking, tree: &Tree, ledger: &mut Ledger, charged: usize) -> f64 {
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

fn main() {
    let number = std::env::args().filter_map(|word| word.parse().ok()).next();
    let assocs = number.unwrap_or(100_000);
    let tree = common::tree(&common::rows(assocs, Order::DepthFirst));
    let mut ledger = common::ledger(&tree);
    let mut ranking = Ranking::new(Compat::Documented, &tree, ledger.raw());
    print!("scratch_ms={:.4}", scratch(&mut ranking, &tree, &ledger));
    for charged in [0, 10, 100] {
        let millis = following(&mut ranking, &tree, &mut ledger, charged);
        print!(" charged_{charged}_ms={millis:.4}");
    }
    println!();
}
