//! Priorities: sprio's tables, JSON, a table of a page, and the outcomes of a check and of a comparison in sentences.

mod agreement;
mod compared;
mod html;
mod json;
mod table;

pub use agreement::write_agreement;
pub use compared::write_compared;
pub use html::to_html;
pub use json::{SCHEMA, to_json};
pub use table::Table;
