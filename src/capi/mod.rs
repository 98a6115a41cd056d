//! The C ABI over the engine: what `include/fairtree.h` declares.
//!
//! Small files do the work common to all functions: `guard` stops panics, `view` checks the
//! caller's pointers, `handle` implements the opaque types, `error` the status codes and messages,
//! `version` the version of the ABI. Then there is one file per C noun. The doc comments of exported
//! items are the C reader's manual, so they use C's words; the requirements that all functions have
//! in common are in the opening comment of the header (`cbindgen.toml`).
//!
//! Each function checks its arguments first, then makes one call into safe Rust, and writes its
//! outputs last and only on success.

#![allow(
    unsafe_code,
    reason = "the border to C: pointers of the caller are checked and followed here"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the header's opening comment states what every function demands of its caller"
)]

mod batch;
mod config;
mod error;
mod explain;
mod fairshare;
mod guard;
mod handle;
mod held_jobs;
mod job_rows;
mod jobs;
mod machine_queue;
mod on_demand;
mod on_demand_ask;
mod on_demand_bills;
mod on_demand_change;
mod on_demand_jobs;
mod out_list;
mod pass;
mod queue;
mod queue_ask;
mod queue_change;
mod queue_jobs;
mod queue_order;
#[cfg(test)]
mod queue_properties;
mod site;
mod state;
mod tree;
mod usage;
mod usage_runs;
mod users;
mod version;
mod view;

pub use config::*;
pub use error::{Status, ft_last_error, ft_status_str};
pub use explain::*;
pub use fairshare::*;
pub use held_jobs::{FinishedRow, HeldJobRow, JobState};
pub use job_rows::*;
pub use jobs::*;
pub use machine_queue::{End, EstimateRow, NextKind, ProxyKind};
pub use on_demand::*;
pub use on_demand_ask::*;
pub use on_demand_bills::*;
pub use on_demand_change::*;
pub use on_demand_jobs::*;
pub use pass::{PassRow, RunRow, ft_pass};
pub use queue::*;
pub use queue_ask::*;
pub use queue_change::*;
pub use queue_jobs::*;
pub use queue_order::*;
pub use site::{
    FT_JOB_FACTOR_MAX, FT_UNLIMITED, SiteHandle, SiteModel, ft_site_add_partition, ft_site_add_qos,
    ft_site_free, ft_site_new, ft_site_set_assoc_priorities,
};
pub use state::*;
pub use tree::*;
pub use usage::*;
pub use usage_runs::*;
pub use version::*;
