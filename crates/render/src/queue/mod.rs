//! The answers of a queue, as lines of JSON or as a table, written one by one.

mod json;
mod text;

pub use json::{SCHEMA, begin_json, to_json};
pub use text::{begin_text, write};
