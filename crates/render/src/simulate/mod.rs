//! What a simulated machine does with a log: tables, JSON, CSV by job, a schedule.

mod against;
mod check;
mod csv;
mod free;
mod json;
mod notes;
mod swf;
mod text;
mod why;

pub use against::{AGAINST_SCHEMA, against_to_csv, against_to_json, write_against};
pub use check::{CHECK_SCHEMA, check_to_json, write_check};
pub use csv::write_jobs;
pub use free::{FREE_SCHEMA, free_to_json, write_free};
pub use json::{SCHEMA, to_json};
pub use notes::{notes, too_large_for};
pub use swf::write_schedule;
pub use text::{Shown, write};
pub use why::{WHY_SCHEMA, Wait, why_to_json, write_why};
