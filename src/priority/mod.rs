//! Job priority: factors, weights, and their sum as one integer.
//!
//! priority = site + age + association + fair share + size + partition + QOS + TRES - nice,
//!
//! where each factor is multiplied by its weight, site and nice are added unweighted, and the sum
//! is truncated to an integer in 1..=4294967295. Source: Slurm's priority_multifactor.html, "Job
//! Priority Factors In General". The sum is computed in f64 in the order of `priority/multifactor`,
//! so that the integers agree with it to the last bit of the sum.
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
//! `compat=documented` differs from `priority/multifactor` where that contradicts its documentation
//! or makes no sense: a job larger than the cluster has the size factor of the largest job, not of
//! the smallest; a QOS of priority 0 in a list adds nothing, instead of the term of the job's first
//! QOS; nothing divides by zero; ages do not wrap after 136 years. In both modes a sum that does
//! not fit an integer becomes 4294967295 and is marked ([`Priced::overflow`]); in C it is
//! undefined.
//!
//! `CALCULATE_RUNNING` and `ACCRUE_ALWAYS` are applied by the host: they decide which jobs it
//! passes, and which time is the [`field@Job::accrue_time`].

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

pub use error::PriorityError;
pub use factors::Factors;
pub use priced::Priced;
pub use pricer::{Pricer, price};
pub use rows::{AssocFactors, Index, Job, JobTables, Partition, Qos, Span, TimeLimit};
pub use term::{Factor, Term};
pub use variants::Variant;
#[cfg(feature = "slurm")]
pub(crate) use variants::variant_count;
