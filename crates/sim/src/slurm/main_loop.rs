//! A pass of the main scheduler.
//!
//! Jobs in order of tier, priority and submission; the first one of a partition that does not fit
//! blocks this partition and takes its nodes from all jobs after it.

use fairtree_model::machine::{Machine, Node};

use super::ask::Ask;
use super::node_set::NodeSet;
use super::select::{NodeCounts, Question};
use super::state::{InLine, Reason, Running, Start, State};
use super::usage::Uses;

/// The result of a question for nodes that are free now.
pub enum Outcome {
    /// It starts.
    Starts(Start),
    /// Its nodes are busy.
    Busy,
    /// It is at a limit.
    Limit(&'static str),
    /// Nodes that it needs are down, or belong to jobs before it.
    Unavailable,
    /// No node can ever have it.
    Never,
}

/// Who watches a cycle.
pub trait Watcher {
    /// A job does not start in this cycle.
    fn stays(&mut self, one: &InLine, reason: Reason) {
        let _ = (one, reason);
    }

    /// The backfill scheduler planned a job: start and end, and nodes.
    fn planned(&mut self, one: &InLine, start: i64, end: i64, nodes: &NodeSet) {
        let _ = (one, start, end, nodes);
    }
}

impl Watcher for () {}

/// The part of a machine that does not change.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The nodes of each partition.
    pub partitions: Vec<NodeSet>,
    /// CPUs of each node.
    pub cpus: Vec<u32>,
    /// The machine without any job.
    pub unused: Uses,
}

impl Layout {
    /// That of a machine.
    pub fn new(machine: &Machine) -> Layout {
        let size = machine.nodes.len();
        let partitions = machine.partitions.iter();
        let sets = partitions.map(|one| NodeSet::of(size, one.nodes.iter().copied()));
        Layout {
            partitions: sets.collect(),
            cpus: machine.nodes.iter().map(Node::cpus).collect(),
            unused: Uses::none(machine),
        }
    }
}

/// Asks for free nodes among `available` for a job, and starts it there.
pub fn try_start(
    machine: &Machine,
    layout: &Layout,
    asks: &[Ask],
    one: &InLine,
    now: i64,
    available: &NodeSet,
    state: &mut State,
) -> Outcome {
    let ask = &asks[one.job];
    if let Some(limit) = state.counters.before(ask, one.partition) {
        return Outcome::Limit(limit);
    }
    let Some(counts) = NodeCounts::of(machine, ask, one.partition) else {
        return Outcome::Never;
    };
    let question = Question {
        machine,
        ask,
        partition: one.partition,
        counts,
    };
    let mut config = layout.partitions[one.partition].clone();
    config.keep(&ask.usable);
    if ask
        .required
        .as_ref()
        .is_some_and(|required| !required.is_subset(&config))
    {
        return Outcome::Never;
    }
    state.weights.set(machine, &config);
    let mut offered = config.clone();
    offered.keep(available);
    let limit_end = now + ask.run_limit_in(machine, one.partition);
    state.take_reserved(&mut offered, now, limit_end);
    let unavailable = |required: &NodeSet| !required.is_subset(available);
    if ask.required.as_ref().is_some_and(unavailable) {
        return Outcome::Unavailable;
    }
    if let Some(required) = &ask.required {
        if ask.most_nodes == Some(ask.least_nodes) {
            offered.keep(required);
        }
    }
    let mut free = offered.clone();
    free.take(&state.completing);
    free.take(state.uses.whole());
    let found = question.choose(&free, &state.uses, &mut state.weights);
    let Some(allocation) = found else {
        // Limits are looked at before the job blocks its partition.
        let mut weights = state.weights.clone();
        let key = (one.job, one.partition);
        let known = state.on_empty.get(&key).cloned();
        let could = known.or_else(|| question.choose(&config, &layout.unused, &mut weights));
        let Some(could) = could else {
            return Outcome::Never;
        };
        // Where generic resources are asked for, the question sets weights of nodes.
        if ask.gres.is_empty() {
            state.on_empty.entry(key).or_insert_with(|| could.clone());
        }
        let running = Running {
            job: one.job,
            partition: one.partition,
            start: now,
            limit_end,
            allocation: could,
        };
        if let Some(limit) = state.counters.after(machine, ask, &running) {
            return Outcome::Limit(limit);
        }
        let unused = &layout.unused;
        let mut could = || question.choose(&offered, unused, &mut weights);
        let is_busy = free != offered || offered == config || could().is_some();
        return match is_busy {
            true => Outcome::Busy,
            false => Outcome::Unavailable,
        };
    };
    let running = Running {
        job: one.job,
        partition: one.partition,
        start: now,
        limit_end,
        allocation: allocation.clone(),
    };
    if let Some(limit) = state.counters.after(machine, ask, &running) {
        return Outcome::Limit(limit);
    }
    state.start(machine, asks, running);
    Outcome::Starts(Start {
        job: one.job,
        partition: one.partition,
        allocation,
    })
}

