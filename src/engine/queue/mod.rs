//! The queue: selects the next job of a machine.
//!
//! A [`Queue`] stands over a tree, a way of counting use, a level of competition and an order
//! ([`Settings`]). Machines have names; a job waits for one machine, and use counts over all.
//! [`Queue::next`] tells the job to run; it does not start it. Use follows what the caller
//! reports: [`Queue::start`], [`Queue::finish`], [`Queue::requeue`]. After each the choice is
//! rebuilt: the node with the lowest used over entitled, among those on the level, then among
//! its children, and so on down to a leaf, whose oldest job is next.
//!
//! Times are microseconds since 1970 and come from the caller. Time does not run backwards: an
//! earlier moment than the latest one counts as the latest. All numbers are whole, so nothing
//! drifts, and equal ratios tie.
//!
//! ```
//! use fairtree::engine::queue::{NewJob, Next, Queue, SECOND, Settings};
//! use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
//! use fairtree::usage::EndState;
//! let row = |id, parent, shares| Assoc { id, parent, kind: AssocKind::Account, shares };
//! let tree = Tree::from_rows([
//!     row(1, None, Shares::Raw(1)),
//!     row(2, Some(1), Shares::Raw(2)),
//!     row(3, Some(1), Shares::Raw(1)),
//! ])?;
//! let mut queue = Queue::new(&tree, Settings::default(), 0)?;
//! queue.add_machine("m", 1)?;
//! for (id, assoc) in [(10, 2), (11, 2), (12, 3)] {
//!     let (expected, limit) = (Some(60_000_000), None);
//!     queue.add(&NewJob {
//!         id, assoc, machine: "m", submit: id as i64, nice: 0, expected, limit, rate: 1,
//!     })?;
//! }
//! assert_eq!(queue.next("m", 100)?, Next::Job(10));
//! queue.start(10, 100)?;
//! queue.finish(10, EndState::Completed, 0, 60 * SECOND, 100 + 60 * SECOND)?;
//! assert_eq!(queue.next("m", 100 + 60 * SECOND)?, Next::Job(12));
//! assert_eq!(queue.positions("m")?, [12, 11]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ask;
mod change;
mod competitors;
mod contest;
mod error;
mod estimate;
mod history;
mod job;
mod machine;
mod order;
mod parts;
#[cfg(any(feature = "capi", feature = "slurm", test))]
mod save;
mod settings;

use std::collections::{BTreeMap, HashMap};

use crate::engine::{Finished, MachineError};
use crate::order::{Entitled, Ratio};
use crate::tree::{AssocId, Tree};
use crate::usage::EndState;

pub use ask::MachineState;
use competitors::{QueueCompetitors, check_minutes};
use contest::{Contest, InLine};
pub use error::QueueError;
pub use estimate::{Estimate, Lasts};
use history::{Run, RunHistory};
use job::Job;
pub use job::{NewJob, Proxy};
use machine::Machine;
pub use machine::{Next, Nothing};
pub use settings::{AccountRule, Choice, Counted, Micros, SECOND, Settings};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Queue {
    tree: Tree,
    settings: Settings,
    competitors: QueueCompetitors,
    contest: Contest,
    history: RunHistory,
    machines: Vec<Machine>,
    names: BTreeMap<String, u32>,
    jobs: Vec<Option<Job>>,
    free: Vec<u32>,
    by_id: HashMap<u64, u32>,
    /// What each running job is counted with, by rule.
    running: BTreeMap<u32, Vec<u128>>,
    /// The machines that accounts are bound to, by name.
    bindings: BTreeMap<AssocId, Vec<String>>,
    /// The maximum run time of jobs that come without any, on machines without one of their own.
    default_limit: Option<u64>,
    now: Micros,
}

/// What a leaf or an account stands at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueStanding {
    /// Used by it and all below, as far as it counts now: units times microseconds. Jobs that run
    /// count up to now.
    pub used: u128,
    /// Entitled to, in the same unit.
    pub entitled: Entitled,
    /// Used over entitled, as jobs are chosen: with [`Choice::Interleaved`] jobs that run count
    /// with their expected time.
    pub ratio: Ratio,
}

impl Queue {
    /// A queue without machines or jobs, at the moment `now`, nothing used.
    ///
    /// # Errors
    /// [`QueueError::Setting`], [`QueueError::UnknownAccount`], [`QueueError::AccountTwice`],
    /// [`QueueError::AccountAside`], [`QueueError::NoMinutes`], [`QueueError::MinutesBeyond`].
    pub fn new(tree: &Tree, settings: Settings, now: Micros) -> Result<Queue, QueueError> {
        let queue = Queue::empty(tree, settings, now)?;
        check_minutes(tree, &queue.settings)?;
        Ok(queue)
    }

