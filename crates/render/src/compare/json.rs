//! The differences as JSON, for programs; the schema is described in `docs/compare-json.md`.

use std::io::{self, Write};

use serde::Serialize;

use fairtree_analysis::compare::Change;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.compare/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    before: &'a str,
    after: &'a str,
    compared: &'a [&'static str],
    changes: &'a [Change],
}

/// Writes one JSON object and a line break. `before` and `after` name the inputs, `compared` says
/// what of them was compared: `shares`, `queue`.
///
/// # Errors
/// Those of `out`.
pub fn to_json(
    out: &mut impl Write,
    before: &str,
    after: &str,
    compared: &[&'static str],
    changes: &[Change],
) -> io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        before,
        after,
        compared,
        changes,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}
