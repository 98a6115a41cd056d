//! What a queue answers, as lines of JSON or as a table, written as it comes.

mod json;
mod text;

pub use json::{SCHEMA, begin_json, to_json};
pub use text::{begin_text, write};
