//! `examples/c/cloud.c`: compiled with all warnings as C11 and C++17, and run directly, with
//! AddressSanitizer and with valgrind. The month is compared with the naive model below, which
//! keeps every run and counts again for each choice; the on-demand day is compared with numbers
//! computed by hand.

mod capi_common;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

use capi_common::{Library, run};

const CLOUD: &str = "examples/c/cloud.c";

const DAY: u64 = 24 * 60;
const WINDOW: u64 = 28 * DAY;

/// Computed by hand. X: job 1 ran 600 s successfully, job 2 was halted and then failed. N: jobs 4
/// and 5 belonged to the reservation of 1800 s, job 6 ran 100 s on demand. A microsecond costs 3, a
/// reserved second 1000: 600,000,000 * 3; and 100,000,000 * 3 + 1800 * 1000. Job 5 ends at 1300 +
/// 2000 s, then job 2 runs for 600 s, then job 6.
const ON_DEMAND: &str = "\
on demand
  ft_on_demand_submit: job: the limit of account 11 is reached: 2 on-demand jobs wait, 2 may
     0 s: run 1
   600 s: run 2
  1000 s: halt 2
  1000 s: run 4
  1300 s: run 5
  job 2 will start at 3300 s
  job 6 will start at 3900 s
  0 refused
  3000 s: busy
  3300 s: run 2
  3800 s: run 6
  3900 s: none waits
bills
  account 11, machine 0: executed 600000000 us, reserved 0 s, owes 1800000000
  account 16, machine 0: executed 100000000 us, reserved 1800 s, owes 301800000
";

/// Projects with their shares of the group.
type Projects = &'static [(u64, u64)];

/// Shares of the cloud in percent, and the projects with their shares of the group. By hand: Hub A
/// has 60 of 100, its Group 1 has 3 of 5, so 36; its Group 2 has 24; the two groups of Hub B have
/// 20 each.
const GROUPS: [(&str, u64, Projects); 4] = [
    ("A1", 36, &[(0, 1), (1, 2)]),
    ("A2", 24, &[(2, 1), (3, 1)]),
    ("B1", 20, &[(4, 1)]),
    ("B2", 20, &[(5, 1), (6, 3)]),
];

const MACHINES: [&str; 2] = ["ion", "transmon"];

/// A job's id is its age. All times are in minutes.
fn machine(job: u64) -> usize {
    (job / 7 % 2) as usize
}

fn expected(job: u64) -> u64 {
    match job % 5 {
        0 => 120,
        _ => 30 + job * 37 % 61,
    }
}

fn length(job: u64) -> u64 {
    20 + job * 53 % 71
}

#[derive(Clone, Default)]
struct Naive {
    waiting: BTreeSet<u64>,
    /// Job and start, by machine.
    running: [Option<(u64, u64)>; 2],
    /// Project, start and end of each run that counts.
    runs: Vec<(u64, u64, u64)>,
    now: u64,
}

impl Naive {
    /// Minutes in the window by project; running jobs up to now, or for their expected time.
    fn used(&self, ahead: bool) -> [u64; 7] {
        let edge = self.now.saturating_sub(WINDOW);
        let running = self.running.iter().flatten().map(|&(job, start)| {
            let expected = if ahead { expected(job) } else { 0 };
            (job % 7, start, self.now.max(start + expected))
        });
        let mut used = [0; 7];
        for (project, start, end) in self.runs.iter().copied().chain(running) {
            used[project as usize] += end.saturating_sub(start.max(edge));
        }
        used
    }

    /// The oldest job of the project with the lowest usage over shares, in the group with the
    /// lowest.
    fn choose(&self, at: usize, used: &[u64; 7]) -> Option<u64> {
        let compare = |a: &(u64, u64, u64), b: &(u64, u64, u64)| {
            let ratios: Ordering = (a.0 * b.1).cmp(&(b.0 * a.1));
            ratios.then(a.2.cmp(&b.2))
        };
        let oldest = |project: u64| {
            let mut jobs = self.waiting.iter().copied();
            jobs.find(|job| machine(*job) == at && job % 7 == project)
        };
        let groups = GROUPS.iter().filter_map(|(_, shares, projects)| {
            let sum = projects.iter().map(|(project, _)| used[*project as usize]);
            let candidates = projects.iter().filter_map(|&(project, shares)| {
                Some((used[project as usize], shares, oldest(project)?))
            });
            let job = candidates.min_by(compare)?.2;
            Some((sum.sum(), *shares, job))
        });
        Some(groups.min_by(compare)?.2)
    }

    fn start(&mut self, at: usize) -> Option<u64> {
        if self.running[at].is_some() {
            return None;
        }
        let job = self.choose(at, &self.used(true))?;
        self.waiting.remove(&job);
        self.running[at] = Some((job, self.now));
        Some(job)
    }

