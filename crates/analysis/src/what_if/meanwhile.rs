//! Starts on both sides while time passes: the report of simulated time.

use serde::Serialize;

use crate::forecast::Pattern;
use crate::simulate::quantile;
use fairtree_sim::forecast::median_start;

/// The start of a job on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Started {
    /// The part of the simulations in which it had started, 0 to 1; of an array the mean part of its tasks.
    pub part: f64,
    /// The median start, of an array that of its first task, seconds since 1970; `None`: in half of
    /// the simulations or more it had not started.
    pub start: Option<i64>,
    /// At the end it is held.
    pub held: bool,
}

/// A job that waits at the beginning, and starts in some simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartMove {
    /// Its number.
    pub job_id: u32,
    /// Tasks of an array that wait at the beginning.
    pub tasks: Option<String>,
    /// Its user.
    pub user: String,
    /// Its account.
    pub account: Option<String>,
    /// Without the changes; `None`: it is not there, or nothing but time changes.
    pub before: Option<Started>,
    /// With the changes; `None`: it is not there.
    pub after: Option<Started>,
    /// Seconds by which the median start is earlier after the changes; `None`: without one on either side.
    pub earlier_seconds: Option<i64>,
}

/// Jobs of an account, or of a user, that started: means over the simulations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StartCount {
    /// Its name in reports.
    pub name: String,
    /// True for a user.
    pub is_user: bool,
    /// Without the changes; `None`: nothing but time changes, or it is not there.
    pub before: Option<f64>,
    /// With the changes; `None`: it is not there.
    pub after: Option<f64>,
    /// After less before, simulation by simulation; `None`: without both.
    pub difference: Option<f64>,
    /// The 5 % and the 95 % quantile of the differences.
    pub band: Option<[f64; 2]>,
}

/// Starts while time passes, by simulation. Jobs count that waited at the beginning; in the counts of
/// accounts and users also those that come meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meanwhile {
    /// The beginning, seconds since 1970.
    pub from: i64,
    /// The end.
    pub until: i64,
    /// Both sides are simulated; false: nothing but time changes, and the side before is that of the
    /// beginning.
    pub both: bool,
    /// Simulations of each side.
    pub draws: usize,
    /// Their seed.
    pub seed: u64,
    /// Where run times are from.
    pub run_times: Pattern,
    /// Past jobs that show how long jobs run.
    pub past_jobs: usize,
    /// Whole weeks of the past from which arrivals are drawn; 0: none arrive.
    pub past_weeks: i64,
    /// False where it was stopped before its end.
    pub complete: bool,
    /// Jobs, by number.
    pub jobs: Vec<StartMove>,
    /// Accounts except the root, and users, in the order of the tree.
    pub counts: Vec<StartCount>,
}

impl Started {
    /// The parts of a job's tasks, and its starts, in each simulation; of a job that is not held.
    pub(super) fn of(draws: &[(f64, Option<i64>)]) -> Started {
        let count = draws.len().max(1) as f64;
        let mut starts: Vec<Option<i64>> = draws.iter().map(|(_, start)| *start).collect();
        Started {
            part: draws.iter().map(|(part, _)| part).sum::<f64>() / count,
            start: median_start(&mut starts),
            held: false,
        }
    }
}

impl StartMove {
    /// Seconds by which the start moves; a start on one side alone is the longest way.
    pub fn moves_by(&self) -> u64 {
        let start = |side: Option<Started>| side.and_then(|side| side.start);
        match (start(self.before), start(self.after)) {
            (Some(before), Some(after)) => before.abs_diff(after),
            (None, None) => 0,
            _ => u64::MAX,
        }
    }
}

/// The mean of numbers; `None` without any.
pub(super) fn mean(numbers: &[f64]) -> Option<f64> {
    let count = numbers.len();
    (count > 0).then(|| numbers.iter().sum::<f64>() / count as f64)
}

impl StartCount {
    /// The counts of both sides, simulation by simulation.
    pub(super) fn of(
        name: String,
        is_user: bool,
        before: Option<&[f64]>,
        after: Option<&[f64]>,
    ) -> StartCount {
        let both = before.zip(after);
        let differences = both.map(|(before, after)| {
            let pairs = before.iter().zip(after);
            let mut differences: Vec<f64> = pairs.map(|(before, after)| after - before).collect();
            differences.sort_by(f64::total_cmp);
            differences
        });
        let differences = differences.as_deref();
        let band = differences
            .and_then(|found| Some([quantile(found, 0.05)? + 0.0, quantile(found, 0.95)? + 0.0]));
        StartCount {
            name,
            is_user,
            before: before.and_then(mean),
            after: after.and_then(mean),
            difference: differences.and_then(mean),
            band,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: three of four simulations start it; with the one that does not, the middle two are 20 and 30, of
    // which the later one counts, as in forecasts.
    #[test]
    fn starts_are_medians_over_the_simulations() {
        let found = Started::of(&[
            (1.0, Some(30)),
            (0.0, None),
            (1.0, Some(10)),
            (1.0, Some(20)),
        ]);
        assert_eq!((found.part, found.start), (0.75, Some(30)));
        let rare = Started::of(&[(0.0, None), (0.0, None), (1.0, Some(10))]);
        assert_eq!(rare.start, None);
    }

    // By hand: differences are 0, 1 and 2.
    #[test]
    fn counts_differ_simulation_by_simulation() {
        let found = StartCount::of(
            "a".into(),
            false,
            Some(&[1.0, 1.0, 1.0]),
            Some(&[1.0, 3.0, 2.0]),
        );
        assert_eq!((found.before, found.after), (Some(1.0), Some(2.0)));
        assert_eq!(found.difference, Some(1.0));
        let band = found.band.expect("a band");
        assert!((band[0] - 0.1).abs() < 1e-12 && (band[1] - 1.9).abs() < 1e-12);
        assert_eq!(
            StartCount::of("a".into(), true, None, Some(&[1.0])).band,
            None
        );
    }
}
