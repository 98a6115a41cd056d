//! Waits of a run on its own, in several phases, beside those of the real run.

use std::collections::BTreeMap;

use fairtree_model::input::recorded::RecordedJob;
use fairtree_sim::slurm::free::Ran;
use serde::Serialize;

/// Mean waits of some jobs, seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// The user; empty for all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// Jobs that really started.
    pub jobs: usize,
    /// Mean wait over jobs and phases.
    pub mean_wait_seconds: f64,
    /// Standard deviation of the mean waits of the phases.
    pub mean_wait_spread_seconds: f64,
    /// The least and the largest mean wait of a phase.
    pub mean_wait_range_seconds: [f64; 2],
    /// Mean wait of the real run.
    pub real_mean_wait_seconds: f64,
}

/// A run on its own, in several phases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FreeRuns {
    /// Phases.
    pub phases: usize,
    /// The seed of the first phase; the others follow it.
    pub seed: u64,
    /// False where it was stopped before its end.
    pub complete: bool,
    /// All jobs.
    #[serde(flatten)]
    pub all: Waits,
    /// Starts by the backfill scheduler, on average.
    pub backfilled: f64,
    /// Starts by the backfill scheduler in the real run; `None`: not recorded.
    pub real_backfilled: Option<usize>,
    /// By user.
    pub users: Vec<Waits>,
}

impl FreeRuns {
    /// The waits of runs of the same jobs. Jobs that did not really start are left out.
    pub fn new(jobs: &[&RecordedJob], runs: &[Ran], seed: u64, complete: bool) -> FreeRuns {
        let mut users: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut all = Vec::new();
        for (at, job) in jobs
            .iter()
            .enumerate()
            .filter(|(_, job)| job.start_ms.is_some())
        {
            all.push(at);
            users
                .entry(job.request.user.as_deref().unwrap_or(""))
                .or_default()
                .push(at);
        }
        let known = jobs.iter().any(|job| job.backfilled.is_some());
        let real = jobs
            .iter()
            .filter(|job| job.backfilled == Some(true))
            .count();
        let count = runs.len().max(1) as f64;
        FreeRuns {
            phases: runs.len(),
            seed,
            complete,
            all: waits("", &all, jobs, runs),
            backfilled: runs.iter().map(|ran| ran.backfilled as f64).sum::<f64>() / count,
            real_backfilled: known.then_some(real),
            users: users
                .iter()
                .map(|(user, own)| waits(user, own, jobs, runs))
                .collect(),
        }
    }
}

fn waits(user: &str, own: &[usize], jobs: &[&RecordedJob], runs: &[Ran]) -> Waits {
    let mean = |values: &[f64]| match values.len() {
        0 => 0.0,
        count => values.iter().sum::<f64>() / count as f64,
    };
    let secs = |from: i64, to: Option<i64>| Some((to? - from) as f64 / 1000.0);
    let of = |start: &dyn Fn(usize) -> Option<i64>| {
        let waits = own
            .iter()
            .filter_map(|at| secs(jobs[*at].submit_ms, start(*at)));
        mean(&waits.collect::<Vec<f64>>())
    };
    let phases: Vec<f64> = runs
        .iter()
        .map(|ran| of(&|at| ran.fates[at].start_ms))
        .collect();
    let middle = mean(&phases);
    let squares: Vec<f64> = phases.iter().map(|one| (one - middle).powi(2)).collect();
    let spread = match phases.len() {
        0 | 1 => 0.0,
        count => (squares.iter().sum::<f64>() / (count - 1) as f64).sqrt(),
    };
    Waits {
        user: user.to_owned(),
        jobs: own.len(),
        mean_wait_seconds: middle,
        mean_wait_spread_seconds: spread,
        mean_wait_range_seconds: [
            phases.iter().copied().reduce(f64::min).unwrap_or(0.0),
            phases.iter().copied().reduce(f64::max).unwrap_or(0.0),
        ],
        real_mean_wait_seconds: of(&|at| jobs[at].start_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_model::machine::Request;
    use fairtree_sim::slurm::life::Fate;

    // By hand: waits of 10 and 20 s in the first phase, 10 and 40 s in the second.
    #[test]
    fn means_and_their_spread() {
        let job = |id: u32| RecordedJob {
            id,
            task: None,
            request: Request {
                user: Some("u".to_owned()),
                ..Request::default()
            },
            submit_ms: 0,
            eligible_ms: Some(0),
            start_ms: Some(5000),
            end_ms: Some(9000),
            nodes: Vec::new(),
            allocated_cpus: 1,
            billing: None,
            state: "COMPLETED".to_owned(),
            first_priority: None,
            held_ms: Vec::new(),
            backfilled: Some(id == 1),
        };
        let ran = |starts: [i64; 2]| Ran {
            fates: starts
                .map(|start| Fate {
                    eligible_ms: Some(0),
                    start_ms: Some(start * 1000),
                    end_ms: None,
                })
                .to_vec(),
            stopped_ms: None,
            backfilled: 1,
        };
        let jobs = [job(1), job(2)];
        let jobs: Vec<&RecordedJob> = jobs.iter().collect();
        let found = FreeRuns::new(&jobs, &[ran([10, 20]), ran([10, 40])], 1, true);
        assert_eq!(found.all.mean_wait_seconds, 20.0);
        // Of 15 and 25.
        assert!((found.all.mean_wait_spread_seconds - 50_f64.sqrt()).abs() < 1e-9);
        assert_eq!(found.all.real_mean_wait_seconds, 5.0);
        assert_eq!((found.users.len(), found.real_backfilled), (1, Some(1)));
    }
}
