//! The events of a run, in order of time: jobs come, begin and end, loops of slurmctld come round.

mod queue;
mod until;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use fairtree_model::machine::{Machine, OutageKind};

use super::{Begin, FairStarts, Jobs, Observer, Phases, Ran};
use crate::slurm::backfill;
use crate::slurm::life::{Fate, Life};
use crate::slurm::main_loop::{self, Layout, MainPass, Watcher};
use crate::slurm::node_set::NodeSet;
use crate::slurm::site::{Site, Unpriced};
use crate::slurm::state::{InLine, Reason, Running, Start, State};
use crate::slurm::waiting::WaitingJobs;

/// Something that happens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ended(usize),
    Submitted(usize),
    Cancelled(usize),
    /// Nodes of an outage go.
    Down(usize),
    /// They come back.
    Up(usize),
    Pass,
    Tick,
    Backfill,
}

/// The last moment at which a begin time or the end of a hold lets a job start.
fn last_begin(lives: &[Life]) -> i64 {
    let begins = lives.iter().flat_map(|life| {
        let holds = life.held_ms.iter().map(|(_, until)| *until);
        holds.chain([life.begin_ms])
    });
    begins.filter(|ms| *ms < i64::MAX).max().unwrap_or(0)
}

/// The end of the last outage that ends, milliseconds since 1970; 0 without any.
fn last_outage(machine: &Machine) -> i64 {
    let ends = machine.outages.iter().map(|outage| outage.to);
    let last = ends.filter(|to| *to < i64::MAX).max();
    last.map_or(0, |to| to.saturating_mul(1000))
}

/// A cluster on its own.
#[derive(Clone)]
pub(super) struct Free<'a> {
    machine: &'a Machine,
    layout: Layout,
    jobs: Jobs<'a>,
    /// Usage and prices; `None`: priorities stay as they are.
    site: Option<Site>,
    state: State,
    waiting: WaitingJobs,
    fates: Vec<Fate>,
    events: BinaryHeap<Reverse<(i64, Event)>>,
    /// Jobs that have neither ended nor been cancelled.
    left: usize,
    /// A submission or an end asks for a main pass.
    triggered: bool,
    last_main: i64,
    next_full: i64,
    /// Something changed since the last backfill cycle.
    changed: bool,
    backfilled: usize,
    /// Submissions, ends and cancellations to come.
    to_come: usize,
    /// When the last job that is known to begin later begins.
    last_begin: i64,
    /// Passes over all jobs without anything running or to come.
    idle_passes: u32,
    /// When it began, milliseconds since 1970.
    begin: i64,
    /// See [`Begin::spread`].
    spread: i64,
    /// The queue as it was sorted last, without those that have started.
    sorted: Vec<InLine>,
    /// It is still right, except for jobs of `unsettled` that become eligible, or are held.
    is_sorted: bool,
    /// Jobs that wait and are not eligible for good, and whether each is in `sorted`.
    unsettled: Vec<(usize, bool)>,
}

/// Hands on reasons.
struct Reasons<'o> {
    ms: i64,
    observer: &'o mut dyn Observer,
}

impl Watcher for Reasons<'_> {
    fn stays(&mut self, one: &InLine, reason: Reason) {
        self.observer.stays(one.job, self.ms, &reason);
    }
}

impl Event {
    /// It is about a job, not a loop.
    fn is_job(self) -> bool {
        matches!(
            self,
            Event::Ended(_) | Event::Submitted(_) | Event::Cancelled(_)
        )
    }
}

