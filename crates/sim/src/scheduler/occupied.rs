//! The processors of running jobs, by the ends of their limits.

use crate::job::Waiting;

/// A running job.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// End of its limit.
    end_by: i64,
    processors: u32,
    job: u32,
}

/// Running jobs on a pool of processors, sorted by the ends of their limits.
#[derive(Clone, Debug)]
pub(super) struct Occupied {
    processors: u32,
    /// Processors of all of `runs`.
    used: u32,
    runs: Vec<Run>,
}

impl Occupied {
    pub fn new(processors: u32) -> Occupied {
        Occupied {
            processors,
            used: 0,
            runs: Vec::new(),
        }
    }

    /// Processors that no job occupies whose limit ends after `now`.
    pub fn free(&self, now: i64) -> u32 {
        let over = self.runs.iter().take_while(|run| run.end_by <= now);
        self.processors + over.map(|run| run.processors).sum::<u32>() - self.used
    }

    /// Returns true if a limit has ended and the end of the job is still to come.
    pub fn is_any_over(&self, now: i64) -> bool {
        self.runs.first().is_some_and(|run| run.end_by <= now)
    }

    /// A job starts, to end at `end_by` at the latest.
    pub fn start(&mut self, job: u32, processors: u32, end_by: i64) {
        let at = self.runs.partition_point(|run| run.end_by <= end_by);
        let run = Run {
            end_by,
            processors,
            job,
        };
        self.runs.insert(at, run);
        self.used += processors;
    }

    /// Starts jobs from the head of a queue while they fit, and adds them to `starts`. Returns the
    /// processors that are then free.
    pub fn start_heads(
        &mut self,
        queue: &mut Vec<Waiting>,
        now: i64,
        starts: &mut Vec<Waiting>,
    ) -> u32 {
        let mut free = self.free(now);
        let fits = queue.iter().take_while(|job| {
            let fits = job.processors <= free;
            free -= if fits { job.processors } else { 0 };
            fits
        });
        let heads = fits.count();
        for job in queue.drain(..heads) {
            self.start(job.job, job.processors, now + job.limit_secs);
            starts.push(job);
        }
        free
    }

    /// A job has ended, whose limit ends at `end_by`; one that does not run changes nothing.
    pub fn end(&mut self, job: u32, end_by: i64) {
        let first = self.runs.partition_point(|run| run.end_by < end_by);
        let same = self.runs[first..].iter();
        if let Some(at) = same
            .take_while(|run| run.end_by == end_by)
            .position(|run| run.job == job)
        {
            self.used -= self.runs.remove(first + at).processors;
        }
    }

    /// The earliest moment at which `processors` are free, by the limits of running jobs, and how
    /// many are then left over; `free` are free now.
    ///
    /// # Panics
    /// When the machine has fewer processors.
    pub fn fits_from(&self, processors: u32, free: u32, now: i64) -> (i64, u32) {
        let mut free = free;
        let first = self.runs.partition_point(|run| run.end_by <= now);
        let mut runs = self.runs[first..].iter().peekable();
        while let Some(run) = runs.next() {
            free += run.processors;
            let is_last = runs.peek().is_none_or(|next| next.end_by > run.end_by);
            if is_last && free >= processors {
                return (run.end_by, free - processors);
            }
        }
        assert!(free >= processors, "a job fits into an empty machine");
        (now, free - processors)
    }
}
