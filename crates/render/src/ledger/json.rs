//! As `docs/ledger.md` describes it.

use std::io::{self, Write};

use serde::Serialize;

use fairtree_analysis::ledger::{LedgerCheck, Overview};

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.ledger/1";

#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    folder: &'a str,
    #[serde(flatten)]
    content: &'a T,
}

/// Writes one JSON object and a line break: which times are covered by whom.
///
/// # Errors
/// Those of `out`.
pub fn overview_to_json(out: &mut impl Write, folder: &str, overview: &Overview) -> io::Result<()> {
    to_json(out, folder, overview)
}

/// Writes one JSON object and a line break: what a check found.
///
/// # Errors
/// Those of `out`.
pub fn check_to_json(out: &mut impl Write, folder: &str, check: &LedgerCheck) -> io::Result<()> {
    to_json(out, folder, check)
}

fn to_json(out: &mut impl Write, folder: &str, content: &impl Serialize) -> io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        folder,
        content,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")
}
