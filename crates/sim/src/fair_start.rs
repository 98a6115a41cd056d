//! Fair starts: when a job would start if no job came after it.
//!
//! A job that starts later than that is *unfairly delayed*: later jobs made it wait.
//!
//! Source: G. Sabin, G. Kochhar, P. Sadayappan, "Job fairness in non-preemptive job scheduling",
//! ICPP 2004.

use crate::job::Job;
use crate::replay::{Machine, Observer, Order, Submission, replay_in};
use crate::scheduler::Kind;

/// The start of the job that waits at `place` of the queue, if nothing is submitted any more and the
/// jobs behind it are not there; `run_secs` gives the run time of a job that starts.
///
/// # Panics
/// When no job waits there.
pub fn fair_start(machine: &Machine, place: usize, run_secs: impl FnMut(u32) -> i64) -> i64 {
    let mut machine = machine.clone();
    machine.scheduler.truncate(place + 1);
    let wanted = machine.scheduler.queue()[place].job;
    machine.start_of(wanted, std::iter::empty(), run_secs)
}

/// Fair starts of some jobs, in ascending order of jobs; fewer where `go_on` says no. `wanted` are
/// numbers of jobs that wait in the schedule, ascending.
pub fn fair_starts(
    jobs: &[Job],
    kind: Kind,
    processors: u32,
    wanted: &[u32],
    go_on: impl FnMut() -> bool,
) -> Vec<(u32, i64)> {
    fair_starts_in(jobs, kind, processors, &mut Submission, wanted, go_on)
}

/// As [`fair_starts`], with jobs that wait in some order: those that wait behind a job when it is
/// submitted are not there, and those before it keep their order.
pub fn fair_starts_in(
    jobs: &[Job],
    kind: Kind,
    processors: u32,
    order: &mut impl Order,
    wanted: &[u32],
    go_on: impl FnMut() -> bool,
) -> Vec<(u32, i64)> {
    let mut found = Finder {
        jobs,
        wanted,
        found: Vec::with_capacity(wanted.len()),
        go_on,
    };
    replay_in(jobs, kind.scheduler(processors), order, &mut found);
    found.found
}

struct Finder<'a, G> {
    jobs: &'a [Job],
    wanted: &'a [u32],
    found: Vec<(u32, i64)>,
    go_on: G,
}

impl<G: FnMut() -> bool> Observer for Finder<'_, G> {
    fn go_on(&mut self) -> bool {
        self.found.len() < self.wanted.len() && (self.go_on)()
    }

    fn waits(&mut self, job: u32, _now: i64, machine: &Machine) {
        if self.wanted.get(self.found.len()) != Some(&job) {
            return;
        }
        let queue = machine.scheduler.queue();
        if let Some(place) = queue.iter().rposition(|waiting| waiting.job == job) {
            let start = fair_start(machine, place, |job| self.jobs[job as usize].run_secs);
            self.found.push((job, start));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::replay;

    fn job(submit: i64, run_secs: i64, limit_secs: i64, processors: u32) -> Job {
        Job {
            submit,
            run_secs,
            limit_secs,
            processors,
        }
    }

    /// Two processors. Job 0 has one of them until 10, its limit is 100. Job 1 wants both, at 10 if
    /// nothing comes after it; job 2 is backfilled, as its limit ends at 60, and delays job 1 to 52.
    #[test]
    fn a_job_that_is_overtaken_is_delayed() {
        let jobs = [job(0, 10, 100, 1), job(1, 5, 5, 2), job(2, 50, 58, 1)];
        let kind = Kind::Easy;
        let schedule = replay(&jobs, kind.scheduler(2), &mut ());
        assert_eq!(schedule.starts, [Some(0), Some(52), Some(2)]);
        assert_eq!(fair_starts(&jobs, kind, 2, &[1], || true), [(1, 10)]);
        // First come, first served: nobody overtakes.
        let kind = Kind::Fcfs;
        let schedule = replay(&jobs, kind.scheduler(2), &mut ());
        assert_eq!(schedule.starts, [Some(0), Some(10), Some(15)]);
        assert_eq!(
            fair_starts(&jobs, kind, 2, &[1, 2], || true),
            [(1, 10), (2, 15)]
        );
    }

    /// What is behind a job is forgotten, plans included.
    #[test]
    fn plans_of_later_jobs_are_forgotten() {
        let jobs = [job(0, 10, 100, 1), job(1, 5, 5, 2), job(2, 50, 58, 1)];
        let found = fair_starts(&jobs, Kind::Conservative, 2, &[1], || true);
        assert_eq!(found, [(1, 10)]);
    }
}
