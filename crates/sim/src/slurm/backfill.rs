//! A cycle of the backfill scheduler.
//!
//! Every job that is tested either starts or gets a plan of whole nodes, before which no later job
//! can take them. When a job will start is found by letting running jobs end by their limits, some
//! at a time.

mod will_run;

use std::collections::HashMap;

use fairtree_model::machine::Machine;

use super::ask::Ask;
use super::main_loop::{Layout, Outcome, Watcher, try_start};
use super::node_set::NodeSet;
use super::plan::Plan;
use super::select::{NodeCounts, Question};
use super::state::{InLine, Reason, Running, Start, State};
use will_run::{When, will_run};

/// How many jobs were tested, of whom.
#[derive(Default)]
struct Tested {
    users: HashMap<u32, usize>,
    assocs: HashMap<usize, usize>,
    partitions: HashMap<usize, usize>,
    users_in: HashMap<(u32, usize), usize>,
}

impl Tested {
    /// Returns true, and counts nothing, if as many were tested as may be.
    fn is_over(&mut self, machine: &Machine, ask: &Ask, partition: usize) -> bool {
        let settings = &machine.scheduling;
        let assoc = ask
            .assoc
            .map_or(usize::MAX, fairtree::tree::AssocIndex::get);
        let counts = [
            (
                self.users_in.entry((ask.user, partition)).or_default(),
                settings.max_user_partition,
            ),
            (
                self.partitions.entry(partition).or_default(),
                settings.max_partition,
            ),
            (self.assocs.entry(assoc).or_default(), settings.max_assoc),
            (self.users.entry(ask.user).or_default(), settings.max_user),
        ];
        if counts
            .iter()
            .any(|(count, most)| *most > 0 && **count >= *most)
        {
            return true;
        }
        counts.into_iter().for_each(|(count, _)| *count += 1);
        false
    }
}

/// A reservation in a plan, where a job has its number.
const RESERVATION: usize = usize::MAX;

