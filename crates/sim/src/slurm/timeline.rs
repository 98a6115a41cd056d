//! The history of a recorded run, as the simulation takes it: jobs with names resolved, and its
//! events in order.

use fairtree_model::input::recorded::{Recorded, RecordedJob};
use fairtree_model::input::slurm::controller_log::LogEvent;
use fairtree_model::machine::{Machine, OutageKind};

use super::ask::{Ask, Asker};
use super::site::{Site, Unpriced};

/// An event of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// A job was submitted.
    Submitted(usize),
    /// A running job ended.
    Ended(usize),
    /// The nodes of an outage are up again.
    Up(usize),
    /// The nodes of an outage are down or drained from now on.
    Down(usize),
    /// The priority plugin ran a pass.
    Pass,
    /// CPUs of nodes were sampled.
    Sample(usize),
    /// A cycle of a scheduler began.
    Cycle(Cycle),
    /// A job started.
    Started(usize),
}

/// A cycle of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cycle {
    /// The main scheduler, as deep as `default_queue_depth`.
    Main,
    /// The main scheduler, over all jobs.
    MainFull,
    /// The backfill scheduler.
    Backfill,
}

/// The events of a recorded run, in order of time.
#[derive(Debug)]
pub struct Timeline {
    /// The jobs as the schedulers see them, in order of submission.
    pub asks: Vec<Ask>,
    /// The same jobs as they were recorded.
    pub jobs: Vec<RecordedJob>,
    /// Events with their moments, milliseconds since 1970, in order.
    pub events: Vec<(i64, Event)>,
    /// When slurmctld's first pass ran, milliseconds since 1970.
    pub first_pass_ms: i64,
    /// Where cycles come from.
    pub cycles: CyclesFrom,
    /// Assumptions, and jobs that were left out, one sentence each.
    pub notes: Vec<String>,
}

/// The source of the moments of cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CyclesFrom {
    /// The log of slurmctld.
    Log,
    /// sdiag, for those of the backfill scheduler.
    Sdiag,
    /// Nowhere: assumed.
    Assumed,
}

impl CyclesFrom {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CyclesFrom::Log => "log",
            CyclesFrom::Sdiag => "sdiag",
            CyclesFrom::Assumed => "assumed",
        }
    }
}

impl Timeline {
    /// The history of a recorded run, and its site.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn new(recorded: &Recorded) -> Result<(Timeline, Site), Unpriced> {
        let names = recorded.jobs.iter().map(|job| {
            let request = &job.request;
            let account = request.account.clone().unwrap_or_default();
            (account, request.user.clone().unwrap_or_default())
        });
        let mut site = Site::new(
            &recorded.conf,
            recorded.release,
            &recorded.machine,
            &recorded.accounting,
            names,
        )?;
        let mut history = Timeline {
            asks: Vec::new(),
            jobs: Vec::new(),
            events: Vec::new(),
            first_pass_ms: 0,
            cycles: CyclesFrom::Log,
            notes: Vec::new(),
        };
        let mut unknown: Vec<String> = Vec::new();
        for job in &recorded.jobs {
            match ask(&recorded.machine, &mut site, job) {
                Ok(ask) => {
                    history.asks.push(ask);
                    history.jobs.push(job.clone());
                }
                Err(name) => unknown.push(name),
            }
        }
        history.notes.extend(unknown_notes(unknown));
        history.add_events(recorded, &site);
        Ok((history, site))
    }

    fn add_events(&mut self, recorded: &Recorded, site: &Site) {
        let mut events: Vec<(i64, Event)> = Vec::new();
        for (at, job) in self.jobs.iter().enumerate() {
            events.push((job.submit_ms, Event::Submitted(at)));
            if let Some(start) = job.start_ms {
                events.push((start, Event::Started(at)));
                // A run of less than the resolution ends after its start.
                let end = job.end_ms.map(|end| end.max(start + 1));
                events.extend(end.map(|end| (end, Event::Ended(at))));
            }
        }
        let samples = recorded.samples.iter().enumerate();
        events.extend(samples.map(|(at, sample)| (sample.at_ms, Event::Sample(at))));
        let first = events.iter().map(|(ms, _)| *ms).min().unwrap_or(0);
        let last = events.iter().map(|(ms, _)| *ms).max().unwrap_or(0);
        for line in &recorded.log {
            let cycle = match line.event {
                LogEvent::Main { full: true } => Cycle::MainFull,
                LogEvent::Main { full: false } => Cycle::Main,
                LogEvent::Backfill => Cycle::Backfill,
                _ => continue,
            };
            events.push((line.at_ms, Event::Cycle(cycle)));
        }
        if recorded.log.is_empty() {
            self.assume_cycles(recorded, first, last, &mut events);
        }
        let loaded = recorded
            .log
            .iter()
            .find(|line| line.event == LogEvent::PriorityLoaded);
        let started = recorded
            .log
            .iter()
            .find(|line| matches!(line.event, LogEvent::Started(_)));
        self.first_pass_ms = loaded.or(started).map_or(first, |line| line.at_ms);
        if loaded.is_none() {
            let why = "the moment of the first pass is not recorded: assumed is the first event";
            self.notes.push(why.to_owned());
        }
        add_outages(&recorded.machine, first, last, &mut events);
        let period = site.period() * 1000;
        let mut pass = self.first_pass_ms;
        while pass <= last {
            events.push((pass, Event::Pass));
            pass += period;
        }
        events.sort_unstable();
        self.events = events;
    }

    /// Cycles where no log has them: those of the main scheduler after submissions and ends, those
    /// of the backfill scheduler by sdiag, or at its interval.
    fn assume_cycles(
        &mut self,
        recorded: &Recorded,
        first: i64,
        last: i64,
        events: &mut Vec<(i64, Event)>,
    ) {
        let settings = &recorded.machine.scheduling;
        let mut main: Vec<i64> = Vec::new();
        for (ms, event) in events.iter() {
            match event {
                // Within a second, submissions and ends come before cycles, and these before starts.
                Event::Ended(_) | Event::Submitted(_) => main.push(*ms),
                _ => {}
            }
        }
        main.sort_unstable();
        main.dedup_by_key(|ms| *ms / 1000);
        events.extend(main.into_iter().map(|ms| (ms, Event::Cycle(Cycle::Main))));
        let mut full = first;
        while full <= last {
            events.push((full, Event::Cycle(Cycle::MainFull)));
            full += settings.sched_interval.max(1) * 1000;
        }
        let seen = &recorded.sdiag_cycles;
        let interval = settings.interval.max(1) * 1000;
        let cycles: Vec<i64> = if seen.is_empty() {
            self.cycles = CyclesFrom::Assumed;
            self.notes.push(
                "slurmctld.log and sdiag are missing: cycles are assumed at bf_interval".to_owned(),
            );
            (0..)
                .map(|n| first + n * interval)
                .take_while(|ms| *ms <= last)
                .collect()
        } else {
            self.cycles = CyclesFrom::Sdiag;
            self.notes.push(
                "cycles of the backfill scheduler are those of sdiag; where it was asked less often \
                 than once a cycle, those between are assumed at bf_interval"
                    .to_owned(),
            );
            between(seen, interval)
        };
        events.extend(
            cycles
                .into_iter()
                .map(|ms| (ms, Event::Cycle(Cycle::Backfill))),
        );
    }
}

