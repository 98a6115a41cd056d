//! Rules for which jobs start now.
//!
//! A scheduler has one pool of processors and a queue. It is called at each event and answers with
//! the jobs to start at this moment. It plans with time limits; a job that reached its limit in this
//! second occupies nothing, also before its end is reported.

mod conservative;
mod easy;
mod fcfs;
mod occupied;
mod profile;

pub use conservative::Conservative;
pub use easy::Easy;
pub use fcfs::Fcfs;

use crate::job::Waiting;

/// A scheduler, called with events in the order of their time.
pub trait Scheduler {
    /// The queue, first job first.
    fn queue(&self) -> &[Waiting];

    /// A job is submitted, to place `place` of the queue, from 0 to its length. Adds the jobs that
    /// start now to `starts`, in their order.
    fn submit(&mut self, job: Waiting, place: usize, now: i64, starts: &mut Vec<Waiting>);

    /// A job that started at `start` has ended. Adds the jobs that start now to `starts`, in their
    /// order.
    fn end(&mut self, job: Waiting, start: i64, now: i64, starts: &mut Vec<Waiting>);

    /// Sorts the queue anew. Adds the jobs that start now to `starts`, in their order.
    fn sort(
        &mut self,
        order: &mut dyn FnMut(&Waiting, &Waiting) -> std::cmp::Ordering,
        now: i64,
        starts: &mut Vec<Waiting>,
    );

    /// Forgets the jobs that wait behind the first `kept`.
    fn truncate(&mut self, kept: usize);

    /// The same scheduler in the same state.
    fn boxed(&self) -> Box<dyn Scheduler>;

    /// Earliest planned start of a job that waits; `None` where jobs start at other events only.
    fn next_start(&self) -> Option<i64> {
        None
    }

    /// Adds the jobs whose planned start is `now` to `starts`, in their order.
    fn start_planned(&mut self, _now: i64, _starts: &mut Vec<Waiting>) {}
}

/// The schedulers by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// EASY backfilling: later jobs start early where they do not delay the first one.
    Easy,
    /// First come, first served.
    Fcfs,
    /// Conservative backfilling: later jobs start early where they delay no plan.
    Conservative,
}

impl Kind {
    /// The scheduler of this kind for a pool of `processors`.
    pub fn scheduler(self, processors: u32) -> Box<dyn Scheduler> {
        match self {
            Kind::Easy => Box::new(Easy::new(processors)),
            Kind::Fcfs => Box::new(Fcfs::new(processors)),
            Kind::Conservative => Box::new(Conservative::new(processors)),
        }
    }

    /// The word for it in options and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Easy => "easy",
            Kind::Fcfs => "fcfs",
            Kind::Conservative => "conservative",
        }
    }
}