impl<'a> Free<'a> {
    /// A cluster at the beginning.
    pub(super) fn new(
        machine: &'a Machine,
        site: Site,
        jobs: Jobs<'a>,
        begin: Begin,
        phases: Phases,
    ) -> Free<'a> {
        let Begin {
            state,
            now_ms: begin,
            last_pass_ms,
            spread,
        } = begin;
        let period = site.period() * 1000;
        let mut free = Free {
            machine,
            layout: Layout::new(machine),
            jobs,
            site: Some(site),
            state,
            waiting: WaitingJobs::new(),
            fates: vec![Fate::default(); jobs.asks.len()],
            events: BinaryHeap::new(),
            left: jobs.asks.len(),
            triggered: false,
            last_main: 0,
            next_full: begin + phases.full_ms,
            changed: true,
            backfilled: 0,
            to_come: 0,
            last_begin: last_begin(jobs.lives).max(last_outage(machine)),
            idle_passes: 0,
            begin,
            spread,
            sorted: Vec::new(),
            is_sorted: false,
            unsettled: Vec::new(),
        };
        for running in free.state.running.clone() {
            let job = running.job;
            let start = running.start * 1000;
            let run = jobs.lives[job].run_ms;
            let end = run.map_or(running.limit_end * 1000, |run| start + run);
            free.fates[job].start_ms = Some(start);
            // It has not ended yet.
            free.push(end.max(begin + 1), Event::Ended(job));
        }
        for (at, life) in jobs.lives.iter().enumerate() {
            if free.fates[at].start_ms.is_some() {
                continue;
            }
            // Those that wait already are priced together.
            if life.submit_ms >= begin {
                free.push(life.submit_ms, Event::Submitted(at));
            }
            if let Some(ms) = life.cancel_ms {
                free.push(ms, Event::Cancelled(at));
            }
        }
        for (at, outage) in machine.outages.iter().enumerate() {
            let ms = |secs: i64| secs.saturating_mul(1000);
            if outage.kind == OutageKind::Down && ms(outage.to) > begin {
                free.push(ms(outage.from).max(begin), Event::Down(at));
                if outage.to < i64::MAX {
                    free.push(ms(outage.to), Event::Up(at));
                }
            }
        }
        let second = begin.div_euclid(1000) * 1000;
        free.push(second + phases.tick_ms, Event::Tick);
        if machine.scheduling.has_backfill {
            free.push(begin + phases.backfill_ms, Event::Backfill);
        }
        let pass = match last_pass_ms {
            Some(last) => begin + period - (begin - last).rem_euclid(period),
            None => begin - phases.pass_ms,
        };
        free.push(pass, Event::Pass);
        free
    }

    /// The jobs that were submitted before the beginning wait.
    pub(super) fn enter_all(&mut self) -> Result<(), Unpriced> {
        let Some(site) = &self.site else {
            return Ok(());
        };
        let lives = self.jobs.lives.iter().enumerate();
        let there = lives
            .filter(|(at, life)| life.submit_ms < self.begin && self.fates[*at].start_ms.is_none());
        let there: Vec<(usize, i64)> = there
            .map(|(at, life)| match life.is_settled(self.begin) {
                true => (at, life.begin_ms.div_euclid(1000)),
                false => (at, 0),
            })
            .collect();
        self.triggered |= !there.is_empty();
        let secs = self.begin.div_euclid(1000);
        let asks = self.jobs.asks;
        self.waiting
            .submit_all(&there, secs, self.machine, asks, site)
    }

    /// Runs to the end, with the fair starts of the jobs `wanted`, ascending.
    pub(super) fn run(
        mut self,
        wanted: &[usize],
        observer: &mut dyn Observer,
    ) -> Result<(Ran, FairStarts), Unpriced> {
        let mut fair = FairStarts::new();
        let mut stopped_ms = None;
        while let Some((ms, event)) = self.next() {
            if !observer.go_on() {
                stopped_ms = Some(ms);
                break;
            }
            self.take(ms, event, observer)?;
            if let Event::Submitted(job) = event {
                if wanted.binary_search(&job).is_ok() {
                    let start = self.before(job).start_of(job, observer)?;
                    fair.extend(start.map(|start| (job, start)));
                }
            }
        }
        fair.sort_unstable();
        let ran = Ran {
            fates: self.fates,
            stopped_ms,
            backfilled: self.backfilled,
        };
        Ok((ran, fair))
    }

    /// The next event; `None` after the last one. Loops continue only as long as somebody may come or
    /// start.
    fn next(&mut self) -> Option<(i64, Event)> {
        let Reverse((ms, event)) = self.events.pop()?;
        (self.left > 0 && self.idle_passes <= 3).then_some((ms, event))
    }

    /// The cluster without jobs to come, without those that wait and rank after a job, and without
    /// passes of priorities.
    fn before(&self, job: usize) -> Free<'a> {
        let key = |other: usize| {
            let ask = &self.jobs.asks[other];
            let priorities = self.waiting.priorities(other, ask).into_iter();
            let tier = |at: usize| self.machine.partitions[at].priority_tier;
            let best = priorities.map(|(at, priority)| (tier(at), priority)).max();
            (Reverse(best), ask.submit, ask.group(), ask.task)
        };
        let own = key(job);
        let mut waiting = self.waiting.clone();
        waiting.retain(|other| key(other) <= own);
        let stays = waiting.jobs();
        let events = self
            .events
            .iter()
            .filter(|Reverse((_, event))| match event {
                Event::Submitted(_) | Event::Pass => false,
                Event::Cancelled(other) => stays.contains(other),
                Event::Ended(_) | Event::Down(_) | Event::Up(_) => true,
                Event::Tick | Event::Backfill => true,
            });
        let events: BinaryHeap<Reverse<(i64, Event)>> = events.copied().collect();
        Free {
            machine: self.machine,
            layout: self.layout.clone(),
            jobs: self.jobs,
            site: None,
            state: self.state.clone(),
            fates: self.fates.clone(),
            left: stays.len() + self.state.running.len(),
            to_come: events.iter().filter(|one| one.0.1.is_job()).count(),
            waiting,
            events,
            sorted: Vec::new(),
            is_sorted: false,
            unsettled: Vec::new(),
            ..*self
        }
    }

    /// Runs until a job starts; its start, milliseconds since 1970; `None` where it never does, or the
    /// observer stops it.
    fn start_of(
        mut self,
        job: usize,
        observer: &mut dyn Observer,
    ) -> Result<Option<i64>, Unpriced> {
        while let Some((ms, event)) = self.next() {
            if !observer.go_on() {
                return Ok(None);
            }
            self.take(ms, event, &mut ())?;
            if let Some(start) = self.fates[job].start_ms {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }

    fn push(&mut self, ms: i64, event: Event) {
        self.to_come += usize::from(event.is_job());
        self.events.push(Reverse((ms, event)));
    }

    fn take(&mut self, ms: i64, event: Event, observer: &mut dyn Observer) -> Result<(), Unpriced> {
        let secs = ms.div_euclid(1000);
        let (machine, asks) = (self.machine, self.jobs.asks);
        self.to_come -= usize::from(event.is_job());
        match event {
            Event::Submitted(job) => {
                if let Some(site) = &self.site {
                    self.waiting.submit(job, secs, machine, &asks[job], site)?;
                    self.enter(job, ms);
                }
                self.triggered = true;
                self.changed = true;
            }
            Event::Ended(job) => {
                let ended = self.state.end(machine, asks, job);
                if let Some(running) = &ended {
                    self.state.counters.use_until(machine, asks, running, secs);
                }
                if let (Some(running), Some(site)) = (ended, &mut self.site) {
                    site.charge_end(machine, asks, &running, secs);
                }
                self.fates[job].end_ms = Some(ms);
                self.left -= 1;
                self.triggered = true;
                self.changed = true;
            }
            Event::Cancelled(job) => {
                if self.fates[job].start_ms.is_none() {
                    self.waiting.leave(job);
                    self.is_sorted = false;
                    self.fates[job].end_ms = Some(ms);
                    self.left -= 1;
                }
            }
            Event::Pass => {
                if let Some(site) = &mut self.site {
                    let since = self.state.counters.since_pass(secs);
                    let decayed = site.decayed(since);
                    let State {
                        counters, running, ..
                    } = &mut self.state;
                    counters.pass(machine, asks, running, secs, decayed);
                    let waiting = self.waiting.rows(machine, asks, site);
                    site.pass(secs, machine, asks, &self.state.running, &waiting);
                    self.waiting.price(secs, machine, asks, site)?;
                    self.is_sorted = false;
                    let period = site.period() * 1000;
                    self.push(ms + period.max(self.apart(ms)), Event::Pass);
                }
            }
            Event::Down(at) => {
                let nodes = NodeSet::of(machine.nodes.len(), machine.outages[at].nodes.clone());
                self.state.up.take(&nodes);
            }
            Event::Up(at) => {
                self.state.come_back(machine, at, secs);
                self.triggered = true;
                self.changed = true;
            }
            Event::Tick => self.tick(ms, observer),
            Event::Backfill => self.backfill(ms, observer),
        }
        Ok(())
    }

    fn tick(&mut self, ms: i64, observer: &mut dyn Observer) {
        let settings = &self.machine.scheduling;
        let secs = ms.div_euclid(1000);
        let full = ms >= self.next_full;
        if full || (self.triggered && secs - self.last_main >= settings.batch_delay) {
            if full {
                // Jobs that are left can never start.
                let idle = self.to_come == 0 && self.state.running.is_empty();
                let over = ms > self.last_begin;
                self.idle_passes = if idle && over {
                    self.idle_passes + 1
                } else {
                    0
                };
                self.next_full = ms + settings.sched_interval.max(1) * 1000;
            }
            self.triggered = false;
            self.last_main = secs;
            let queue = self.queue(ms);
            self.changed |= !queue.is_empty();
            let mut reasons = Reasons {
                ms,
                observer: &mut *observer,
            };
            let (machine, asks) = (self.machine, self.jobs.asks);
            let layout = &self.layout;
            let state = &mut self.state;
            let starts = main_loop::run(
                machine,
                layout,
                asks,
                MainPass {
                    queue: &queue,
                    now: secs,
                    full,
                },
                state,
                &mut reasons,
            );
            self.started(ms, queue, &starts, observer);
        }
        // Seconds in which nothing can happen are passed over.
        let idle = self.waiting.is_empty() && !self.triggered;
        let next = match (idle, self.events.peek()) {
            (true, Some(Reverse((next, _)))) if *next > ms => {
                ms + ((next - ms).div_euclid(1000) * 1000).max(1000)
            }
            _ => ms + 1000,
        };
        self.push(next, Event::Tick);
    }

    fn backfill(&mut self, ms: i64, observer: &mut dyn Observer) {
        let interval = self.machine.scheduling.interval.max(1) * 1000;
        if !self.changed {
            self.push(ms + 1000, Event::Backfill);
            return;
        }
        self.changed = false;
        let queue = self.queue(ms);
        let mut reasons = Reasons {
            ms,
            observer: &mut *observer,
        };
        let (machine, asks) = (self.machine, self.jobs.asks);
        let layout = &self.layout;
        let secs = ms.div_euclid(1000);
        let state = &mut self.state;
        let starts = backfill::run(machine, layout, asks, &queue, secs, state, &mut reasons);
        self.backfilled += starts.len();
        self.started(ms, queue, &starts, observer);
        self.push(ms + interval.max(self.apart(ms)), Event::Backfill);
    }

    /// The least time between two cycles, milliseconds.
    fn apart(&self, ms: i64) -> i64 {
        (ms - self.begin).checked_div(self.spread).unwrap_or(0)
    }

    /// Jobs of a queue have started; the others go back.
    fn started(
        &mut self,
        ms: i64,
        mut queue: Vec<InLine>,
        starts: &[Start],
        observer: &mut dyn Observer,
    ) {
        if !starts.is_empty() {
            let starts: HashSet<usize> = starts.iter().map(|start| start.job).collect();
            queue.retain(|one| !starts.contains(&one.job));
            self.unsettled.retain(|(job, _)| !starts.contains(job));
        }
        self.sorted = queue;
        for start in starts {
            observer.starts(start.job, ms);
            self.waiting.leave(start.job);
            self.fates[start.job].start_ms = Some(ms);
            let run = self.jobs.lives[start.job].run_ms.unwrap_or_else(|| {
                let running = |one: &&Running| one.job == start.job;
                let found = self.state.running.iter().rev().find(running);
                found.map_or(0, |one| (one.limit_end - one.start) * 1000)
            });
            self.push(ms + run, Event::Ended(start.job));
            self.changed = true;
        }
    }
}
