//! Findings about a site's health: lines and JSON.

mod json;
mod text;

pub use json::{SCHEMA, to_json};
pub use text::write;
