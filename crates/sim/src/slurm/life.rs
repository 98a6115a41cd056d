//! A job's life in a simulation: when it is submitted, what it waits for, how long it runs.

use std::borrow::Borrow;
use std::collections::HashMap;

use fairtree_model::input::recorded::RecordedJob;
use fairtree_model::machine::Until;

/// A condition: an event of these jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The event.
    pub until: Until,
    /// Numbers of the jobs in the run; all of them.
    pub jobs: Vec<usize>,
    /// Milliseconds after the event.
    pub delay_ms: i64,
}

/// A job's life. Moments are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Submission.
    pub submit_ms: i64,
    /// It does not start before.
    pub begin_ms: i64,
    /// It does not start before these hold.
    pub conditions: Vec<Condition>,
    /// One condition is enough.
    pub any: bool,
    /// Spans in which it is held.
    pub held_ms: Vec<(i64, i64)>,
    /// Run time; `None`: it never ran, and how long it would is not known.
    pub run_ms: Option<i64>,
    /// When it is cancelled if it waits then.
    pub cancel_ms: Option<i64>,
    /// It ends well: `afterok` holds after it, and `afternotok` does not.
    pub succeeds: bool,
}

/// Beginnings of the states of jobs that did not end well, as sacct(1) has them. A job that still runs or waits counts
/// as one that ends well.
const FAILED: [&str; 9] = [
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
];

/// Returns true if a job in this state ended well, or may do so.
fn ends_well(state: &str) -> bool {
    !FAILED.iter().any(|failed| state.starts_with(failed))
}

/// The lives of recorded jobs.
pub fn lives<J: Borrow<RecordedJob>>(jobs: &[J]) -> Vec<Life> {
    let jobs: Vec<&RecordedJob> = jobs.iter().map(Borrow::borrow).collect();
    let mut by_id: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, job) in jobs.iter().enumerate() {
        by_id.entry(job.id).or_default().push(at);
        if let Some((array, _)) = job.task.filter(|(array, _)| *array != job.id) {
            by_id.entry(array).or_default().push(at);
        }
    }
    let life = |at: usize, job: &RecordedJob| {
        let request = &job.request;
        let conditions = request.dependencies.iter().filter_map(|dependency| {
            let mut others = match dependency.until {
                Until::Singleton => {
                    let same = |other: &RecordedJob| {
                        let (a, b) = (&other.request, request);
                        a.name == b.name && a.user == b.user
                    };
                    let before = jobs[..at].iter().enumerate();
                    before
                        .filter(|(_, job)| same(job))
                        .map(|(at, _)| at)
                        .collect()
                }
                _ => by_id.get(&dependency.job).cloned().unwrap_or_default(),
            };
            if let (Until::SameTask, Some((_, task))) = (dependency.until, job.task) {
                others.retain(|at| jobs[*at].task.is_some_and(|(_, own)| own == task));
            }
            (!others.is_empty()).then(|| Condition {
                until: dependency.until,
                jobs: others,
                delay_ms: i64::from(dependency.delay_mins) * 60_000,
            })
        });
        let conditions: Vec<Condition> = conditions.collect();
        let begin = match request.begin {
            // Seconds since 1970, or after submission.
            Some(begin) if begin > 1_000_000_000 => begin * 1000,
            Some(after) => job.submit_ms + after * 1000,
            // Nothing that is known of it made it wait: it was eligible when it was.
            None if conditions.is_empty() && job.held_ms.is_empty() => {
                let eligible = job.eligible_ms.unwrap_or(i64::MAX);
                if eligible.div_euclid(1000) <= job.submit_ms.div_euclid(1000) {
                    job.submit_ms
                } else {
                    eligible
                }
            }
            None => job.submit_ms,
        };
        let ran = job
            .start_ms
            .zip(job.end_ms)
            .map(|(start, end)| (end - start).max(0));
        Life {
            submit_ms: job.submit_ms,
            begin_ms: begin.max(job.submit_ms),
            conditions,
            any: request.any_dependency,
            held_ms: job.held_ms.clone(),
            run_ms: ran,
            cancel_ms: job.end_ms.filter(|_| job.start_ms.is_none()),
            succeeds: ends_well(&job.state),
        }
    };
    jobs.iter()
        .enumerate()
        .map(|(at, job)| life(at, job))
        .collect()
}

