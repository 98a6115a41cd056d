//! A job as a simulated machine sees it.

/// A job of a pool of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Submission, seconds of the log's clock.
    pub submit: i64,
    /// Run time, seconds, from 1 to `limit_secs`.
    pub run_secs: i64,
    /// Time limit, seconds; what a scheduler plans with.
    pub limit_secs: i64,
    /// Processors, from 1 to those of the machine.
    pub processors: u32,
}

/// A job in a queue: what a scheduler knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Time limit, seconds.
    pub limit_secs: i64,
    /// Processors.
    pub processors: u32,
    /// Number of the job in the run.
    pub job: u32,
}

impl Waiting {
    /// Job `number` in a queue.
    pub fn new(number: u32, job: &Job) -> Waiting {
        Waiting {
            limit_secs: job.limit_secs,
            processors: job.processors,
            job: number,
        }
    }
}
