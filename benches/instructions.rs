//! Instructions per unit of work, counted by valgrind's callgrind: the same on a busy machine.
//!
//! Each task runs once and twice, and the difference is counted, so that building the site does not
//! matter. Counts are recorded in `instructions.txt`. A count that differs from its record by more
//! than 10 % fails: more is a regression; less must be recorded, with the reason in the commit:
//! `UPDATE_COUNTS=1 cargo bench --package fairtree-figures --bench instructions`. A different
//! compiler makes different instructions of the same program; then only a count that is 25 % too
//! high fails.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use common::Order;
use common::random::Random;
use fairtree::compat::Compat;
use fairtree::fairshare::{Ranking, compute};
use fairtree::order::{Entitled, Forest, Job, JobLine, Level, Node, Placed};
use fairtree::priority::{Priced, Pricer};
use fairtree::usage::window::{Columns, LedgerRun, Window, WindowLedger};

/// Allowed relative difference of a count from its record.
const TOLERANCE: f64 = 0.10;

/// Allowed relative increase with a different compiler.
const OTHER_COMPILER: f64 = 0.25;

/// The tasks, with the number of units of work in each.
const TASKS: [(&str, usize); 7] = [
    ("price_job", JOBS),
    ("price_job_with_tres", JOBS),
    ("load_association", ASSOCS),
    ("rank_association", ASSOCS),
    ("window_charge", ASSOCS),
    ("strict_job", JOBS),
    ("interleaved_job", JOBS),
];

const JOBS: usize = 10_000;
const ASSOCS: usize = 10_000;

fn price(config: &fairtree::config::Config, times: usize) {
    let mut tables = common::tables(1000);
    let jobs = common::jobs(&mut tables, JOBS);
    let mut priced = vec![Priced::default(); JOBS];
    let pricer = Pricer::new(config, &tables, common::NOW).expect("sound tables");
    for _ in 0..times {
        pricer.price_all(black_box(&jobs), black_box(&mut priced));
    }
}

fn load(times: usize) {
    let rows = common::rows(ASSOCS, Order::DepthFirst);
    for _ in 0..times {
        black_box(common::tree(black_box(&rows)));
    }
}

fn rank(times: usize) {
    let tree = common::tree(&common::rows(ASSOCS, Order::DepthFirst));
    let ledger = common::raw_usage(&tree);
    for _ in 0..times {
        let raw = black_box(ledger.raw());
        black_box(compute(Ranking::FAIR_TREE, Compat::Documented, &tree, raw));
    }
}

/// Charges five minutes of a running job to each user of a window ledger.
fn charge_window(times: usize) {
    let tree = common::tree(&common::rows(ASSOCS, Order::DepthFirst));
    let users = common::some_users(&tree, ASSOCS);
    let window = Window::new(28 * 86_400, 3600).expect("a window");
    let columns = Columns::new(["cpu", "mem", "node", "gres/gpu"]).expect("names");
    let rate = columns.rate(4.0, 1.0, &[(0, 4), (2, 16_000), (3, 1)]);
    let rate = rate.expect("a rate");
    let ledger = WindowLedger::new(&tree, window, 28 * 86_400, columns, "bench", common::NOW);
    let mut ledger = ledger.expect("a ledger");
    for _ in 0..times {
        let from = ledger.now();
        ledger.advance(&tree, from + 300).expect("a moment");
        for (job, user) in users.iter().enumerate() {
            let run = LedgerRun {
                job: job as u32,
                run: 0,
            };
            let charged = ledger.charge(&tree, *user, run, from, from + 300, &rate);
            charged.expect("a charge");
        }
    }
}

/// Changes the order of ordered jobs after their nodes have used more: 20 accounts of 50 users.
fn order(interleaves: bool, times: usize) {
    let mut random = Random::new(7);
    let mut nodes = Vec::new();
    let mut users = Vec::new();
    for _ in 0..20 {
        let account = nodes.len() as u32;
        let entitled = Entitled::whole(u128::from(1 + random.below(1000)) << 40);
        let node = |parent, entitled| Node {
            parent,
            used: 0,
            entitled,
        };
        nodes.push(node(None, entitled));
        for _ in 0..50 {
            users.push((nodes.len() as u32, account));
            nodes.push(node(Some(account), entitled.part(1, 50)));
        }
    }
    let mut used = vec![0_u128; nodes.len()];
    let use_some = |used: &mut [u128], random: &mut Random| {
        for (user, account) in &users {
            let more = u128::from(random.below(1 << 30));
            used[*user as usize] += more;
            used[*account as usize] += more;
        }
    };
    use_some(&mut used, &mut random);
    let rows = (0..JOBS as u64).map(|id| Placed {
        job: Job {
            node: users[random.below(1000) as usize].0,
            submit: random.below(1 << 20) as i64,
            id,
            expected: u128::from(1 + random.below(1 << 30)),
            ..Job::default()
        },
        number: 0,
    });
    let mut jobs: Vec<Placed> = rows.collect();
    let forest = Arc::new(Forest::new(&nodes, Level::Depth(1)).expect("a forest"));
    for _ in 0..=times {
        let ordered = JobLine::ordered(
            &forest,
            used.clone(),
            interleaves,
            black_box(&jobs),
            BTreeSet::new(),
        );
        let (_, numbers) = ordered.expect("known nodes");
        for (placed, number) in jobs.iter_mut().zip(numbers) {
            placed.number = number;
        }
        use_some(&mut used, &mut random);
    }
}

