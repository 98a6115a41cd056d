//! The level as JSON, for programs; the schema is described in `docs/json.md`.

use std::io::{self, Write};

use serde::Serialize;

use crate::json;
use fairtree_analysis::shares::{Level, Proposal};

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.shares/1";

#[derive(Serialize)]
struct Content<'a> {
    level: &'a Level,
    proposal: Option<&'a Proposal>,
}

/// Writes one JSON object and a line break: the level, and what was proposed.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, level: &Level, proposal: Option<&Proposal>) -> io::Result<()> {
    json::write_document(out, SCHEMA, &Content { level, proposal })
}
