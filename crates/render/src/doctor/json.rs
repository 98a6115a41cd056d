//! The findings as JSON, for programs; the schema is described in `docs/json.md`.

use std::io::{self, Write};

use serde::Serialize;

use fairtree_analysis::doctor::{Diagnosis, Finding, Level};

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.doctor/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    healthy: bool,
    errors: usize,
    warnings: usize,
    unknown: usize,
    notes: usize,
    findings: &'a [Finding],
}

/// Writes one JSON object and a line break.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, diagnosis: &Diagnosis) -> io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        healthy: diagnosis.is_healthy(),
        errors: diagnosis.count(Level::Error),
        warnings: diagnosis.count(Level::Warning),
        unknown: diagnosis.count(Level::Unknown),
        notes: diagnosis.count(Level::Note),
        findings: &diagnosis.findings,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}
