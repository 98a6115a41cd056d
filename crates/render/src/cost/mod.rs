//! The cost of a job: tables and JSON.

mod json;
mod text;

pub use json::{SCHEMA, to_json};
pub use text::write;
