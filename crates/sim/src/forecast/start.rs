//! Forecasts of starts, and their figures.

use super::calibration::Band;
use super::situation::Stuck;

/// The start of a job, forecast. Moments are seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartForecast {
    /// The likely start; `None`: it did not start in the simulations.
    pub start: Option<i64>,
    /// The band that should hold 90 % of the starts; `None` by limits, and where some simulations ended
    /// before it started.
    pub band: Option<Band>,
    /// The same before it was widened by the misses of the past.
    pub drawn: Option<Band>,
    /// The start if every job ran to its limit and none arrived.
    pub by_limits: Option<i64>,
    /// Why it did not start when it was looked at last; `None`: it was never looked at.
    pub stuck: Option<Stuck>,
}

/// How good forecasts of the past were.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hits {
    /// Forecasts that were made for jobs of the past.
    pub forecasts: usize,
    /// Of those, the ones whose bands count: made after the first 20 had come.
    pub counted: usize,
    /// The part of these whose band held, 0 to 1; `None`: too few.
    pub held: Option<f64>,
    /// Median distance of the forecast from the start, seconds; `None`: too few.
    pub median_error_secs: Option<i64>,
}

/// A change of a job's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another partition, by its position in the machine.
    Partition(usize),
    /// Another QOS, by its position among those of the cluster.
    Qos(usize),
    /// Another time limit, seconds.
    Limit(i64),
}

/// A change that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The change.
    pub change: Change,
    /// The likely start with it, seconds since 1970.
    pub start: i64,
    /// How much earlier that is than the likely start, seconds; `None`: without it the job did not start.
    pub earlier_secs: Option<i64>,
}
