//! The shares and minutes of a level: a table, JSON, a page.

mod html;
mod json;
mod text;
mod words;

pub use html::to_html;
pub use json::{SCHEMA, to_json};
pub use text::{write, write_proposal};
pub use words::{minutes, score};
