//! The service of fairtree: pages of standing, reasons and shares for everybody on a site.
//!
//! | module | noun |
//! |---|---|
//! | [`options`] | the command line |
//! | [`picture`] | a capture, read and ranked: what all pages show |
//! | [`starts`] | forecasts of starts, made in the background |
//! | [`viewer`] | who looks, and what that person may see |
//! | [`store`] | the database: plans, changes, courses over time |
//! | [`past`], [`days`] | jobs that sacct lists, and their days |
//! | [`drawn`] | charts that were drawn for a picture |
//! | [`earlier`] | courses of the days before its first picture, from sacct |
//! | [`health`] | the doctor and the linter |
//! | [`outside`] | changes without a plan |
//! | `changing` | plans: kept, applied, taken back |
//! | [`question`] | an address: which page, in which form |
//! | [`pages`] | the pages: values, tables, JSON, CSV |
//! | [`answer`] | responses: a page in its frame, errors |
//! | [`app`] | the routes and their limits |
//! | [`counters`] | numbers since the start, and the metrics |
//! | [`session`], [`munge`] | sign-in |
//! | [`settings`] | the file of settings |
//! | [`timer`] | captures, one after the other |
//! | [`listen`] | sockets and connections |
//!
//! Everything that a page shows is computed by `fairtree-analysis` and drawn by `fairtree-render`;
//! a request never asks Slurm.

/// Writes a line to the log. One that cannot be written is lost: nobody could be told, and the service
/// continues.
macro_rules! log_line {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

pub mod answer;
pub mod app;
mod changing;
pub mod counters;
pub mod days;
pub mod drawn;
pub mod earlier;
pub mod health;
pub mod listen;
pub mod munge;
pub mod options;
pub mod outside;
pub mod pages;
pub mod past;
pub mod picture;
pub mod question;
pub mod session;
pub mod settings;
pub mod sheet;
pub mod starts;
pub mod store;
pub mod timer;
pub mod viewer;

pub use options::{Options, run};