fn run(task: &str, times: usize) {
    match task {
        "price_job" => price(&common::config(), times),
        "price_job_with_tres" => price(&common::config_tres(), times),
        "load_association" => load(times),
        "rank_association" => rank(times),
        "window_charge" => charge_window(times),
        "strict_job" => order(false, times),
        "interleaved_job" => order(true, times),
        _ => panic!("no task {task}"),
    }
}

/// Instructions of this program for `times` runs of `task`.
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

/// The content of `instructions.txt`: the compiler, and a count per task.
#[derive(Debug, PartialEq)]
struct Record {
    compiler: String,
    counts: Vec<(String, f64)>,
}

impl Record {
    fn file() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../instructions.txt")
    }

    fn parse(text: &str) -> Option<Record> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let compiler = lines.next()?.to_owned();
        let count = |line: &str| {
            let (task, count) = line.split_once(' ')?;
            Some((task.to_owned(), count.trim().parse().ok()?))
        };
        let counts = lines.map(count).collect::<Option<_>>()?;
        Some(Record { compiler, counts })
    }

    fn render(&self) -> String {
        let mut text = String::from(
            "# Instructions per unit of work, see instructions.rs; renewed by\n\
             # UPDATE_COUNTS=1 cargo bench --package fairtree-figures --bench instructions\n",
        );
        text.push_str(&self.compiler);
        text.push('\n');
        for (task, count) in &self.counts {
            text.push_str(&format!("{task} {count:.1}\n"));
        }
        text
    }

    fn of(&self, task: &str) -> Option<f64> {
        let mut counts = self.counts.iter();
        counts
            .find(|(known, _)| known == task)
            .map(|(_, count)| *count)
    }
}

/// Compiler and processor without the patch version: `rustc 1.95 x86_64`.
fn compiler() -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let output = output.map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let minor = text
        .rsplit_once('.')
        .map_or(text.as_str(), |(minor, _)| minor);
    Ok(format!("{minor} {}", std::env::consts::ARCH))
}

fn measure() -> Result<Record, String> {
    let counts = TASKS.map(|(task, units)| {
        let found = (count(task, 2)? - count(task, 1)?) / units as f64;
        Ok((task.to_owned(), found))
    });
    Ok(Record {
        compiler: compiler()?,
        counts: counts.into_iter().collect::<Result<_, String>>()?,
    })
}

fn check(found: &Record, recorded: &Record) -> Result<(), String> {
    let same = found.compiler == recorded.compiler;
    if !same {
        let Record { compiler, .. } = recorded;
        println!("recorded with {compiler}, this is {}", found.compiler);
    }
    let (above, below) = match same {
        true => (TOLERANCE, -TOLERANCE),
        false => (OTHER_COMPILER, f64::NEG_INFINITY),
    };
    let mut errors = String::new();
    for (task, count) in &found.counts {
        let then = recorded
            .of(task)
            .ok_or_else(|| format!("{task}: no record"))?;
        println!("{task}: {count:.1} instructions, {then:.1} recorded");
        let change = count / then - 1.0;
        if change > above || change < below {
            let percent = change * 100.0;
            errors.push_str(&format!("{task}: {percent:+.1} % against its record\n"));
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

fn check_or_record() -> Result<(), String> {
    let found = measure()?;
    let file = Record::file();
    let failed = |error| format!("{}: {error}", file.display());
    if std::env::var_os("UPDATE_COUNTS").is_some() {
        print!("{}", found.render());
        return fs::write(&file, found.render()).map_err(failed);
    }
    let text = fs::read_to_string(&file).map_err(failed)?;
    let recorded = Record::parse(&text).ok_or_else(|| format!("{}: no records", file.display()))?;
    check(&found, &recorded)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, task, times] = &args[..] {
        if first == "run" {
            run(task, times.parse().expect("a number of times"));
            return ExitCode::SUCCESS;
        }
    }
    match check_or_record() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error.trim_end());
            ExitCode::FAILURE
        }
    }
}
