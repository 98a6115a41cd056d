//! How well the schedulers' rules predict a recorded run, one step ahead.
//!
//! At each cycle the state is the real one: jobs run where and since when they really did, usage is
//! what they really used. A prediction is a job that the simulation starts in that cycle; it is right
//! if the job really starts within four seconds.

use std::collections::HashMap;

use fairtree_model::input::recorded::Recorded;
use fairtree_model::input::slurm::controller_log::LogEvent;
use fairtree_model::machine::Machine;

use super::backfill;
use super::limits::Counters;
use super::main_loop::{self, Layout, MainPass, Watcher};
use super::node_set::NodeSet;
use super::placed::placed;
use super::site::{Site, Unpriced};
use super::state::{InLine, Reason, Running, Start, State, sort};
use super::timeline::{Cycle, CyclesFrom, Event, Timeline};
use super::usage::Allocation;
use super::waiting::WaitingJobs;

/// A prediction is right if the job starts within this of its cycle, milliseconds.
const NEAR_MS: i64 = 4000;

/// A plan of a backfill cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Number of the job.
    pub id: u32,
    /// Start, seconds since 1970.
    pub start: i64,
    /// End, cut to the resolution, seconds since 1970.
    pub end: i64,
    /// Names of the nodes.
    pub nodes: Vec<String>,
}

/// A difference between the simulation and the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The cycle.
    pub cycle: Cycle,
    /// Number of the job.
    pub id: u32,
    /// The simulation started it, and it did not really start; false: it really started.
    pub simulated: bool,
    /// The rule by which the simulation did not start it, where it did not.
    pub reason: Option<Reason>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Jobs that started.
    pub starts: usize,
    /// Of these, jobs whose start was predicted.
    pub starts_predicted: usize,
    /// Predictions: jobs, counted in each cycle where they were predicted.
    pub predictions: usize,
    /// Predictions of jobs that did not start then.
    pub predictions_wrong: usize,
    /// Starts that were predicted on the same nodes.
    pub same_nodes: usize,
    /// Plans of backfill cycles in the log.
    pub plans: usize,
    /// Of these, plans that the simulation made with the same start, end and nodes.
    pub plans_same: usize,
    /// Priorities in the log.
    pub priorities: usize,
    /// Of these, priorities that the simulation computed, too.
    pub priorities_same: usize,
    /// Cycles.
    pub cycles: usize,
    /// Where cycles come from.
    pub cycles_from: CyclesFrom,
    /// Differences, in order.
    pub mismatches: Vec<Mismatch>,
    /// The first plan of the log that is different, and that of the simulation.
    pub first_plan: Option<(i64, Planned, Option<Planned>)>,
    /// Corrections of CPUs by samples of nodes.
    pub corrections: usize,
    /// Assumptions, one sentence each.
    pub notes: Vec<String>,
    /// False where it was stopped before its end: counts are of what came before.
    pub complete: bool,
}

/// Checks the schedulers against a recorded run.
///
/// # Errors
/// Settings that cannot be priced.
pub fn check(recorded: &Recorded) -> Result<Checked, Unpriced> {
    check_while(recorded, &mut || true)
}

