//! The queue's choice, estimates, orders and their numbers.

#[allow(dead_code)] // Only a part of it is used.
#[path = "../tests/common/random.rs"]
mod random;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use fairtree::engine::queue::{NewJob, Next, Queue, SECOND, Settings};
use fairtree::order::{self, Entitled, Job, Level, Node, Number};
use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
use fairtree::usage::EndState;
use random::Random;

const MACHINES: [&str; 4] = ["m1", "m2", "m3", "m4"];

/// Ten hubs with ten groups each, and `projects` projects in the groups.
fn tree(projects: usize) -> (Tree, Vec<u32>) {
    let mut random = Random::new(projects as u64);
    let mut rows = Vec::new();
    let mut add = |parent| {
        rows.push(Assoc {
            id: rows.len() as u32 + 1,
            parent,
            kind: AssocKind::Account,
            shares: Shares::Raw(1 + random.below(1_000) as u32),
        });
        rows.len() as u32
    };
    let root = add(None);
    let groups: Vec<u32> = (0..10)
        .flat_map(|_| {
            let hub = add(Some(root));
            (0..10).map(|_| add(Some(hub))).collect::<Vec<u32>>()
        })
        .collect();
    let projects = (0..projects)
        .map(|nth| add(Some(groups[nth % groups.len()])))
        .collect();
    (Tree::from_rows(rows).expect("a tree"), projects)
}

/// A queue with past runs and `waiting` jobs, of a tenth as many projects.
struct BusyQueue {
    queue: Queue,
    projects: Vec<u32>,
    random: Random,
    jobs: u64,
    now: i64,
    running: Vec<(u64, i64)>,
}

impl BusyQueue {
    fn new(waiting: usize, level: Level) -> BusyQueue {
        let (tree, projects) = tree(waiting / 10);
        let settings = Settings {
            level,
            ..Settings::default()
        };
        let mut queue = Queue::new(&tree, settings, 0).expect("settings");
        for machine in MACHINES {
            queue.add_machine(machine, 1).expect("a machine");
        }
        let mut busy = BusyQueue {
            queue,
            projects,
            random: Random::new(7),
            jobs: 0,
            now: 0,
            running: Vec::new(),
        };
        for _ in 0..waiting {
            busy.add();
        }
        // Enough turns for runs to leave the window.
        for _ in 0..20_000 {
            busy.turn();
        }
        busy
    }

    fn add(&mut self) {
        self.jobs += 1;
        let project = self.random.below(self.projects.len() as u64) as usize;
        let added = self.queue.add(&NewJob {
            id: self.jobs,
            assoc: self.projects[project],
            machine: MACHINES[(self.jobs % 4) as usize],
            submit: self.jobs as i64,
            nice: 0,
            expected: Some(300 * SECOND as u64 + self.random.below(1_200_000_000)),
            limit: None,
            rate: 1,
        });
        added.expect("a project");
    }

    /// A machine becomes idle, asks for a job and starts it; one new job is submitted. Returns the
    /// time of asking, and the time of everything except the submission.
    fn turn(&mut self) -> (Duration, Duration) {
        let machine = MACHINES[self.random.below(4) as usize];
        self.now += 300 * SECOND;
        let begin = Instant::now();
        let mut asked = begin;
        let mut next = self.queue.next(machine, self.now).expect("a machine");
        if let Next::Nothing(_) = next {
            let ran = self
                .running
                .iter()
                .position(|(job, _)| job % 4 == machine_number(machine));
            let (job, start) = self.running.swap_remove(ran.expect("a job runs there"));
            let length = self.now - start;
            let ended = self
                .queue
                .finish(job, EndState::Completed, 0, length, self.now);
            ended.expect("it runs");
            asked = Instant::now();
            next = self.queue.next(machine, self.now).expect("a machine");
        }
        let told = Instant::now();
        let Next::Job(job) = next else {
            panic!("jobs wait for every machine")
        };
        self.queue.start(job, self.now).expect("it is idle");
        let spent = begin.elapsed();
        self.running.push((job, self.now));
        self.add();
        (told - asked, spent)
    }
}

fn machine_number(machine: &str) -> u64 {
    MACHINES
        .iter()
        .position(|name| *name == machine)
        .expect("a machine") as u64
}

