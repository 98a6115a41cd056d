//! The definition: everything is summed, compared and sorted each time.

use std::collections::BTreeMap;

use fairtree::engine::queue::{AccountRule, Choice, Counted, NewJob, Settings};
use fairtree::order::Level;
use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
use fairtree::usage::EndState;
use num_bigint::BigInt;
use num_rational::BigRational;

#[derive(Clone)]
struct Job {
    id: u64,
    assoc: u32,
    machine: String,
    submit: i64,
    nice: i64,
    expected: i64,
    rate: i64,
    started: Option<i64>,
}

#[derive(Clone)]
struct Run {
    /// The association that competed for the job when it ended.
    assoc: u32,
    start: i64,
    end: i64,
    rate: i64,
}

#[derive(Clone)]
pub struct Naive {
    pub rows: BTreeMap<u32, Assoc>,
    pub settings: Settings,
    pub bindings: BTreeMap<u32, Vec<&'static str>>,
    pub default_limit: Option<u64>,
    jobs: Vec<Job>,
    runs: Vec<Run>,
}

type Key = (u8, BigRational);

fn number(number: impl Into<BigInt>) -> BigRational {
    BigRational::from(number.into())
}

impl Naive {
    pub fn new(tree: &Tree, settings: &Settings) -> Naive {
        Naive {
            rows: tree.rows().iter().map(|row| (row.id, *row)).collect(),
            settings: settings.clone(),
            bindings: BTreeMap::new(),
            default_limit: None,
            jobs: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Why a job is refused.
    pub fn refused(&self, new: &NewJob<'_>) -> Option<&'static str> {
        let mut path = vec![new.assoc];
        while let Some(above) = self.rows[path.last().unwrap()].parent {
            path.push(above);
        }
        let bound = path.iter().filter_map(|assoc| self.bindings.get(assoc));
        if self.competitor(new.assoc).is_none() {
            Some("no shares")
        } else if bound
            .clone()
            .any(|machines| !machines.contains(&new.machine))
        {
            Some("elsewhere")
        } else if new.expected.or(new.limit).or(self.default_limit).is_none() {
            Some("no length")
        } else {
            None
        }
    }

    /// Children of an account with minutes, or below one, have more minutes than it.
    pub fn exceeds(&self) -> bool {
        self.competitors().into_iter().any(|parent| {
            let mut above = Some(parent);
            while let Some(up) = above.filter(|up| self.rule(*up).minutes.is_none()) {
                above = self.above(up);
            }
            let children = self.competitors().into_iter();
            let children = children
                .filter(|child| self.above(*child) == Some(parent))
                .filter(|child| self.counted(*child) == self.counted(parent));
            let given: u64 = children.filter_map(|child| self.rule(child).minutes).sum();
            above.is_some() && number(given) * number(60_000_000) > self.entitled(parent)
        })
    }

    /// Use stays with what competes for its association after a change.
    pub fn settle(&mut self) {
        let settled = self.clone();
        self.runs.retain_mut(|run| {
            let competitor = settled.competitor(run.assoc);
            run.assoc = competitor.unwrap_or(run.assoc);
            competitor.is_some()
        });
    }

    /// Returns true if nobody shares for some job.
    pub fn has_orphan(&self) -> bool {
        self.jobs
            .iter()
            .any(|job| self.competitor(job.assoc).is_none())
    }

    /// Machine, id, association and start of each job.
    pub fn held(&self) -> Vec<(&str, u64, u32, Option<i64>)> {
        let row = |job| {
            let Job {
                machine,
                id,
                assoc,
                started,
                ..
            }: &Job = job;
            (machine.as_str(), *id, *assoc, *started)
        };
        self.jobs.iter().map(row).collect()
    }

    pub fn add(&mut self, new: &NewJob<'_>) {
        self.jobs.push(Job {
            id: new.id,
            assoc: new.assoc,
            machine: new.machine.to_owned(),
            submit: new.submit,
            nice: new.nice,
            expected: new.expected.or(new.limit).or(self.default_limit).unwrap() as i64,
            rate: new.rate.into(),
            started: None,
        });
    }

    fn job(&mut self, id: u64) -> &mut Job {
        self.jobs.iter_mut().find(|job| job.id == id).unwrap()
    }

    pub fn start(&mut self, id: u64, now: i64) {
        self.job(id).started = Some(now);
    }

    pub fn end(&mut self, id: u64, end: EndState, code: u32, executed: i64, again: bool) {
        let job = self.job(id).clone();
        self.job(id).started = None;
        if !again {
            self.cancel(id);
        }
        let counts = end == EndState::Completed || end == EndState::Failed && code == 7;
        if counts {
            let start = job.started.unwrap();
            self.runs.push(Run {
                assoc: self.competitor(job.assoc).unwrap(),
                start,
                end: start + executed,
                rate: job.rate,
            });
        }
    }

    pub fn cancel(&mut self, id: u64) {
        self.jobs.retain(|job| job.id != id);
    }

    pub fn some_running(&self, nth: usize) -> Option<(u64, i64)> {
        let running: Vec<_> = (self.jobs.iter())
            .filter_map(|job| Some((job.id, job.started?)))
            .collect();
        running.get(nth % running.len().max(1)).copied()
    }

    pub fn some_waiting(&self, nth: usize) -> Option<u64> {
        let waiting = self.jobs.iter().filter(|job| job.started.is_none());
        waiting.map(|job| job.id).nth(nth)
    }

    /// The association that competes for this one.
    fn competitor(&self, assoc: u32) -> Option<u32> {
        let row = &self.rows[&assoc];
        let parent = row.parent?;
        let below_root = self.rows[&parent].parent.is_none();
        let is_user = row.kind == AssocKind::User;
        match row.shares {
            Shares::Raw(_) if is_user && !self.settings.users_compete && !below_root => {
                self.competitor(parent)
            }
            Shares::Raw(_) => Some(assoc),
            Shares::Parent => self.competitor(parent),
        }
    }

    /// The parent competitor; `None`: the root.
    fn above(&self, competitor: u32) -> Option<u32> {
        self.competitor(self.rows[&competitor].parent.unwrap())
    }

    pub fn competitors(&self) -> Vec<u32> {
        let all = self.rows.keys().copied();
        all.filter(|assoc| self.competitor(*assoc) == Some(*assoc))
            .collect()
    }

    fn depth(&self, competitor: u32) -> u32 {
        1 + self.above(competitor).map_or(0, |above| self.depth(above))
    }

    fn is_below(&self, assoc: u32, competitor: u32) -> bool {
        let mut at = self.competitor(assoc);
        while let Some(found) = at {
            if found == competitor {
                return true;
            }
            at = self.above(found);
        }
        false
    }

    fn rule(&self, competitor: u32) -> AccountRule {
        let mut rules = self.settings.accounts.iter();
        let found = rules.find(|(assoc, _)| *assoc == competitor);
        found.map_or(AccountRule::default(), |found| found.1)
    }

    fn counted(&self, competitor: u32) -> Counted {
        self.rule(competitor).counted.unwrap_or_else(|| {
            let above = self.above(competitor);
            above.map_or(self.settings.counted, |above| self.counted(above))
        })
    }

    fn entitled(&self, competitor: u32) -> BigRational {
        if let Some(minutes) = self.rule(competitor).minutes {
            return number(minutes) * number(60_000_000);
        }
        let above = self.above(competitor);
        let whole = above.map_or_else(
            || match self.settings.counted {
                Counted::Window(length) => number(length) * number(self.settings.capacity),
                Counted::Since(_) => number(self.settings.capacity),
            },
            |above| self.entitled(above),
        );
        let shares = |assoc: u32| match self.rows[&assoc].shares {
            Shares::Raw(shares) => number(shares),
            Shares::Parent => panic!("a competitor"),
        };
        let sum: BigRational = (self.competitors().into_iter())
            .filter(|other| self.above(*other) == above)
            .filter(|other| self.rule(*other).minutes.is_none())
            .map(shares)
            .sum();
        if sum == number(0) {
            return sum;
        }
        // Below minutes the others divide what those with minutes leave.
        let mut of_minutes = above;
        while let Some(at) = of_minutes.filter(|at| self.rule(*at).minutes.is_none()) {
            of_minutes = self.above(at);
        }
        let siblings = self.competitors().into_iter();
        let siblings = siblings.filter(|other| {
            let alike = above.is_some_and(|up| self.counted(*other) == self.counted(up));
            of_minutes.is_some() && self.above(*other) == above && alike
        });
        let taken = siblings.filter_map(|other| self.rule(other).minutes);
        let taken: BigRational = taken
            .map(|minutes| number(minutes) * number(60_000_000))
            .sum();
        (whole - taken).max(number(0)) * shares(competitor) / sum
    }

    /// Usage of a competitor; `end` gives the end of running jobs.
    fn sum(&self, competitor: u32, now: i64, end: impl Fn(&Job) -> i64) -> i128 {
        let edge = match self.counted(competitor) {
            Counted::Window(length) => now - length,
            Counted::Since(moment) => moment,
        };
        let used = |start: i64, end: i64, rate: i64| {
            i128::from((end - start.max(edge)).max(0)) * i128::from(rate)
        };
        let over = (self.runs.iter())
            .filter(|run| self.is_below(run.assoc, competitor))
            .map(|run| used(run.start, run.end, run.rate));
        let running = (self.jobs.iter())
            .filter(|job| self.is_below(job.assoc, competitor))
            .filter_map(|job| Some(used(job.started?, end(job), job.rate)));
        over.chain(running).sum()
    }

    pub fn used(&self, assoc: u32, now: i64) -> Option<u128> {
        let competitor = self.competitor(assoc)?;
        Some(self.sum(competitor, now, |_| now) as u128)
    }

    fn used_in_order(&self, competitor: u32, now: i64) -> i128 {
        self.sum(competitor, now, |job| match self.settings.choice {
            Choice::Strict => now,
            Choice::Interleaved => now.max(job.started.unwrap() + job.expected),
        })
    }

    /// Picks and charges job after job.
    pub fn positions(&self, machine: &str, now: i64) -> Vec<u64> {
        let mut used: BTreeMap<u32, i128> = (self.competitors().into_iter())
            .map(|one| (one, self.used_in_order(one, now)))
            .collect();
        let entitled: BTreeMap<u32, BigRational> = (self.competitors().into_iter())
            .map(|one| (one, self.entitled(one)))
            .collect();
        let mut waiting: Vec<Job> = (self.jobs.iter())
            .filter(|job| job.machine == machine && job.started.is_none())
            .cloned()
            .collect();
        waiting.sort_by_key(|job| (job.nice, job.submit, job.id));
        let mut order = Vec::new();
        loop {
            let scene = Scene {
                naive: self,
                used: &used,
                entitled: &entitled,
                waiting: &waiting,
            };
            let Some(next) = scene.first() else { break };
            order.push(next.id);
            let next = next.clone();
            waiting.retain(|job| job.id != next.id);
            let mut at = self.competitor(next.assoc);
            while let Some(one) = at
                && self.settings.choice == Choice::Interleaved
            {
                *used.get_mut(&one).unwrap() += i128::from(next.expected * next.rate);
                at = self.above(one);
            }
        }
        order
    }
}

struct Scene<'a> {
    naive: &'a Naive,
    used: &'a BTreeMap<u32, i128>,
    entitled: &'a BTreeMap<u32, BigRational>,
    waiting: &'a [Job],
}

impl Scene<'_> {
    fn ratio(&self, one: u32) -> Key {
        let (used, entitled) = (self.used[&one], &self.entitled[&one]);
        if *entitled == number(0) {
            (if used == 0 { 1 } else { 2 }, number(0))
        } else {
            (0, number(used) / entitled)
        }
    }

    fn own(&self, one: u32) -> Option<&Job> {
        let mut jobs = self.waiting.iter();
        jobs.find(|job| self.naive.competitor(job.assoc) == Some(one))
    }

    fn best_below(&self, one: u32) -> Option<&Job> {
        let own = self.own(one).map(|job| ((0, number(0)), job));
        let children = self.naive.competitors().into_iter();
        let below = children
            .filter(|child| self.naive.above(*child) == Some(one))
            .filter_map(|child| Some((self.ratio(child), self.best_below(child)?)));
        least(below.chain(own))
    }

    fn first(&self) -> Option<&Job> {
        let candidates = self.naive.competitors().into_iter().filter_map(|one| {
            let depth = self.naive.depth(one);
            let job = match self.naive.settings.level {
                Level::Leaf => self.own(one),
                Level::Depth(level) if depth < level => self.own(one),
                Level::Depth(level) if depth == level => self.best_below(one),
                Level::Depth(_) => None,
            };
            Some((self.ratio(one), job?))
        });
        least(candidates)
    }
}

fn least<'a>(candidates: impl Iterator<Item = (Key, &'a Job)>) -> Option<&'a Job> {
    let least = candidates.min_by(|a, b| {
        let age = |job: &Job| (job.submit, job.id);
        a.0.cmp(&b.0).then(age(a.1).cmp(&age(b.1)))
    });
    least.map(|(_, job)| job)
}
