//! Shares: the table of sshare, its notes, JSON, a table of a page, and the outcome of a check in sentences.

mod agreement;
mod html;
mod json;
mod notes;
mod table;

pub use agreement::write_agreement;
pub use html::to_html;
pub use json::{SCHEMA, to_json, to_json_with};
pub use notes::notes;
pub use table::{Separator, Table};
