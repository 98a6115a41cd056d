//! One object of the schema `fairtree.simulate/1`.

use std::io::{self, Write};

use serde::Serialize;

use crate::json;
use fairtree_analysis::simulate::Report;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.simulate/1";

#[derive(Serialize)]
struct Content<'a> {
    source: &'a str,
    #[serde(flatten)]
    report: &'a Report,
}

/// Writes one JSON object and a line break, as `docs/simulate.md` describes it.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, source: &str, report: &Report) -> io::Result<()> {
    json::write_document(out, SCHEMA, &Content { source, report })
}
