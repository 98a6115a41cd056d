//! The expected result of each call into a plugin, computed in exact fractions.
//!
//! When two plugins run the same life, every number that follows from the first difference differs.
//! So lives are compared call by call, not at their ends: from the records before the call and from
//! the plugin's state, the oracle computes the records after the call. Our plugin must give the
//! documented values. The stock plugin must give these values with some of its known faults; the
//! smallest set of faults that gives the observed values explains the call. Both plugins begin a
//! life with the same records, and slurmctld's own functions between the calls are the same for
//! both. So if every call of both is explained, every difference between them is explained, and the
//! first fault that acted is the cause.
//!
//! The fractions share no code with the engine. Associations and jobs come from the trace.

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
pub use hierarchy::{Association, Hierarchy, Level, Ranking};
pub use mismatch::Mismatch;
pub use trace::Hook;
