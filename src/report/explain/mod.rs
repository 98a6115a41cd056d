//! Why a job has its priority, why one job or user comes before another, and what would change it.
//!
//! Three questions, each a function from a [`Scene`] (the engine's own rows and results) to a model
//! of plain numbers and names, which displays as sentences and which [`json`] writes for programs:
//!
//! | question | function | model |
//! |---|---|---|
//! | why this priority | [`explain_job`] | [`JobExplanation`] |
//! | why is this job behind that one | [`compare_jobs`] | [`JobsCompared`] |
//! | why is this user behind that one | [`compare_users`] | [`UsersCompared`] |
//!
//! Nothing is modelled twice. Terms come from [`crate::priority::Pricer`], ranks from
//! [`crate::fairshare::compute`]. What would change an order (a [`Remedy`]) is looked for on a
//! small tree that has the same order, and reported only after the engine has judged it on a copy
//! of the whole: with the amount named the order changes, with one step less it does not.

mod entry;
mod formula;
mod job;
mod jobs;
pub mod json;
mod listed;
mod parting;
mod path;
mod remedy;
mod scene;
mod search;
mod sketch;
mod tally;
mod term;
mod text;
mod users;
mod world;

pub use formula::{Formula, SizeMode};
pub use job::{Bound, Explained, JobExplanation, VariantExplanation, explain_job};
pub use jobs::{JobsCompared, TermDifference, compare_jobs};
pub use listed::Listed;
pub use parting::{Parting, Reason};
pub use path::PathStep;
pub use remedy::{Answer, Remedy, RemedyKind};
pub use scene::{ExplainError, Load, Names, Numbered, Scene, Side};
pub use term::{Term, TermName};
pub use users::{UserSide, UsersCompared, compare_users};
