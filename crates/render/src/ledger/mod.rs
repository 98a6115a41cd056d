//! Ledger files: which times they cover, how old they are, and what is wrong with them.

mod json;
mod text;

pub use json::{SCHEMA, check_to_json, overview_to_json};
pub use text::{write_check, write_filled, write_overview};