/// Runs a cycle over a sorted queue; the jobs that start, in their order.
pub fn run(
    machine: &Machine,
    layout: &Layout,
    asks: &[Ask],
    queue: &[InLine],
    now: i64,
    state: &mut State,
    watcher: &mut dyn Watcher,
) -> Vec<Start> {
    let settings = &machine.scheduling;
    let mut plan = Plan::new(now, settings.window, settings.resolution, state.up.clone());
    if settings.reserve_running {
        for running in &state.running {
            reserve(&mut plan, state.uses.len(), running, settings.max_slots);
        }
    }
    for (nodes, from, to) in &state.reserved {
        if *to > now && *from < plan.window_end() {
            plan.take(RESERVATION, nodes, *from, *to);
        }
    }
    let mut started: Vec<Start> = Vec::new();
    let mut has_started = vec![false; asks.len()];
    let mut planned: HashMap<usize, i64> = HashMap::new();
    let mut tested = Tested::default();
    let mut tries = 0;
    let mut rejected: Option<(u32, usize)> = None;
    // Plans of the array that is being planned.
    let mut array_plans: (u32, usize) = (0, 0);
    let mut partition_plans = vec![0_usize; machine.partitions.len()];
    let mut by_end = order_of_ends(state);
    for (place, one) in queue.iter().enumerate() {
        let ask = &asks[one.job];
        if has_started[one.job] {
            continue;
        }
        if tries >= settings.max_tests {
            queue[place..]
                .iter()
                .for_each(|one| watcher.stays(one, Reason::NotReached));
            break;
        }
        if let Some(limit) = state.counters.before(ask, one.partition) {
            if !settings.limits_block {
                watcher.stays(one, Reason::Limit(limit));
                continue;
            }
        }
        let waited = now - one.eligible;
        let mut now_only = one.priority < settings.least_priority
            || (settings.least_age > 0 && waited < settings.least_age)
            || (settings.one_plan && planned.contains_key(&one.job));
        if settings.partition_plans > 0
            && partition_plans[one.partition] >= settings.partition_plans
        {
            now_only = true;
        }
        if let Some((array, _)) = ask.task {
            if rejected == Some((array, one.partition)) {
                watcher.stays(one, Reason::Array);
                continue;
            }
            let plans = if array_plans.0 == array {
                array_plans.1
            } else {
                0
            };
            let running = state.running_tasks(asks, array);
            let most = ask.array_running;
            if plans >= settings.max_array_plans || most.is_some_and(|most| running >= most) {
                watcher.stays(one, Reason::Array);
                continue;
            }
            rejected = Some((array, one.partition));
        }
        if tested.is_over(machine, ask, one.partition) {
            watcher.stays(one, Reason::NotReached);
            continue;
        }
        let Some(counts) = NodeCounts::of(machine, ask, one.partition) else {
            watcher.stays(one, Reason::Never);
            continue;
        };
        let question = Question {
            machine,
            ask,
            partition: one.partition,
            counts,
        };
        let limit = ask.limit_in(machine, one.partition);
        let limit = ask
            .least_secs
            .filter(|least| *least < limit)
            .unwrap_or(limit);
        let mut nodes = layout.partitions[one.partition].clone();
        nodes.keep(&state.up);
        let mut later = now;
        let mut counted = false;
        // The job whose plan kept this one from a start now.
        let mut kept_by = None;
        loop {
            let start = later;
            let end = start.max(now) + limit;
            let mut offered = plan.offered(&nodes, start, end);
            if start == now {
                let mut taken = nodes.clone();
                taken.take(&offered.free);
                kept_by = plan.taker(&taken, now, end);
                kept_by = kept_by.filter(|by| *by != RESERVATION);
            }
            offered.free.keep(&ask.usable);
            let missing = |required: &NodeSet| !required.is_subset(&offered.free);
            let too_few = (offered.free.len() as u32) < counts.least;
            let found = if too_few || ask.required.as_ref().is_some_and(missing) {
                None
            } else {
                if !counted {
                    tries += 1;
                    counted = true;
                }
                let when = When {
                    now,
                    now_only,
                    by_end: &by_end,
                };
                will_run(&question, &offered.free, when, layout, state)
            };
            let Some(found) = found else {
                match offered.later.filter(|_| !now_only) {
                    Some(moment) => {
                        later = moment;
                        continue;
                    }
                    None => {
                        watcher.stays(one, Reason::Planned { by: kept_by });
                        break;
                    }
                }
            };
            let mut at = found.start.max(start);
            let chosen = found.allocation.nodes(machine.nodes.len());
            let mut later_start = offered.later;
            if at <= now && chosen.meets(&state.completing) {
                at = now + 1;
                later_start = None;
            }
            if at <= now {
                let mut free = offered.free.clone();
                free.keep(&nodes);
                match try_start(machine, layout, asks, one, now, &free, state) {
                    Outcome::Starts(begun) => {
                        if begun.allocation.whole {
                            let running = state.running.last().expect("it has started");
                            reserve(&mut plan, state.uses.len(), running, settings.max_slots);
                        }
                        has_started[one.job] = true;
                        add_end(&mut by_end, state);
                        started.push(begun);
                        rejected = None;
                        break;
                    }
                    Outcome::Limit(limit) if !settings.limits_block => {
                        watcher.stays(one, Reason::Limit(limit));
                        break;
                    }
                    Outcome::Limit(_) => at = later_start.unwrap_or(now + 500),
                    _ => later_start = None,
                }
            }
            if at > now && now_only {
                watcher.stays(one, Reason::Planned { by: kept_by });
                break;
            }
            if later_start.is_some_and(|moment| at > moment) {
                later = later_start.unwrap_or(at);
                continue;
            }
            let reserve_end = at + limit;
            if at > now + settings.window {
                watcher.planned(one, at, reserve_end, &chosen);
                watcher.stays(one, Reason::Resources);
                break;
            }
            if at > now && plan.overlaps(&chosen, at, reserve_end) {
                later = at;
                continue;
            }
            if !settings.limits_block {
                let running = Running {
                    job: one.job,
                    partition: one.partition,
                    start: at,
                    limit_end: reserve_end,
                    allocation: found.allocation.clone(),
                };
                if let Some(limit) = state.counters.after(machine, ask, &running) {
                    watcher.stays(one, Reason::Limit(limit));
                    break;
                }
            }
            watcher.planned(one, at, reserve_end, &chosen);
            watcher.stays(
                one,
                match kept_by {
                    Some(by) => Reason::Planned { by: Some(by) },
                    None => Reason::Resources,
                },
            );
            partition_plans[one.partition] += 1;
            rejected = None;
            if plan.made() >= settings.max_slots {
                queue[place + 1..]
                    .iter()
                    .for_each(|one| watcher.stays(one, Reason::NotReached));
                return started;
            }
            plan.take(one.job, &chosen, at, reserve_end);
            planned.insert(one.job, at);
            if let Some((array, _)) = ask.task {
                array_plans = match array_plans {
                    (own, plans) if own == array => (array, plans + 1),
                    _ => (array, 1),
                };
            }
            break;
        }
        if settings.max_starts > 0 && started.len() >= settings.max_starts {
            queue[place + 1..]
                .iter()
                .for_each(|one| watcher.stays(one, Reason::NotReached));
            break;
        }
    }
    started
}

/// Running jobs in order of their ends by limit; those of a moment in order of their numbers.
fn order_of_ends(state: &State) -> Vec<usize> {
    let running = state.running.iter().enumerate();
    let mut order: Vec<(i64, usize, usize)> = running
        .map(|(at, running)| (running.limit_end, running.job, at))
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(.., at)| at).collect()
}

/// Adds the job that started last to the order of ends.
fn add_end(by_end: &mut Vec<usize>, state: &State) {
    let end = |at: usize| (state.running[at].limit_end, state.running[at].job);
    if let Some(last) = state.running.len().checked_sub(1) {
        let place = by_end.partition_point(|at| end(*at) < end(last));
        by_end.insert(place, last);
    }
}

/// Takes the nodes of a running job that has them for itself.
fn reserve(plan: &mut Plan, size: usize, running: &Running, most: usize) {
    if running.allocation.whole && plan.made() < most {
        plan.take(
            running.job,
            &running.allocation.nodes(size),
            0,
            running.limit_end,
        );
    }
}
