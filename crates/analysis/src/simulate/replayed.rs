//! A replay of a log, with the fair starts of jobs that waited.

use fairtree_sim::fair_start::fair_starts;
use fairtree_sim::job::Job;
use fairtree_sim::replay::{Observer, Schedule, replay};
use fairtree_sim::scheduler::Kind;
use fairtree_sim::workload::Workload;

/// A replay of a log.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The scheduler: `easy`, `fcfs`, `conservative`, `slurm`.
    pub scheduler: &'static str,
    /// The order in which jobs wait: `submission`, `priority`.
    pub order: &'static str,
    /// The starts.
    pub schedule: Schedule,
    /// Numbers of jobs, ascending, and when each would have started if no job came after it; a
    /// sample of the jobs that waited, evenly spread.
    pub fair_starts: Vec<(u32, i64)>,
    /// It was not stopped, neither while jobs were replayed nor while fair starts were computed.
    pub is_complete: bool,
}

/// Replays the jobs, and computes the fair starts of at most `samples` of those that waited. Stops
/// where `go_on`, asked before each event, says no; the schedule then says when.
pub fn run(
    workload: &Workload,
    scheduler: Kind,
    samples: usize,
    go_on: &mut dyn FnMut() -> bool,
) -> Replayed {
    let mut asked = Asked {
        go_on,
        is_complete: true,
    };
    let machine = scheduler.scheduler(workload.processors);
    let schedule = replay(&workload.jobs, machine, &mut asked);
    let sample = sample_of(&workload.jobs, &schedule.starts, samples);
    let fair_starts = match schedule.stopped_at {
        None => fair_starts(
            &workload.jobs,
            scheduler,
            workload.processors,
            &sample,
            || asked.go_on(),
        ),
        Some(_) => Vec::new(),
    };
    Replayed {
        scheduler: scheduler.name(),
        order: "submission",
        schedule,
        fair_starts,
        is_complete: asked.is_complete,
    }
}

/// At most `samples` of the jobs that waited, evenly spread, ascending.
pub(super) fn sample_of(jobs: &[Job], starts: &[Option<i64>], samples: usize) -> Vec<u32> {
    let waited = jobs.iter().zip(starts).enumerate();
    let waited = waited.filter(|(_, (job, start))| start.is_some_and(|start| start > job.submit));
    let waited: Vec<u32> = waited.map(|(at, _)| at as u32).collect();
    let count = samples.min(waited.len());
    (0..count)
        .map(|at| waited[at * waited.len() / count])
        .collect()
}

struct Asked<'a> {
    go_on: &'a mut dyn FnMut() -> bool,
    is_complete: bool,
}

impl Observer for Asked<'_> {
    fn go_on(&mut self) -> bool {
        self.is_complete = self.is_complete && (self.go_on)();
        self.is_complete
    }
}