/// As [`check`], until `go_on`, asked before each event, says no.
///
/// # Errors
/// Settings that cannot be priced.
pub fn check_while(
    recorded: &Recorded,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Checked, Unpriced> {
    let (history, site) = Timeline::new(recorded)?;
    let machine = &recorded.machine;
    let mut state = State::new(machine);
    state.counters = Counters::new(site.limits.clone());
    let checked = Checked {
        starts: 0,
        starts_predicted: 0,
        predictions: 0,
        predictions_wrong: 0,
        same_nodes: 0,
        plans: 0,
        plans_same: 0,
        priorities: 0,
        priorities_same: 0,
        cycles: 0,
        cycles_from: history.cycles,
        mismatches: Vec::new(),
        first_plan: None,
        corrections: 0,
        notes: history.notes.clone(),
        complete: true,
    };
    let mut checker = Checker {
        recorded,
        layout: Layout::new(machine),
        waiting: WaitingJobs::new(),
        history: &history,
        site,
        state,
        predicted: vec![None; history.asks.len()],
        logged: logged(recorded),
        last_reasons: HashMap::new(),
        checked,
    };
    for (ms, event) in &history.events {
        if !go_on() {
            checker.checked.complete = false;
            break;
        }
        checker.take(*ms, *event)?;
    }
    Ok(checker.finish())
}

/// Tests and plans of the backfill cycles in the log, by the moment of the cycle.
fn logged(recorded: &Recorded) -> HashMap<i64, Logged> {
    let mut cycles: HashMap<i64, Logged> = HashMap::new();
    let mut current = None;
    for line in &recorded.log {
        match &line.event {
            LogEvent::Backfill => current = Some(line.at_ms),
            LogEvent::Tested(job, priority) => {
                if let Some(at) = current {
                    cycles
                        .entry(at)
                        .or_default()
                        .priorities
                        .push((job.id, *priority));
                }
            }
            LogEvent::Planned(job, start, end, nodes) => {
                if let Some(at) = current {
                    cycles.entry(at).or_default().plans.push(Planned {
                        id: job.id,
                        start: *start,
                        end: *end,
                        nodes: nodes.clone(),
                    });
                }
            }
            _ => {}
        }
    }
    cycles
}

#[derive(Default)]
struct Logged {
    priorities: Vec<(u32, u32)>,
    plans: Vec<Planned>,
}

/// A prediction of a job's start.
#[derive(Clone, Debug)]
struct Prediction {
    allocation: Allocation,
}

struct Checker<'a> {
    recorded: &'a Recorded,
    layout: Layout,
    history: &'a Timeline,
    site: Site,
    state: State,
    waiting: WaitingJobs,
    /// The last prediction of each job.
    predicted: Vec<Option<(i64, Prediction)>>,
    logged: HashMap<i64, Logged>,
    /// Why jobs stayed in the last cycle in which they were looked at.
    last_reasons: HashMap<usize, (Cycle, Reason)>,
    checked: Checked,
}

/// Collects what a cycle does.
struct Seen<'a> {
    machine: &'a Machine,
    history: &'a Timeline,
    reasons: HashMap<usize, Reason>,
    plans: Vec<Planned>,
    resolution: i64,
}

impl Watcher for Seen<'_> {
    fn stays(&mut self, one: &InLine, reason: Reason) {
        self.reasons.insert(one.job, reason);
    }

    fn planned(&mut self, one: &InLine, start: i64, end: i64, nodes: &NodeSet) {
        self.plans.push(Planned {
            id: self.history.asks[one.job].id,
            start,
            end: end / self.resolution * self.resolution,
            nodes: nodes
                .iter()
                .map(|at| self.machine.nodes[at].name.clone())
                .collect(),
        });
    }
}

