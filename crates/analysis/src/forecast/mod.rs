//! Forecasts of starts: those of the jobs of a cluster that wait, and how good they are on a log.

mod score;
mod start;

pub use fairtree_sim::forecast::Making;
pub use score::ForecastScore;
pub(crate) use start::fixed;
pub use start::{
    Account, Asked, ForecastError, Help, JobForecast, LEAST_HITS, LEAST_PAST_JOBS, Pattern,
    QueueForecast, Trust, Wanted, forecast_jobs, planned_starts, waiting_of,
};