    /// Picks and charges job after job.
    fn positions(&self, at: usize) -> Vec<u64> {
        let (mut rest, mut used) = (self.clone(), self.used(true));
        let mut order = Vec::new();
        while let Some(job) = rest.choose(at, &used) {
            rest.waiting.remove(&job);
            used[(job % 7) as usize] += expected(job);
            order.push(job);
        }
        order
    }

    /// Runs a copy ahead as expected. A paused machine would run nothing; no report has one.
    fn estimates(&self, at: usize) -> Vec<(u64, u64)> {
        let mut future = self.clone();
        let mut starts = Vec::new();
        let mut ends = [0, 1].map(|other| {
            let running: Option<(u64, u64)> = self.running[other];
            running.map_or(0, |(job, start)| self.now.max(start + expected(job)))
        });
        while future.waiting.iter().any(|job| machine(*job) == at) {
            for (other, end) in ends.iter_mut().enumerate() {
                if let Some(job) = future.start(other) {
                    *end = future.now + expected(job);
                    if other == at {
                        starts.push((job, future.now - self.now));
                    }
                }
            }
            let busy = (0..2).filter(|other| future.running[*other].is_some());
            future.now = busy.map(|other| ends[other]).min().expect("one runs");
            for (other, end) in ends.iter().enumerate() {
                if let Some((job, start)) = future.running[other]
                    && *end == future.now
                {
                    future.running[other] = None;
                    future.runs.push((job % 7, start, future.now));
                }
            }
        }
        starts
    }

    fn report(&mut self) -> String {
        let mut text = format!("day {}\n", self.now / DAY);
        let (used, ahead) = (self.used(false), self.used(true));
        for (name, shares, projects) in GROUPS {
            let sum = |used: &[u64; 7]| -> u64 {
                projects
                    .iter()
                    .map(|project| used[project.0 as usize])
                    .sum()
            };
            // Two units over the whole window.
            let entitled = (2 * WINDOW * shares) as f64 / 100.0;
            let (used, ratio) = (sum(&used), sum(&ahead) as f64 / entitled);
            let _ = writeln!(
                text,
                "  {name} used {used} min, used over entitled {ratio:.6}"
            );
        }
        for (at, name) in MACHINES.iter().enumerate() {
            let (order, starts) = (self.positions(at), self.estimates(at));
            let (step, last) = (1 + order.len() / 4, order[order.len() - 1]);
            let _ = write!(text, "  {name}: {} wait, places", order.len());
            for job in order.iter().step_by(step) {
                let _ = write!(text, " {job}");
            }
            text += "\n   ";
            for (job, minutes) in starts.iter().step_by(step) {
                let proxy = if job % 5 == 0 { "maximum" } else { "expected" };
                let _ = write!(text, " {job} in {minutes} min ({proxy})");
            }
            let place = order.len() - 1;
            let _ = writeln!(text, "\n    job {last} at place {place} was cancelled");
            self.waiting.remove(&last);
        }
        text
    }
}

/// A month, minute by minute.
fn month() -> String {
    let (mut cloud, mut text) = (Naive::default(), String::new());
    let mut requeued = BTreeMap::new();
    for now in 0..=30 * DAY {
        cloud.now = now;
        for at in 0..2 {
            let Some((job, start)) = cloud.running[at] else {
                continue;
            };
            if start + length(job) != now {
                continue;
            }
            cloud.running[at] = None;
            if job % 25 == 24 && requeued.insert(job, ()).is_none() {
                cloud.waiting.insert(job);
            } else if job % 10 != 9 {
                cloud.runs.push((job % 7, start, now));
            }
        }
        if now % 20 == 0 && now / 20 < 30 * 72 {
            cloud.waiting.insert(now / 20);
        }
        for at in 0..2 {
            let paused = at == 1 && (10 * DAY..11 * DAY).contains(&now);
            if !paused {
                cloud.start(at);
            }
        }
        if now > 0 && (now % (7 * DAY) == 0 || now == 30 * DAY) {
            text += &cloud.report();
        }
    }
    text
}

fn assert_prints_what_is_expected(command: &mut Command) {
    let printed = String::from_utf8(run(command).stdout).expect("UTF-8");
    let wanted = month() + ON_DEMAND;
    for (number, (found, wanted)) in printed.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(found, wanted, "line {}", number + 1);
    }
    assert_eq!(printed, wanted);
}

#[test]
fn a_month_is_as_the_naive_model_has_it() {
    let library = Library::build();
    for standard in ["-std=c11", "-std=c++17"] {
        let program = library.compile(&[CLOUD], standard, &[]);
        assert_prints_what_is_expected(&mut library.command(program));
    }
}

#[test]
fn it_is_clean_under_address_sanitizer() {
    let (_library, mut command) = Library::sanitized(&[CLOUD], "-std=c11");
    assert_prints_what_is_expected(&mut command);
}

#[test]
fn it_is_clean_under_valgrind() {
    let library = Library::build();
    let program = library.compile(&[CLOUD], "-std=c11", &[]);
    assert_prints_what_is_expected(&mut library.valgrind(&program));
}
