//! Answers as lines of JSON, for programs; the schema is described in `docs/queue.md`.

use std::io::{self, Write};

use serde::Serialize;

use fairtree_analysis::queue::Answer;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.queue/1";

#[derive(Serialize)]
struct Begin<'a> {
    schema: &'static str,
    event: &'static str,
    source: &'a str,
    policy: &'a str,
}

/// Writes the line before all answers: `source` is the name of the site.
///
/// # Errors
/// Those of `out`.
pub fn begin_json(out: &mut impl Write, source: &str, policy: &str) -> io::Result<()> {
    let begin = Begin {
        schema: SCHEMA,
        event: "begin",
        source,
        policy,
    };
    serde_json::to_writer(&mut *out, &begin)?;
    out.write_all(b"\n")
}

/// Writes one answer as a line.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    out.write_all(b"\n")
}
