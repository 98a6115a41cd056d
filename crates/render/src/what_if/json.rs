//! The answer as JSON, for programs; the schema is described in `docs/what-if-json.md`.

use std::io::{self, Write};

use serde::Serialize;

use fairtree_analysis::what_if::WhatIf;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.what-if/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    what_if: &'a WhatIf,
}

/// Writes one JSON object and a line break.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, what_if: &WhatIf) -> io::Result<()> {
    let schema = SCHEMA;
    serde_json::to_writer_pretty(&mut *out, &Document { schema, what_if })?;
    out.write_all(b"\n")
}
