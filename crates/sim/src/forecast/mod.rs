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
mod passing;
mod rehearsal;
mod run_times;
mod score;
mod situation;

pub use calibration::Band;
pub use forecaster::{
    Change, Forecaster, Hits, LEAST_ENDED, LEAST_HITS, Making, Queue, StartForecast, Trial,
};
pub use score::{Forecast, Options, Score, score};
pub use situation::{Later, LaterJob, Stage, Stuck};

/// A random number for a key.
fn random<const N: usize>(key: [u64; N]) -> u64 {
    key.into_iter().fold(0, |before, part| {
        fastrand::Rng::with_seed(before ^ part).u64(..)
    })
}
