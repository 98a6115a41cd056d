//! The differences as JSON, for programs; the schema is described in `docs/json.md`.

use std::cell::RefCell;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::json;
use fairtree_analysis::compare::Change;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.compare/1";

#[derive(Serialize)]
#[serde(bound(serialize = ""))]
struct Content<'a, I: Iterator<Item = Change>> {
    before: &'a str,
    after: &'a str,
    compared: &'a [&'static str],
    changes: Written<I>,
}

/// Changes that are written one after the other, and not kept.
struct Written<I>(RefCell<I>);

impl<I: Iterator<Item = Change>> Serialize for Written<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.borrow_mut().by_ref())
    }
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
    changes: impl Iterator<Item = Change>,
) -> io::Result<()> {
    let content = Content {
        before,
        after,
        compared,
        changes: Written(RefCell::new(changes)),
    };
    json::write_document(out, SCHEMA, &content)
}
