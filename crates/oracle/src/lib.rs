//! The expected result of each call into a plugin, computed in exact fractions.
//!
//! When two plugins run the same life, every number that follows from a first difference differs. So
//! lives are compared call by call, not at their ends: from the records before the call, and from
//! the plugin's state, the oracle computes the records after it. Ours must give the documented
//! values. The stock plugin must give these with some of its known faults; the smallest
//! set that gives the observed values explains the call. Both begin a life with the same records,
//! and slurmctld's own functions between the calls are the same for both: if every call of
//! both is explained, every difference between them is, and the first fault that acted is the cause.
//!
//! The fractions share no code with the engine. Associations and jobs are read from the trace.

mod attribute;
mod charge;
mod check;
mod classic;
mod conf;
mod fair_tree;
mod faults;
mod fields;
mod hierarchy;
mod memory;
mod mismatch;
mod model;
pub mod number;
mod price;
mod records;
mod resets;
mod rows;
mod start;
mod trace;

pub use attribute::{Explained, FaultCounts, Unexplained, explain};
pub use faults::Faults;
pub use hierarchy::{Algorithm, Association, Hierarchy, Level};
pub use mismatch::Mismatch;
pub use trace::Hook;
