//! Forecasts of starts, and how good they are.
//!
//! A forecast is made when a job is submitted and has to wait, from what is known then: seeded
//! simulations from the present state of the machine, in which each job runs for a part of its limit
//! that one of the last jobs of its user ran, and jobs arrive as on the same day of the week some
//! weeks ago. The forecast is the median of the simulated starts; its band encloses most of them, and
//! is widened by the misses of earlier forecasts.

mod calibration;
mod history;
mod score;

pub use calibration::Band;
pub use score::{Forecast, Options, Score, score};