/// Adds when nodes went down or were drained between two moments, milliseconds since 1970, and when they came back.
fn add_outages(machine: &Machine, first: i64, last: i64, events: &mut Vec<(i64, Event)>) {
    let outages = machine.outages.iter().enumerate();
    for (at, outage) in outages.filter(|(_, outage)| outage.kind == OutageKind::Down) {
        let [from, to] = [outage.from, outage.to].map(|secs| secs.saturating_mul(1000));
        if from <= last && to > first {
            events.push((from.max(first), Event::Down(at)));
            if to <= last {
                events.push((to, Event::Up(at)));
            }
        }
    }
}

/// Moments that were seen, and those between them at the interval.
fn between(seen: &[i64], interval: i64) -> Vec<i64> {
    let mut all = Vec::new();
    for pair in seen.windows(2) {
        all.push(pair[0]);
        let steps = (pair[1] - pair[0] + interval / 2) / interval;
        for step in 1..steps {
            all.push(pair[0] + (pair[1] - pair[0]) * step / steps);
        }
    }
    all.extend(seen.last());
    all
}

/// A sentence for each name that slurm.conf does not have, with the number of jobs that use it.
pub(super) fn unknown_notes(mut unknown: Vec<String>) -> Vec<String> {
    unknown.sort();
    let notes = unknown.chunk_by(|a, b| a == b).map(|same| {
        let jobs = match same.len() {
            1 => "1 job".to_owned(),
            count => format!("{count} jobs"),
        };
        format!("{jobs} left out: {} is not in slurm.conf", same[0])
    });
    notes.collect()
}

/// The job as the schedulers see it, or the name that the machine does not have.
pub(crate) fn ask(machine: &Machine, site: &mut Site, job: &RecordedJob) -> Result<Ask, String> {
    let request = &job.request;
    let user = request.user.as_deref().unwrap_or("");
    let number = site.user(user);
    let partition = request.partitions.first().map_or("", String::as_str);
    let assoc = site.assoc(request.account.as_deref().unwrap_or(""), user, partition);
    let who = Asker {
        user: number,
        assoc,
        qos: site.qos(request.qos.as_deref(), assoc),
    };
    let submit = job.submit_ms.div_euclid(1000);
    let found = Ask::new(machine, request, (job.id, job.task), submit, who);
    found.map_err(|unknown| unknown.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_between_those_that_were_seen() {
        assert_eq!(between(&[0, 30, 92], 30), [0, 30, 61, 92]);
        assert_eq!(between(&[5], 30), [5]);
        assert!(between(&[], 30).is_empty());
    }
}
