//! What a simulated machine does with a log: tables, JSON, CSV by job, a schedule.

mod csv;
mod json;
mod notes;
mod swf;
mod text;

pub use csv::write_jobs;
pub use json::{SCHEMA, to_json};
pub use notes::notes;
pub use swf::write_schedule;
pub use text::{Shown, write};
