//! Forecasts of starts: sentences, tables and JSON.

mod score;
mod start;

pub use score::{SCHEMA, to_json, write};
pub use start::{SCHEMA as STARTS_SCHEMA, Source, likely, starts_to_json, untold, write_starts};
