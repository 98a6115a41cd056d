//! The cost of a job: tables and JSON.

mod html;
mod json;
mod text;

pub use html::to_html;
pub use json::{SCHEMA, to_json};
pub use text::write;