    /// As [`Queue::new`], also with more minutes than parents have: a saved queue may have them.
    fn empty(tree: &Tree, settings: Settings, now: Micros) -> Result<Queue, QueueError> {
        let competitors = QueueCompetitors::new(tree, &settings)?;
        Ok(Queue {
            tree: tree.clone(),
            contest: Contest::new(&competitors.nodes),
            history: RunHistory::new(competitors.rules.clone(), now),
            competitors,
            settings,
            machines: Vec::new(),
            names: BTreeMap::new(),
            jobs: Vec::new(),
            free: Vec::new(),
            by_id: HashMap::new(),
            running: BTreeMap::new(),
            bindings: BTreeMap::new(),
            default_limit: None,
            now,
        })
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What it goes by.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The latest moment it was told of.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// Adds a job that waits. Jobs of a user with `FairShare=parent` stand in the line of the
    /// account that shares for it.
    ///
    /// # Errors
    /// [`MachineError::JobTwice`], [`MachineError::UnknownMachine`], [`QueueError::UnknownAssoc`],
    /// [`QueueError::NoShares`], [`MachineError::Elsewhere`], [`QueueError::NoLength`].
    pub fn add(&mut self, new: &NewJob<'_>) -> Result<(), QueueError> {
        let NewJob { id, assoc, .. } = *new;
        if self.by_id.contains_key(&id) {
            return Err(MachineError::JobTwice { job: id }.into());
        }
        let machine = self.machine(new.machine)?;
        let node = self.node(id, assoc)?;
        self.check_bound(assoc, machine)?;
        let limit = match (new.expected, new.limit) {
            (None, None) => self.default_limit_of(machine),
            (_, limit) => limit,
        };
        if new.expected.is_none() && limit.is_none() {
            return Err(QueueError::NoLength { job: id });
        }
        let job = Job {
            id,
            assoc,
            node,
            machine,
            submit: new.submit,
            nice: new.nice,
            expected: new.expected,
            limit,
            rate: new.rate,
            started: None,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.jobs[at as usize] = Some(job);
                at
            }
            None => {
                self.jobs.push(Some(job));
                self.jobs.len() as u32 - 1
            }
        };
        self.by_id.insert(id, at);
        self.wait(at);
        Ok(())
    }

    fn node(&self, job: u64, assoc: AssocId) -> Result<u32, QueueError> {
        let at = self.tree.index_of(assoc);
        let at = at.ok_or(QueueError::UnknownAssoc { job, assoc })?;
        let node = self.competitors.of(at);
        node.ok_or(QueueError::NoShares { job, assoc })
    }

    fn job(&self, at: u32) -> &Job {
        self.jobs[at as usize]
            .as_ref()
            .expect("a job that is known")
    }

    fn find(&self, id: u64) -> Result<u32, QueueError> {
        let found = self.by_id.get(&id).copied();
        found.ok_or(MachineError::UnknownJob { job: id }.into())
    }

