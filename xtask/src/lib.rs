//! What builds fairtree: packages, Slurm's sources and programs, and the plugin of a release.
//!
//! The command `cargo xtask` is on top of it, and so is the test bed (`crates/testbed`).

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
