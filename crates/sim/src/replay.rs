//! The events of a run: submissions, ends, starts.
//!
//! Events come one by one. Within a second submissions come before ends, ends in the order of their
//! starts, then planned starts, and passes that order the queue anew last.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::job::{Job, Waiting};
use crate::scheduler::Scheduler;

/// Starts of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Start of each job, seconds of the log's clock; `None`: it did not start before the end.
    pub starts: Vec<Option<i64>>,
    /// The moment of the last event where the run was stopped before its end.
    pub stopped_at: Option<i64>,
}

/// What looks on while a replay runs.
pub trait Observer {
    /// Returns false to stop the replay; asked before each event.
    fn go_on(&mut self) -> bool {
        true
    }

    /// A job was submitted at `now`, and waits.
    fn waits(&mut self, _job: u32, _now: i64, _machine: &Machine) {}

    /// A job that waited or not started at `now`.
    fn started(&mut self, _job: u32, _now: i64) {}

    /// A job ended at `now`.
    fn ended(&mut self, _job: u32, _now: i64) {}
}

/// Nobody looks on.
impl Observer for () {}

/// A machine in a moment: its scheduler and its running jobs.
pub struct Machine {
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) ends: Ends,
}

impl Clone for Machine {
    fn clone(&self) -> Machine {
        Machine {
            scheduler: self.scheduler.boxed(),
            ends: self.ends.clone(),
        }
    }
}

impl Machine {
    /// An empty machine.
    pub fn new(scheduler: Box<dyn Scheduler>) -> Machine {
        Machine {
            scheduler,
            ends: Ends::default(),
        }
    }

    /// Runs on until job `wanted`, which waits, starts; its start. `arrivals` are submitted at their
    /// moments, behind all that wait; `run_secs` gives the run time of a job that starts.
    pub(crate) fn start_of(
        mut self,
        wanted: u32,
        arrivals: impl Iterator<Item = (i64, Waiting)>,
        mut run_secs: impl FnMut(u32) -> i64,
    ) -> i64 {
        let mut arrivals = arrivals.peekable();
        let mut starts = Vec::new();
        loop {
            let arrival = arrivals.peek().map(|(moment, _)| *moment);
            let next = self.next_event(arrival);
            let (now, event) = next.expect("a job that waits starts when others end");
            match event {
                Event::Submission => {
                    if let Some((_, job)) = arrivals.next() {
                        let place = self.scheduler.queue().len();
                        self.scheduler.submit(job, place, now, &mut starts);
                    }
                }
                Event::End => {
                    let run = self.ends.pop();
                    self.scheduler.end(run.job, run.start, now, &mut starts);
                }
                Event::PlannedStart => self.scheduler.start_planned(now, &mut starts),
                Event::Pass => {}
            }
            for job in starts.drain(..) {
                if job.job == wanted {
                    return now;
                }
                self.ends.push(job, now, run_secs(job.job));
            }
        }
    }

    /// The next event and its moment; `None` after the last one.
    pub(crate) fn next_event(&self, submission: Option<i64>) -> Option<(i64, Event)> {
        let events = [
            submission.map(|moment| (moment, Event::Submission)),
            self.ends.next().map(|moment| (moment, Event::End)),
            self.scheduler
                .next_start()
                .map(|moment| (moment, Event::PlannedStart)),
        ];
        events.into_iter().flatten().min()
    }
}

/// The order in which jobs wait.
pub trait Order {
    /// Place of a job that is submitted at `now` in a queue, from 0 to its length.
    fn place(&mut self, job: &Waiting, queue: &[Waiting], now: i64) -> usize;

    /// The moment of the next pass; `None`: the order of those that wait never changes.
    fn next_pass(&self) -> Option<i64> {
        None
    }

    /// A pass: those that wait may be in another order from now on, by [`Order::compare`].
    fn pass(&mut self, _queue: &[Waiting], _now: i64) {}

    /// The order of two jobs that wait.
    fn compare(&self, _a: &Waiting, _b: &Waiting) -> Ordering {
        Ordering::Equal
    }

    /// A job starts at `now`.
    fn started(&mut self, _job: &Waiting, _now: i64) {}

    /// A job that started at `start` ends at `now`.
    fn ended(&mut self, _job: &Waiting, _start: i64, _now: i64) {}
}

/// The order of submission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Submission;

impl Order for Submission {
    fn place(&mut self, _job: &Waiting, queue: &[Waiting], _now: i64) -> usize {
        queue.len()
    }
}

