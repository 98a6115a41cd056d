//! Shares: sshare's table, JSON, and the outcome of a check in sentences.

mod agreement;
mod json;
mod table;

pub use agreement::write_agreement;
pub use json::{SCHEMA, to_json};
pub use table::{Separator, Table};
