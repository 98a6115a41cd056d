//! Forecasts of starts, and how good they are.
//!
//! A forecast is made when a job is submitted and has to wait, from what is known then: seeded
//! simulations from the present state of the machine, in which each job runs for a part of its limit
//! that one of the last jobs of its user ran, and jobs arrive as on the same day of the week some
//! weeks ago. The forecast is the median of the simulated starts; its band encloses most of them, and
//! is widened by the misses of earlier forecasts.

//!
//! [`score()`] makes forecasts for the jobs of a log on a pool of processors, [`Forecaster`] for those of a
//! cluster, by Slurm's rules on its nodes.

mod calibration;
mod forecaster;
mod known;
mod making;
mod passing;
mod rehearsal;
mod run_times;
mod score;
mod situation;
mod start;

pub use calibration::Band;
pub use forecaster::{Forecaster, LEAST_ENDED, LEAST_HITS};
pub use making::{Making, Queue};
pub use score::{Forecast, Options, Score, score};
pub use situation::{Later, LaterJob, Stage, Stuck};
pub use start::{Change, Hits, StartForecast, Trial};

/// The median of values in order, by which all reports of simulations go: of two in the middle the later one,
/// which is a value that came. `None` without values. A start that did not come is later than all others:
/// [`median_start`].
pub fn median<T: Copy>(sorted: &[T]) -> Option<T> {
    sorted.get(sorted.len() / 2).copied()
}

/// Puts the starts of simulations in order, and finds their median, seconds since 1970. A simulation in which
/// the job did not start is later than all others; `None`: in half of them or more it did not start, or there
/// are none.
pub fn median_start(starts: &mut [Option<i64>]) -> Option<i64> {
    starts.sort_unstable_by_key(|start| start.unwrap_or(i64::MAX));
    median(starts).flatten()
}

/// A random number for a key.
fn random<const N: usize>(key: [u64; N]) -> u64 {
    key.into_iter().fold(0, |before, part| {
        fastrand::Rng::with_seed(before ^ part).u64(..)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: in order 10, 20, 30 and none; the middle two are 20 and 30.
    #[test]
    fn the_median_start_is_the_later_of_two() {
        assert_eq!(
            median_start(&mut [Some(30), None, Some(10), Some(20)]),
            Some(30)
        );
        assert_eq!(median_start(&mut [Some(30), Some(10), Some(20)]), Some(20));
        assert_eq!(median_start(&mut [None, Some(10)]), None);
        assert_eq!(median_start(&mut []), None);
    }
}
