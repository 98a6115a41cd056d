//! Builds fairtree: packages, Slurm's sources and programs, and the plugin for a release.
//!
//! The command `cargo xtask` and the test bed (`crates/testbed`) use this library.

pub mod command;
pub mod deps;
pub mod every;
pub mod installation;
pub mod interrupt;
pub mod packages;
pub mod plugin;
pub mod prefix;
pub mod progress;
pub mod project;
pub mod release;
pub mod root;
pub mod source;