/// Runs `jobs`, sorted by submission, to their end, or until the observer stops it. Jobs that are
/// submitted in the same second come in their order, and wait in order of submission.
///
/// # Panics
/// When jobs are not sorted, or a job does not fit into the machine.
pub fn replay(
    jobs: &[Job],
    scheduler: Box<dyn Scheduler>,
    observer: &mut impl Observer,
) -> Schedule {
    replay_in(jobs, scheduler, &mut Submission, observer)
}

/// As [`replay`], with jobs that wait in some order.
///
/// # Panics
/// When jobs are not sorted, or a job does not fit into the machine.
pub fn replay_in(
    jobs: &[Job],
    scheduler: Box<dyn Scheduler>,
    order: &mut impl Order,
    observer: &mut impl Observer,
) -> Schedule {
    let sorted = jobs.is_sorted_by_key(|job| job.submit);
    assert!(sorted, "jobs are sorted by submission");
    let mut schedule = Schedule {
        starts: vec![None; jobs.len()],
        stopped_at: None,
    };
    let mut machine = Machine::new(scheduler);
    let mut starts = Vec::new();
    let mut submitted = 0;
    loop {
        let submission = jobs.get(submitted).map(|job| job.submit);
        let Some((now, event)) = machine.next_event(submission) else {
            return schedule;
        };
        // A pass comes after the other events of its second, and none after the last one.
        let pass = order.next_pass().filter(|pass| *pass < now);
        let (now, event) = pass.map_or((now, event), |pass| (pass, Event::Pass));
        if !observer.go_on() {
            schedule.stopped_at = Some(now);
            return schedule;
        }
        match event {
            Event::Submission => {
                let job = Waiting::new(submitted as u32, &jobs[submitted]);
                let place = order.place(&job, machine.scheduler.queue(), now);
                machine.scheduler.submit(job, place, now, &mut starts);
                submitted += 1;
            }
            Event::End => {
                let run = machine.ends.pop();
                order.ended(&run.job, run.start, now);
                machine.scheduler.end(run.job, run.start, now, &mut starts);
                observer.ended(run.job.job, now);
            }
            Event::PlannedStart => machine.scheduler.start_planned(now, &mut starts),
            Event::Pass => {
                order.pass(machine.scheduler.queue(), now);
                if machine.scheduler.queue().len() > 1 {
                    let mut compare = |a: &Waiting, b: &Waiting| order.compare(a, b);
                    machine.scheduler.sort(&mut compare, now, &mut starts);
                }
            }
        }
        for job in starts.drain(..) {
            schedule.starts[job.job as usize] = Some(now);
            machine.ends.push(job, now, jobs[job.job as usize].run_secs);
            order.started(&job, now);
            observer.started(job.job, now);
        }
        if event == Event::Submission {
            let job = submitted - 1;
            if schedule.starts[job].is_none() {
                observer.waits(job as u32, now, &machine);
            }
        }
    }
}

/// A kind of event; within a second in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Submission,
    End,
    PlannedStart,
    /// The order of those that wait is computed anew; a machine without an order has none.
    Pass,
}

/// A running job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub end: i64,
    /// Number of the start.
    number: u32,
    pub start: i64,
    pub job: Waiting,
}

impl Ord for Run {
    fn cmp(&self, other: &Run) -> Ordering {
        (self.end, self.number).cmp(&(other.end, other.number))
    }
}

impl PartialOrd for Run {
    fn partial_cmp(&self, other: &Run) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Running jobs by their ends, those of a second in the order of their starts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    heap: BinaryHeap<Reverse<Run>>,
    started: u32,
}

impl Ends {
    pub fn push(&mut self, job: Waiting, start: i64, run_secs: i64) {
        let run = Run {
            end: start + run_secs,
            number: self.started,
            start,
            job,
        };
        self.started += 1;
        self.heap.push(Reverse(run));
    }

    pub fn next(&self) -> Option<i64> {
        self.heap.peek().map(|Reverse(run)| run.end)
    }

    /// # Panics
    /// When nothing runs.
    pub fn pop(&mut self) -> Run {
        let Reverse(run) = self.heap.pop().expect("a running job");
        run
    }

    /// The same running jobs, with other run times; `run_secs` gets each run.
    pub fn redrawn(&self, mut run_secs: impl FnMut(&Run) -> i64) -> Ends {
        let runs = self.heap.iter().map(|Reverse(run)| {
            let end = run.start + run_secs(run);
            Reverse(Run { end, ..*run })
        });
        Ends {
            heap: runs.collect(),
            started: self.started,
        }
    }
}
