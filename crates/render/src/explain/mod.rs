//! Explanations: an [`Explanation`] shows itself in sentences; [`to_json`] is for programs.

mod html;
mod json;
mod text;

pub use html::{remedies, to_html};
pub use json::{Explanation, SCHEMA, to_json};
