//! What each call into a plugin must leave, computed anew in exact fractions.
//!
//! Two plugins that play one life differ in every number that follows from a first difference. So
//! lives are not compared at their ends but call by call: from the records that a plugin found,
//! and from what it remembers, the oracle computes what it must leave. Ours must leave what is
//! documented. The stock plugin must leave that with some of its known faults; the smallest
//! set that explains a call names what happened there. Both begin a life with the same records,
//! and slurmctld's own doings in between are the same functions for both: where every call of
//! both is explained, every difference between them is, and the first fault that acted is the cause.
//!
//! The fractions share no code with the engine. What an association or a job is, the trace tells.

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
mod model;
pub mod number;
mod price;
mod records;
mod resets;
mod rows;
mod start;
mod trace;

pub use attribute::{Explained, FaultCounts, Unexplained, explain};
pub use check::Mismatch;
pub use faults::Faults;
pub use hierarchy::{Algorithm, Association, Hierarchy, Level};
pub use trace::Hook;
