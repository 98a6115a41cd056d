//! How forecasts are made, and of which jobs.

use std::collections::HashMap;

use fairtree_model::input::recorded::RecordedJob;

/// How forecasts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    /// Simulations for each, from 1; fewer, but at least 5, where they take more than `steps`.
    pub draws: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// One simulation in which every job runs to its limit and none arrives.
    pub by_limits: bool,
    /// Steps that the simulations of the present may take, and as many those of the past: one for each
    /// event and for some jobs, more for a job that is tested. A step takes about a microsecond.
    pub steps: u64,
}

impl Default for Making {
    fn default() -> Making {
        Making {
            draws: 20,
            seed: 1,
            by_limits: false,
            steps: 2_000_000,
        }
    }
}

/// The jobs of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Queue<'q> {
    /// Those that wait and run.
    pub present: &'q [RecordedJob],
    /// Those that sacct lists.
    pub past: &'q [RecordedJob],
    /// Priorities that stay, by the numbers of present jobs; where there are any, jobs that come later
    /// have the lowest.
    pub fixed: &'q HashMap<u32, u32>,
}