/// The fate of a job so far. Moments are milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// When it became eligible.
    pub eligible_ms: Option<i64>,
    /// Start.
    pub start_ms: Option<i64>,
    /// End, or when it was cancelled.
    pub end_ms: Option<i64>,
}

impl Life {
    /// Returns true if it is eligible at a moment and will stay so, whatever becomes of others.
    pub fn is_settled(&self, now_ms: i64) -> bool {
        self.conditions.is_empty() && self.held_ms.is_empty() && self.begin_ms <= now_ms
    }

    /// Returns true if it could start at a moment, by what became of the others.
    pub fn is_eligible(&self, now_ms: i64, lives: &[Life], fates: &[Fate]) -> bool {
        let is_held = |(from, until): &(i64, i64)| (*from..*until).contains(&now_ms);
        if now_ms < self.begin_ms || self.held_ms.iter().any(is_held) {
            return false;
        }
        let holds = |condition: &Condition| {
            condition.jobs.iter().all(|job| {
                let (life, fate) = (&lives[*job], &fates[*job]);
                let over = |moment: Option<i64>| {
                    moment.is_some_and(|moment| moment + condition.delay_ms <= now_ms)
                };
                match condition.until {
                    Until::Start => over(fate.start_ms) || over(fate.end_ms),
                    Until::End | Until::Singleton => over(fate.end_ms),
                    Until::Success | Until::SameTask => over(fate.end_ms) && life.succeeds,
                    Until::Failure => over(fate.end_ms) && !life.succeeds,
                }
            })
        };
        match self.any {
            true => self.conditions.iter().any(holds),
            false => self.conditions.iter().all(holds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(until: Until) -> Life {
        Life {
            submit_ms: 0,
            begin_ms: 100,
            conditions: vec![Condition {
                until,
                jobs: vec![0],
                delay_ms: 0,
            }],
            any: false,
            held_ms: vec![(300, 400)],
            run_ms: Some(1),
            cancel_ms: None,
            succeeds: true,
        }
    }

    // sacct(1), JOB STATE CODES. A forecast of a job after one that runs assumes that this one ends well.
    #[test]
    fn jobs_end_well_unless_their_state_is_a_failure() {
        for (state, succeeds) in [
            ("COMPLETED", true),
            ("RUNNING", true),
            ("PENDING", true),
            ("CANCELLED by 1000", false),
            ("FAILED", false),
            ("TIMEOUT", false),
            ("OUT_OF_MEMORY", false),
        ] {
            assert_eq!(ends_well(state), succeeds, "{state}");
        }
    }

    // sbatch(1): after, afterany, afterok, afternotok.
    #[test]
    fn conditions_hold_after_their_events() {
        let first = life(Until::End);
        for (until, moments) in [
            (
                Until::Start,
                [(150, false), (200, true), (350, false), (400, true)],
            ),
            (
                Until::End,
                [(200, false), (249, false), (250, true), (399, false)],
            ),
            (
                Until::Success,
                [(200, false), (250, true), (300, false), (500, true)],
            ),
            (
                Until::Failure,
                [(200, false), (250, false), (500, false), (600, false)],
            ),
        ] {
            let lives = [first.clone(), life(until)];
            let fates = [
                Fate {
                    eligible_ms: Some(0),
                    start_ms: Some(200),
                    end_ms: Some(250),
                },
                Fate::default(),
            ];
            for (now, holds) in moments {
                // The first job has started at 200 and ended at 250.
                let mut known = fates;
                known[0].start_ms = known[0].start_ms.filter(|start| *start <= now);
                known[0].end_ms = known[0].end_ms.filter(|end| *end <= now);
                let found = lives[1].is_eligible(now, &lives, &known);
                assert_eq!(found, holds, "{until:?} at {now}");
            }
        }
    }
}
