//! The effects of a change: tables, JSON, a page.

mod html;
mod json;
mod meanwhile;
mod text;

pub use html::{moves, to_html};
pub use json::{SCHEMA, to_json};
pub(crate) use text::assoc_place;
pub use text::{Shown, write};
