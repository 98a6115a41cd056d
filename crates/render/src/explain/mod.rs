//! Explanations: an [`Explanation`] shows itself in sentences; [`to_json`] is for programs.

mod json;
mod text;

pub use json::{Explanation, SCHEMA, to_json};
