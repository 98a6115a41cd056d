//! The results of a sweep: each point over its seeds, and the best ones.

mod point;
mod settings;

pub use point::{Best, PointResult, Spread, Sweep, figures_of};
pub use settings::lines;
