//! The common parts of all JSON documents.

use std::io::{self, Write};

use fairtree::compat::Compat;
use serde::Serialize;

/// The name of a schema, then the fields of what follows it.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

/// Writes one JSON object and a line break: `schema`, then the fields of `content`.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_document(
    out: &mut impl Write,
    schema: &'static str,
    content: &impl Serialize,
) -> io::Result<()> {
    write(out, &Document { schema, content })
}

/// Writes one JSON value and a line break.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The name of the behaviour that was followed.
pub(crate) fn compat(compat: Compat) -> String {
    match compat {
        Compat::Documented => "documented".to_owned(),
        Compat::Slurm(release) => format!("slurm:{release}"),
    }
}
