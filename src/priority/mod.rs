//! The factors of a job, the weights and the one integer.
//!
//! priority = site + age + association + fair share + size + partition + QOS + TRES - nice,
//!
//! every factor times its weight, site and nice as they are, cut to an integer in
//! 1..=4294967295. Source: Slurm's priority_multifactor.html, "Job Priority Factors In General".
//! Additions are made in f64 in the order in which `priority/multifactor` makes them, so that the
//! integers agree with it to the last bit of the sum.
//!
//! | file | noun |
//! |---|---|
//! | `term` | the one table of the terms: [`Term`], [`Factor`], names, keys, weights |
//! | `rows` | [`Job`], and the tables that jobs point into, [`JobTables`] |
//! | `check` | [`JobTables::check`], [`JobTables::check_job`]: rows that cannot be priced |
//! | `factors`, `size`, `tres` | one factor each, or a few small ones |
//! | `priced` | weighted terms, their sum, and its bounds |
//! | `pricer` | [`Pricer`]: a pass over jobs |
//! | `variants` | several partitions and QOS |
//! | `quirks` | where `compat=slurm` differs |
//!
//! `compat=documented` differs from `priority/multifactor` where that is at odds with its
//! documentation or with sense: a job larger than the cluster has the size factor of the largest
//! job, not of the smallest; a QOS of priority 0 in a list adds nothing instead of what the job's
//! first QOS adds; nothing divides by zero; ages do not wrap after 136 years. In both modes a sum
//! that fits no integer is 4294967295 and marked ([`Priced::overflow`]); C leaves that undefined.
//!
//! `CALCULATE_RUNNING` and `ACCRUE_ALWAYS` are the host's: which jobs it hands over, and what it
//! takes as [`field@Job::accrue_time`].

mod block;
mod check;
mod error;
mod factors;
mod priced;
mod pricer;
mod quirks;
mod rows;
mod size;
mod term;
mod tres;
mod variants;

#[cfg(test)]
mod samples;

#[cfg(feature = "slurm")]
pub(crate) use block::Terms;
#[cfg(any(feature = "capi", feature = "slurm"))]
pub(crate) use block::{BLOCK, Block, When};
pub use error::PriorityError;
pub use factors::Factors;
pub use priced::Priced;
pub use pricer::{Pricer, price};
pub use rows::{AssocFactors, Index, Job, JobTables, Partition, Qos, Span, TimeLimit};
pub use term::{Factor, Term};
pub use variants::Variant;
#[cfg(feature = "slurm")]
pub(crate) use variants::variant_count;