impl Checker<'_> {
    fn take(&mut self, ms: i64, event: Event) -> Result<(), Unpriced> {
        let secs = ms.div_euclid(1000);
        let machine = &self.recorded.machine;
        match event {
            Event::Submitted(job) => {
                let ask = &self.history.asks[job];
                self.waiting.submit(job, secs, machine, ask, &self.site)?;
                let eligible = self.history.jobs[job].eligible_ms;
                if eligible.is_some_and(|eligible| eligible.div_euclid(1000) <= secs) {
                    self.waiting.age(job, secs);
                }
            }
            Event::Ended(job) => {
                let asks = &self.history.asks;
                if let Some(running) = self.state.end(machine, asks, job) {
                    self.state.counters.use_until(machine, asks, &running, secs);
                    self.site.charge_end(machine, asks, &running, secs);
                }
            }
            Event::Down(at) => {
                let nodes = machine.outages[at].nodes.iter().copied();
                let nodes = NodeSet::of(machine.nodes.len(), nodes);
                self.state.up.take(&nodes);
            }
            Event::Up(at) => self.state.come_back(machine, at, secs),
            Event::Pass => {
                let asks = &self.history.asks;
                let since = self.state.counters.since_pass(secs);
                let decayed = self.site.decayed(since);
                let State {
                    counters, running, ..
                } = &mut self.state;
                counters.pass(machine, asks, running, secs, decayed);
                let waiting = self.waiting.rows(machine, asks, &self.site);
                self.site
                    .pass(secs, machine, asks, &self.state.running, &waiting);
                self.waiting.price(secs, machine, asks, &self.site)?;
            }
            Event::Sample(at) => self.correct(at),
            Event::Cycle(cycle) => self.cycle(ms, cycle),
            Event::Started(job) => self.start(ms, job),
        }
        Ok(())
    }

    /// The jobs that wait and could start, sorted.
    fn queue(&mut self, ms: i64) -> Vec<InLine> {
        let machine = &self.recorded.machine;
        let mut queue = Vec::new();
        for job in self.waiting.jobs() {
            let own = &self.history.jobs[job];
            let ask = &self.history.asks[job];
            let Some(eligible) = own.eligible_ms else {
                continue;
            };
            let same_second = eligible.div_euclid(1000) == own.submit_ms.div_euclid(1000);
            let eligible = if same_second { own.submit_ms } else { eligible };
            let gone = own.start_ms.is_none() && own.end_ms.is_some_and(|end| end <= ms);
            if eligible > ms || gone || own.is_held(ms) {
                continue;
            }
            self.waiting.age(job, eligible.div_euclid(1000));
            for (partition, priority) in self.waiting.priorities(job, ask) {
                if priority > 0 && !main_loop::breaks_partition(machine, ask, partition) {
                    queue.push(InLine {
                        job,
                        partition,
                        priority,
                        eligible: eligible.div_euclid(1000),
                    });
                }
            }
        }
        sort(machine, &self.history.asks, &mut queue);
        queue
    }

    fn cycle(&mut self, ms: i64, cycle: Cycle) {
        let machine = &self.recorded.machine;
        let now = ms.div_euclid(1000);
        let queue = self.queue(ms);
        self.checked.cycles += 1;
        let mut seen = Seen {
            machine,
            history: self.history,
            reasons: HashMap::new(),
            plans: Vec::new(),
            resolution: machine.scheduling.resolution,
        };
        let mut state = self.state.clone();
        let asks = &self.history.asks;
        let layout = &self.layout;
        let starts = match cycle {
            Cycle::Main | Cycle::MainFull => {
                let pass = MainPass {
                    queue: &queue,
                    now,
                    full: cycle == Cycle::MainFull,
                };
                main_loop::run(machine, layout, asks, pass, &mut state, &mut seen)
            }
            Cycle::Backfill => {
                backfill::run(machine, layout, asks, &queue, now, &mut state, &mut seen)
            }
        };
        self.state.weights = state.weights;
        let (reasons, plans) = (seen.reasons, seen.plans);
        if cycle == Cycle::Backfill {
            self.compare(ms, &queue, &plans);
        }
        for start in starts {
            self.predict(ms, cycle, start);
        }
        for (job, reason) in reasons {
            self.last_reasons.insert(job, (cycle, reason));
        }
    }

    fn predict(&mut self, ms: i64, cycle: Cycle, start: Start) {
        let own = &self.history.jobs[start.job];
        self.checked.predictions += 1;
        let near = |real: i64| (ms - 1000..=ms + NEAR_MS).contains(&real);
        if own.start_ms.is_some_and(near) {
            let allocation = start.allocation;
            self.predicted[start.job] = Some((ms, Prediction { allocation }));
        } else {
            self.checked.predictions_wrong += 1;
            self.checked.mismatches.push(Mismatch {
                at_ms: ms,
                cycle,
                id: own.id,
                simulated: true,
                reason: None,
            });
        }
        self.last_reasons.remove(&start.job);
    }

    /// Compares priorities and plans of a backfill cycle with those of the log.
    fn compare(&mut self, ms: i64, queue: &[InLine], plans: &[Planned]) {
        let Some(logged) = self.logged.get(&ms) else {
            return;
        };
        let asks = &self.history.asks;
        for (id, priority) in &logged.priorities {
            self.checked.priorities += 1;
            let mut own = queue
                .iter()
                .filter(|one| asks[one.job].id == *id || asks[one.job].group() == *id);
            let same = own.any(|one| one.priority == *priority);
            self.checked.priorities_same += usize::from(same);
        }
        for plan in &logged.plans {
            self.checked.plans += 1;
            if plans.contains(plan) {
                self.checked.plans_same += 1;
            } else if self.checked.first_plan.is_none() {
                let own = plans.iter().find(|own| own.id == plan.id);
                self.checked.first_plan = Some((ms, plan.clone(), own.cloned()));
            }
        }
    }

    /// A job really starts.
    fn start(&mut self, ms: i64, job: usize) {
        let machine = &self.recorded.machine;
        let own = &self.history.jobs[job];
        let ask = &self.history.asks[job];
        self.checked.starts += 1;
        self.waiting.leave(job);
        let size = machine.nodes.len();
        let nodes: Vec<usize> = own
            .nodes
            .iter()
            .filter_map(|name| machine.node(name))
            .collect();
        let real = NodeSet::of(size, nodes);
        let partition = ask
            .partitions
            .iter()
            .copied()
            .find(|at| real.is_subset(&self.layout.partitions[*at]));
        let partition = partition.unwrap_or(ask.partitions[0]);
        let predicted = self.predicted[job].take();
        let predicted = predicted
            .filter(|(at, _)| ms - at <= NEAR_MS)
            .map(|(_, found)| found);
        if let Some(found) = &predicted {
            self.checked.starts_predicted += 1;
            self.checked.same_nodes += usize::from(found.allocation.nodes(size) == real);
        } else {
            let last = self.last_reasons.remove(&job);
            self.checked.mismatches.push(Mismatch {
                at_ms: ms,
                cycle: last.as_ref().map_or(Cycle::Main, |(cycle, _)| *cycle),
                id: own.id,
                simulated: false,
                reason: last.map(|(_, reason)| reason),
            });
        }
        let same = predicted.filter(|found| found.allocation.nodes(size) == real);
        let allocation = match same {
            Some(found) => found.allocation,
            None => {
                let cpus = self.history.jobs[job].allocated_cpus;
                placed(machine, ask, partition, &real, cpus, &self.state)
            }
        };
        let start = ms.div_euclid(1000);
        let running = Running {
            job,
            partition,
            start,
            limit_end: start + ask.run_limit_in(machine, partition),
            allocation,
        };
        self.state.start(machine, &self.history.asks, running);
    }

    /// Corrects the cores of jobs on several nodes by a sample of nodes.
    fn correct(&mut self, at: usize) {
        let machine = &self.recorded.machine;
        let sample = &self.recorded.samples[at];
        let mut off: Vec<(usize, i64)> = Vec::new();
        for (name, cpus, _) in &sample.nodes {
            let Some(node) = machine.node(name) else {
                continue;
            };
            let own = i64::from(self.state.uses[node].cores * machine.nodes[node].threads);
            if own != i64::from(*cpus) {
                off.push((node, i64::from(*cpus) - own));
            }
        }
        if off.is_empty() || off.iter().map(|(_, by)| by).sum::<i64>() != 0 {
            // Jobs were starting or ending.
            return;
        }
        self.checked.corrections += 1;
        for place in 0..self.state.running.len() {
            let running = &mut self.state.running[place];
            if running.allocation.parts.len() < 2 || running.allocation.whole {
                continue;
            }
            for to in 0..running.allocation.parts.len() {
                for from in 0..running.allocation.parts.len() {
                    let node = |part: usize| running.allocation.parts[part].node;
                    let by = |part: usize| {
                        let own = off.iter().find(|(at, _)| *at == node(part));
                        own.map_or(0, |(_, by)| *by)
                    };
                    let (more, less) = (by(to), by(from));
                    if more <= 0 || less >= 0 {
                        continue;
                    }
                    let most = i64::from(running.allocation.parts[from].cpus) - 1;
                    let moved = more.min(-less).min(most);
                    if moved <= 0 {
                        continue;
                    }
                    let (a, b) = (node(to), node(from));
                    let moved_cpus = u32::try_from(moved).unwrap_or(0);
                    let threads = machine.nodes[a].threads;
                    let parts = &mut running.allocation.parts;
                    let each = parts[from].memory_mb / u64::from(parts[from].cpus.max(1));
                    let memory = each * u64::from(moved_cpus);
                    parts[to].cpus += moved_cpus;
                    parts[to].cores = parts[to].cpus.div_ceil(threads);
                    parts[to].memory_mb += memory;
                    parts[from].cpus -= moved_cpus;
                    parts[from].cores = parts[from].cpus.div_ceil(threads);
                    parts[from].memory_mb -= memory;
                    let uses = &mut self.state.uses;
                    let (mut gains, mut loses) = (uses[a].clone(), uses[b].clone());
                    gains.cores += moved_cpus / threads;
                    loses.cores -= moved_cpus / threads;
                    gains.memory_mb += memory;
                    loses.memory_mb = loses.memory_mb.saturating_sub(memory);
                    uses.set(machine, a, gains);
                    uses.set(machine, b, loses);
                    for (node, rest) in &mut off {
                        if *node == a {
                            *rest -= moved;
                        } else if *node == b {
                            *rest += moved;
                        }
                    }
                }
            }
        }
    }

    fn finish(self) -> Checked {
        self.checked
    }
}