/// Returns true if a job breaks a limit of its partition and cannot start there.
pub fn breaks_partition(machine: &Machine, ask: &Ask, partition: usize) -> bool {
    let part = &machine.partitions[partition];
    let most = part.max_time_mins.map(|mins| i64::from(mins) * 60);
    let too_long = most
        .zip(ask.limit_secs)
        .is_some_and(|(most, own)| own > most);
    !part.is_up || too_long || NodeCounts::of(machine, ask, partition).is_none()
}

/// A pass of the main loop.
#[derive(Clone, Copy, Debug)]
pub struct MainPass<'a> {
    /// The jobs, sorted by priority.
    pub queue: &'a [InLine],
    /// Its moment, seconds since 1970.
    pub now: i64,
    /// True for a pass over all jobs.
    pub full: bool,
}

/// Runs a pass over a sorted queue; the jobs that start, in their order.
pub fn run(
    machine: &Machine,
    layout: &Layout,
    asks: &[Ask],
    pass: MainPass<'_>,
    state: &mut State,
    watcher: &mut dyn Watcher,
) -> Vec<Start> {
    let MainPass { queue, now, full } = pass;
    let settings = &machine.scheduling;
    let mut available = state.up.clone();
    let mut blocked: Vec<Option<usize>> = vec![None; machine.partitions.len()];
    let mut started: Vec<Start> = Vec::new();
    let mut has_started = vec![false; asks.len()];
    let mut per_partition = vec![0_usize; machine.partitions.len()];
    let mut rejected: Option<(u32, usize)> = None;
    let mut depth = 0;
    for (place, one) in queue.iter().enumerate() {
        let ask = &asks[one.job];
        if has_started[one.job] {
            continue;
        }
        if settings.max_main_starts > 0 && started.len() >= settings.max_main_starts {
            break;
        }
        if let Some((array, _)) = ask.task {
            if rejected == Some((array, one.partition)) {
                watcher.stays(one, Reason::Array);
                continue;
            }
            rejected = Some((array, one.partition));
            let running = state.running_tasks(asks, array);
            if ask.array_running.is_some_and(|most| running >= most) {
                watcher.stays(one, Reason::Array);
                continue;
            }
        }
        if settings.partition_depth > 0 {
            per_partition[one.partition] += 1;
            if per_partition[one.partition] > settings.partition_depth {
                watcher.stays(one, Reason::NotReached);
                continue;
            }
        }
        if !full {
            depth += 1;
            if depth > settings.queue_depth + 1 {
                queue[place..]
                    .iter()
                    .for_each(|one| watcher.stays(one, Reason::NotReached));
                break;
            }
        }
        if let Some(by) = blocked[one.partition] {
            watcher.stays(one, Reason::Blocked { by });
            continue;
        }
        let mut nodes = layout.partitions[one.partition].clone();
        nodes.keep(&available);
        let mut blocks = false;
        if ask.least_nodes as usize > nodes.len() {
            watcher.stays(one, Reason::Resources);
            blocks = true;
        } else {
            match try_start(machine, layout, asks, one, now, &available, state) {
                Outcome::Starts(start) => {
                    has_started[one.job] = true;
                    started.push(start);
                    rejected = None;
                    continue;
                }
                Outcome::Busy => {
                    watcher.stays(one, Reason::Resources);
                    blocks = true;
                }
                Outcome::Limit(limit) => {
                    watcher.stays(one, Reason::Limit(limit));
                    blocks = settings.limits_block;
                }
                Outcome::Unavailable => watcher.stays(one, Reason::Resources),
                Outcome::Never => watcher.stays(one, Reason::Never),
            }
        }
        if let Some(required) = &ask.required {
            blocks = false;
            available.take(required);
        }
        let young = settings.least_age > 0 && now - one.eligible < settings.least_age;
        if young || one.priority < settings.least_priority {
            blocks = false;
        }
        if blocks {
            blocked[one.partition] = Some(one.job);
            available.take(&layout.partitions[one.partition]);
        }
    }
    started
}
