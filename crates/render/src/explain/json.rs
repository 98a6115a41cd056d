//! Explanations as JSON, for programs.
//!
//! One object: `schema`, `question` (`job`, `jobs`, `users`, `place` or `places`) and `answer`, whose
//! fields are those of [`JobExplanation`], [`JobsCompared`], [`UsersCompared`], [`PlaceExplained`] and
//! [`PlacesCompared`], under the same names. Enums are
//! words in `snake_case`; an [`Answer`](fairtree_analysis::explain::Answer) is `{"least": n}` or `{"never": n}`. An
//! infinite level fairshare is `"inf"`; any other number that is not finite, which only
//! `compat=slurm` makes out of a job or cluster of size 0, is `null`.

use std::io::Write;

use serde::Serialize;

use crate::json;
use fairtree_analysis::explain::line::{PlaceExplained, PlacesCompared};
use fairtree_analysis::explain::{JobExplanation, JobsCompared, UsersCompared};

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.explain/1";

/// The explanations that can be written.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "question", content = "answer", rename_all = "snake_case")]
pub enum Explanation<'a> {
    /// Why this priority.
    Job(&'a JobExplanation),
    /// Why this order of two jobs.
    Jobs(&'a JobsCompared),
    /// Why this order of two users.
    Users(&'a UsersCompared),
    /// The place of a job in an order.
    Place(&'a PlaceExplained),
    /// Why two jobs have these places in an order.
    Places(&'a PlacesCompared),
}

/// Writes one JSON object and a line break.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, explanation: Explanation<'_>) -> std::io::Result<()> {
    json::write_document(out, SCHEMA, &explanation)
}