    /// How long a job is expected to run.
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`].
    pub fn length(&self, id: u64) -> Result<u64, QueueError> {
        Ok(self.job(self.find(id)?).length())
    }

    fn find_running(&self, id: u64) -> Result<(u32, Micros), QueueError> {
        let at = self.find(id)?;
        let started = self.job(at).started;
        let started = started.ok_or(MachineError::NotRunning { job: id })?;
        Ok((at, started))
    }

    fn in_line(&self, at: u32) -> InLine {
        let job = self.job(at);
        (job.nice, job.submit, job.id, at)
    }

    fn wait(&mut self, at: u32) {
        let (node, machine) = (self.job(at).node, self.job(at).machine);
        self.contest.add(node, machine, self.in_line(at));
        self.machines[machine as usize].waiting += 1;
    }

    fn leave_line(&mut self, at: u32) {
        let (node, machine) = (self.job(at).node, self.job(at).machine);
        self.contest.remove(node, machine, self.in_line(at));
        self.machines[machine as usize].waiting -= 1;
    }

    fn forget(&mut self, at: u32) {
        let job = self.jobs[at as usize].take().expect("a job that is known");
        self.by_id.remove(&job.id);
        self.free.push(at);
    }

    /// A job starts that waits: the one that [`Queue::next`] told, or any other of its machine.
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotWaiting`], [`MachineError::Paused`],
    /// [`QueueError::Busy`], [`QueueError::TooMuchUse`].
    pub fn start(&mut self, id: u64, now: Micros) -> Result<(), QueueError> {
        let at = self.find(id)?;
        if self.job(at).started.is_some() {
            return Err(MachineError::NotWaiting { job: id }.into());
        }
        let machine = self.job(at).machine;
        self.machines[machine as usize].check(id)?;
        self.check_use(at)?;
        self.advance(now);
        self.run(at, self.now);
        Ok(())
    }

    /// Refuses to start a job whose run could bring the use of a node beyond [`MOST_USE`].
    ///
    /// A run adds less than [`MOST_USE_OF_RUN`] in all, to each node that it is charged to. Where
    /// every start was checked, the use of each node with as much for each running job is at most
    /// [`MOST_USE`], and ends and time do not add to that.
    fn check_use(&self, at: u32) -> Result<(), QueueError> {
        let job = self.job(at);
        let used = self.contest.most_used(job.node);
        let running = self.running.len() as u128 + 1;
        match used + running * MOST_USE_OF_RUN <= MOST_USE {
            true => Ok(()),
            false => Err(QueueError::TooMuchUse { assoc: job.assoc }),
        }
    }

    /// A waiting job runs since `started`.
    fn run(&mut self, at: u32, started: Micros) {
        let in_line = self.in_line(at);
        let job = self.jobs[at as usize]
            .as_mut()
            .expect("a job that is known");
        job.started = Some(started);
        let (node, machine) = (job.node, job.machine);
        let counted = self.counted_uses(self.job(at));
        self.machines[machine as usize].waiting -= 1;
        self.machines[machine as usize].running += 1;
        let nodes = &self.competitors.nodes;
        let by = |node: u32| signed(counted[nodes[node as usize].rule as usize]);
        self.contest.remove_and_charge(node, machine, in_line, by);
        self.running.insert(at, counted);
    }

    /// A run has ended after `executed` microseconds on the machine, which begin with its start.
    /// Counts these where the settings count such ends, and otherwise nothing.
    ///
    /// `exit_code` matters only to [`EndState::Failed`].
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotRunning`], [`MachineError::RanTooLong`].
    pub fn finish(
        &mut self,
        id: u64,
        end: EndState,
        exit_code: u32,
        executed: Micros,
        now: Micros,
    ) -> Result<Finished, QueueError> {
        let (at, finished) = self.end(id, end, exit_code, executed, now)?;
        self.forget(at);
        Ok(finished)
    }

    /// As [`Queue::finish`], and the job waits again, in the place that it had.
    ///
    /// # Errors
    /// As [`Queue::finish`].
    pub fn requeue(
        &mut self,
        id: u64,
        end: EndState,
        exit_code: u32,
        executed: Micros,
        now: Micros,
    ) -> Result<Finished, QueueError> {
        let (at, finished) = self.end(id, end, exit_code, executed, now)?;
        self.jobs[at as usize]
            .as_mut()
            .expect("a job that is known")
            .started = None;
        self.wait(at);
        Ok(finished)
    }

    fn end(
        &mut self,
        id: u64,
        end: EndState,
        exit_code: u32,
        executed: Micros,
        now: Micros,
    ) -> Result<(u32, Finished), QueueError> {
        let (at, start) = self.find_running(id)?;
        let passed = now.max(self.now).saturating_sub(start);
        if !(0..=passed).contains(&executed) {
            return Err(MachineError::RanTooLong {
                job: id,
                executed,
                passed,
            }
            .into());
        }
        self.advance(now);
        let counts = self.settings.outcomes.counts(end, exit_code);
        self.close(at, start + executed, counts);
        let finished = Finished {
            executed,
            counts,
            price: 0,
            cost: 0,
        };
        Ok((at, finished))
    }

    /// A run that lasted until `end`, now or before, is over. `counts`: such ends count.
    fn close(&mut self, at: u32, end: Micros, counts: bool) {
        let counted = self.running.remove(&at).expect("it runs");
        let &Job {
            node,
            machine,
            rate,
            started,
            ..
        } = self.job(at);
        let run = Run {
            node,
            start: started.expect("it runs"),
            end,
            rate,
        };
        self.machines[machine as usize].running -= 1;
        let edges = self.history.edges();
        let behind = |edge: &Micros| if counts { run.behind(*edge) } else { 0 };
        let new: Vec<u128> = edges.iter().map(behind).collect();
        self.recharge(run.node, &counted, &new);
        if counts && run.start < run.end {
            self.history.add(run, &[]);
        }
    }

    /// A waiting job is gone. One that runs is ended by [`Queue::finish`].
    ///
    /// # Errors
    /// [`MachineError::UnknownJob`], [`MachineError::NotWaiting`].
    pub fn cancel(&mut self, id: u64) -> Result<(), QueueError> {
        let at = self.find(id)?;
        if self.job(at).started.is_some() {
            return Err(MachineError::NotWaiting { job: id }.into());
        }
        self.leave_line(at);
        self.forget(at);
        Ok(())
    }

    /// Time passes: what runs is charged, and windows move on.
    pub(super) fn advance(&mut self, now: Micros) {
        if now <= self.now {
            return;
        }
        self.now = now;
        let (contest, rules) = (&mut self.contest, &self.competitors);
        self.history.advance(now, |node, rule, used| {
            let of = |node: u32| rules.nodes[node as usize].rule == rule;
            contest.charge(node, |node| if of(node) { -signed(used) } else { 0 });
        });
        let edges = self.history.edges();
        let changed = self.running.iter().filter_map(|(&at, counted)| {
            let job = self.job(at);
            let uses = edges.iter().map(|edge| self.counted_use(job, *edge));
            let same = uses.eq(counted.iter().copied());
            (!same).then(|| (at, self.counted_uses(job)))
        });
        let changed: Vec<(u32, Vec<u128>)> = changed.collect();
        for (at, new) in changed {
            let node = self.job(at).node;
            let old = self.running.insert(at, new.clone()).expect("it runs");
            self.recharge(node, &old, &new);
        }
    }

    /// What a running job is counted with when use before `edge` does not count.
    fn counted_use(&self, job: &Job, edge: Micros) -> u128 {
        let start = job.started.expect("it runs");
        let expected = match self.settings.choice {
            Choice::Strict => 0,
            Choice::Interleaved => i64::try_from(job.length()).unwrap_or(Micros::MAX),
        };
        let run = Run {
            node: job.node,
            start,
            end: start.saturating_add(expected).max(self.now),
            rate: job.rate,
        };
        run.behind(edge)
    }

    /// [`Queue::counted_use`] behind the edge of each rule.
    fn counted_uses(&self, job: &Job) -> Vec<u128> {
        let edges = self.history.edges().iter();
        edges.map(|edge| self.counted_use(job, *edge)).collect()
    }

    /// Charges `new` instead of `old`, one per rule.
    fn recharge(&mut self, node: u32, old: &[u128], new: &[u128]) {
        if old == new {
            return;
        }
        let difference = |(old, new): (&u128, &u128)| signed(*new) - signed(*old);
        let by: Vec<i128> = old.iter().zip(new).map(difference).collect();
        let nodes = &self.competitors.nodes;
        let contest = &mut self.contest;
        contest.charge(node, |node| by[nodes[node as usize].rule as usize]);
    }

    /// What an association stands at now; for one with `FairShare=parent` the account that shares
    /// for it. `None`: no node does, or it is not in the tree.
    pub fn standing(&mut self, assoc: AssocId, now: Micros) -> Option<QueueStanding> {
        let node = self.competitors.of(self.tree.index_of(assoc)?)?;
        self.advance(now);
        let running = self.running.keys().map(|at| self.job(*at));
        let below = running.filter(|job| self.is_below(job.node, node));
        let ahead = below.map(|job| self.ahead(job, node)).sum();
        Some(self.stands(node, ahead))
    }

    /// Use that a running job below a node is counted with there, beyond its use so far.
    fn ahead(&self, job: &Job, node: u32) -> u128 {
        let rule = self.competitors.nodes[node as usize].rule;
        let edge = self.history.edges()[rule as usize];
        let so_far = Run {
            node,
            start: job.started.expect("it runs"),
            end: self.now,
            rate: job.rate,
        };
        self.counted_use(job, edge) - so_far.behind(edge)
    }

    /// The standing of a node of whose counted use `ahead` is yet to come.
    fn stands(&self, node: u32, ahead: u128) -> QueueStanding {
        let counted = self.contest.used(node);
        let entitled = self.competitors.nodes[node as usize].entitled;
        QueueStanding {
            used: counted - ahead,
            entitled,
            ratio: Ratio::new(counted, entitled),
        }
    }

    fn is_below(&self, mut node: u32, above: u32) -> bool {
        while node != competitors::NONE && node != above {
            node = self.competitors.nodes[node as usize].parent;
        }
        node == above
    }
}

/// The most use of a node that is counted: units times microseconds.
const MOST_USE: u128 = 1 << 126;

/// More than one run can add: a length below 2^64 times a rate below 2^32.
const MOST_USE_OF_RUN: u128 = 1 << 96;

fn signed(used: u128) -> i128 {
    i128::try_from(used).expect("less than 2^127 units")
}
