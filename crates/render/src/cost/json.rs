//! The cost as JSON, for programs; the schema is described in `docs/json.md`.

use std::io::{self, Write};

use crate::json;
use fairtree_analysis::cost::Cost;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.cost/1";

/// Writes one JSON object and a line break.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, cost: &Cost) -> io::Result<()> {
    json::write_document(out, SCHEMA, cost)
}
