//! Instructions per unit of work, counted by valgrind's callgrind: the same on a busy machine.
//!
//! Each task is run once and twice, and the difference counted, so that building the site does not
//! matter. A count more than 10 % above the one recorded here fails; one as far below asks to be
//! recorded, with the reason in the commit. Recorded with rustc 1.95 on x86-64.

mod common;

use std::hint::black_box;
use std::process::{Command, ExitCode};

use common::Order;
use fairtree::compat::Compat;
use fairtree::fairshare::Ranking;
use fairtree::priority::{Priced, Pricer};

/// How far a count may be from what is recorded.
const TOLERANCE: f64 = 0.10;

/// A task, how many units of work it does, and the instructions recorded for each.
const TASKS: [(&str, f64, f64); 4] = [
    ("price_job", JOBS as f64, 170.7),
    ("price_job_with_tres", JOBS as f64, 242.7),
    ("rank_association", ASSOCS as f64, 855.2),
    ("follow_charge", CHARGES as f64, 12_269.0),
];

const JOBS: usize = 10_000;
const ASSOCS: usize = 10_000;
const CHARGES: usize = 100;

fn price(config: &fairtree::config::Config, times: usize) {
    let mut site = common::site(1000);
    let jobs = common::jobs(&mut site, JOBS);
    let mut priced = vec![Priced::default(); JOBS];
    let pricer = Pricer::new(config, &site, common::NOW).expect("a sound site");
    for _ in 0..times {
        pricer.price_all(black_box(&jobs), black_box(&mut priced));
    }
}

fn rank(times: usize) {
    let tree = common::tree(&common::rows(ASSOCS, Order::DepthFirst));
    let ledger = common::ledger(&tree);
    let mut ranking = Ranking::new(Compat::Documented, &tree, ledger.raw());
    for _ in 0..times {
        ranking.rebuild(&tree, black_box(ledger.raw()));
    }
}

/// Charges users and follows that.
fn follow(times: usize) {
    let tree = common::tree(&common::rows(ASSOCS, Order::DepthFirst));
    let mut ledger = common::ledger(&tree);
    let mut ranking = Ranking::new(Compat::Documented, &tree, ledger.raw());
    let users = common::some_users(&tree, 2 * CHARGES);
    for users in users.chunks(CHARGES).take(times) {
        for user in users {
            let charged = ledger.charge(&tree, *user, 1e5);
            charged.expect("a number from 0 up");
        }
        ranking.update(&tree, black_box(ledger.raw()), 1.0, users);
    }
}

fn run(task: &str, times: usize) {
    match task {
        "price_job" => price(&common::config(), times),
        "price_job_with_tres" => price(&common::config_tres(), times),
        "rank_association" => rank(times),
        "follow_charge" => follow(times),
        _ => panic!("no task {task}"),
    }
}

/// Instructions of this program doing `task` so many times.
fn count(task: &str, times: usize) -> Result<f64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", task, &times.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text
        .lines()
        .find_map(|line| line.split("Collected : ").nth(1));
    let count = line.and_then(|count| count.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind counted nothing:\n{text}"))
}

fn check(task: &str, units: f64, recorded: f64) -> Result<(), String> {
    let found = (count(task, 2)? - count(task, 1)?) / units;
    println!("{task}: {found:.1} instructions, {recorded:.1} recorded");
    if (found / recorded - 1.0).abs() <= TOLERANCE {
        Ok(())
    } else {
        Err(format!(
            "{task}: {found:.1} is more than 10 % off {recorded:.1}"
        ))
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, task, times] = &args[..] {
        if first == "run" {
            run(task, times.parse().expect("a number of times"));
            return ExitCode::SUCCESS;
        }
    }
    let mut code = ExitCode::SUCCESS;
    for (task, units, recorded) in TASKS {
        if let Err(error) = check(task, units, recorded) {
            eprintln!("{error}");
            code = ExitCode::FAILURE;
        }
    }
    code
}
