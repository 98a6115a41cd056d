//! Findings about a site's health: lines, JSON, a list of a page.

mod html;
mod json;
mod text;

pub use html::to_html;
pub use json::{SCHEMA, to_json};
pub use text::write;
