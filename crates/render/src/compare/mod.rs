//! Changes between two moments: JSON. In words, a change shows itself.

mod json;

pub use json::{SCHEMA, to_json};
