//! Priorities: sprio's tables, JSON, and the outcomes of a check and of a comparison in sentences.

mod agreement;
mod compared;
mod json;
mod table;

pub use agreement::write_agreement;
pub use compared::write_compared;
pub use json::{SCHEMA, to_json};
pub use table::Table;