fn quantiles(name: &str, mut turns: Vec<Duration>) {
    turns.sort_unstable();
    let at = |part: f64| turns[((turns.len() - 1) as f64 * part) as usize].as_nanos() as f64 / 1e3;
    let mean = turns.iter().sum::<Duration>().as_nanos() as f64 / 1e3 / turns.len() as f64;
    println!(
        "{name}: median {:.1} us, p99 {:.1} us, p99.9 {:.1} us, most {:.1} us, mean {mean:.1} us",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}

fn next(c: &mut Criterion) {
    let mut group = c.benchmark_group("queue");
    group.sample_size(10);
    for (name, waiting) in [("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000)] {
        for (level, depth) in [("groups", Level::Depth(2)), ("leaf", Level::Leaf)] {
            let mut busy = BusyQueue::new(waiting, depth);
            let turns = (0..20_000).map(|_| busy.turn());
            let (asked, all): (Vec<_>, Vec<_>) = turns.unzip();
            let full = format!("waiting_{name}/{level}");
            quantiles(&format!("next/{full}"), asked);
            quantiles(&format!("end_next_start/{full}"), all);
            group.bench_function(format!("end_next_start/{full}"), |b| {
                b.iter_custom(|turns| (0..turns).map(|_| busy.turn().1).sum());
            });
        }
    }
    group.finish();
}

fn estimates(c: &mut Criterion) {
    let mut group = c.benchmark_group("queue");
    group.sample_size(10);
    for (name, waiting) in [("1k", 1_000), ("10k", 10_000)] {
        let mut busy = BusyQueue::new(waiting, Level::Depth(2));
        group.bench_function(format!("positions/waiting_{name}"), |b| {
            b.iter(|| black_box(busy.queue.positions("m1").expect("a machine")));
        });
        group.bench_function(format!("estimate/waiting_{name}"), |b| {
            // Estimates of one of four machines, while all four run.
            b.iter(|| black_box(busy.queue.estimate("m1", busy.now).expect("a machine")));
        });
    }
    group.finish();
}

fn orders(c: &mut Criterion) {
    let mut group = c.benchmark_group("order");
    group.sample_size(10);
    for (name, count) in [("10k", 10_000), ("1m", 1_000_000)] {
        let mut random = Random::new(3);
        let mut nodes: Vec<Node> = Vec::new();
        for at in 0..110 + count / 10 {
            let parent = match at {
                0..10 => None,
                10..110 => Some(at as u32 % 10),
                _ => Some(10 + random.below(100) as u32),
            };
            nodes.push(Node {
                parent,
                used: random.below(1 << 40).into(),
                entitled: Entitled::whole(1 << 50).part(1 + random.below(1_000), 5_000),
            });
        }
        let jobs: Vec<Job> = (0..count)
            .map(|id| Job {
                node: 110 + random.below(count as u64 / 10) as u32,
                id: id as u64,
                submit: random.below(1_000_000) as i64,
                expected: random.below(1 << 30).into(),
                ..Job::default()
            })
            .collect();
        group.throughput(Throughput::Elements(count as u64));
        for (kind, level) in [("groups", Level::Depth(2)), ("leaf", Level::Leaf)] {
            group.bench_function(format!("interleaved/jobs_{name}/{kind}"), |b| {
                b.iter(|| order::interleaved(&nodes, level, black_box(&jobs)));
            });
        }
        group.bench_function(format!("strict/jobs_{name}/groups"), |b| {
            b.iter(|| order::strict(&nodes, Level::Depth(2), black_box(&jobs)));
        });
        numbers(&mut group, name, count, &mut random);
    }
    group.finish();
}

fn numbers(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    name: &str,
    count: usize,
    random: &mut Random,
) {
    let mut order = vec![Number::Free(0); count];
    let changes = order::renumber(&order);
    for change in changes {
        order[change.place as usize] = Number::Free(change.number);
    }
    group.bench_function(format!("renumber/jobs_{name}/nothing_moved"), |b| {
        b.iter(|| order::renumber(black_box(&order)));
    });
    for _ in 0..count / 100 {
        let (from, to) = (random.below(count as u64), random.below(count as u64));
        order.swap(from as usize, to as usize);
    }
    group.bench_function(format!("renumber/jobs_{name}/one_in_50_moved"), |b| {
        b.iter(|| order::renumber(black_box(&order)));
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    next(&mut criterion);
    estimates(&mut criterion);
    orders(&mut criterion);
    criterion.final_summary();
}
