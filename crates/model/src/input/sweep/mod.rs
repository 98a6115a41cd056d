//! Sweeps: the plan of many simulations, and the file of their results; see `docs/sweep.md`.

mod plan;
mod runs;

pub use plan::{Plan, Point};
pub use runs::{AccountFigures, Figures, Runs, fingerprint};
